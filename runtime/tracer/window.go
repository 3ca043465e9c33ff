//go:build linux && arm64

// The window: a file of the tracer's that every program of the guest has mapped
// read-only. What the guest's kernel is to read for a call stands there, where no
// other thread of the guest can change it between the tracer's word and the
// kernel's look; and to write it is a copy in the tracer's own memory.
//
// A program maps it through the exec loader, whose first call is to open it.

package tracer

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"svcrelay/runtime/abi"
	"svcrelay/runtime/sysno"
)

// A call has one slot until it ends. Most hold a path; a few an open_how and the
// longest path, or the words of an exec.
const (
	shortSlot, shortSlots = 512, 1024
	longSlot, longSlots   = 8192, 64
)

var _ = [1]struct{}{}[abi.WindowSize-shortSlot*shortSlots-longSlot*longSlots]

// A shelf is slots of one size.
type shelf struct {
	size int
	free []uint16 // of the window's slots, by number
}

// A window is nothing when mem is nil: then what the kernel reads stands below the
// guest's stack.
type window struct {
	mem     []byte
	file    string   // on the host
	open    *os.File // its lock tells that the tracer lives; a collection would close it
	shelves [2]shelf
}

func newShelves() (s [2]shelf) {
	s[0] = shelf{size: shortSlot}
	s[1] = shelf{size: longSlot}
	for i := range uint16(shortSlots) {
		s[0].free = append(s[0].free, shortSlots-1-i)
	}
	for i := range uint16(longSlots) {
		s[1].free = append(s[1].free, shortSlots+longSlots-1-i)
	}
	return s
}

// shelf returns where a slot belongs, and where it is in mem.
func (w *window) shelf(slot uint16) (s *shelf, offset int) {
	if slot < shortSlots {
		return &w.shelves[0], int(slot) * shortSlot
	}
	return &w.shelves[1], shortSlot*shortSlots + int(slot-shortSlots)*longSlot
}

// windowName is what the loader opens. It is found by being the first call of a
// program, not by its name.
const windowName = "window"

// openWindow makes the window in a folder. Files of tracers that were killed go.
func openWindow(dir string) (w window, err error) {
	prefix := fmt.Sprintf("svcrelay-window-%d-", os.Geteuid())
	removeStale(filepath.Join(dir, prefix))
	f, err := os.CreateTemp(dir, prefix)
	if err != nil {
		return w, fmt.Errorf("window: %w", err)
	}
	if os.Geteuid() == 0 { // a guest that gives up root still has to open it
		err = f.Chmod(0o644)
	}
	if err == nil {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_SH)
	}
	if err == nil {
		// Room on the disk now, or a full one kills the tracer with SIGBUS later.
		err = syscall.Fallocate(int(f.Fd()), 0, 0, abi.WindowSize)
	}
	if err == nil {
		w.mem, err = syscall.Mmap(int(f.Fd()), 0, abi.WindowSize, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	}
	if err != nil {
		os.Remove(f.Name())
		f.Close()
		return window{}, fmt.Errorf("window: %w", err)
	}
	w.file, w.open, w.shelves = f.Name(), f, newShelves()
	return w, nil
}

// removeStale removes windows, or folders, that nobody has locked.
func removeStale(prefix string) {
	names, err := filepath.Glob(prefix + "*")
	if err != nil {
		return
	}
	for _, name := range names {
		f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
		if err != nil {
			continue
		}
		if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
			os.RemoveAll(name)
		}
		f.Close()
	}
}

// name is what a plan says of the window.
func (w *window) name() string {
	if w.mem == nil {
		return ""
	}
	return windowName
}

func (w *window) remove() {
	if w.mem != nil {
		os.Remove(w.file)
	}
}

// room finds a place for n bytes that the guest's kernel reads in the call that tk
// is in: in the window, where mem is; or below sp, the guest's stack, for what the
// window is too small for. A guest that fills the window with calls that do not end
// gets no room, for its stack is what it would have the data on.
func (t *Tracer) room(tk *task, sp uint64, n int) (at uint64, mem []byte) {
	if !tk.proc.window || n > longSlot || tk.slot != 0 {
		return (sp - uint64(n)) &^ 15, nil
	}
	for i := range t.window.shelves {
		s := &t.window.shelves[i]
		if last := len(s.free) - 1; n <= s.size && last >= 0 {
			slot := s.free[last]
			s.free, tk.slot = s.free[:last], slot+1
			_, offset := t.window.shelf(slot)
			return abi.WindowAddr + uint64(offset), t.window.mem[offset : offset+n]
		}
	}
	return 0, nil
}

// say gives data to the guest's kernel for the call that tk is in, and returns
// where it stands, and where the guest's stack ends then.
func (t *Tracer) say(tk *task, sp uint64, data []byte) (at, end uint64, ok bool) {
	at, mem := t.room(tk, sp, len(data))
	if mem != nil {
		copy(mem, data)
		return at, sp, true
	}
	return at, at, writeMemory(tk.tid, at, data) == len(data)
}

// unsay gives the slot of a call back that has ended.
func (t *Tracer) unsay(tk *task) {
	if tk.slot != 0 {
		s, _ := t.window.shelf(tk.slot - 1)
		s.free = append(s.free, tk.slot-1)
		tk.slot = 0
	}
}

// windowOpened notes that the program has the window: it maps it next, or dies.
func windowOpened(t *Tracer, tk *task) {
	if fd, err := t.result(tk.tid); err == nil && fd >= 0 {
		tk.proc.window = true
	}
}

// isWindow reports whether a host path is the window's own, or leads to the aliases
// of sockets: no guest may open it, though it may see the folder.
func (t *Tracer) isWindow(host []byte) bool {
	return t.window.mem != nil && string(host) == t.window.file || t.sockets.aliases.owns(host)
}

var memoryCalls = map[int]handler{
	sysno.Madvise: keepWindow(0, 1),
	sysno.Mmap:    keepWindow(0, 1),
	sysno.Munmap:  keepWindow(0, 1),
	sysno.Mremap: func(t *Tracer, tk *task, _ int) {
		moves := t.regs.X[3]&2 != 0 // MREMAP_FIXED
		if overWindow(t.regs.X[0], t.regs.X[1]) || moves && overWindow(t.regs.X[4], t.regs.X[2]) {
			t.fail(tk, syscall.EINVAL)
			return
		}
		cont(tk.tid, 0)
	},
	sysno.Shmat: func(t *Tracer, tk *task, _ int) { // how long it is nobody says
		if overWindow(t.regs.X[1], 1<<48) {
			t.fail(tk, syscall.EINVAL)
			return
		}
		cont(tk.tid, 0)
	},
}

// keepWindow lets a call through that stays clear of the window.
func keepWindow(addr, length int) handler {
	return func(t *Tracer, tk *task, _ int) {
		if overWindow(t.regs.X[addr], t.regs.X[length]) {
			t.fail(tk, syscall.EINVAL)
			return
		}
		cont(tk.tid, 0)
	}
}

// overWindow reports whether a range of guest memory overlaps the window, to whole
// pages and whatever tag its address has.
func overWindow(addr, length uint64) bool {
	const page = 1 << 16
	addr = addr << 8 >> 8
	end := addr + length + page
	return addr < abi.WindowAddr+abi.WindowSize && (end > abi.WindowAddr || end < addr)
}
