// Package kernel takes arm64 kernels for the test machine out of Debian
// packages: the image, and those modules without which the machine could not
// see its disks, roots and channel.
//
// It promises modules in the order in which they have to be loaded, and
// uncompressed, since 5.10 and 6.1 load no others. It refuses a kernel that has
// a needed driver neither built in nor as a module.
package kernel

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
)

// A Kernel is one choice.
type Kernel struct {
	Name    string
	Suite   string
	Package string // depends on the package that holds the image
}

// Default has the pages and the age of a phone's kernel of today.
const Default = "6.12"

// Kernels are all choices. Those named 16k have pages of 16 KiB. 7 is whatever
// testing has; its image and its modules are two packages.
var Kernels = []Kernel{
	{"5.10", "bullseye", "linux-image-arm64"},
	{"6.1", "bookworm", "linux-image-arm64"},
	{"6.12", "trixie", "linux-image-arm64"},
	{"6.12-16k", "trixie", "linux-image-arm64-16k"},
	{"7", "forky", "linux-image-arm64"},
	{"7-16k", "forky", "linux-image-arm64-16k"},
}

// Names of all kernels, in the order of Kernels.
func Names() []string {
	var names []string
	for _, k := range Kernels {
		names = append(names, k.Name)
	}
	return names
}

// ByName finds a kernel.
func ByName(name string) (Kernel, error) {
	for _, k := range Kernels {
		if k.Name == name {
			return k, nil
		}
	}
	return Kernel{}, fmt.Errorf("kernel %q: not one of %s", name, strings.Join(Names(), ", "))
}

// A driver is what the machine needs. Of optional ones some kernels have neither
// a module nor an entry in the list of what is built in.
type driver struct {
	name     string
	optional bool
}

// drivers are in the order of loading. erofs asks for a checksum by name, which
// no dependency tells, so that one comes first.
var drivers = []driver{
	{"crc32c_generic", true},
	{"virtio_pci", false},
	{"virtio_console", false},
	{"virtio_blk", false},
	{"erofs", false},
	{"overlay", false},
}

// parts are the packages that a kernel consists of.
var parts = []string{"linux-image-", "linux-base-", "linux-binary-", "linux-modules-"}

// Follow is the rule for the needs of a kernel's packages.
func Follow(need string) bool {
	return slices.ContainsFunc(parts, func(p string) bool { return strings.HasPrefix(need, p) })
}

// format is raised when the same packages make other files.
const format = 1

// Key changes when the files have to be made anew.
func (k Kernel) Key() string {
	h := sha256.Sum256(fmt.Appendf(nil, "%d %v %v", format, k, drivers))
	return fmt.Sprintf("%x", h[:8])
}
