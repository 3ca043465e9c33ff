// Files on this side: whole under their final name, or absent.

package debian

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
)

// Matches reports whether a file has the size and the hash.
func Matches(name string, want Sum) bool {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() != want.Size {
		return false
	}
	got, err := SumFile(name)
	return err == nil && got == want
}

// SumFile measures a file.
func SumFile(name string) (Sum, error) {
	f, err := os.Open(name)
	if err != nil {
		return Sum{}, err
	}
	defer f.Close()
	h := newSummer(Sum{})
	if _, err := io.Copy(h, f); err != nil {
		return Sum{}, fmt.Errorf("%s: %w", name, err)
	}
	return h.sum(), nil
}

// WriteFile makes name hold what fill writes. A reader sees the old file or the
// new one; a failure leaves the old one.
func WriteFile(name string, fill func(io.Writer) error) error {
	dir := filepath.Dir(name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(dir, "."+filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) // fails once renamed
	defer tmp.Close()
	w := bufio.NewWriterSize(tmp, 256<<10)
	if err := fill(w); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if err := tmp.Chmod(0o644); err != nil {
		return err
	}
	if err := tmp.Sync(); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), name)
}

// A summer measures what is written to it.
type summer struct {
	want Sum
	size int64
	hash hash.Hash
}

func newSummer(want Sum) *summer { return &summer{want: want, hash: sha256.New()} }

func (s *summer) Write(p []byte) (int, error) {
	s.size += int64(len(p))
	return s.hash.Write(p)
}

func (s *summer) sum() Sum { return Sum{Size: s.size, SHA256: hex.EncodeToString(s.hash.Sum(nil))} }

// check compares what was written with what was wanted.
func (s *summer) check() error {
	got := s.sum()
	if got.Size != s.want.Size {
		return fmt.Errorf("size is %d, want %d", got.Size, s.want.Size)
	}
	if got.SHA256 != s.want.SHA256 {
		return fmt.Errorf("sha256 is %s, want %s", got.SHA256, s.want.SHA256)
	}
	return nil
}
