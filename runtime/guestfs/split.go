// A guest path may have 4095 bytes and its host path a root's length more, which
// no call of the kernel takes in one piece.
package guestfs

import "bytes"

// Split cuts a host path that is too long for the kernel: dir is opened first,
// O_PATH, and rest is relative to it. A path that fits comes back as rest, with an
// empty dir. Rest may be too long again, and is split like the path. The call that
// gets it must take a descriptor or run in dir; where neither is possible the
// answer is ENAMETOOLONG.
//
// Only a name of PathMax bytes cannot be split, and there is none: rest is then
// returned as it is, for the kernel to refuse.
func Split(host []byte) (dir, rest []byte) {
	if len(host) < PathMax {
		return nil, host
	}
	end := bytes.LastIndexByte(host[:PathMax], '/')
	if end <= 0 {
		return nil, host
	}
	rest = host[end:]
	return host[:end], rest[slashes(rest):]
}
