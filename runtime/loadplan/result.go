// What the loader wrote into its plan by the time it made its report. The plan
// lies in the guest's memory, where another thread of a hostile guest cannot yet
// be; still, nothing in it is trusted.
package loadplan

import (
	"encoding/binary"
	"fmt"
	"syscall"

	"svcrelay/runtime/abi"
)

// ResultSize is how much of a plan's start ReadResult needs: the head and the
// images that Bytes makes at most.
var ResultSize = planSize + 2*imageSize

// A Result is what a loader that succeeded reports.
type Result struct {
	PageSize uint64
	Start    uint64        // the first instruction
	Bases    []uint64      // of the program and, if there is one, the interpreter
	StackErr syscall.Errno // why the stack was not made executable, if it was asked for
}

// ReadResult reads the plan as the loader left it. The error of a loader that
// failed wraps the errno it met.
func ReadResult(plan []byte) (Result, error) {
	var head abi.Plan
	if _, err := binary.Decode(plan, le, &head); err != nil || head.Magic != abi.PlanMagic {
		return Result{}, fmt.Errorf("no plan in %d bytes: %w", len(plan), syscall.EINVAL)
	}
	if head.Step != abi.StepDone {
		return Result{}, fmt.Errorf("exec loader: image %d: segment %d: %v: %w", head.Image, head.Segment, head.Step, syscall.Errno(head.Err))
	}
	if head.Images < 1 || head.Images > 2 {
		return Result{}, fmt.Errorf("plan of %d images: %w", head.Images, syscall.EINVAL)
	}
	images := make([]abi.Image, head.Images)
	if _, err := binary.Decode(plan[planSize:], le, images); err != nil {
		return Result{}, fmt.Errorf("plan of %d bytes: %w", len(plan), syscall.EINVAL)
	}
	r := Result{PageSize: head.Page, Start: head.Start, StackErr: syscall.Errno(head.StackErr)}
	for _, m := range images {
		r.Bases = append(r.Bases, m.Base)
	}
	return r, nil
}
