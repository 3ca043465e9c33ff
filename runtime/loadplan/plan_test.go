package loadplan

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"svcrelay/runtime/abi"
)

// parts is a plan taken apart again.
type parts struct {
	Head     abi.Plan
	Images   []abi.Image
	Segments []abi.Segment
	Paths    []string
}

func takeApart(t *testing.T, plan []byte) (p parts) {
	t.Helper()
	r := bytes.NewReader(plan)
	read := func(v any) {
		if err := binary.Read(r, le, v); err != nil {
			t.Fatal(err)
		}
	}
	read(&p.Head)
	p.Images = make([]abi.Image, p.Head.Images)
	read(p.Images)
	last := p.Images[len(p.Images)-1]
	p.Segments = make([]abi.Segment, last.First+last.Segments)
	read(p.Segments)
	for _, m := range p.Images {
		if m.Path != 0 {
			p.Paths = append(p.Paths, cString(plan[m.Path:]))
		}
	}
	if int(p.Head.Size) != len(plan) || len(plan)%16 != 0 {
		t.Errorf("plan of %d bytes says %d", len(plan), p.Head.Size)
	}
	return p
}

func comm(s string) (c [16]byte) {
	copy(c[:], s)
	return c
}

func dynamicPlan() Plan {
	code, data := abi.Segment{Addr: 0x1000, Filesz: 0x10, Memsz: 0x10, Prot: 5}, abi.Segment{Addr: 0x3000, Offset: 0x1000, Filesz: 8, Memsz: 0x20, Prot: 3}
	program := &Image{Fixed: true, Interp: "/lib/ld.so", ExecStack: true, BTI: true, Entry: 0x1004, Phdr: 0x1040, Phnum: 9, Align: 0x10000, Segments: []abi.Segment{code, data}}
	interp := &Image{ExecStack: true, BTI: true, Entry: 0x1008, Phdr: 64, Phnum: 7, Align: 0x1000, Segments: []abi.Segment{code}}
	return Plan{
		Program: File{Image: program, Path: "/bin/true"}, Interp: &File{Image: interp, Path: "/lib/ld.so"},
		Name: "a name of sixteen", Execfn: 0xffff_0000, Report: 7,
	}
}

func TestBytes(t *testing.T) {
	b, err := dynamicPlan().Bytes()
	if err != nil {
		t.Fatal(err)
	}
	const text = 88 + 2*72 + 3*40
	want := parts{
		Head: abi.Plan{Magic: abi.PlanMagic, Size: 384, Images: 2, Flags: abi.PlanExecStack, Report: 7, Execfn: 0xffff_0000, Comm: comm("a name of sixte")},
		Images: []abi.Image{
			{Low: 0x1000, Span: 0x2020, Align: 0x10000, Entry: 0x1004, Phdr: 0x1040, Phnum: 9, Path: text, Flags: abi.ImageFixed, Segments: 2},
			{Low: 0x1000, Span: 0x10, Align: 0x1000, Entry: 0x1008, Phdr: 64, Phnum: 7, Path: text + 10, Flags: abi.ImageInterp, First: 2, Segments: 1},
		},
		Segments: []abi.Segment{
			{Addr: 0x1000, Filesz: 0x10, Memsz: 0x10, Prot: 5},
			{Addr: 0x3000, Offset: 0x1000, Filesz: 8, Memsz: 0x20, Prot: 3},
			{Addr: 0x1000, Filesz: 0x10, Memsz: 0x10, Prot: 5 | abi.ProtBTI},
		},
		Paths: []string{"/bin/true", "/lib/ld.so"},
	}
	if diff := cmp.Diff(want, takeApart(t, b)); diff != "" {
		t.Errorf("Bytes(): -want +got:\n%s", diff)
	}
}

func TestBytesStatic(t *testing.T) {
	p := dynamicPlan()
	p.Program.Image.Interp, p.Program.Image.ExecStack, p.Program.Path, p.Program.FD = "", false, "", 5
	p.Interp, p.Name, p.Report, p.Execfn = nil, "true", 0, 0
	for keep, flags := range map[bool]uint32{false: abi.ImageFixed, true: abi.ImageFixed | abi.ImageKeepFD} {
		p.Program.KeepFD = keep
		b, err := p.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		want := parts{
			Head:   abi.Plan{Magic: abi.PlanMagic, Size: 240, Images: 1, Report: abi.NoReport, Comm: comm("true")},
			Images: []abi.Image{{Low: 0x1000, Span: 0x2020, Align: 0x10000, Entry: 0x1004, Phdr: 0x1040, Phnum: 9, FD: 5, Flags: flags, Segments: 2}},
			Segments: []abi.Segment{
				{Addr: 0x1000, Filesz: 0x10, Memsz: 0x10, Prot: 5 | abi.ProtBTI},
				{Addr: 0x3000, Offset: 0x1000, Filesz: 8, Memsz: 0x20, Prot: 3},
			},
		}
		if diff := cmp.Diff(want, takeApart(t, b)); diff != "" {
			t.Errorf("Bytes() with KeepFD %v: -want +got:\n%s", keep, diff)
		}
	}
}

func TestBytesRefuses(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*Plan)
		want   syscall.Errno // 0: fine
	}{
		{"longest path", func(p *Plan) { p.Program.Path = strings.Repeat("x", 4095) }, 0},
		{"longer path", func(p *Plan) { p.Program.Path = strings.Repeat("x", 4096) }, syscall.ENAMETOOLONG},
		{"longer interpreter", func(p *Plan) { p.Interp.Path = strings.Repeat("x", 4096) }, syscall.ENAMETOOLONG},
		{"zero in a path", func(p *Plan) { p.Program.Path = "a\x00b" }, syscall.EINVAL},
		{"no interpreter", func(p *Plan) { p.Interp = nil }, syscall.ELIBBAD},
		{"an interpreter nobody asked for", func(p *Plan) { p.Program.Image.Interp = "" }, 0},
	} {
		p := dynamicPlan()
		tt.change(&p)
		if _, err := p.Bytes(); (err != nil) != (tt.want != 0) || err != nil && Errno(err) != tt.want {
			t.Errorf("Bytes(%s) = %v, want errno %v", tt.name, err, tt.want)
		}
	}
}

func written(images int, change func(*abi.Plan)) []byte {
	head := abi.Plan{Magic: abi.PlanMagic, Images: uint32(images), Page: 4096, Start: 0x7000}
	if change != nil {
		change(&head)
	}
	b, _ := binary.Append(nil, le, head)
	b, _ = binary.Append(b, le, []abi.Image{{Base: 0x10000}, {Base: 0x20000}, {}}[:images])
	return b
}

func TestReadResult(t *testing.T) {
	got, err := ReadResult(written(2, func(p *abi.Plan) { p.StackErr = uint32(syscall.EACCES) }))
	want := Result{PageSize: 4096, Start: 0x7000, Bases: []uint64{0x10000, 0x20000}, StackErr: syscall.EACCES}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("ReadResult() = %v, -want +got:\n%s", err, diff)
	}
	if got, err := ReadResult(written(1, nil)); err != nil || len(got.Bases) != 1 {
		t.Errorf("ReadResult(1 image) = %+v, %v", got, err)
	}
	if n := len(written(2, nil)); n != ResultSize {
		t.Errorf("ResultSize = %d, want %d", ResultSize, n)
	}
}

func TestReadResultFails(t *testing.T) {
	failed := written(2, func(p *abi.Plan) { p.Step, p.Err, p.Image, p.Segment = abi.StepMap, uint32(syscall.ENOMEM), 1, 3 })
	_, err := ReadResult(failed)
	if want := "exec loader: image 1: segment 3: map: cannot allocate memory"; err == nil || err.Error() != want || !errors.Is(err, syscall.ENOMEM) {
		t.Errorf("ReadResult() = %v, want %s", err, want)
	}
	for name, plan := range map[string][]byte{
		"nothing":            nil,
		"half a head":        written(1, nil)[:87],
		"another magic":      written(1, func(p *abi.Plan) { p.Magic++ }),
		"no image":           written(0, nil),
		"three images":       written(3, nil),
		"half an image":      written(2, nil)[:ResultSize-1],
		"a step of tomorrow": written(2, func(p *abi.Plan) { p.Step = 99 }),
	} {
		if got, err := ReadResult(plan); err == nil {
			t.Errorf("ReadResult(%s) = %+v, want an error", name, got)
		}
	}
}
