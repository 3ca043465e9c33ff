package command

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"svcrelay/runtime/tracer"
)

// options are the defaults, changed.
func options(change func(*runOptions)) runOptions {
	o := runOptions{root: "/"}
	change(&o)
	return o
}

// TestWords: every spelling of every word.
func TestWords(t *testing.T) {
	for _, tt := range []struct {
		lines string // the same, split at " | "
		want  runOptions
	}{
		{"-r x | --rootfs=x | --rootfs x", options(func(o *runOptions) { o.root = "x" })},
		{"-b a:b | -m a:b | --bind=a:b | --mount=a:b | --bind a:b | --mount a:b",
			options(func(o *runOptions) { o.binds = []bindWord{{text: "a:b"}} })},
		{"-w x | --cwd=x | --pwd=x | --cwd x | --pwd x", options(func(o *runOptions) { o.cwd = "x" })},
		{"-0 | --root-id | -i 0:0 | -i 5:6 -0", options(func(o *runOptions) { o.ids = &tracer.IDs{} })},
		{"-i 5:4294967294 | --change-id=5:4294967294 | --change-id 5:4294967294 | -0 -i 5:4294967294",
			options(func(o *runOptions) { o.ids = &tracer.IDs{UID: 5, GID: 4294967294} })},
		{`-k 5.4=\x | --kernel-release=5.4=\x | --kernel-release 5.4=\x`, options(func(o *runOptions) { o.kernel = `5.4=\x` })},
		{"--kill-on-exit", options(func(o *runOptions) { o.killOnExit = true })},
		{"-v -1 | --verbose=-1 | --verbose -1 | -v 3 -v -1", options(func(o *runOptions) { o.verbose, o.loud = tracer.Silent, true })},
		{"-v 2 | --verbose=2", options(func(o *runOptions) { o.verbose, o.loud = tracer.Translations, true })},
		{"--stats | --stats=text | --stats=", options(func(o *runOptions) { o.stats = statsText })},
		{"--stats=json", options(func(o *runOptions) { o.stats = statsJSON })},
		{"-h | --help | --usage", options(func(o *runOptions) { o.ask = askHelp })},
		{"-V | --version | --about", options(func(o *runOptions) { o.ask = askVersion })},
		{"-h --nonsense -r", options(func(o *runOptions) { o.ask = askHelp })},
		{"-l | --link2symlink", options(func(o *runOptions) { o.notes = []string{"-l has no effect"} })},
		{"-L", options(func(o *runOptions) { o.notes = []string{"-L has no effect"} })},
		{"-H", options(func(o *runOptions) { o.notes = []string{"-H has no effect"} })},
		{"--sysvipc", options(func(o *runOptions) { o.notes = []string{"--sysvipc has no effect"} })},
		{"--ashmem-memfd", options(func(o *runOptions) { o.notes = []string{"--ashmem-memfd has no effect"} })},
		{"--tcsetsf2tcsets", options(func(o *runOptions) { o.notes = []string{"--tcsetsf2tcsets has no effect"} })},
		{"--tcsetsf2tcsetsw", options(func(o *runOptions) { o.notes = []string{"--tcsetsf2tcsetsw has no effect"} })},
		{"", options(func(*runOptions) {})},
	} {
		for _, line := range strings.Split(tt.lines, " | ") {
			got, err := parseRun(strings.Fields(line))
			if len(got.argv) > 0 {
				t.Errorf("run %s: the program is %q", line, got.argv)
			}
			got.argv = nil
			if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(runOptions{}, bindWord{})); diff != "" || err != nil {
				t.Errorf("run %s: error %v, -want +got:\n%s", line, err, diff)
			}
		}
	}
}

// TestWordsAreOneEach: a spelling means one thing.
func TestWordsAreOneEach(t *testing.T) {
	seen := map[string]bool{}
	for _, w := range runWords {
		for _, name := range w.names {
			if seen[name] || !strings.HasPrefix(name, "-") || len(name) < 2 || len(name) > 2 && name[1] != '-' {
				t.Errorf("%s: twice, or no word", name)
			}
			seen[name] = true
		}
	}
}

func TestProgramEndsTheWords(t *testing.T) {
	for _, tt := range []struct {
		args, want []string
	}{
		{[]string{"-r", "x", "ls", "-h", "--", "-r"}, []string{"ls", "-h", "--", "-r"}},
		{[]string{"--", "-h"}, []string{"-h"}},
		{[]string{"--", "--"}, []string{"--"}},
		{[]string{"--stats", "json"}, []string{"json"}},
		{[]string{"", "-h"}, []string{"", "-h"}},
		{[]string{"-0", "-r"[1:]}, []string{"r"}},
		{[]string{"--"}, []string{}},
	} {
		o, err := parseRun(tt.args)
		if diff := cmp.Diff(tt.want, o.argv); diff != "" || err != nil {
			t.Errorf("run %q: error %v, argv -want +got:\n%s", tt.args, err, diff)
		}
	}
}

func TestUsualBinds(t *testing.T) {
	o, err := parseRun([]string{"-b", "a", "-S", "root", "-b", "b"})
	if err != nil || o.root != "root" || o.ids == nil || *o.ids != (tracer.IDs{}) {
		t.Fatalf("-S root: root %s, ids %v, error %v", o.root, o.ids, err)
	}
	var got []string
	for _, b := range o.binds {
		if b.usual != slices.Contains(append(packageBinds, "root"), b.text) {
			t.Errorf("-S root: %s is usual: %v", b.text, b.usual)
		}
		got = append(got, b.text)
	}
	want := slices.Concat([]string{"a"}, packageBinds, []string{"root", "b"})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-S root: binds -want +got:\n%s", diff)
	}
	if o, err := parseRun([]string{"-R", "root"}); err != nil || o.root != "root" || o.ids != nil || len(o.binds) != len(fullBinds)+1 {
		t.Errorf("-R root: %+v, error %v", o, err)
	}
}

func TestWrongWords(t *testing.T) {
	for _, tt := range []struct{ line, want string }{
		{"-", "unknown option -"},
		{"---", "unknown option ---"},
		{"-x", "unknown option -x"},
		{"--nonsense=1 -h", "unknown option --nonsense"},
		{"-r=x", "unknown option -r=x: -r and its value are separate words"},
		{"-bx:y", "unknown option -bx:y: -b and its value are separate words"},
		{"-0i", "unknown option -0i"},
		{"-root", "unknown option -root: -r and its value are separate words"},
		{"--0", "unknown option --0"},
		{"--r=x", "unknown option --r"},
		{"-r", "-r needs a value: PATH"},
		{"--bind", "--bind needs a value: HOST[:GUEST[!]]"},
		{"-0 -v", "-v needs a value: LEVEL"},
		{"--rootfs=", "--rootfs=: no path"},
		{"--kill-on-exit=1", "--kill-on-exit takes no value"},
		{"--help=1", "--help takes no value"},
		{"-v x", "-v x: not a number"},
		{"--verbose=1x", "--verbose=1x: not a number"},
		{"-v 99999999999999999999", "-v 99999999999999999999: not a number"},
		{"-i 5", "-i 5: not UID:GID"},
		{"-i 5:", "-i 5:: not UID:GID"},
		{"-i :5", "-i :5: not UID:GID"},
		{"-i 5:6:7", "-i 5:6:7: not UID:GID"},
		{"-i 5:6x", "-i 5:6x: not UID:GID"},
		{"-i -1:0", "-i -1:0: not UID:GID"},
		{"-i +1:0", "-i +1:0: not UID:GID"},
		{"-i 0:4294967295", "-i 0:4294967295: not UID:GID"},
		{"-i 4294967296:0", "-i 4294967296:0: not UID:GID"},
		{"--kernel-release=", "--kernel-release=: no release"},
		{"--stats=xml", "--stats=xml: neither text nor json"},
		{"--stats=JSON", "--stats=JSON: neither text nor json"},
		{"-q qemu", "-q qemu: not supported"},
		{"--qemu=qemu", "--qemu=qemu: not supported"},
		{"--mixed-mode=1", "--mixed-mode=1: not supported"},
		{"-p", "-p: not supported"},
		{"-n", "-n: not supported"},
		{"--netcoop", "--netcoop: not supported"},
		{"-P file", "-P file: not supported"},
	} {
		if _, err := parseRun(strings.Fields(tt.line)); err == nil || err.Error() != tt.want {
			t.Errorf("run %s: %v, want %s", tt.line, err, tt.want)
		}
	}
}

// FuzzWords: whatever the words are, they are understood or refused; the program
// is what is left of them, and a reading without a question took whole words.
func FuzzWords(f *testing.F) {
	for _, line := range []string{
		"-r x -b a:b! -w y -0 ls -h", "-i 1:2 --stats=json -v -1 -- -x", "-R x -S y --kill-on-exit", "--rootfs= -", "-k",
	} {
		f.Add(strings.ReplaceAll(line, " ", "\x00"))
	}
	f.Fuzz(func(t *testing.T, text string) {
		args := strings.Split(text, "\x00")
		o, err := parseRun(args)
		if err != nil || o.ask != askNothing {
			return
		}
		read := args[:len(args)-len(o.argv)]
		if !slices.Equal(args[len(read):], o.argv) {
			t.Fatalf("run %q: the program is %q", args, o.argv)
		}
		if again, err := parseRun(read); err != nil || len(again.argv) > 0 {
			t.Errorf("run %q: %v, and a program %q", read, err, again.argv)
		}
		if o.root == "" || o.ids != nil && (o.ids.UID == 1<<32-1 || o.ids.GID == 1<<32-1) {
			t.Errorf("run %q: root %q, ids %v", args, o.root, o.ids)
		}
	})
}
