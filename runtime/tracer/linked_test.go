package tracer

import "testing"

func TestLinkedDirs(t *testing.T) {
	var d linkedDirs
	lib, usr := linkedKey(nil, []byte("/lib/libc.so.6")), linkedKey(nil, []byte("/usr/lib/libc.so.6"))
	if lib != linkedKey(nil, []byte("/lib/libm.so.6")) {
		t.Error("two files of one directory have two keys, want one")
	}
	if lib == usr || lib == linkedKey([]byte("/r"), []byte("lib/x")) || usr == 0 {
		t.Error("two directories have one key, want two")
	}
	d.note(lib, true)
	d.note(usr, false)
	if !d.has(lib) || d.has(usr) {
		t.Errorf("has(lib) = %t, has(usr) = %t, want true and false", d.has(lib), d.has(usr))
	}
	d.note(usr, false)
	if !d.has(lib) {
		t.Error("a note about another directory took lib out, want it in")
	}
	d.note(lib, false)
	if d.has(lib) {
		t.Error("has(lib) after it met no symlink, want false")
	}
}
