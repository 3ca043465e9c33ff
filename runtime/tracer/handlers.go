//go:build linux && arm64

// What the tracer does with each call that its filter stops, family by family. A
// call that the filter stops and no family knows gets ENOSYS: nothing runs
// because somebody forgot it.

package tracer

import (
	"syscall"

	"svcrelay/runtime/sysno"
)

// A handler takes a task that is entering a call; x0 to x8 are in t.regs. It
// resumes the task, or leaves that to the call's exit.
type handler func(t *Tracer, tk *task, nr int)

// handlers is by number.
var handlers = buildHandlers()

func buildHandlers() (table [sysno.Max + 1]handler) {
	for nr := range table {
		table[nr] = missing
	}
	for _, c := range sysno.All() {
		switch {
		case c.Class == sysno.ClassTranslate && pathCalls[c.Nr].n > 0:
			table[c.Nr] = (*Tracer).pathCall
		case c.Class == sysno.ClassAnswer:
			table[c.Nr] = refuse
		}
	}
	for _, family := range []map[int]handler{cwdCalls, openCalls, xattrCalls, memoryCalls, otherCalls, execCalls, processCalls, socketCalls,
		idCalls, ownerCalls, credCalls, rootCalls, unameCalls, selfCalls, androidCalls} {
		for nr, h := range family {
			table[nr] = h
		}
	}
	withCreds(&table)
	return table
}

// missing is for a call that has a row in sysno and no handler.
func missing(t *Tracer, tk *task, _ int) { t.fail(tk, syscall.ENOSYS) }

// refuse answers as the kernel does to whoever lacks the capability.
func refuse(t *Tracer, tk *task, _ int) { t.fail(tk, syscall.EPERM) }

// pass lets the kernel run the call as it is.
func pass(_ *Tracer, tk *task, _ int) { cont(tk.tid, 0) }

var execCalls = map[int]handler{
	sysno.Execve:   (*Tracer).exec,
	sysno.Execveat: (*Tracer).exec,
}

// processCalls make tasks, which the event that follows tells of, or wait.
var processCalls = map[int]handler{
	sysno.Clone:  pass,
	sysno.Setns:  refuse,
	sysno.Ptrace: refuse, // at once: a task has one tracer
	sysno.Wait4:  pass,
	sysno.Waitid: pass,
}
