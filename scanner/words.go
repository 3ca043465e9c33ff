// The words for kinds, verdicts, reasons and flags, each in one place: --explain,
// JSON, tables as text, goldens and the HTML page all print these. The slugs are
// stored in golden files and read by scripts, so that a changed slug is a changed
// format, and a new constant without a row here fails a test.

package scanner

import (
	"strconv"
	"strings"
)

// A wording is a slug and, where --explain needs it, a sentence.
type wording struct{ slug, sentence string }

var kindWords = [...]wording{
	Svc:    {"svc", "An svc whose number, if any, is loaded in its window."},
	Bridge: {"bridge", "An svc whose number arrives in a register from many callers."},
	Call:   {"call", "A branch that reaches a bridge, as a rule with a constant number."},
}

var verdictWords = [...]wording{
	Refuse: {slug: "refuse"},
	Accept: {slug: "accept"},
}

var reasonWords = [...]wording{
	ReasonNone:        {"none", "Nothing speaks against a relay: the site is accepted."},
	NumberNotRelayed:  {"number-not-relayed", "The number is known, and no relay handles that call."},
	NumberInRegister:  {"number-in-register", "x8 is copied from another register, so the number is only known at run time."},
	NumberFromMemory:  {"number-from-memory", "x8 is loaded from memory, so the number is only known at run time."},
	NumberComputed:    {"number-computed", "x8 is built by something other than one plain movz: a shifted movz, a movk, arithmetic."},
	NumberTooFar:      {"number-too-far", "No word of the window writes x8: the number is set further back."},
	WindowBranch:      {"window-branch", "A branch, call, return or trap ends the window before a word that writes x8."},
	WindowUnknown:     {"window-unknown", "A word that the scanner does not know ends the window before a word that writes x8."},
	WindowStart:       {"window-start", "The executable range starts inside the window, before a word that writes x8."},
	NumberConflict:    {"number-conflict", "Another path reaches the svc with another number, or with one that cannot be told."},
	CallNumberUnknown: {"call-number-unknown", "A caller hands the bridge a number that is no constant."},
	BridgeFixed:       {"bridge-fixed", "The bridge has no bti at its entry that a branch may replace: its callers are retargeted instead."},
}

var hookReasonWords = [...]wording{
	HookNone:     {"none", "No word is replaced: the site is refused."},
	HookBefore:   {"before", "The word before the svc: it does the same at any address, and nothing jumps past it."},
	HookSvcEdge:  {"svc-edge", "The svc itself: a branch lands on it and would miss the word before."},
	HookSvcFixed: {"svc-fixed", "The svc itself: the word before reads its own address, branches, or guards an entry."},
	HookEntry:    {"entry", "The bti at the entry of a cancellation bridge, whose svc must stay where it is."},
	HookCall:     {"call", "The branch itself: it is retargeted."},
}

// flagSlugs are the slugs of the flags from bit 0 up.
var flagSlugs = [...]string{"proven", "async-cancel", "edge-in-window", "via-bridge", "hook-is-svc", "bridge-entry"}

// String returns k's slug.
func (k Kind) String() string { return lookUp(kindWords[:], int(k), "kind").slug }

// Explain returns one sentence about k.
func (k Kind) Explain() string { return lookUp(kindWords[:], int(k), "kind").sentence }

// String returns v's slug.
func (v Verdict) String() string { return lookUp(verdictWords[:], int(v), "verdict").slug }

// String returns r's slug.
func (r Reason) String() string { return lookUp(reasonWords[:], int(r), "reason").slug }

// Explain returns one sentence that says why a site is refused for r.
func (r Reason) Explain() string { return lookUp(reasonWords[:], int(r), "reason").sentence }

// String returns h's slug.
func (h HookReason) String() string { return lookUp(hookReasonWords[:], int(h), "hook").slug }

// Explain returns one sentence that says why the hook is where it is.
func (h HookReason) Explain() string { return lookUp(hookReasonWords[:], int(h), "hook").sentence }

// String returns the slugs of f's flags, joined by commas, or "-" for none.
func (f Flags) String() string {
	var slugs []string
	for i, slug := range flagSlugs {
		if f&(1<<i) != 0 {
			slugs = append(slugs, slug)
		}
	}
	if rest := f >> len(flagSlugs); rest != 0 {
		slugs = append(slugs, "flags-0x"+strconv.FormatUint(uint64(rest)<<len(flagSlugs), 16))
	}
	if len(slugs) == 0 {
		return "-"
	}
	return strings.Join(slugs, ",")
}

// Slugs returns the slugs of f's flags.
func (f Flags) Slugs() []string {
	if f == 0 {
		return []string{}
	}
	return strings.Split(f.String(), ",")
}

// Kinds returns every kind, in the order of their values.
func Kinds() []Kind { return []Kind{Svc, Bridge, Call} }

// Reasons returns every reason to refuse a site, in the order of their values.
func Reasons() []Reason {
	all := make([]Reason, 0, numReasons-1)
	for r := ReasonNone + 1; r < numReasons; r++ {
		all = append(all, r)
	}
	return all
}

// lookUp returns row i of words, or one that shows the number of an unknown value.
func lookUp(words []wording, i int, what string) wording {
	if i >= len(words) || words[i].slug == "" {
		return wording{what + "-" + strconv.Itoa(i), "Not a " + what + " that this version knows."}
	}
	return words[i]
}
