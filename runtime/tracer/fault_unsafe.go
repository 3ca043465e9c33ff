//go:build linux && arm64

// Where a fault of the tracer's would differ from one of the kernel's. The kernel
// takes an address with a tag in its top byte only from a task that has asked for
// that, and its own copies make a stack grow; process_vm_readv and its like take
// every tag, and from 6.5 on grow nothing.

package tracer

import "unsafe"

const (
	ptracePeekData  = 2
	ntARMTaggedAddr = 0x409
	tagShift        = 56
	tagsEnabled     = 1 // PR_TAGGED_ADDR_ENABLE
)

// reaches reports whether the kernel would look at addr for tid: it has no tag, or
// tid may use tags. A kernel that cannot say is older than 5.10.
func reaches(tid int, addr uint64) bool {
	if addr>>tagShift == 0 {
		return true
	}
	var control uint64
	iov := iovec{(*byte)(unsafe.Pointer(&control)), uint64(unsafe.Sizeof(control))}
	err := ptrace(ptraceGetRegSet, tid, ntARMTaggedAddr, uintptr(unsafe.Pointer(&iov)))
	return err != nil || control&tagsEnabled != 0
}

// growStack has the stack of tid grow down to addr, if it may, and reports whether
// there is memory now.
func growStack(tid int, addr uint64) bool {
	var word uint64
	return ptrace(ptracePeekData, tid, uintptr(addr), uintptr(unsafe.Pointer(&word))) == nil
}
