// Package scanner finds every syscall site of an image and gives each a
// verdict.
//
// It promises: each svc #0 word in an executable range is listed once, with its
// kind, its number when the words before it tell, its hook, the registers live
// after it, and either Accept or one reason. Calls that reach a cancellation
// bridge are listed beside them. The result depends on the image's bytes alone.
//
// A number marked Proven is the only one that any known way brings to the svc: by
// direct branches and falling through, from function entries, jump tables and
// landing pads, and to every address that a relocation names, or an adr, or an
// adrp with an add close behind. It takes for granted what compilers keep: that
// calls through a register go to function entries; that a pointer which is loaded
// from anywhere but the stack is one of those addresses; that only words in
// executable sections are run; that in an image marked for BTI jumps through a
// register meet a landing pad.
//
// It refuses to guess: a word that a64 does not know ends a window, a path whose
// number cannot be told refuses the site, and in a function with an indirect
// jump that was not understood nothing is Proven.
//
// The scan reads files of others: it never panics, and its time and its memory are
// bounded by the size of the text. What it has no time to prove is not Proven.
package scanner

import (
	"cmp"
	"slices"

	"svcrelay/runtime/sysno"
	"svcrelay/scanner/a64"
	"svcrelay/scanner/elfimg"
)

// RecogniserVersion is the version of what this package accepts. It is part of every
// table, and grows with each change that can change one.
const RecogniserVersion = 1

// Options change what is looked for. The zero value is the default.
type Options struct {
	// Window is how many words before an svc are read; 0 means DefaultWindow.
	Window int
	// Relayed tells the numbers that are accepted; nil means sysno.Relayed.
	Relayed func(nr int) bool
}

// A Result is all sites of one image, by address.
type Result struct {
	Sites  []Site
	Window int
}

// Scan lists the sites of img. It fails only when the executable ranges are
// spread too far to be addressed (ErrSpread).
func Scan(img *elfimg.Image, opt Options) (*Result, error) {
	s, err := newScan(img, opt)
	if err != nil {
		return nil, err
	}
	defer s.t.release()
	for i := range s.t.spans {
		s.scanSpan(&s.t.spans[i])
	}
	s.finish()
	return &Result{Sites: s.sites, Window: s.window}, nil
}

// A scan is the state of one Scan.
type scan struct {
	prover
	window   int
	relayed  func(int) bool
	sites    []Site // the svc words, ascending
	calls    []Site
	wrappers []wrapper
}

// wordsPerSvc is about what the densest glibc has: 2.31 has 370, 2.43 720.
const wordsPerSvc = 350

func newScan(img *elfimg.Image, opt Options) (*scan, error) {
	t, err := newText(img)
	if err != nil {
		return nil, err
	}
	s := &scan{window: opt.Window, relayed: opt.Relayed}
	s.prover = prover{t: t, img: img}
	words := pos(0)
	for i := range t.spans {
		words += t.spans[i].words()
	}
	s.work = workPerWord*int(words) + workAtLeast
	if img.Property.BTI {
		t.collect(nil)
	} else {
		t.collect(s.hide)
	}
	s.survey()
	s.sites = make([]Site, 0, words/wordsPerSvc)
	if s.window <= 0 {
		s.window = DefaultWindow
	}
	if s.relayed == nil {
		s.relayed = sysno.Relayed
	}
	return s, nil
}

func (s *scan) scanSpan(sp *span) {
	for off := NextSvc(sp.code, 0); off >= 0; off = NextSvc(sp.code, off+a64.Size) {
		i := pos(off / a64.Size)
		if b, ok := bridgeAt(sp, i); ok && sp.straight(b.start, i) {
			s.addBridge(b, sp)
			continue
		}
		s.sites = append(s.sites, s.svcSite(sp, i))
	}
}

// svcSite reads the window of the svc at offset i of sp and judges it.
func (s *scan) svcSite(sp *span, i pos) Site {
	w := readWindow(sp, i, s.window)
	site := Site{
		Vaddr: s.t.vaddr(sp.first + i), Kind: Svc,
		Number: w.number, Distance: w.distance, Reason: w.reason,
	}
	if s.asyncCancelled(sp, i) {
		site.Flags |= AsyncCancel
	}
	if site.Reason == ReasonNone {
		s.prove(sp, i, &site)
	}
	if site.Reason == ReasonNone && !s.relayed(site.Number) {
		site.Reason = NumberNotRelayed
	}
	if site.Reason == ReasonNone {
		s.accept(sp, i, &site)
	}
	return site
}

// accept gives a site its hook.
func (s *scan) accept(sp *span, i pos, site *Site) {
	at, why := hookFor(sp, i)
	site.Verdict, site.HookReason = Accept, why
	site.Hook, site.HookWord = s.t.vaddr(sp.first+at), sp.at(at)
	if at == i {
		site.Flags |= HookIsSvc
	}
}

// prove looks for other paths into the window of the svc at offset i.
func (s *scan) prove(sp *span, i pos, site *Site) {
	agree := true
	for k := i - pos(site.Distance) + 1; k <= i; k++ {
		if sp.targets.has(k) {
			site.Flags |= EdgeInWindow
			agree = agree && s.sameNumber(sp.first+k, site.Number)
		}
		// Stricter than hiddenAt: a pad of any kind has no business in a window.
		if sp.entries.has(k) || sp.hidden.has(k) || s.img.Property.BTI && sp.at(k).IsLandingPad() {
			agree = false
		}
	}
	switch {
	case !agree:
		site.Reason = NumberConflict
	case !sp.isOpaque(i):
		site.Flags |= Proven
	}
}

// sameNumber reports whether every branch to p brings number in x8.
func (s *scan) sameNumber(p pos, number int) bool {
	for from := range s.into(p) {
		if v := s.valueAt(from, numberReg); v != (value{constant, uint64(number)}) {
			return false
		}
	}
	return s.work >= 0
}

// finish sorts the sites and adds what needs all of them.
func (s *scan) finish() {
	s.joinWrappers()
	slices.SortFunc(s.calls, func(a, b Site) int { return cmp.Compare(a.Vaddr, b.Vaddr) })
	s.sites = merge(s.sites, s.calls)
	exported := nameSites(s.img, s.sites)
	walk := liveWalk{prover: &s.prover}
	for i := range s.sites {
		site := &s.sites[i]
		if site.Kind == Call { // a function boundary: AAPCS64 holds
			site.Live = preserved | linkReg
			continue
		}
		budget := refusedBudget
		if site.Verdict == Accept {
			budget = acceptedBudget
		}
		walk.exported = exported[i]
		site.Live = walk.liveAfter(s.t.pos(site.Vaddr), budget)
	}
}

// merge returns the sites of two ascending lists in one.
func merge(a, b []Site) []Site {
	if len(b) == 0 {
		return a
	}
	all := make([]Site, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if a[0].Vaddr < b[0].Vaddr {
			all, a = append(all, a[0]), a[1:]
		} else {
			all, b = append(all, b[0]), b[1:]
		}
	}
	return append(append(all, a...), b...)
}
