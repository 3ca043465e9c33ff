// What holds for every build, known or not: the checks that judge a glibc nobody
// has seen. They ask the image and each other, never the scanner's own reasons.

package coverage

import (
	"cmp"
	"fmt"
	"slices"

	"svcrelay/runtime/sysno"
	"svcrelay/scanner"
	"svcrelay/scanner/elfimg"
)

// A structure is one check. It reports each fault, as printf does.
type structure struct {
	name  string
	check func(b *Build, fault func(format string, args ...any))
}

var structures = []structure{
	{"svcs-listed", svcsListed},
	{"sites-sorted", sitesSorted},
	{"verdicts", verdicts},
	{"hooks-placed", hooksPlaced},
	{"hooks-apart", hooksApart},
	{"bridge-ranges", bridgeRanges},
	{"glibc-calls", glibcCalls},
	{"glibc-bridge", glibcBridge},
}

// StructuralChecks returns the failures among what must hold for every build.
func StructuralChecks(b *Build) []Finding {
	var findings []Finding
	for _, s := range structures {
		found := 0
		s.check(b, func(format string, args ...any) {
			if found++; found <= maxFaults {
				findings = append(findings, Finding{Fail, s.name, fmt.Sprintf(format, args...)})
			}
		})
		if more := found - maxFaults; more > 0 {
			findings = append(findings, Finding{Fail, s.name, fmt.Sprintf("%d more of these", more)})
		}
	}
	return findings
}

// maxFaults bounds what one broken check says of a large image.
const maxFaults = 10

// svcsListed: each svc word of the image is one site, and each site is one.
func svcsListed(b *Build, fault func(string, ...any)) {
	listed := map[uint64]int{}
	for _, s := range b.Result.Sites {
		if s.Kind != scanner.Call {
			listed[s.Vaddr]++
		}
	}
	for _, vaddr := range b.Svcs {
		if n := listed[vaddr]; n != 1 {
			fault("svc at 0x%x: listed %d times, want once", vaddr, n)
		}
		delete(listed, vaddr)
	}
	for _, s := range b.Result.Sites {
		if listed[s.Vaddr] > 0 && s.Kind != scanner.Call {
			fault("%s: no svc there", at(s))
		}
	}
}

func sitesSorted(b *Build, fault func(string, ...any)) {
	for i, s := range b.Result.Sites {
		if i > 0 && s.Vaddr <= b.Result.Sites[i-1].Vaddr {
			fault("%s: not behind the site before it, at 0x%x", at(s), b.Result.Sites[i-1].Vaddr)
		}
	}
}

// verdicts: a site is accepted, or has a reason; never both, never neither.
func verdicts(b *Build, fault func(string, ...any)) {
	for _, s := range b.Result.Sites {
		accepted := s.Verdict == scanner.Accept
		switch {
		case accepted != (s.Reason == scanner.ReasonNone):
			fault("%s: verdict %s with reason %s", at(s), s.Verdict, s.Reason)
		case accepted && s.Kind == scanner.Svc && s.Number == scanner.NoNumber:
			fault("%s: accepted without a number", at(s))
		case accepted && s.Kind != scanner.Bridge && s.Number != scanner.NoNumber && !sysno.Relayed(s.Number):
			fault("%s: accepted, but no relay handles %s", at(s), sysno.Name(s.Number))
		case s.Kind == scanner.Bridge && s.Number != scanner.NoNumber:
			fault("%s: a bridge with one number, %s", at(s), sysno.Name(s.Number))
		}
	}
}

// hooksPlaced: each hook is a word of the text, where kind and flags put it.
func hooksPlaced(b *Build, fault func(string, ...any)) {
	for _, s := range b.Result.Sites {
		switch want := hookPlaces(s); {
		case s.Verdict != scanner.Accept && s.Hook != 0:
			fault("%s: refused with a hook at 0x%x", at(s), s.Hook)
		case s.Verdict != scanner.Accept:
		case !slices.Contains(want, s.Hook):
			fault("%s: hook at 0x%x, want it at %#x", at(s), s.Hook, want)
		case !b.executable(s.Hook) || s.Hook%4 != 0:
			fault("%s: hook at 0x%x, which is no word of the text", at(s), s.Hook)
		case s.Kind != scanner.Call && (s.Hook == s.Vaddr) != (s.Flags&scanner.HookIsSvc != 0):
			fault("%s: hook at 0x%x with flags %s", at(s), s.Hook, s.Flags)
		}
	}
}

// hookPlaces are the addresses where the hook of s may be.
func hookPlaces(s scanner.Site) []uint64 {
	switch {
	case s.Kind == scanner.Call:
		return []uint64{s.Vaddr}
	case s.Flags&scanner.BridgeEntry != 0:
		return []uint64{s.Start - 4}
	}
	return []uint64{s.Vaddr - 4, s.Vaddr}
}

func (b *Build) executable(vaddr uint64) bool {
	after, _ := slices.BinarySearchFunc(b.Exec, vaddr+1, func(r elfimg.Range, vaddr uint64) int {
		return cmp.Compare(r.Vaddr, vaddr)
	})
	return after > 0 && vaddr-b.Exec[after-1].Vaddr < b.Exec[after-1].Size
}

// hooksApart: no word is replaced twice, and none that must stay.
func hooksApart(b *Build, fault func(string, ...any)) {
	svcs, hooks := map[uint64]bool{}, map[uint64]scanner.Site{}
	for _, s := range b.Result.Sites {
		svcs[s.Vaddr] = s.Kind != scanner.Call
	}
	ranges := entries(b.Result.Sites)
	for _, s := range b.Result.Sites {
		if s.Verdict != scanner.Accept {
			continue
		}
		if other, used := hooks[s.Hook]; used {
			fault("%s: hook at 0x%x, which is also that of %s", at(s), s.Hook, at(other))
		}
		hooks[s.Hook] = s
		if s.Hook != s.Vaddr && svcs[s.Hook] {
			fault("%s: hook at 0x%x, which is another site's svc", at(s), s.Hook)
		}
		if r, inside := rangeOf(ranges, s.Hook); inside {
			fault("%s: hook at 0x%x, inside the range of %s", at(s), s.Hook, at(r))
		}
	}
}

// entries are the bridges with a range, by where it starts.
func entries(sites []scanner.Site) []scanner.Site {
	var ranges []scanner.Site
	for _, s := range sites {
		if s.Flags&scanner.BridgeEntry != 0 {
			ranges = append(ranges, s)
		}
	}
	slices.SortFunc(ranges, func(a, b scanner.Site) int { return cmp.Compare(a.Start, b.Start) })
	return ranges
}

// rangeOf returns the one of ranges that vaddr lies in.
func rangeOf(ranges []scanner.Site, vaddr uint64) (scanner.Site, bool) {
	after, _ := slices.BinarySearchFunc(ranges, vaddr+1, func(r scanner.Site, vaddr uint64) int {
		return cmp.Compare(r.Start, vaddr)
	})
	if after == 0 || vaddr >= ranges[after-1].End {
		return scanner.Site{}, false
	}
	return ranges[after-1], true
}

// bridgeRanges: a cancellation handler's range ends behind the bridge's svc.
func bridgeRanges(b *Build, fault func(string, ...any)) {
	for _, s := range b.Result.Sites {
		entry := s.Kind == scanner.Bridge && s.Flags&scanner.BridgeEntry != 0
		switch {
		case entry && (s.Start >= s.Vaddr || s.End != s.Vaddr+4):
			fault("%s: range 0x%x to 0x%x, want it to end behind the svc", at(s), s.Start, s.End)
		case !entry && (s.Start != 0 || s.End != 0):
			fault("%s: range 0x%x to 0x%x of what is no bridge entry", at(s), s.Start, s.End)
		}
	}
}

// glibcCalls: no glibc was ever built without these.
func glibcCalls(b *Build, fault func(string, ...any)) {
	need := []string{"openat"}
	switch {
	case b.glibcLibc():
		need = []string{"openat", "newfstatat"}
	case b.Libc != "glibc" || b.Role() != "ld.so":
		return
	}
	counts := b.Counts()
	for _, name := range need {
		if call, _ := sysno.ByName(name); counts.cell(call.Nr).total() == 0 {
			fault("%s: no site of a glibc's %s", name, b.Role())
		}
	}
}

// glibcBridge: the cancellation bridge came with 2.41, and openat goes through it.
func glibcBridge(b *Build, fault func(string, ...any)) {
	if !b.glibcLibc() || b.Version == "" {
		return
	}
	bridges := len(entries(b.Result.Sites))
	openat, _ := sysno.ByName("openat")
	calls := b.Counts().cell(openat.Nr).Call
	version := "glibc " + escape(b.Version)
	switch {
	case !b.atLeast(2, 41) && bridges > 0:
		fault("%s: %s before 2.41 has none", plural(bridges, "cancellation bridge"), version)
	case b.atLeast(2, 41) && bridges != 1:
		fault("%s: %s has one", plural(bridges, "cancellation bridge"), version)
	case b.atLeast(2, 41) && calls == 0:
		fault("openat: no call through the cancellation bridge of %s", version)
	}
}

// at names a site in a fault.
func at(s scanner.Site) string {
	text := fmt.Sprintf("%s at 0x%x", s.Kind, s.Vaddr)
	if s.Function != "" {
		text += " in " + escape(s.Function)
	}
	return text
}
