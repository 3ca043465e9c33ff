//go:build linux && arm64

// What the exec loader opens that has no name in the guest: the window, and a
// program whose file is deleted or in memory only. Such a program is copied, since
// its descriptor may be closed by the exec; the copy goes once it is open.

package tracer

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"svcrelay/runtime/guestfs"
	"svcrelay/runtime/sysno"
)

// temp is the folder for the tracer's own files: its true path, since the guest
// opens them without following a symlink.
func (t *Tracer) temp() string {
	dir := t.cfg.Temp
	if dir == "" {
		dir = os.TempDir()
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	if real, err := filepath.Abs(dir); err == nil {
		dir = real
	}
	return dir
}

// loaderOpens takes the first opens of a program that was just loaded: nothing of
// the guest's has run in it yet.
func (t *Tracer) loaderOpens(tk *task, nr int) bool {
	if nr != sysno.Openat {
		return false
	}
	p := tk.proc
	p.loading = p.fresh // until it has mapped and closed the window, and goes on
	switch {
	case p.fresh:
		p.fresh = false
		t.openOwn(tk, t.window.file, windowOpened)
	case p.copy != "":
		t.openOwn(tk, p.copy, func(_ *Tracer, tk *task) { removeCopy(&tk.proc.copy) })
	default:
		return false
	}
	return true
}

// openOwn has the guest open a file of the tracer's.
func (t *Tracer) openOwn(tk *task, file string, end func(*Tracer, *task)) {
	found := &t.found[0]
	found.Host = append(append(found.Host[:0], file...), 0)[:len(file)]
	found.Link, t.unproven = guestfs.NotProc, false
	tk.end = end
	t.letMake(tk, sysno.Openat)
}

// copyProgram copies a program into a folder.
func copyProgram(dir string, program *os.File) (string, error) {
	f, err := os.CreateTemp(dir, "svcrelay-program-")
	if err != nil {
		return "", fmt.Errorf("copy a program: %w", err)
	}
	_, err = io.Copy(f, io.NewSectionReader(program, 0, 1<<62))
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		os.Remove(f.Name())
		return "", fmt.Errorf("copy a program: %w", err)
	}
	return f.Name(), nil
}

func removeCopy(name *string) {
	if *name != "" {
		os.Remove(*name)
		*name = ""
	}
}
