package machine

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"svcrelay/cmd/internal/vm"
)

func TestOptions(t *testing.T) {
	for _, tt := range []struct {
		options     Options
		name, model string
	}{
		{Options{}, "6.12_cortex-a76_1_1024", "cortex-a76"},
		{Options{CPU: "max", Cores: 2}, "6.12_max_2_1024", "max,pauth-impdef=on"},
		{Options{Kernel: "7-16k", CPU: "neoverse-n1", MiB: 2048}, "7-16k_neoverse-n1_1_2048", "neoverse-n1"},
		{Options{Icount: true}, "6.12_cortex-a76_1_1024_icount", "cortex-a76"},
		{Options{SELinux: true}, "6.12_cortex-a76_1_1024_selinux", "cortex-a76"},
		{Options{CPU: "max,sve=off"}, "6.12_max-sve-off_1_1024", "max,sve=off"},
		{Options{Append: "a/b=../c d"}, "6.12_cortex-a76_1_1024_a-b-..-c-d", "cortex-a76"},
	} {
		o := tt.options.full()
		if o.name() != tt.name || o.model() != tt.model {
			t.Errorf("%+v: name %s, model %s, want %s, %s", tt.options, o.name(), o.model(), tt.name, tt.model)
		}
	}
}

func TestCommandLine(t *testing.T) {
	const usual = "console=ttyAMA0 quiet panic=-1 kpti=off nokaslr rig.base=x rig.roots=x,y"
	for more, want := range map[string]string{"": usual, "a=b c": usual + " a=b c"} {
		if got := (Options{Append: more}).commandLine("x", []string{"x", "y"}); got != want {
			t.Errorf("commandLine with %q = %q, want %q", more, got, want)
		}
	}
}

func TestModuleOf(t *testing.T) {
	dir := t.TempDir()
	deep := filepath.Join(dir, "a", "b")
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	if got, err := moduleOf(deep); !errors.Is(err, errNoModule) {
		t.Errorf("moduleOf outside = %q, %v, want %v", got, err, errNoModule)
	}
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, at := range []string{dir, deep} {
		if got, err := moduleOf(at); got != dir || err != nil {
			t.Errorf("moduleOf(%s) = %q, %v, want %s", at, got, err, dir)
		}
	}
}

// TestLocked: while a maker works nobody else has its lock, and others go on.
func TestLocked(t *testing.T) {
	r := &Rig{Dir: t.TempDir()}
	free := func(name string) bool {
		f, err := os.OpenFile(filepath.Join(r.Dir, "locks", name), os.O_CREATE|os.O_RDWR, 0o644)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil
	}
	err := r.locked("a", func() error {
		if free("a") || !free("b") {
			t.Errorf("inside a: a is free %v, b is free %v", free("a"), free("b"))
		}
		return r.locked("b", func() error { return nil })
	})
	if err != nil || !free("a") {
		t.Errorf("after a: error %v, a is free %v", err, free("a"))
	}
	want := errors.New("failed")
	if err := r.locked("a", func() error { return want }); !errors.Is(err, want) || !free("a") {
		t.Errorf("locked = %v, want %v and the lock free", err, want)
	}
}

// TestKey: each ingredient counts.
func TestKey(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
		return name
	}
	t.Setenv("PATH", dir)
	emulator := file("qemu-system-aarch64", "e")
	in := ingredients{agent: file("agent", "a")}
	in.kernel.Image = file("Image", "k")
	in.kernel.Modules = []string{file("m.ko", "m")}
	in.config.Disks = append(in.config.Disks, vm.Disk{Name: "r", File: file("r.erofs", "r")})
	key := func() string {
		k, err := in.key()
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	seen := map[string]string{key(): "the first"}
	if _, ok := seen[key()]; !ok {
		t.Error("one machine has two keys")
	}
	note := func(what string) {
		k := key()
		if other, ok := seen[k]; ok {
			t.Errorf("%s does not count: the key is that of %s", what, other)
		}
		seen[k] = what
	}
	for _, name := range []string{emulator, in.agent, in.kernel.Image, in.kernel.Modules[0], in.config.Disks[0].File} {
		file(filepath.Base(name), "changed")
		note(filepath.Base(name))
	}
	in.config.Icount = true
	note("icount")
	in.config.Append = "x"
	note("command line")
	if err := os.Remove(emulator); err != nil {
		t.Fatal(err)
	}
	if _, err := in.key(); err == nil || !strings.Contains(err.Error(), "package qemu-system-arm") {
		t.Errorf("key without an emulator = %v, want the package's name", err)
	}
}

// TestPack: what a kernel unpacks first.
func TestPack(t *testing.T) {
	dir := t.TempDir()
	in := ingredients{agent: filepath.Join(dir, "agent")}
	in.kernel.Modules = []string{filepath.Join(dir, "00-a.ko")}
	for _, name := range append(in.kernel.Modules, in.agent) {
		if err := os.WriteFile(name, []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var b strings.Builder
	if err := in.pack(&b); err != nil {
		t.Fatal(err)
	}
	at := 0
	for _, want := range []string{"dev/console\x00", "init\x00", in.agent, "modules\x00", "modules/00-a.ko\x00", in.kernel.Modules[0], "TRAILER!!!"} {
		i := strings.Index(b.String()[at:], want)
		if i < 0 {
			t.Fatalf("no %q from %#x on", want, at)
		}
		at += i
	}
	if b.Len()%4 != 0 {
		t.Errorf("the archive has %#x bytes, want a multiple of 4", b.Len())
	}
}
