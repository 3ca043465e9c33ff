//go:build linux && arm64

// Guest memory. A read never crosses a 4 KiB border further than it must: what
// is mapped behind a string is none of its business.

package tracer

import (
	"bytes"
	"syscall"
)

// pathMax is PATH_MAX: a path and its NUL fit in so many bytes.
const pathMax = 4096

// readPath reads a NUL-terminated path at addr into buf and returns it without
// its NUL. EFAULT when memory ends first, ENAMETOOLONG when it does not fit.
func readPath(tid int, addr uint64, buf *[pathMax]byte) ([]byte, syscall.Errno) {
	for n := 0; n < pathMax; {
		want := min(pathMax-n, int(pathMax-addr%pathMax))
		if n == 0 {
			want = min(want, firstRead)
		}
		got := readMemory(tid, addr, buf[n:n+want])
		if i := bytes.IndexByte(buf[n:n+got], 0); i >= 0 {
			return buf[:n+i], 0
		}
		if got < want {
			return nil, syscall.EFAULT
		}
		n += got
		addr += uint64(got)
	}
	return nil, syscall.ENAMETOOLONG
}

// firstRead is what is read at first: nine paths in ten are shorter.
const firstRead = 128
