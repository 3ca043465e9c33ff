// Directories that a symlink leads to, as programs name them: on a merged /usr
// nearly every library is opened as /lib/..., and an open that meets a symlink costs
// two stops before it is made again. This is a guess that costs nothing but time
// when it is wrong.

package tracer

import "bytes"

// linkedDirs is a set of keys; one may push another out.
type linkedDirs [256]uint32

// linkedKey is of the directory part of a path and of where it starts, never 0.
func linkedKey(base, name []byte) uint32 {
	const basis, prime = 2166136261, 16777619 // FNV-1a
	key := uint32(basis)
	for _, c := range base {
		key = (key ^ uint32(c)) * prime
	}
	for _, c := range name[:bytes.LastIndexByte(name, '/')+1] {
		key = (key ^ uint32(c)) * prime
	}
	return key | 1
}

func (d *linkedDirs) slot(key uint32) *uint32 { return &d[key>>16&255] }

func (d *linkedDirs) has(key uint32) bool { return *d.slot(key) == key }

// note says whether a path there met a symlink.
func (d *linkedDirs) note(key uint32, linked bool) {
	switch slot := d.slot(key); {
	case linked:
		*slot = key
	case *slot == key:
		*slot = 0
	}
}
