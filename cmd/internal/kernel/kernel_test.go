package kernel

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestModuleName(t *testing.T) {
	for file, want := range map[string]string{
		"lib/modules/6.12/kernel/fs/erofs/erofs.ko":            "erofs",
		"usr/lib/modules/7/kernel/crypto/crc32c-generic.ko.xz": "crc32c_generic",
		"kernel/drivers/virtio/virtio_pci.ko":                  "virtio_pci",
		"lib/modules/6.12/modules.builtin":                     "",
		"ko":                                                   "",
		"a.ko.gz":                                              "",
	} {
		if got := moduleName(file); got != want {
			t.Errorf("moduleName(%s) = %q, want %q", file, got, want)
		}
	}
}

func TestNeeds(t *testing.T) {
	for data, want := range map[string][]string{
		"\x7fELF\x00license=GPL\x00depends=virtio,virtio_ring\x00intree=Y\x00": {"virtio", "virtio_ring"},
		"x\x00depends=\x00y":                            nil,
		"depends=a-b\x00softdep=pre: c d-e post: f\x00": {"a_b", "c", "d_e"},
		"softdep=post: f\x00":                           nil,
		"xdepends=a\x00":                                nil,
		"":                                              nil,
	} {
		if diff := cmp.Diff(want, needs([]byte(data))); diff != "" {
			t.Errorf("needs(%q): -want +got:\n%s", data, diff)
		}
	}
}

// modules is a tree out of lines "name: needs".
func modules(in string, lines ...string) tree {
	t := tree{builtin: builtin(in), files: map[string]string{}}
	for _, line := range lines {
		name, needs, _ := strings.Cut(line, ": ")
		t.files[name] = "\x00depends=" + strings.ReplaceAll(needs, " ", ",") + "\x00"
	}
	t.read = func(file string) ([]byte, error) { return []byte(file), nil }
	return t
}

func TestOrder(t *testing.T) {
	want := []driver{{"sum", true}, {"disk", false}, {"files", false}}
	for _, tt := range []struct {
		name string
		tree tree
		want string
	}{
		{"as asked", modules("", "files", "disk"), "disk files"},
		{"needs first", modules("", "files: crc", "disk: bus", "bus: core", "core", "crc"), "core bus disk crc files"},
		{"each once", modules("", "files: bus", "disk: bus", "bus"), "bus disk files"},
		{"built in", modules("kernel/disk.ko\nkernel/bus.ko\n", "files: bus"), "files"},
		{"optional and there", modules("", "sum", "files", "disk"), "sum disk files"},
		{"circle", modules("", "files", "disk: bus", "bus: disk"), "bus disk files"},
		{"a need that is nowhere", modules("", "files", "disk: none"), "disk files"},
	} {
		got, err := tt.tree.order(want)
		var names []string
		for _, m := range got {
			names = append(names, m.name)
		}
		if s := strings.Join(names, " "); s != tt.want || err != nil {
			t.Errorf("%s: order = %q, %v, want %q", tt.name, s, err, tt.want)
		}
	}
}

func TestOrderRefuses(t *testing.T) {
	if got, err := modules("", "files").order([]driver{{"disk", false}}); !errors.Is(err, errNoDriver) || got != nil {
		t.Errorf("order without a driver = %v, %v, want %v", got, err, errNoDriver)
	}
	unreadable := errors.New("unreadable")
	m := modules("", "disk")
	m.read = func(string) ([]byte, error) { return nil, unreadable }
	if got, err := m.order([]driver{{"disk", false}}); !errors.Is(err, unreadable) || got != nil {
		t.Errorf("order of an unreadable module = %v, %v, want %v", got, err, unreadable)
	}
}

func TestFollow(t *testing.T) {
	for need, want := range map[string]bool{
		"linux-image-6.12.117+deb13-arm64": true,
		"linux-modules-7.2.12+deb14-arm64": true,
		"linux-binary-7.2.12+deb14-arm64":  true,
		"linux-base-arm64":                 true,
		"linux-base":                       false,
		"kmod":                             false,
		"initramfs-tools":                  false,
	} {
		if got := Follow(need); got != want {
			t.Errorf("Follow(%s) = %v, want %v", need, got, want)
		}
	}
}

func TestByName(t *testing.T) {
	for _, name := range append(Names(), Default) {
		if k, err := ByName(name); err != nil || k.Name != name {
			t.Errorf("ByName(%s) = %v, %v", name, k, err)
		}
	}
	if _, err := ByName("4.19"); err == nil || !strings.Contains(err.Error(), "6.12-16k") {
		t.Errorf("ByName(4.19) = %v, want an error that names the choices", err)
	}
}

// TestKey: no two kernels have the same.
func TestKey(t *testing.T) {
	seen := map[string]string{}
	for _, k := range Kernels {
		if other, ok := seen[k.Key()]; ok {
			t.Errorf("kernels %s and %s have one key", k.Name, other)
		}
		seen[k.Key()] = k.Name
	}
}
