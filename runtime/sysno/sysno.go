// Package sysno is the project's one list of arm64 system calls: numbers,
// names, what each argument is, what the tracer and the relays do with a call,
// and since which API level Android's app policy lets it through.
//
// The list itself is the text file syscalls.tsv; zsysno.go, sysno.h and
// SYSCALLS.md are made from it. Lookups take any int and allocate nothing. The
// package knows no other architecture, makes no call, and promises nothing
// about a number without a row but that its class is ClassRefuse: 244 to 259
// and 295 to 423 are such holes in the middle of the table.
package sysno

import (
	"slices"
	"strconv"
)

//go:generate go run ./gen

// Arg says what one argument of a call is. ArgDirfd always stands right before
// the ArgPath or ArgEntry that it belongs to, ArgDirfd2 before the second one.
type Arg uint8

// Class says what the tracer does with a call that reaches it or its filter.
type Class uint8

// Relay says what the in-process relays do with a call: a set of Relay bits,
// because faccessat2 is answered below the API level that lets it through and
// translated from there on. Zero means that no relay handles the call.
type Relay uint8

// Call is one row of the table. Args is shared: do not write to it.
type Call struct {
	Nr      int
	Name    string
	Since   string // first mainline kernel whose arm64 has it
	Args    []Arg  // at most six, in register order from x0
	Class   Class
	Relay   Relay
	Seed    bool // one of the 20 path calls of the first relays
	Android Android
	Sigsys  Sigsys // what it gets where Android traps it; zero where no level does
	Note    string // what surprises about it, or ""
}

// ByNumber returns the call with number nr.
func ByNumber(nr int) (Call, bool) {
	if !known(nr) {
		return Call{}, false
	}
	return table[nr], true
}

// ByName returns the call with that name: the kernel's, so newfstatat and not
// fstatat, umount2 and not umount.
func ByName(name string) (Call, bool) {
	i, ok := slices.BinarySearchFunc(byName[:], name, compareName)
	if !ok {
		return Call{}, false
	}
	return table[byName[i]], true
}

// All returns every call, by ascending number, in a slice of the caller's own.
func All() []Call {
	calls := make([]Call, 0, len(byName))
	for nr := range table {
		if known(nr) {
			calls = append(calls, table[nr])
		}
	}
	return calls
}

// Name returns the name of nr, or syscall-NR for a number without a row.
func Name(nr int) string {
	if !known(nr) {
		return "syscall-" + strconv.Itoa(nr)
	}
	return table[nr].Name
}

// ClassOf returns the class of nr: ClassRefuse for a number without a row.
func ClassOf(nr int) Class {
	if !known(nr) {
		return ClassRefuse
	}
	return table[nr].Class
}

// Relayed reports whether the relays handle nr.
func Relayed(nr int) bool { return known(nr) && table[nr].Relay != 0 }

// Index returns the place of the argument a among c's, or -1.
func (c Call) Index(a Arg) int { return slices.Index(c.Args, a) }

// Pointer reports whether the kernel follows the argument into guest memory.
func (a Arg) Pointer() bool { return pointerArgs>>a&1 != 0 }

// String returns the word of syscalls.tsv.
func (a Arg) String() string { return word(argWords[:], int(a), "arg") }

// String returns the word of syscalls.tsv.
func (c Class) String() string { return word(classWords[:], int(c), "class") }

// Has reports whether r holds every bit of x, and x holds one.
func (r Relay) Has(x Relay) bool { return x != 0 && r&x == x }

// String returns the words of syscalls.tsv, joined by +, or "-" for none.
func (r Relay) String() string {
	s := ""
	for i, w := range relayWords {
		if r.Has(1 << i) {
			s += "+" + w
		}
	}
	if s == "" {
		return "-"
	}
	return s[1:]
}

func known(nr int) bool { return uint(nr) < uint(len(table)) && table[nr].Name != "" }

func compareName(nr uint16, name string) int {
	switch have := table[nr].Name; {
	case have < name:
		return -1
	case have > name:
		return 1
	}
	return 0
}

// word names a value of an enumeration, or shows the number of an unknown one.
func word(words []string, i int, kind string) string {
	if i >= len(words) || words[i] == "" {
		return kind + "-" + strconv.Itoa(i)
	}
	return words[i]
}
