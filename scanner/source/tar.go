// Images in a tar, which is read once, and a second time only for a link.
//
// In a tar a symlink may come before its target or after it, and the directory
// it goes through may be a link that comes later still. So regular files with
// wanted names are taken as they stream by, links are only remembered, and at the
// end each wanted link is resolved. Nearly always its target was taken already
// (ld-linux-aarch64.so.1 -> aarch64-linux-gnu/ld-linux-aarch64.so.1); when it was
// not, its name told nobody that it is an image, and the tar is streamed again.
//
// Two members of one name are both looked at: what was appended to a tar
// replaces what came before it only for those who unpack it.

package source

import (
	"archive/tar"
	"errors"
	"io"
	"path"
	"slices"
)

// wantedLink is a wanted path that is a link.
type wantedLink struct {
	path string
	want interest
	off  int64
	seen bool // it is a member, not only a path of Options.Globs
	met  bool // the second pass came by its target
}

type tarWalk struct {
	*collector
	open    func() (*stream, error)
	links   map[string]*link
	pending []*wantedLink
	targets map[string]*wantedLink // what the second pass looks for

	dir, real string // the last directory made canonical, and what it is then
}

func walkTar(c *collector, open func() (*stream, error)) error {
	w := &tarWalk{collector: c, open: open, links: map[string]*link{}, targets: map[string]*wantedLink{}}
	if err := w.each(w.first); err != nil {
		return err
	}
	if err := w.findTargets(); err != nil || len(w.targets) == 0 {
		return err
	}
	if err := w.each(w.second); err != nil {
		return err
	}
	return w.reportDangling()
}

// member is a header with where its content begins.
type member struct {
	*tar.Header
	r   *tar.Reader
	off int64
}

// each streams the archive through one function, to the end of its compressed
// data: the checksums come last.
func (w *tarWalk) each(visit func(member) error) error {
	s, err := w.open()
	if err != nil {
		return w.fatal("", 0, err)
	}
	defer s.close()
	for r := tar.NewReader(s); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil && !errors.Is(err, tar.ErrInsecurePath) {
			return w.fatal("", s.pos(), err)
		}
		w.seen++
		if err := visit(member{Header: h, r: r, off: s.pos()}); err != nil {
			return err
		}
	}
	if _, ok := s.Reader.(*meter); ok {
		_, err = io.Copy(io.Discard, s.Reader)
	}
	return w.fatal("", s.pos(), err)
}

// first looks at a member of the first pass.
func (w *tarWalk) first(m member) error {
	if m.Typeflag == tar.TypeXGlobalHeader {
		return nil
	}
	p, err := cleanName(m.Name)
	if err != nil {
		return w.problem(m.Name, m.off, err)
	}
	switch m.Typeflag {
	case tar.TypeLink, tar.TypeSymlink:
		return w.rememberLink(p, m)
	case tar.TypeDir:
		delete(w.links, p)
		return nil
	case tar.TypeReg, tar.TypeGNUSparse, tar.TypeCont:
		delete(w.links, p)
		return w.file(p, m, w.match.interest(p))
	}
	if w.match.interest(p) == named {
		return w.problem(p, m.off, refuse(NotRegular, "it is %s", modeName(m.FileInfo().Mode())))
	}
	return nil
}

// rememberLink keeps a link for the end of the first pass, wanted or not: it
// may be on the way to another.
func (w *tarWalk) rememberLink(p string, m member) error {
	l, err := linkOf(m.Header)
	if err != nil {
		return w.problem(p, m.off, err)
	}
	w.links[p] = l
	if want := w.match.interest(p); want != unwanted {
		w.pending = append(w.pending, &wantedLink{path: p, want: want, off: m.off, seen: true})
	}
	return w.remember(2*len(p) + len(l.target))
}

// linkOf is the link that a header describes. A hard link names a member; a
// symlink may say anything until it is followed.
func linkOf(h *tar.Header) (*link, error) {
	if h.Typeflag == tar.TypeLink {
		target, err := cleanName(h.Linkname)
		if err != nil {
			return nil, refuse(LinkEscapes, "hard link to %q: %s", h.Linkname, err.(*Error).Err)
		}
		return &link{target: target, hard: true}, nil
	}
	if len(h.Linkname) > maxName {
		return nil, refuse(BadName, "a link target of %#x bytes", len(h.Linkname))
	}
	return &link{target: h.Linkname}, nil
}

// file takes a regular file if it is wanted and is an image.
func (w *tarWalk) file(p string, m member, want interest) error {
	if want == unwanted {
		return nil
	}
	if _, err := w.visit(p); err != nil {
		return err
	}
	data, err := w.read(m.r, m.Size)
	if err == nil {
		return w.take(p, data)
	}
	switch reasonOf(err) {
	case NotELF:
		if want != named {
			return w.ctx.Err()
		}
		fallthrough
	case TooBig:
		return w.problem(p, m.off, err)
	}
	return w.fatal(p, m.off, err)
}

func (w *tarWalk) lookup(p []byte) (*link, error) { return w.links[string(p)], nil }

// canonical is where a member really lies: its directory may be a link. Members
// of one directory come together, so the last one is kept.
func (w *tarWalk) canonical(p string) (string, error) {
	dir, base := path.Split(p)
	if dir != w.dir {
		real, err := w.resolve(dir, w.lookup)
		if err != nil && (w.ctx.Err() != nil || reasonOf(err) == TooManySteps) {
			return "", w.fatal(p, 0, err)
		}
		if err != nil {
			real = dir
		}
		w.dir, w.real = dir, real
	}
	return path.Join(w.real, base), nil
}

// findTargets fills targets with the files behind wanted links that the first
// pass had no reason to look at.
func (w *tarWalk) findTargets() error {
	for _, p := range w.match.paths() {
		w.pending = append(w.pending, &wantedLink{path: p, want: w.match.interest(p)})
	}
	if len(w.pending) == 0 {
		return nil
	}
	taken := make(map[string]bool, len(w.paths))
	for p := range w.paths {
		p, err := w.canonical(p)
		if err != nil {
			return err
		}
		taken[p] = true
	}
	for _, l := range w.pending {
		target, err := w.resolve(l.path, w.lookup)
		if err != nil {
			if err := w.problem(l.path, l.off, err); err != nil {
				return err
			}
			continue
		}
		if !taken[target] && target != l.path {
			w.addTarget(target, l)
		}
	}
	return nil
}

// addTarget notes who asks for a target; who wants it most is told about it.
func (w *tarWalk) addTarget(target string, l *wantedLink) {
	if old, ok := w.targets[target]; !ok || old.want < l.want {
		w.targets[target] = l
	}
}

// second looks at a member of the second pass.
func (w *tarWalk) second(m member) error {
	p, err := cleanName(m.Name)
	if err != nil {
		return nil // the first pass reported it
	}
	switch m.Typeflag {
	case tar.TypeReg, tar.TypeGNUSparse, tar.TypeCont:
	default:
		return nil
	}
	if p, err = w.canonical(p); err != nil {
		return err
	}
	l, ok := w.targets[p]
	if !ok {
		return nil
	}
	l.met = true
	return w.file(p, m, l.want)
}

// reportDangling reports the links whose targets the second pass did not find.
func (w *tarWalk) reportDangling() error {
	targets := make([]string, 0, len(w.targets))
	for t := range w.targets {
		targets = append(targets, t)
	}
	slices.Sort(targets)
	for _, t := range targets {
		l := w.targets[t]
		if l.met || !l.seen || l.want != named {
			continue
		}
		if err := w.problem(l.path, l.off, refuse(Dangling, "%q", t)); err != nil {
			return err
		}
	}
	return nil
}
