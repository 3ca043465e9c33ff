//go:build linux && arm64

// A pin is a descriptor of the tracer on what a path resolved to. The kernel opens
// it without following a symlink and the call is made on it, so nothing that is
// renamed or replaced between the look and the call matters, and the proof that a
// path meets no symlink costs no call of its own.

package tracer

import (
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"svcrelay/runtime/guestfs"
	"svcrelay/runtime/sysno"
)

// A pinKind says how a call of the tracer's names its file.
type pinKind uint8

const (
	pinText   pinKind = iota // by host path: what is not opened here
	pinFile                  // the descriptor itself, with AT_EMPTY_PATH
	pinLink                  // /proc/self/fd/N: calls that take no descriptor
	pinParent                // a name in the descriptor's directory
)

// A pin is valid until release.
type pin struct {
	kind pinKind
	fd   int
	name []byte // of pinParent and pinLink, a NUL behind it
	link [32]byte
}

const (
	oDirectory = 0o40000
	oLargefile = 0o400000
)

// openHow is struct open_how.
type openHow struct{ Flags, Mode, Resolve uint64 }

// An anchor is a bind's host side, kept open from the start.
type anchor struct {
	fd   int
	host string
}

// openAnchors opens the root and the binds. One that cannot be opened is reached
// by its path.
func openAnchors(hosts []string) []anchor {
	anchors := make([]anchor, len(hosts))
	for i, host := range hosts {
		anchors[i] = anchor{-1, host}
		if host != "" && !strings.HasPrefix(host, "/proc") {
			if fd, err := syscall.Open(host, oPath|oNofollow|oDirectory|oCloexec, 0); err == nil {
				anchors[i].fd = fd
			}
		}
	}
	return anchors
}

// openPlain opens a host path, behind which there is a NUL, if it meets no symlink.
func (t *Tracer) openPlain(host []byte, via guestfs.Via, flags uint64) (int, syscall.Errno) {
	dir, name := fdcwd, host
	if a := t.anchorOf(via); a.fd >= 0 && len(host) > len(a.host)+1 && string(host[:len(a.host)]) == a.host && host[len(a.host)] == '/' {
		if rest := host[len(a.host)+1:]; rest[0] != '/' {
			dir, name = uintptr(a.fd), rest
		}
	}
	how := openHow{Flags: flags | oPath | oCloexec, Resolve: resolveNoSymlinks}
	for {
		fd, e := errnoCall(sysno.Openat2, dir, pathPointer(name), uintptr(unsafe.Pointer(&how)), unsafe.Sizeof(how))
		if e != syscall.EAGAIN { // a rename ran meanwhile
			return int(fd), e
		}
	}
}

func (t *Tracer) anchorOf(via guestfs.Via) anchor {
	if via == 0 || int(via) > len(t.anchors) {
		return anchor{fd: -1}
	}
	return t.anchors[via-1]
}

// pinPath opens what a path resolved to as a call of that kind takes it.
func (t *Tracer) pinPath(p *pin, found *guestfs.Result, kind pinKind, follow bool) syscall.Errno {
	if kind == pinParent {
		return t.pinDir(p, found)
	}
	flags := uint64(0)
	if !follow {
		flags = oNofollow
	}
	fd, e := t.openPlain(found.Host, found.Via, flags)
	if e != 0 {
		return e
	}
	p.kind, p.fd = kind, fd
	p.name = append(p.link[:0], 0)[:0]
	if kind == pinLink {
		p.name = strconv.AppendInt(append(p.name, "/proc/self/fd/"...), int64(fd), 10)
		p.name = append(p.name, 0)[:len(p.name)]
	}
	return 0
}

// pinDir opens the directory of a path's last component, which may have slashes
// behind it.
func (t *Tracer) pinDir(p *pin, found *guestfs.Result) syscall.Errno {
	host := found.Host
	end := len(host)
	for end > 0 && host[end-1] == '/' {
		end--
	}
	for end > 0 && host[end-1] != '/' {
		end--
	}
	if end <= 1 { // in the host's root
		p.kind, p.fd, p.name = pinText, -1, host
		return 0
	}
	host[end-1] = 0
	fd, e := t.openPlain(host[:end-1], found.Dir, oDirectory)
	host[end-1] = '/'
	if e != 0 {
		return e
	}
	p.kind, p.fd, p.name = pinParent, fd, host[end:]
	return 0
}

func (p *pin) release() {
	if p.fd >= 0 {
		syscall.RawSyscall(sysno.Close, uintptr(p.fd), 0, 0)
		p.fd = -1
	}
}

// probePins reports whether this kernel, and the policy around the tracer, have
// what pins need: openat2, and faccessat2 with AT_EMPTY_PATH. It asks nothing of a
// policy that may kill for the question.
func (t *Tracer) probePins() bool {
	if t.filtered {
		return false
	}
	var p pin
	root := guestfs.Result{Host: append([]byte("/"), 0)[:1]}
	if t.pinPath(&p, &root, pinFile, true) != 0 {
		return false
	}
	defer p.release()
	_, e := errnoCall(sysno.Faccessat2, uintptr(p.fd), pathPointer(append([]byte(nil), 0)), 0, atEmptyPath)
	return e == 0
}
