// The first line of a script, as fs/binfmt_script.c reads it since Linux 5.0. Its
// surprises: a carriage return is part of a name, what follows the interpreter is
// one argument with blanks inside, an argument may be cut at 255 bytes and a name
// may not, "#!/bin/sh " without a newline passes an empty argument, and an empty
// name is the working directory, which is EACCES.
package loadplan

import (
	"bytes"
	"fmt"
	"syscall"
)

// scriptHead is the kernel's buffer: nothing behind it is seen.
const scriptHead = 256

// A Script is a script's interpreter and its argument.
type Script struct {
	Interp string
	Arg    string
	HasArg bool
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// IsScript reports whether a file that starts with head is a script, well formed
// or not.
func IsScript(head []byte) bool { return bytes.HasPrefix(head, []byte("#!")) }

// Shebang reads the first line of a file that starts with head; what it gets
// beyond 256 bytes is ignored. How deep scripts may nest is the caller's loop.
func Shebang(head []byte) (Script, error) {
	if !IsScript(head) {
		return Script{}, noExec("no script")
	}
	var buf [scriptHead]byte
	copy(buf[:], head)
	end, ok := lineEnd(&buf)
	if !ok {
		return Script{}, noExec("script: the interpreter's name does not end in %d bytes", scriptHead)
	}
	for isBlank(buf[end-1]) { // stops at the exclamation mark
		end--
	}
	name := nonBlank(&buf, 2, end)
	if name < 0 || name == end {
		return Script{}, noExec("script: no interpreter")
	}
	s := Script{}
	sep := terminator(&buf, name, end)
	if sep >= 0 && buf[sep] != 0 {
		if arg := nonBlank(&buf, sep, end); arg >= 0 {
			s.Arg, s.HasArg = cString(buf[arg:end]), true
		}
	}
	if sep < 0 {
		sep = end
	}
	s.Interp = cString(buf[name:sep])
	if s.Interp == "" {
		return Script{}, fmt.Errorf("script: empty interpreter: %w", syscall.EACCES)
	}
	return s, nil
}

// lineEnd finds the newline. Without one the name must end by another sign, and
// the line is all but the last byte of the buffer.
func lineEnd(buf *[scriptHead]byte) (int, bool) {
	line, _, _ := bytes.Cut(buf[:], []byte{0})
	if end := bytes.IndexByte(line, '\n'); end >= 0 {
		return end, true
	}
	name := nonBlank(buf, 2, scriptHead-1)
	return scriptHead - 1, name >= 0 && terminator(buf, name, scriptHead-1) >= 0
}

// nonBlank returns the first place in [from, last] that holds no blank, or -1.
func nonBlank(buf *[scriptHead]byte, from, last int) int {
	for ; from <= last; from++ {
		if !isBlank(buf[from]) {
			return from
		}
	}
	return -1
}

// terminator returns the first place in [from, last] that ends a word, or -1.
func terminator(buf *[scriptHead]byte, from, last int) int {
	for ; from <= last; from++ {
		if isBlank(buf[from]) || buf[from] == 0 {
			return from
		}
	}
	return -1
}

// Args returns the arguments that the interpreter gets: its own name, the
// argument, the script's path instead of argv[0], the rest of argv.
func (s Script) Args(path string, argv []string) []string {
	args := []string{s.Interp}
	if s.HasArg {
		args = append(args, s.Arg)
	}
	args = append(args, path)
	if len(argv) > 1 {
		args = append(args, argv[1:]...)
	}
	return args
}
