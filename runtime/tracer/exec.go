//go:build linux && arm64

// execve. The kernel cannot see the guest's interpreter, and an app may run files
// of one folder only: so the guest runs the exec loader, and what the loader must
// do is written below its stack at the exec stop.

package tracer

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
	"syscall"

	"svcrelay/runtime/guestfs"
	"svcrelay/runtime/loadplan"
	"svcrelay/runtime/sysno"
)

// maxScripts is how many scripts may name each other as interpreter.
const maxScripts = 5

// An execution is an execve on its way.
type execution struct {
	plan   []byte
	execfn string // the path given to execve
	exe    string // guest path of the program
	safe   bool   // the loader's path stood where the guest cannot write
	copy   string // host path of a copy to load, of a program that has no name
	lends  lentIDs
}

// program is a file that is to run, while it is looked at.
type program struct {
	name string   // as the guest names it
	args []string // replace the first of the guest's argv
	file *os.File
	exe  string
	// fd is the descriptor to run when it stays open through the exec, else -1;
	// closes tells that the name leads through one that does not.
	fd     int
	closes bool
	gone   bool // the file has no name any more, or never had
}

// exec handles execve and execveat at their entry.
func (t *Tracer) exec(tk *task, nr int) {
	copy(tk.saved[:], t.regs.X[:])
	pathArg, argvArg := 0, 1
	if nr == sysno.Execveat {
		pathArg, argvArg = 1, 2
		if t.regs.X[4]&^(atEmptyPath|atSymlinkNofollow) != 0 {
			t.fail(tk, syscall.EINVAL)
			return
		}
	}
	ex, args, e := t.prepareExec(tk, nr)
	if e != 0 {
		t.fail(tk, e)
		return
	}
	if e := t.sendToLoader(tk, nr, ex, args, pathArg, argvArg); e != 0 {
		removeCopy(&ex.copy)
		t.fail(tk, e)
		return
	}
	tk.exec, tk.restore = ex, true
	toExit(tk.tid, 0)
}

// prepareExec finds the program and plans its loading. args is nil when the
// guest's own argv stands.
func (t *Tracer) prepareExec(tk *task, nr int) (*execution, []string, syscall.Errno) {
	p := program{fd: -1}
	defer func() { p.file.Close() }()
	if e := t.openFirst(tk, nr, &p); e != 0 {
		return nil, nil, e
	}
	name := p.name
	for range maxScripts + 1 {
		more, e := t.script(tk, &p)
		if e != 0 {
			return nil, nil, e
		}
		if !more {
			plan, err := t.plan(tk, &p, path.Base(name))
			if err != nil {
				return nil, nil, errnoOf(err)
			}
			ex := &execution{plan: plan, execfn: name, exe: p.exe, lends: t.lent(tk, p.file)}
			if p.gone && p.fd < 0 {
				if ex.copy, err = copyProgram(t.temp(), p.file); err != nil {
					return nil, nil, errnoOf(err)
				}
			}
			return ex, p.args, 0
		}
	}
	return nil, nil, syscall.ELOOP
}

// openFirst opens what the call names.
func (t *Tracer) openFirst(tk *task, nr int, p *program) syscall.Errno {
	fd := int32(atFDCWD)
	if nr == sysno.Execveat {
		fd = int32(t.regs.X[0])
	}
	empty, e := t.resolve(tk, nr, 0, t.pinning)
	defer t.release()
	if e != 0 {
		return e
	}
	if empty {
		return t.openDescriptor(tk, p, fd)
	}
	name, _, _ := bytes.Cut(t.names[0][:], []byte{0}) // what resolve read
	p.name = string(name)
	if fd != atFDCWD && name[0] != '/' { // as the kernel names it
		p.name = descriptorName(fd) + "/" + p.name
		p.closes = descriptorFlags(tk.tid, fd)&oCloexec != 0
	}
	if nr == sysno.Execveat && t.regs.X[4]&atSymlinkNofollow != 0 && t.found[0].Link == guestfs.NotProc && isSymlink(t.found[0].Host) {
		return syscall.ELOOP
	}
	exe := t.found[0].Guest
	if t.found[0].Link == guestfs.Fd { // what it leads to: the descriptor may close
		p.gone = (*hostFS)(nil).Deleted(t.found[0].Host)
		if text, e := t.paths.Readlink(nil, tk.caller(), &t.found[0]); e == 0 {
			exe = text
		}
	}
	return p.open(t.pinned(0), string(exe))
}

// pinned is how the tracer opens what path i resolved to.
func (t *Tracer) pinned(i int) string {
	if fd := t.pins[i].fd; fd >= 0 {
		return "/proc/self/fd/" + strconv.Itoa(fd)
	}
	return string(t.found[i].Host)
}

func isSymlink(host []byte) bool {
	fi, err := os.Lstat(string(host))
	return err == nil && fi.Mode()&fs.ModeSymlink != 0
}

// openDescriptor opens a file that the guest has open.
func (t *Tracer) openDescriptor(tk *task, p *program, fd int32) syscall.Errno {
	base, e := t.base(tk, fd)
	if e == syscall.ENOTDIR { // a pipe or a socket
		e = syscall.EACCES
	}
	if e != 0 {
		return e
	}
	guest, _, err := t.paths.Guest(nil, base.Host, tk.caller(), 0)
	if err != nil {
		guest = base.Host
	}
	p.gone = bytes.HasSuffix(base.Host, []byte(" (deleted)")) && (*hostFS)(nil).Deleted(t.link)
	p.name = descriptorName(fd)
	flags := descriptorFlags(tk.tid, fd)
	if p.closes = flags&oCloexec != 0; flags&(oCloexec|oPath|syscall.O_WRONLY) == 0 {
		p.fd = int(fd)
	}
	return p.open(string(base.Link), string(guest))
}

func descriptorName(fd int32) string { return "/dev/fd/" + strconv.Itoa(int(fd)) }

// descriptorFlags is what a descriptor of a task was opened with.
func descriptorFlags(tid int, fd int32) int {
	info, err := os.ReadFile("/proc/" + strconv.Itoa(tid) + "/fdinfo/" + strconv.Itoa(int(fd)))
	if err != nil {
		return oCloexec
	}
	_, rest, _ := strings.Cut(string(info), "\nflags:")
	line, _, _ := strings.Cut(rest, "\n")
	flags, err := strconv.ParseInt(strings.TrimSpace(line), 8, 64)
	if err != nil {
		return oCloexec
	}
	return int(flags)
}

// open opens a file of the host and checks that it may run. It looks before it
// opens: to open a device may do something.
func (p *program) open(host, guest string) syscall.Errno {
	fi, err := os.Stat(host)
	if err != nil {
		return errnoOf(err)
	}
	if !fi.Mode().IsRegular() {
		return syscall.EACCES
	}
	if err := syscall.Access(host, 1); err != nil { // X_OK
		return errnoOf(err)
	}
	f, err := os.OpenFile(host, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return errnoOf(err)
	}
	p.file, p.exe = f, guest
	return 0
}

// script reads one "#!" line, if there is one, and goes on to its interpreter.
func (t *Tracer) script(tk *task, p *program) (more bool, e syscall.Errno) {
	head := make([]byte, 256)
	n, _ := p.file.ReadAt(head, 0)
	if !loadplan.IsScript(head[:n]) {
		return false, 0
	}
	s, err := loadplan.Shebang(head[:n])
	if err != nil {
		return false, errnoOf(err)
	}
	if p.closes { // the interpreter could not open it
		return false, syscall.ENOENT
	}
	p.args = s.Args(p.name, p.args)
	p.name, p.fd, p.gone = s.Interp, -1, false
	p.file.Close()
	return true, t.openGuest(tk, p, s.Interp)
}

// openGuest opens a program that another one names.
func (t *Tracer) openGuest(tk *task, p *program, name string) syscall.Errno {
	var base guestfs.Base
	if name == "" || name[0] != '/' {
		var e syscall.Errno
		if base, e = t.base(tk, atFDCWD); e != 0 {
			return e
		}
	}
	defer t.release()
	if e := t.resolvePinned(tk, 1, base, []byte(name), guestfs.Follow, pinFile, t.pinning); e != 0 {
		return e
	}
	return p.open(t.pinned(1), string(t.found[1].Guest))
}

// plan reads the headers of the program and of its interpreter. comm is what the
// program is called: as the call names it, though that be a script.
func (t *Tracer) plan(tk *task, p *program, comm string) ([]byte, error) {
	pageSize := uint64(os.Getpagesize())
	image, err := loadplan.Read(p.file, pageSize)
	if err != nil {
		return nil, err
	}
	plan := loadplan.Plan{Window: t.window.name(), Program: loadplan.File{Image: image, Path: p.exe}, Name: comm}
	if p.fd >= 0 {
		plan.Program = loadplan.File{Image: image, FD: p.fd, KeepFD: true}
	}
	if image.Interp == "" {
		return plan.Bytes()
	}
	var interp program
	if e := t.openGuest(tk, &interp, image.Interp); e != 0 {
		return nil, e
	}
	defer interp.file.Close()
	interpImage, err := loadplan.ReadInterp(interp.file, pageSize)
	if err != nil {
		return nil, err
	}
	plan.Interp = &loadplan.File{Image: interpImage, Path: interp.exe}
	return plan.Bytes()
}

// errnoOf is the errno in err, EIO when there is none.
func errnoOf(err error) syscall.Errno {
	var e syscall.Errno
	switch {
	case errors.As(err, &e):
		return e
	case errors.Is(err, fs.ErrNotExist):
		return syscall.ENOENT
	}
	return loadplan.Errno(err)
}
