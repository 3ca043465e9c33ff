// The JSON form of a scan. Scripts read it: keys are only ever added.

package command

import (
	"fmt"

	"svcrelay/runtime/sysno"
	"svcrelay/scanner"
	"svcrelay/scanner/a64"
	"svcrelay/scanner/coverage"
)

type imageJSON struct {
	Source  string     `json:"source"`
	Image   string     `json:"image"`
	BuildID string     `json:"build_id"`
	Libc    string     `json:"libc"`
	Version string     `json:"version"`
	Counts  counts     `json:"counts"`
	Sites   []siteJSON `json:"sites"`
}

// counts says what became of the svc words of an image.
type counts struct {
	SvcWords        int            `json:"svc_words"`
	Adjacent        int            `json:"adjacent"` // number loaded right before the svc
	Nearby          int            `json:"nearby"`   // further back in the window
	Proven          int            `json:"proven"`   // no path brings another number
	Accepted        int            `json:"accepted"` // all kinds
	AcceptedSvc     int            `json:"accepted_svc"`
	AcceptedCalls   int            `json:"accepted_calls"`
	AcceptedBridges int            `json:"accepted_bridges"`
	Bridges         int            `json:"bridges"` // refused ones too
	Calls           int            `json:"calls"`
	Refused         map[string]int `json:"refused"` // by reason
}

// siteJSON is one site; null where a value is not known.
type siteJSON struct {
	Kind       string   `json:"kind"`
	Vaddr      string   `json:"vaddr"`
	Hook       *string  `json:"hook"`
	HookWord   *string  `json:"hook_word"`
	HookReason *string  `json:"hook_reason"`
	Nr         *int     `json:"nr"`
	Name       *string  `json:"name"`
	Distance   *int     `json:"distance"`
	Function   *string  `json:"function"`
	Offset     *string  `json:"offset"`
	Verdict    string   `json:"verdict"`
	Reason     *string  `json:"reason"`
	Live       string   `json:"live"` // bit n: xn, bit 31: NZCV
	LiveRegs   []string `json:"live_registers"`
	Flags      []string `json:"flags"`
	Start      *string  `json:"start,omitempty"` // of a bridge: what the handler compares the pc with
	End        *string  `json:"end,omitempty"`
}

func jsonOf(m *image, b *coverage.Build) imageJSON {
	j := imageJSON{
		Source: m.source, Image: m.path, BuildID: b.BuildID,
		Libc: b.Libc, Version: b.Version, Counts: countsOf(b), Sites: []siteJSON{},
	}
	for _, s := range b.Result.Sites {
		j.Sites = append(j.Sites, siteOf(s))
	}
	return j
}

func siteOf(s scanner.Site) siteJSON {
	j := siteJSON{
		Kind: s.Kind.String(), Vaddr: hexText(s.Vaddr), Verdict: s.Verdict.String(),
		Live: fmt.Sprintf("0x%08x", uint32(s.Live)), LiveRegs: registers(s.Live), Flags: s.Flags.Slugs(),
	}
	if s.Verdict == scanner.Accept {
		j.Hook, j.HookReason = new(hexText(s.Hook)), new(s.HookReason.String())
		j.HookWord = new(fmt.Sprintf("0x%08x", uint32(s.HookWord)))
	} else {
		j.Reason = new(s.Reason.String())
	}
	if s.Number != scanner.NoNumber {
		j.Nr, j.Name = new(s.Number), new(sysno.Name(s.Number))
	}
	if s.Distance != 0 {
		j.Distance = new(s.Distance)
	}
	if s.Function != "" {
		j.Function, j.Offset = new(s.Function), new(hexText(s.Offset))
	}
	if s.Flags&scanner.BridgeEntry != 0 {
		j.Start, j.End = new(hexText(s.Start)), new(hexText(s.End))
	}
	return j
}

func countsOf(b *coverage.Build) counts {
	all := b.Counts()
	c := counts{
		SvcWords: all.Totals[coverage.SvcWords], Adjacent: all.Totals[coverage.Adjacent], Nearby: all.Totals[coverage.Nearby],
		Bridges: all.Totals[coverage.Bridges], Calls: all.Totals[coverage.Calls], Proven: all.Totals[coverage.Proven],
		Refused: map[string]int{},
	}
	for key, n := range all.Accepted {
		c.Accepted += n
		switch key.Kind {
		case scanner.Svc:
			c.AcceptedSvc += n
		case scanner.Bridge:
			c.AcceptedBridges += n
		case scanner.Call:
			c.AcceptedCalls += n
		}
	}
	for r, n := range all.Refused {
		c.Refused[r.Reason.String()] += n
	}
	return c
}

func hexText(n uint64) string { return fmt.Sprintf("0x%x", n) }

// registers names the members of a set.
func registers(set a64.Regs) []string {
	names := []string{}
	for n := range uint32(31) {
		if set.Has(n) {
			names = append(names, fmt.Sprintf("x%d", n))
		}
	}
	if set&a64.NZCV != 0 {
		names = append(names, "nzcv")
	}
	return names
}
