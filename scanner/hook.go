// Where a site is hooked. The word before the svc is the choice at every
// windowed site of glibc 2.31 to 2.44: it runs anywhere and nothing jumps past
// it, and the svc stays at its own pc for every call that is declined.

package scanner

import "svcrelay/scanner/a64"

// hookFor chooses the hook of the svc at offset i of s.
func hookFor(s *span, i pos) (at pos, why HookReason) {
	switch {
	case s.targets.has(i):
		return i, HookSvcEdge
	case i == 0 || !displaceable(s.at(i-1)):
		return i, HookSvcFixed
	}
	return i - 1, HookBefore
}

// displaceable reports whether w does the same at another address.
func displaceable(w a64.Word) bool {
	if a64.Decode(w).Flow != a64.Next || w.IsLandingPad() || w.IsLiteralLoad() || w.SignsLink() {
		return false
	}
	_, _, pcRelative := w.Adr(0)
	return !pcRelative
}
