// Package loadplan turns the headers of a program into the plan that the exec
// loader carries out, and reads back what the loader reports. It also reads the
// first line of scripts as the kernel does.
//
// It promises to decide what Linux 6.6 and later decides, from bytes alone: which
// files are programs, with which errno others are refused, where everything goes
// relative to a base that only the loader will know. What the kernel finds out
// after the point of no return, and answers by killing the process, is refused
// here with ENOEXEC while execve can still fail.
//
// It refuses 32-bit programs, other machines, more than 64 segments, and segments
// that overlap or do not ascend. It opens no file and touches no process.
package loadplan

import (
	"errors"
	"fmt"
	"io"
	"syscall"
)

// Errno returns the errno that execve fails with for an error of this package,
// EIO for any other.
func Errno(err error) syscall.Errno {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return errno
	}
	return syscall.EIO
}

func noExec(format string, args ...any) error {
	return fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), syscall.ENOEXEC)
}

// readFull reads n bytes at off. The error for a file that ends before them wraps
// short.
func readFull(r io.ReaderAt, off, n uint64, short syscall.Errno) ([]byte, error) {
	if off > 1<<63-1-n { // no file is that long
		return nil, fmt.Errorf("the file ends before offset %#x: %w", off, short)
	}
	b := make([]byte, n)
	got, err := r.ReadAt(b, int64(off))
	switch {
	case got == len(b):
		return b, nil
	case errors.Is(err, io.EOF):
		return nil, fmt.Errorf("the file ends before offset %#x: %w", off+n, short)
	}
	return nil, fmt.Errorf("offset %#x: %w", off, err)
}
