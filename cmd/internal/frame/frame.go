// Package frame is the language of the rig: what the host and the agent inside
// the test machine say to each other over one byte stream.
//
// A frame is a command's number, a kind and some data. Any number of commands
// share the stream. Reading promises an error for a stream that is cut or not
// ours, and never takes more memory than MaxData for one frame.
package frame

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// A Kind says what the data of a frame is.
type Kind byte

const (
	Hello  Kind = 'H' // agent: ready; command 0
	Start  Kind = 'R' // host: a Request
	Stdin  Kind = 'I' // host: bytes; none of them is the end
	Resize Kind = 'W' // host: a Size
	Kill   Kind = 'K' // host: one byte, the signal for the command's process group
	Stdout Kind = 'O' // agent: bytes
	Stderr Kind = 'E' // agent: bytes
	Exit   Kind = 'X' // agent: a Status; the last of its command
)

// MaxData bounds the data of one frame; a longer stream is cut into several.
const MaxData = 1 << 18

// header:
//
//	 0        4      5         9
//	| command | kind | length  | data
const headerSize = 9

// A Frame is one message.
type Frame struct {
	Command uint32
	Kind    Kind
	Data    []byte
}

var errKind = errors.New("unknown kind")

func (k Kind) known() bool {
	switch k {
	case Hello, Start, Stdin, Resize, Kill, Stdout, Stderr, Exit:
		return true
	}
	return false
}

// Append adds the encoded frame to b. The data must not be longer than MaxData.
func (f Frame) Append(b []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, f.Command)
	b = append(b, byte(f.Kind))
	b = binary.BigEndian.AppendUint32(b, uint32(len(f.Data)))
	return append(b, f.Data...)
}

// Read takes one frame from a stream. Its error is io.EOF only where a frame
// could have begun.
func Read(r io.Reader) (Frame, error) {
	var h [headerSize]byte
	if _, err := io.ReadFull(r, h[:]); err != nil {
		return Frame{}, err
	}
	f := Frame{Command: binary.BigEndian.Uint32(h[:]), Kind: Kind(h[4])}
	n := binary.BigEndian.Uint32(h[5:])
	if !f.Kind.known() {
		return Frame{}, fmt.Errorf("frame of kind %#x: %w", byte(f.Kind), errKind)
	}
	if n > MaxData {
		return Frame{}, fmt.Errorf("frame of kind %c: %#x bytes are too many", f.Kind, n)
	}
	f.Data = make([]byte, n)
	if _, err := io.ReadFull(r, f.Data); err != nil {
		return Frame{}, fmt.Errorf("frame of kind %c: %w", f.Kind, noEOF(err))
	}
	return f, nil
}

func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
