package tracer

import (
	"strings"
	"testing"
)

func TestSetKernel(t *testing.T) {
	long, longest := strings.Repeat("x", 65), strings.Repeat("x", 64)
	for _, tt := range []struct{ text, want string }{
		{"3.4.0", "s n 3.4.0 v m d"},
		{longest, "s n " + longest + " v m d"},
		{long, ""},
		{"a\x00b", ""},
		{`\Linux\host\6.1\#1 SMP\aarch64\local\-1\`, "Linux host 6.1 #1 SMP aarch64 local"},
		{`\Linux\host\6.1\v2\x86_64\local\0x12\`, "Linux host 6.1 v2 x86_64 local"},
		{`\Linux\host\6.1\v2\aarch64\local\`, "Linux host 6.1 v2 aarch64 local"},
		{`\\host\\\\\\`, "s host r v m d"},
		{`\\host`, "s host r v m d"},
		{`\`, "s n r v m d"},
		{`\\\\\\\x\`, ""},
		{`\a\b\c\d\e\f\1\g\`, ""},
		{`\` + longest + `\b`, longest + " b r v m d"},
		{`\` + long + `\b`, ""},
		{"", "s n  v m d"},
	} {
		u := new(utsname)
		for field, value := range []string{"s", "n", "r", "v", "m", "d"} {
			if err := u.set(field, value); err != nil {
				t.Fatal(err)
			}
		}
		err := u.setKernel(tt.text)
		var got []string
		for field := range utsFields {
			got = append(got, u.get(field))
		}
		if tt.want == "" && err == nil {
			t.Errorf("setKernel(%q) = %q, want an error", tt.text, got)
		}
		if tt.want != "" && (err != nil || strings.Join(got, " ") != tt.want) {
			t.Errorf("setKernel(%q) = %q, %v, want %q", tt.text, got, err, tt.want)
		}
	}
}

// A shorter name leaves nothing of the longer one before.
func TestSetName(t *testing.T) {
	u := new(utsname)
	for _, name := range []string{"longer", "short", ""} {
		if err := u.set(utsNode, name); err != nil || u.get(utsNode) != name {
			t.Errorf("set(%q) = %v, get() = %q", name, err, u.get(utsNode))
		}
	}
	if *u != (utsname{}) {
		t.Errorf("after an empty name: %q, want zeros", u)
	}
}
