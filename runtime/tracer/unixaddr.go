// Addresses of Unix sockets, as bytes of struct sockaddr_un. A path of 108 bytes
// fills sun_path and has no NUL; the kernel takes it all the same, counts the NUL
// that it adds, and so reports a length of 111 for a structure of 110.

package tracer

import (
	"bytes"
	"encoding/binary"
)

const (
	afUnix      = 1
	sunPath     = 2                  // offset of sun_path, behind the family
	pathRoom    = 108                // bytes of sun_path
	unixMax     = sunPath + pathRoom // the longest address that the kernel takes
	sockaddrMax = 128                // struct sockaddr_storage
)

// family is an address's; 0 of one that has none.
func family(addr []byte) uint16 {
	if len(addr) < sunPath {
		return 0
	}
	return binary.NativeEndian.Uint16(addr)
}

// unixPath returns the path in an address, as the kernel reads it: up to a NUL or
// the end. There is none in an address of another family, without a name, of the
// abstract namespace, or of a length that the kernel refuses.
func unixPath(addr []byte) (path []byte, ok bool) {
	if len(addr) <= sunPath || len(addr) > unixMax || family(addr) != afUnix || addr[sunPath] == 0 {
		return nil, false
	}
	path, _, _ = bytes.Cut(addr[sunPath:], []byte{0})
	return path, true
}

// reportedPath is unixPath of an address that the kernel wrote, which may count
// the NUL behind a full sun_path.
func reportedPath(addr []byte) (path []byte, ok bool) {
	return unixPath(addr[:min(len(addr), unixMax)])
}

// putUnix writes the address of a path and returns its length as the kernel
// reports it, with the NUL; only unixMax of it may be given to the kernel.
// Preconditions: the path has pathRoom bytes at most.
func putUnix(buf *[sockaddrMax]byte, path []byte) (n int) {
	binary.NativeEndian.PutUint16(buf[:], afUnix)
	n = sunPath + copy(buf[sunPath:unixMax], path)
	buf[n] = 0
	return n + 1
}
