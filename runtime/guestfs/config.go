// The guest target of a bind is resolved once, here, by the same walk as every
// path, with missing components let through: a target need not exist.
//
// A directory bound onto a symlink takes the symlink's place, a file bound onto
// one lies over what it leads to: proot's rules, which are not the kernel's.
package guestfs

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"syscall"
)

// A Bind shows a host path at a guest path.
type Bind struct {
	Host, Guest string
	// Literal: a symlink at Guest is not followed. Written as Guest with a !.
	Literal bool
}

// A Config says what a guest sees.
type Config struct {
	// Root is the host path of the guest's root.
	Root string
	// Binds in the order of the command line: the last wins for one guest path.
	// The order is of no further account: a bind below another is never hidden.
	Binds []Bind
	FS    FS
	Procs Procs // may be nil
}

// ErrBind is wrapped by the error for a bind that cannot be used.
var ErrBind = errors.New("cannot be bound")

// A BindError tells which bind of a Config cannot be used.
type BindError struct {
	Index int // in Config.Binds
	Bind  Bind
	Errno syscall.Errno
}

func (e *BindError) Error() string {
	return fmt.Sprintf("bind %s at %s: %v", e.Bind.Host, e.Bind.Guest, e.Errno)
}

func (e *BindError) Unwrap() []error { return []error{ErrBind, e.Errno} }

// ParseBind reads host or host:guest or host:guest!. A relative path, on either
// side, starts from cwd.
func ParseBind(word, cwd string) (Bind, error) {
	host, guest, _ := strings.Cut(word, ":")
	guest, literal := strings.CutSuffix(guest, "!")
	if host == "" {
		return Bind{}, fmt.Errorf("bind %q: no host path", word)
	}
	if guest == "" {
		guest = host
	}
	return Bind{Host: absolute(host, cwd), Guest: absolute(guest, cwd), Literal: literal}, nil
}

// absolute keeps .. and . as they are: a symlink may come before them.
func absolute(name, cwd string) string {
	if path.IsAbs(name) {
		return name
	}
	return cwd + "/" + name
}

// A Resolver turns paths of one guest. It never changes: new binds are a new one.
type Resolver struct {
	fs     FS
	prover Prover // nil when fs is none
	procs  Procs
	root   *bind
	binds  []*bind // by Via, less one
	at     map[string]entry
	// covered are the host paths that a bind lies over.
	covered map[string]bool
	hosts   hostIndex
	plan    bool // while it is made
}

// New looks at the root and the binds on the host. Its error is a *BindError when
// a bind is to blame.
func New(c Config) (*Resolver, error) {
	host := hostResolver(c.FS)
	root, errno := host.real(c.Root)
	if errno == 0 && !root.dir {
		errno = syscall.ENOTDIR
	}
	if errno != 0 {
		return nil, fmt.Errorf("root %s: %w", c.Root, errno)
	}
	r := &Resolver{fs: c.FS, procs: c.Procs, plan: true}
	r.setBinds([]*bind{root})
	for _, i := range byDepth(c.Binds) {
		if errno := r.add(host, c.Binds[i], i); errno != 0 {
			return nil, &BindError{Index: i, Bind: c.Binds[i], Errno: errno}
		}
	}
	r.plan = false
	r.prover, _ = c.FS.(Prover)
	return r, nil
}

// byDepth puts outer targets before inner ones, whose symlinks they may hold.
func byDepth(binds []Bind) []int {
	order := make([]int, len(binds))
	for i := range order {
		order[i] = i
	}
	depth := func(i int) int { return strings.Count(path.Clean(binds[i].Guest), "/") }
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(depth(a), depth(b)) })
	return order
}

// hostResolver walks the host itself.
func hostResolver(fs FS) *Resolver {
	r := &Resolver{fs: fs, plan: true}
	r.setBinds([]*bind{{dir: true}})
	return r
}

// real finds the true path of a bind's host side. What lies behind a procfs link
// is another thing for each caller, so the path stays there as it is.
func (r *Resolver) real(name string) (*bind, syscall.Errno) {
	var res Result
	if errno := r.Resolve(&res, Caller{}, Base{}, []byte(name), Follow); errno != 0 {
		return nil, errno
	}
	b := &bind{host: trimRoot(string(res.Guest))}
	b.self, b.rest = selfPart(b.host)
	mode, errno := r.fs.Lstat(res.terminated())
	b.dir = isDir(mode) || errno == syscall.EACCES
	b.link = isLink(mode) || b.self != NotProc
	b.open = res.lstatIn("/.") == 0
	b.dir = b.dir || b.link && b.open
	if errno == syscall.EACCES || b.self != NotProc {
		errno = 0 // not for us to see, or not ours
	}
	return b, errno
}

// add puts one bind in; i is its place on the command line.
func (r *Resolver) add(host *Resolver, decl Bind, i int) syscall.Errno {
	if !path.IsAbs(decl.Host) || !path.IsAbs(decl.Guest) {
		return syscall.EINVAL
	}
	b, errno := host.real(decl.Host)
	if errno != 0 {
		return errno
	}
	b.index = i + 1
	if b.guest, errno = r.target(decl, b.dir); errno != 0 {
		return errno
	}
	r.setBinds(append(r.binds, b))
	return 0
}

// target resolves the guest side of a bind. What a symlink into procfs leads to
// is another thing for each caller: then the symlink is the target.
func (r *Resolver) target(decl Bind, dir bool) (string, syscall.Errno) {
	name := []byte("/" + strings.Trim(decl.Guest, "/"))
	var literal, followed Result
	errno := r.Resolve(&literal, Caller{}, Base{}, name, 0)
	if errno != 0 || decl.Literal || dir {
		return trimRoot(string(literal.Guest)), errno
	}
	if r.Resolve(&followed, Caller{}, Base{}, name, Follow) != 0 || hasProc(followed.Host) || hasProc(followed.Guest) {
		return trimRoot(string(literal.Guest)), 0
	}
	return trimRoot(string(followed.Guest)), 0
}

// trimRoot writes the root as "", so that a name can follow every directory.
func trimRoot(p string) string {
	if p == "/" {
		return ""
	}
	return p
}
