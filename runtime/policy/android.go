// Android's app policy, to stand in for it where there is no Android.
//
// The real one looks at no argument either; it traps what it does not list, the
// number -1 of a skipped call included, and whatever is not AArch64 (32-bit ARM
// has a list of its own, which no guest of ours may need).

package policy

import (
	"fmt"

	"svcrelay/runtime/sysno"
)

// AndroidApp is the filter of an app at an API level. Where the releases of a
// level disagree it is that of the first one, or of the latest.
func AndroidApp(level int, latest bool) (Filter, error) {
	if level < sysno.AndroidMin || level > sysno.AndroidMax {
		return Filter{}, fmt.Errorf("api level %d: known are %d to %d", level, sysno.AndroidMin, sysno.AndroidMax)
	}
	rule := func(nr int) Rule {
		if androidAllows(nr, level, latest) {
			return Always(Allow)
		}
		return Always(Trap)
	}
	return New(sysno.Max, rule, Trap, Trap), nil
}

// AndroidBlocked lists the calls that AndroidApp traps, by ascending number.
// There are none at a level that is not known.
func AndroidBlocked(level int, latest bool) []int {
	var out []int
	for _, c := range sysno.All() {
		if c.Android.AllowedAt(level) != sysno.Unlisted && !androidAllows(c.Nr, level, latest) {
			out = append(out, c.Nr)
		}
	}
	return out
}

func androidAllows(nr, level int, latest bool) bool {
	c, ok := sysno.ByNumber(nr)
	if !ok {
		return false
	}
	switch c.Android.AllowedAt(level) {
	case sysno.Allowed:
		return true
	case sysno.AllowedInSome:
		return latest
	}
	return false
}
