// Sites, verdicts and reasons: the words every later stage speaks.
//
// A site that is not relayed is not an error. It is a Site with the verdict
// Refuse and one of the reasons below; libc 2.43 has 418 svc words and only
// about 60 of them are worth a relay, so refusals are the normal case and each
// is counted, printed by --explain and tested.

package scanner

import "svcrelay/scanner/a64"

// Kind says how a site passes its syscall number.
type Kind uint8

const (
	// Svc is an svc #0 word whose number, if any, is loaded in its window.
	Svc Kind = iota + 1
	// Bridge is an svc #0 word whose number arrives in a register from many
	// callers: glibc's __syscall_cancel_arch, and the non-cancelling svc of
	// __internal_syscall_cancel. Its relay decides on x8 at run time.
	Bridge
	// Call is a bl (or a tail call's b) that reaches a Bridge, as a rule with a
	// constant number. Its Vaddr is the branch's.
	Call
)

// Verdict says whether a site may be relayed.
type Verdict uint8

const (
	Refuse Verdict = iota
	Accept
)

// Reason says why a site is refused. The zero Reason belongs to accepted sites.
type Reason uint8

const (
	ReasonNone        Reason = iota
	NumberNotRelayed         // the number is known, no relay handles it
	NumberInRegister         // x8 is a copy of another register
	NumberFromMemory         // x8 is loaded from memory
	NumberComputed           // x8 is built by other means: shifted movz, movk, arithmetic
	NumberTooFar             // no write of x8 within the window
	WindowBranch             // a branch, call or return ends the window first
	WindowUnknown            // a word that a64 does not know ends the window first
	WindowStart              // the executable range starts inside the window
	NumberConflict           // another path reaches the svc with another number, or with one that cannot be told
	CallNumberUnknown        // a caller of a bridge whose number is no constant
	BridgeFixed              // a bridge without a bti at its entry: its callers are retargeted instead
	numReasons
)

// HookReason says why the hook is where it is.
type HookReason uint8

const (
	HookNone     HookReason = iota
	HookBefore              // the word before the svc: position-independent, nothing jumps past it
	HookSvcEdge             // the svc itself: a branch lands on it and would miss the word before
	HookSvcFixed            // the svc itself: the word before reads its own address, branches, or guards an entry
	HookEntry               // the entry word (bti c) of a cancellation bridge
	HookCall                // the branch itself: it can be retargeted
)

// Flags are properties of a site that its relay, or the one who applies it,
// must know. Values are part of the table format: see cachefmt/FORMAT.md.
type Flags uint16

const (
	// Proven: every path to the svc carries the recorded number.
	Proven Flags = 1 << iota
	// AsyncCancel: glibc <= 2.40 runs this svc with asynchronous cancellation
	// switched on, so that a relay here can be unwound at any instruction.
	AsyncCancel
	// EdgeInWindow: a branch lands between the number and the svc.
	EdgeInWindow
	// ViaBridge: this call is served by its bridge's hook; retargeting the
	// branch is only needed where that hook cannot be used.
	ViaBridge
	// HookIsSvc: the hook is the svc word itself, not the word before it.
	HookIsSvc
	// BridgeEntry: the bridge whose range [Start, End) the cancellation handler
	// compares the pc with. Its svc must stay where it is.
	BridgeEntry
)

// NoNumber is the Number of a site whose number is not known before run time.
const NoNumber = -1

// A Site is one svc #0 word, or one call that reaches a bridge.
type Site struct {
	Vaddr      uint64   // of the svc, or of a Call's branch
	Hook       uint64   // of the word to replace; 0 when refused
	HookWord   a64.Word // what that word holds in the image
	Start, End uint64   // Bridge with BridgeEntry: the handler's range; else 0
	Number     int      // the syscall number, or NoNumber
	Distance   int      // words from the number's movz to the svc (1: adjacent); 0 when unknown
	Live       a64.Regs // registers that may be read after the svc before they are written
	Kind       Kind
	Verdict    Verdict
	Reason     Reason
	HookReason HookReason
	Flags      Flags
	Function   string // name of the containing function, "" when no symbol tells
	Offset     uint64 // of Vaddr in that function
}
