// Plan bytes. A plan holds offsets and no addresses, save one, so that it may be
// put anywhere: its place is right below the stack that the kernel made.
package loadplan

import (
	"encoding/binary"
	"fmt"
	"strings"
	"syscall"

	"svcrelay/runtime/abi"
)

// A File is an image with the way the loader gets at it.
type File struct {
	Image  *Image
	Path   string // what the loader opens; "" for FD
	FD     int    // a descriptor that the new program has inherited
	KeepFD bool   // FD is the guest's own: the loader leaves it open
}

// A Plan is all that the loader is told.
type Plan struct {
	Program File
	Interp  *File  // nil for a static program
	Name    string // for comm, cut to 15 bytes
	Execfn  uint64 // address of the path given to execve; 0 keeps the kernel's
	Window  string // what the loader opens first, for the window; "" for none
	Report  uint32 // the call that tells the tracer of success or failure; 0 for none
}

// Bytes returns the plan for the loader. Its length is a multiple of 16: written
// so that it ends at the stack pointer of the exec stop, with the stack pointer
// moved to its start, it leaves the stack aligned.
func (p Plan) Bytes() ([]byte, error) {
	if len(p.files()) == 1 && p.Program.Image.Interp != "" {
		return nil, fmt.Errorf("no program interpreter %s: %w", p.Program.Image.Interp, syscall.ELIBBAD)
	}
	e := encoder{head: p.head()}
	for i, f := range p.files() {
		if err := e.add(f, p.guards(i)); err != nil {
			return nil, fmt.Errorf("image %d: %w", i, err)
		}
	}
	if p.Window != "" {
		e.head.Window = e.text(p.Window)
	}
	return e.bytes(), nil
}

func (p Plan) files() []File {
	if p.Interp == nil {
		return []File{p.Program}
	}
	return []File{p.Program, *p.Interp}
}

// guards reports whether image i's code is the kernel's to guard: that of the
// one that starts.
func (p Plan) guards(i int) bool {
	files := p.files()
	return i == len(files)-1 && files[i].Image.BTI
}

func (p Plan) head() abi.Plan {
	h := abi.Plan{Magic: abi.PlanMagic, Execfn: p.Execfn, Report: p.Report}
	if p.Report == 0 {
		h.Report = abi.NoReport
	}
	if p.Program.Image.ExecStack {
		h.Flags |= abi.PlanExecStack
	}
	copy(h.Comm[:len(h.Comm)-1], p.Name)
	return h
}

// An encoder collects what follows the head.
type encoder struct {
	head     abi.Plan
	images   []abi.Image
	segments []abi.Segment
	strings  []byte
}

func (e *encoder) add(f File, guard bool) error {
	m := f.Image
	image := abi.Image{
		Low: m.low(), Span: m.end() - m.low(), Align: m.Align, Entry: m.Entry, Phdr: m.Phdr, Phnum: uint32(m.Phnum),
		FD: int32(f.FD), Flags: f.flags(len(e.images) > 0), First: uint32(len(e.segments)), Segments: uint32(len(m.Segments)),
	}
	if f.Path != "" {
		if len(f.Path) >= abi.PathMax {
			return fmt.Errorf("path of %d bytes: %w", len(f.Path), syscall.ENAMETOOLONG)
		}
		if strings.ContainsRune(f.Path, 0) {
			return fmt.Errorf("path %q: %w", f.Path, syscall.EINVAL)
		}
		image.Path = e.text(f.Path)
	}
	e.images = append(e.images, image)
	for _, s := range m.Segments {
		if guard && s.Prot&abi.ProtExec != 0 {
			s.Prot |= abi.ProtBTI
		}
		e.segments = append(e.segments, s)
	}
	return nil
}

// text adds a string; bytes makes its place an offset of the plan.
func (e *encoder) text(s string) uint32 {
	at := uint32(len(e.strings)) + 1
	e.strings = append(append(e.strings, s...), 0)
	return at
}

func (f File) flags(interp bool) (flags uint32) {
	if f.Image.Fixed {
		flags |= abi.ImageFixed
	}
	if interp {
		flags |= abi.ImageInterp
	}
	if f.KeepFD && f.Path == "" {
		flags |= abi.ImageKeepFD
	}
	return flags
}

var (
	planSize  = binary.Size(abi.Plan{})
	imageSize = binary.Size(abi.Image{})
)

// bytes lays it all out, now that the number of images and segments is known.
func (e *encoder) bytes() []byte {
	text := planSize + binary.Size(e.images) + binary.Size(e.segments)
	size := (text + len(e.strings) + 15) &^ 15
	for i := range e.images {
		if m := &e.images[i]; m.Path != 0 {
			m.Path += uint32(text) - 1
		}
	}
	if e.head.Window != 0 {
		e.head.Window += uint32(text) - 1
	}
	e.head.Size, e.head.Images = uint32(size), uint32(len(e.images))
	b := make([]byte, 0, size)
	for _, part := range []any{e.head, e.images, e.segments} {
		b, _ = binary.Append(b, le, part) // fails for types without a fixed size only
	}
	return append(b, e.strings...)[:size]
}
