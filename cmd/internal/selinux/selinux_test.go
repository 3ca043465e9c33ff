package selinux

import (
	"encoding/binary"
	"strings"
	"testing"
)

// TestCompile: what comes out is a kernel policy of the version asked for.
func TestCompile(t *testing.T) {
	const magic, name = 0xf97cff8c, "SE Linux"
	p, err := Compile()
	if err != nil {
		t.Fatal(err)
	}
	if got := binary.LittleEndian.Uint32(p); got != magic || string(p[8:16]) != name || binary.LittleEndian.Uint32(p[16:]) != 33 {
		t.Errorf("policy begins with %x", p[:20])
	}
	for _, domain := range []string{App, App27, AppNoExecmem, AppData} {
		if name := domain[strings.LastIndexByte(domain, ':')+1:]; !strings.Contains(string(p), name) {
			t.Errorf("policy has no type %s", name)
		}
	}
}

func TestCompileWithoutCompiler(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, err := Compile(); err == nil || !strings.Contains(err.Error(), "package secilc") {
		t.Errorf("Compile = %v, want the package's name", err)
	}
}
