package loadplan

import (
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestShebang(t *testing.T) {
	x := func(n int) string { return strings.Repeat("x", n) }
	blank := func(n int) string { return strings.Repeat(" ", n) }
	plain := func(interp string) *Script { return &Script{Interp: interp} }
	arg := func(interp, arg string) *Script { return &Script{interp, arg, true} }
	for _, tt := range []struct {
		head string
		want *Script // nil: ENOEXEC; of an empty interpreter: EACCES
	}{
		{"#!/bin/sh\n", plain("/bin/sh")},
		{"#!/bin/sh\nrest", plain("/bin/sh")},
		{"#! \t/bin/sh\n", plain("/bin/sh")},
		{"#!/bin/sh \t \n", plain("/bin/sh")},
		{"#!/bin/sh -e\n", arg("/bin/sh", "-e")},
		{"#!/bin/sh \t -e  -u\tx \t\n", arg("/bin/sh", "-e  -u\tx")},
		{"#!sh\n", plain("sh")},
		{"#!/bin/sh\r\n", plain("/bin/sh\r")},
		{"#!/bin/sh -e\r\n", arg("/bin/sh", "-e\r")},
		{"#!/bin/sh", plain("/bin/sh")},
		{"#!/bin/sh ", arg("/bin/sh", "")},
		{"#!/bin/sh -e", arg("/bin/sh", "-e")},
		{"#!/bin/sh -e ", arg("/bin/sh", "-e ")},
		{"#!/bin/sh\x00 -e\n", plain("/bin/sh")},
		{"#!/bin/sh -e\x00 -u\n", arg("/bin/sh", "-e")},
		{"#!\x00\n", plain("")},
		{"#!", plain("")},
		{"#!\n", nil},
		{"#! \t \n", nil},
		{"#!" + blank(254), nil},
		{"#!" + blank(253), nil},
		{"#!" + blank(252) + "\x00", plain("")},
		{"# !/bin/sh\n", nil},
		{"!#/bin/sh\n", nil},
		{"#", nil},
		{"", nil},
		// A name has to end within 256 bytes.
		{"#!" + x(252) + "\n", plain(x(252))},
		{"#!" + x(253) + "\n", plain(x(253))},
		{"#!" + x(254) + "\n", nil},
		{"#!" + x(252), plain(x(252))},
		{"#!" + x(253), plain(x(253))},
		{"#!" + x(253) + " x\n", plain(x(253))},
		{"#!" + x(254), nil},
		{"#!" + x(254) + " ", nil},
		{"#!" + blank(250) + "/x\n", plain("/x")},
		{"#!" + blank(250) + "/xyz\n", nil},
		// An argument is cut after 255.
		{"#!/x " + x(249) + "\n", arg("/x", x(249))},
		{"#!/x " + x(250) + "\n", arg("/x", x(250))},
		{"#!/x " + x(251) + "\n", arg("/x", x(250))},
		{"#!/x " + x(249) + "  y\n", arg("/x", x(249))},
		{"#!/x" + blank(252) + "y\n", plain("/x")},
		{"#!/x" + blank(251) + "y\n", plain("/x")},
		{"#!/x" + blank(250) + "y\n", arg("/x", "y")},
	} {
		got, err := Shebang([]byte(tt.head))
		if tt.want == nil || tt.want.Interp == "" {
			want := syscall.ENOEXEC
			if tt.want != nil {
				want = syscall.EACCES
			}
			if err == nil || Errno(err) != want {
				t.Errorf("Shebang(%q) = %+v, %v, want %v", tt.head, got, err, want)
			}
			continue
		}
		if err != nil || got != *tt.want {
			t.Errorf("Shebang(%q) = %+v, %v, want %+v", tt.head, got, err, *tt.want)
		}
	}
}

func TestArgs(t *testing.T) {
	for _, tt := range []struct {
		script Script
		argv   []string
		want   []string
	}{
		{Script{"/bin/sh", "", false}, []string{"a", "b"}, []string{"/bin/sh", "./s", "b"}},
		{Script{"/bin/sh", "-e", true}, []string{"a", "b", ""}, []string{"/bin/sh", "-e", "./s", "b", ""}},
		{Script{"/bin/sh", "", true}, []string{"a"}, []string{"/bin/sh", "", "./s"}},
		{Script{"/bin/sh", "", false}, nil, []string{"/bin/sh", "./s"}},
	} {
		if diff := cmp.Diff(tt.want, tt.script.Args("./s", tt.argv)); diff != "" {
			t.Errorf("%+v.Args(./s, %q): -want +got:\n%s", tt.script, tt.argv, diff)
		}
	}
}

func TestIsScript(t *testing.T) {
	for head, want := range map[string]bool{"": false, "#": false, "#!": true, "#!x": true, "\x7fELF": false} {
		if got := IsScript([]byte(head)); got != want {
			t.Errorf("IsScript(%q) = %v, want %v", head, got, want)
		}
	}
}

// FuzzShebang holds what follows from the kernel's buffer: nothing behind it or
// behind a newline counts, and the words are words of the line.
func FuzzShebang(f *testing.F) {
	for _, head := range []string{"#!/bin/sh -e\n", "#!/bin/sh ", "#! \x00\n", "#!" + strings.Repeat("x", 254), "#!a\tb \x00 c\n"} {
		f.Add([]byte(head))
	}
	f.Fuzz(func(t *testing.T, head []byte) {
		got, err := Shebang(head)
		if err != nil && got != (Script{}) || err == nil && !IsScript(head) {
			t.Fatalf("Shebang(%q) = %+v, %v", head, got, err)
		}
		if strings.ContainsAny(got.Interp, " \t\n\x00") || strings.ContainsAny(got.Arg, "\n\x00") || len(got.Interp)+len(got.Arg) > 253 ||
			!strings.HasPrefix(strings.TrimLeft(string(head[min(2, len(head)):]), " \t"), got.Interp) {
			t.Errorf("Shebang(%q) = %+v", head, got)
		}
		full := append([]byte{}, head[:min(len(head), scriptHead)]...)
		full = append(full, make([]byte, scriptHead-len(full))...)
		if again, err2 := Shebang(append(full, "\n#!x"...)); again != got || (err == nil) != (err2 == nil) {
			t.Errorf("Shebang(%q) = %+v, %v, with more behind the buffer %+v, %v", head, got, err, again, err2)
		}
		line, _, found := strings.Cut(string(full), "\n")
		if cut, err2 := Shebang([]byte(line + "\n")); found && (cut != got || (err == nil) != (err2 == nil)) {
			t.Errorf("Shebang(%q) = %+v, %v, for its line alone %+v, %v", head, got, err, cut, err2)
		}
	})
}
