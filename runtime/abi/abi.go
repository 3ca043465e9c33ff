// Package abi holds what Go and the guest's C share: the layout of the load plan
// and the numbers that both sides read.
//
// It promises that guest/abi.h says the same: gen writes that header from the
// types and tables here, with an assertion on the place of every field. Every
// structure is made of fixed-size fields that need no padding, so that
// encoding/binary writes exactly what C reads.
//
// It refuses to hold behaviour: whoever makes or reads these bytes lives above.
package abi

//go:generate go run ./gen

// Version is raised whenever a plan or its meaning changes. The loader carries it
// in a note, since a loader can be given by path and may be another build's.
const Version = 2

// PlanMagic is the first word of a plan. The loader finds the plan at its stack
// pointer, where a program that nobody prepared finds argc, which is never this.
const PlanMagic = 0x6e61_6c70_7273_0000 | Version // "\2\0srplan"

// NoteName and NoteType name the note that carries Version in a loader.
const (
	NoteName = "svcrelay"
	NoteType = 1
)

// ExitStatus is what a loader exits with when it cannot go on and nobody
// listened to its report.
const ExitStatus = 182

// NoReport in Plan.Report: no call tells that the loader is done.
const NoReport = 0xffff_ffff

// PathMax is the longest path the kernel takes, with its final zero.
const PathMax = 4096

// The window is memory of the tracer's that every program of a guest sees and none
// can write: what the kernel is to read for a call stands there, out of reach of
// the guest's other threads. It ends where the gate begins.
const (
	WindowAddr = 0xf_ffe0_0000
	WindowSize = 0x10_0000
)

// Flags of a plan.
const (
	PlanExecStack = 1 << iota // the program wants an executable stack
)

// Flags of an image.
const (
	ImageFixed  = 1 << iota // at its own addresses, nowhere else
	ImageInterp             // AT_BASE tells where it is, and it starts the program
	ImageKeepFD             // the descriptor is the guest's own: leave it open
)

// Protections, as mmap takes them.
const (
	ProtRead  = 1
	ProtWrite = 2
	ProtExec  = 4
	ProtBTI   = 0x10 // dropped on a processor without BTI
)

// A Step says what a loader was doing when it failed.
type Step uint32

// The steps.
const (
	StepDone    Step = iota
	StepPlan         // the plan is not usable on this machine
	StepOpen         // opening an image
	StepReserve      // finding room for an image
	StepMap          // mapping a segment from the file
	StepZero         // mapping the pages behind a segment's file part
	StepWindow       // mapping the window
	stepEnd
)

var stepNames = [...]string{"done", "plan", "open", "reserve", "map", "zero", "window"}

// String returns the step's name.
func (s Step) String() string {
	if s < stepEnd {
		return stepNames[s]
	}
	return "unknown step"
}

// A Plan is the head of a load plan. Behind it lie Images images, then the
// segments of all of them, then paths. The whole is Size bytes long, a multiple
// of 16, and the stack that the kernel made (argc first) starts right behind it:
//
//	sp -> | Plan | Image... | Segment... | paths, zeros | argc argv envp auxv strings
//	      |<------------------- Size ------------------>|
type Plan struct {
	Magic  uint64
	Size   uint32
	Images uint32
	Flags  uint32
	Report uint32 // a call to make when done or failed: Report(plan, PlanMagic)
	Execfn uint64 // address of the path given to execve; 0 keeps the kernel's
	Comm   [16]byte
	Window uint32 // offset of the path to open for the window; 0: none

	// What the loader writes, for the report.
	Step     Step
	Err      uint32 // errno of the failed step
	Image    uint32 // the image it was at
	Segment  uint32 // the segment it was at
	StackErr uint32 // errno of making the stack executable, which is no failure
	Page     uint64 // page size
	Start    uint64 // where execution starts
}

// An Image is a file to map. The first is the program.
type Image struct {
	Base     uint64 // written by the loader: what was added to every address
	Low      uint64 // address of the first segment
	Span     uint64 // bytes from there to the end of the last
	Align    uint64 // largest alignment asked for, a power of two
	Entry    uint64
	Phdr     uint64 // address of the program headers
	Phnum    uint32
	Path     uint32 // offset of the path in the plan; 0: FD is open already
	FD       int32
	Flags    uint32
	First    uint32 // its first segment
	Segments uint32
}

// A Segment is a PT_LOAD as the file gives it; the loader rounds to pages.
type Segment struct {
	Addr   uint64
	Filesz uint64
	Memsz  uint64
	Offset uint64
	Prot   uint32
	Pad    uint32
}
