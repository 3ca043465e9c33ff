// What Android's app policy lets through, by API level.
//
// The level is not the policy: a quarterly release changes the filter under the
// same level (clone3 passes at level 34 from 14 QPR2 on, not before), and a
// vendor may ship another one. AllowedInSome and Unlisted are the two answers
// that leave it to a probe at run time.

package sysno

// Android says from which API levels on a call passes. Nothing that once passed
// was ever taken away, so two levels say it all.
type Android struct {
	Some uint8 // first level with a release that lets it through; 0: none
	All  uint8 // first level whose releases all do; 0: none
}

// Allowance is what the policy of one API level does with a call.
type Allowance uint8

const (
	// Unlisted: the table has no policy for this level. That is every level
	// before AndroidMin or after AndroidMax, for every call, also for one that
	// passes at all levels between. Probe.
	Unlisted Allowance = iota
	// Blocked: SIGSYS in every release of the level; the call is not run.
	Blocked
	// AllowedInSome: releases of the level disagree. Probe.
	AllowedInSome
	// Allowed: it passes the filter in every AOSP release of the level. The
	// kernel may still lack it and SELinux may still refuse it.
	Allowed
)

// AllowedAt returns what the policy of an API level does with the call.
func (a Android) AllowedAt(level int) Allowance {
	switch {
	case level < AndroidMin || level > AndroidMax:
		return Unlisted
	case a.All != 0 && level >= int(a.All):
		return Allowed
	case a.Some != 0 && level >= int(a.Some):
		return AllowedInSome
	}
	return Blocked
}

// String returns the lower-case words of the docs page.
func (a Allowance) String() string { return word(allowanceWords[:], int(a), "allowance") }

var allowanceWords = [...]string{Unlisted: "unlisted", Blocked: "blocked", AllowedInSome: "allowed in some", Allowed: "allowed"}
