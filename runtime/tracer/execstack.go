//go:build linux && arm64

// The stack around an exec. Before it, the loader's path and a script's new argv
// go below the stack pointer. After it, the plan goes below the stack that the
// kernel made, and the guest's path over the loader's: the kernel keeps the name
// that it was given at the top of the stack, where AT_EXECFN points. So that the
// guest's fits there, the loader's is made as long with slashes in front.

package tracer

import (
	"os"
	"strconv"
	"strings"
	"syscall"

	"svcrelay/runtime/sysno"
)

// sendToLoader makes the call an execve of the loader.
func (t *Tracer) sendToLoader(tk *task, nr int, ex *execution, args []string, pathArg, argvArg int) syscall.Errno {
	name := t.loader
	if short := len(ex.execfn) - len(name); short > 0 {
		name = strings.Repeat("/", short) + name
	}
	var rest []byte
	if args != nil {
		var e syscall.Errno
		if rest, e = readPointers(tk.tid, t.regs.X[argvArg]); e != 0 {
			return e
		}
	}
	w := newWords(name, args, rest)
	at, mem := t.room(tk, t.regs.SP-stackGap, len(w.bytes))
	w.moveTo(at)
	if mem == nil && writeMemory(tk.tid, at, w.bytes) != len(w.bytes) {
		return syscall.EFAULT
	}
	copy(mem, w.bytes)
	ex.safe = mem != nil
	t.regs.X[pathArg] = at
	if args != nil {
		t.regs.X[argvArg] = at + uint64(w.pointers)
	}
	if nr == sysno.Execveat {
		t.regs.X[0], t.regs.X[4] = atFDCWDWord, 0
	}
	if t.regs.setFirst(tk.tid, 6) != nil {
		return syscall.ESRCH
	}
	return 0
}

const atFDCWDWord = ^uint64(0) - 99 // AT_FDCWD in a register

// maxArgs bounds the arguments of a script, as MAX_ARG_STRINGS would.
const maxArgs = 1 << 20

// readPointers reads the array argv but for its first entry, up to its NULL. The
// strings stay where they are: a stack that posix_spawn made has no room for them.
func readPointers(tid int, argv uint64) (pointers []byte, e syscall.Errno) {
	var word [8]byte
	for i := range uint64(maxArgs) {
		if argv == 0 {
			return nil, 0
		}
		if readMemory(tid, argv+8*i, word[:]) != len(word) {
			return nil, syscall.EFAULT
		}
		if le.Uint64(word[:]) == 0 {
			return pointers, 0
		}
		if i > 0 {
			pointers = append(pointers, word[:]...)
		}
	}
	return nil, syscall.E2BIG
}

// executed handles the exec stop: the loader is in place and has not run yet.
func (t *Tracer) executed(tk *task) {
	if former, err := eventMessage(tk.tid); err == nil && int(former) != tk.tid {
		tk = t.renamed(tk, int(former))
	}
	ex := tk.exec
	tk.exec, tk.restore, tk.end = nil, false, nil
	t.dropCall(tk)
	t.unsay(tk)
	t.reached(tk)
	t.settle(tk)
	tk.proc.window, tk.proc.fresh, tk.proc.loading = false, false, false
	switch {
	case ex == nil && tk.proc.exe == "":
		// The end of the exec that made this program the first process.
	case ex == nil || !t.load(tk, ex):
		if ex != nil {
			removeCopy(&ex.copy)
		}
		syscall.Kill(tk.tid, syscall.SIGKILL) // past the point of no return, as the kernel would
	}
	cont(tk.tid, 0)
}

// renamed books that another thread of the group made the exec: it goes on under
// the leader's id.
func (t *Tracer) renamed(leader *task, former int) *task {
	if tk := t.books.byTid[former]; tk != nil {
		leader.exec, leader.kept = tk.exec, tk.kept
		t.unsay(tk)
		t.books.drop(tk)
	}
	return leader
}

// load writes the plan below the new stack and the guest's path over the
// loader's.
func (t *Tracer) load(tk *task, ex *execution) bool {
	if t.regs.get(tk.tid) != nil {
		return true // killed: nothing to load
	}
	if !ex.safe && !t.runsLoader(tk.tid) {
		return false // another thread has changed the path
	}
	if t.reachedInto(tk.tid) {
		return false // somebody would have the window from it
	}
	sp := t.regs.SP
	at, auxv, ok := findExecfn(tk.tid, sp)
	if !ok {
		return false
	}
	name := append([]byte(ex.execfn), 0)
	if writeMemory(tk.tid, at, name) != len(name) {
		return false
	}
	t.regs.SP = sp - uint64(len(ex.plan))
	if writeMemory(tk.tid, t.regs.SP, ex.plan) != len(ex.plan) || t.regs.set(tk.tid) != nil {
		return false
	}
	tk.proc.exe, tk.proc.copy, tk.proc.fresh = ex.exe, ex.copy, t.window.mem != nil
	tk.proc.loading = tk.proc.fresh
	t.countExec(tk.proc)
	t.execIDs(tk, ex, auxv)
	return true
}

// runsLoader reports whether the loader is what the kernel has started.
func (t *Tracer) runsLoader(tid int) bool {
	got, err := os.Stat("/proc/" + strconv.Itoa(tid) + "/exe")
	if err != nil {
		return false
	}
	want, err := os.Stat(t.loader)
	return err == nil && os.SameFile(got, want)
}

// atExecfn is AT_EXECFN.
const atExecfn = 31

// findExecfn walks argc, argv, envp and the auxiliary vector at sp, and returns
// where the path is and where the vector.
func findExecfn(tid int, sp uint64) (name, auxv uint64, ok bool) {
	var block [512]byte
	at, part := sp+8, 0 // behind argc; 0 argv, 1 envp, 2 auxv
	for {
		n := readMemory(tid, at, block[:]) &^ 15
		if n == 0 {
			return 0, 0, false
		}
		for i := 0; i < n; {
			word := le.Uint64(block[i:])
			switch {
			case part < 2:
				i += 8
				if word == 0 {
					part++
					auxv = at + uint64(i)
				}
			case i+16 > n:
				n = i // the pair is cut: read on from here
			case word == 0:
				return 0, 0, false
			case word == atExecfn:
				return le.Uint64(block[i+8:]), auxv, true
			default:
				i += 16
			}
		}
		at += uint64(n)
	}
}
