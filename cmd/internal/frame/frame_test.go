package frame

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestFrameBytes(t *testing.T) {
	for _, tt := range []struct {
		frame Frame
		want  string
	}{
		{Frame{1, Hello, nil}, "\x00\x00\x00\x01H\x00\x00\x00\x00"},
		{Frame{0xdeadbeef, Stdout, []byte("ab")}, "\xde\xad\xbe\xefO\x00\x00\x00\x02ab"},
	} {
		if got := string(tt.frame.Append(nil)); got != tt.want {
			t.Errorf("Append(%v) = %q, want %q", tt.frame, got, tt.want)
		}
	}
}

func TestReadRefuses(t *testing.T) {
	whole := Frame{7, Stdin, []byte("data")}.Append(nil)
	for n := range whole {
		_, err := Read(bytes.NewReader(whole[:n]))
		want := io.ErrUnexpectedEOF
		if n == 0 {
			want = io.EOF
		}
		if !errors.Is(err, want) {
			t.Errorf("Read of %d bytes of %d = %v, want %v", n, len(whole), err, want)
		}
	}
	unknown := bytes.Clone(whole)
	unknown[4] = 'Z'
	if _, err := Read(bytes.NewReader(unknown)); !errors.Is(err, errKind) {
		t.Errorf("Read of kind Z = %v, want %v", err, errKind)
	}
}

// TestReadLength: at the bound a frame is read, one byte more is refused before
// anything is allocated for it.
func TestReadLength(t *testing.T) {
	for n, ok := range map[int]bool{MaxData - 1: true, MaxData: true, MaxData + 1: false} {
		f, err := Read(bytes.NewReader(Frame{1, Stdout, make([]byte, n)}.Append(nil)))
		if (err == nil) != ok || ok && len(f.Data) != n {
			t.Errorf("Read of a frame of %#x bytes = %#x bytes, %v, want ok %v", n, len(f.Data), err, ok)
		}
	}
	huge := binary.BigEndian.AppendUint32([]byte{0, 0, 0, 1, byte(Stdout)}, 1<<32-1)
	if n := testing.AllocsPerRun(10, func() { Read(bytes.NewReader(huge)) }); n > 10 {
		t.Errorf("Read of a huge frame allocates %v times, want few", n)
	}
}

// FuzzRead: error xor frame, and what was read is what would be written.
func FuzzRead(f *testing.F) {
	f.Add(Frame{1, Stdin, []byte("x")}.Append(nil))
	f.Add([]byte{0, 0, 0, 0, 'H', 255, 255, 255, 255})
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := Read(bytes.NewReader(b))
		if err != nil {
			if diff := cmp.Diff(Frame{}, got); diff != "" {
				t.Errorf("Read(%q) = %v with error %v", b, got, err)
			}
			return
		}
		if again := got.Append(nil); !bytes.HasPrefix(b, again) {
			t.Errorf("Read(%q) is written as %q", b, again)
		}
	})
}

// pipe is a stream in memory.
type pipe struct {
	io.Reader
	io.Writer
}

func TestConnCutsLongData(t *testing.T) {
	for n, want := range map[int][]int{
		0:             {0},
		1:             {1},
		MaxData:       {MaxData},
		MaxData + 1:   {MaxData, 1},
		2*MaxData + 2: {MaxData, MaxData, 2},
	} {
		var b bytes.Buffer
		c := NewConn(pipe{&b, &b})
		if err := c.Send(3, Stdout, make([]byte, n)); err != nil {
			t.Fatal(err)
		}
		var got []int
		for {
			f, err := c.Receive()
			if err == io.EOF {
				break
			}
			if err != nil || f.Command != 3 || f.Kind != Stdout {
				t.Fatalf("Receive = %v, %v", f, err)
			}
			got = append(got, len(f.Data))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%d bytes: lengths -want +got:\n%s", n, diff)
		}
	}
}

// slow lets others run between the bytes.
type slow struct{ w io.Writer }

func (s slow) Write(p []byte) (int, error) {
	for i := range p {
		if _, err := s.w.Write(p[i : i+1]); err != nil {
			return i, err
		}
	}
	return len(p), nil
}

// TestConnManySenders: frames of many commands stay whole.
func TestConnManySenders(t *testing.T) {
	r, w := io.Pipe()
	c := NewConn(pipe{r, slow{w}})
	var all sync.WaitGroup
	for n := range uint32(8) {
		all.Go(func() {
			for range 50 {
				c.Send(n, Stdout, bytes.Repeat([]byte{byte(n)}, int(n)+1))
			}
		})
	}
	go func() { all.Wait(); w.Close() }()
	count := 0
	for {
		f, err := c.Receive()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if want := bytes.Repeat([]byte{byte(f.Command)}, int(f.Command)+1); !bytes.Equal(f.Data, want) {
			t.Fatalf("frame of command %d holds %v", f.Command, f.Data)
		}
		count++
	}
	if count != 8*50 {
		t.Errorf("%d frames arrived, want %d", count, 8*50)
	}
}

func TestSendValue(t *testing.T) {
	var b bytes.Buffer
	c := NewConn(pipe{&b, &b})
	want := Request{Op: OpRun, Argv: []string{"a", "b c"}, Place: Place{Root: "/r/x", UID: 3, Level: 34}, Timeout: time.Second, Stdin: true, Size: Size{24, 80}}
	if err := c.SendValue(9, Start, want); err != nil {
		t.Fatal(err)
	}
	f, err := c.Receive()
	if err != nil {
		t.Fatal(err)
	}
	var got Request
	if err := f.Value(&got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if err := c.SendValue(9, Start, Request{Argv: []string{strings.Repeat("x", MaxData)}}); err == nil {
		t.Error("SendValue of what does not fit into a frame: no error")
	}
	if err := (Frame{Kind: Exit, Data: []byte("{")}).Value(&got); err == nil {
		t.Error("Value of half a value: no error")
	}
}

// TestWriterSendsNoEnd: an empty frame would be the end of a stream.
func TestWriterSendsNoEnd(t *testing.T) {
	var b bytes.Buffer
	w := Writer{NewConn(pipe{&b, &b}), 1, Stdin}
	if n, err := w.Write(nil); n != 0 || err != nil || b.Len() != 0 {
		t.Errorf("Write(nil) = %d, %v and %d bytes, want nothing", n, err, b.Len())
	}
	if n, err := w.Write([]byte("ab")); n != 2 || err != nil || b.Len() != headerSize+2 {
		t.Errorf("Write(ab) = %d, %v and %d bytes", n, err, b.Len())
	}
}

func TestStatusOf(t *testing.T) {
	for script, want := range map[string]Status{
		"exit 3":        {Code: 3},
		"kill -TERM $$": {Code: -1, Signal: int(syscall.SIGTERM)},
	} {
		cmd := exec.Command("sh", "-c", script)
		cmd.Run()
		got := StatusOf(cmd.ProcessState)
		got.User, got.System = 0, 0
		if got != want {
			t.Errorf("StatusOf(%s) = %+v, want %+v", script, got, want)
		}
	}
}
