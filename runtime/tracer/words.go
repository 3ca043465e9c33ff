//go:build linux && arm64

// The words of an exec: the loader's path and, for a script, a new argv, in one
// piece of memory that the kernel reads.

package tracer

// words is laid out so:
//
//	| path 0 | string 0 | string 0 ... | pad | pointers to the strings, the rest, 0 |
type words struct {
	bytes    []byte
	pointers int // where they begin
	offsets  []int
}

// newWords lays out a path, strings, and pointers that follow theirs.
func newWords(path string, args []string, rest []byte) words {
	w := words{bytes: append([]byte(path), 0)}
	if args == nil {
		return w
	}
	for _, a := range args {
		w.offsets = append(w.offsets, len(w.bytes))
		w.bytes = append(append(w.bytes, a...), 0)
	}
	for len(w.bytes)%8 != 0 {
		w.bytes = append(w.bytes, 0)
	}
	w.pointers = len(w.bytes)
	w.bytes = append(w.bytes, make([]byte, 8*len(args))...)
	w.bytes = append(append(w.bytes, rest...), make([]byte, 8)...)
	return w
}

// moveTo sets the pointers for words that stand at an address.
func (w *words) moveTo(at uint64) {
	for i, offset := range w.offsets {
		le.PutUint64(w.bytes[w.pointers+8*i:], at+uint64(offset))
	}
}
