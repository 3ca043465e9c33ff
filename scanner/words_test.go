package scanner

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// explained is what has a slug and a sentence.
type explained interface {
	fmt.Stringer
	Explain() string
}

// constants are all values of the enumerations that have sentences.
func constants() map[string][]explained {
	all := map[string][]explained{}
	for r := range numReasons {
		all["reason"] = append(all["reason"], r)
	}
	for h := range HookCall + 1 {
		all["hook"] = append(all["hook"], h)
	}
	for _, k := range Kinds() {
		all["kind"] = append(all["kind"], k)
	}
	return all
}

func TestEveryConstantHasWords(t *testing.T) {
	slugForm := regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`)
	for what, values := range constants() {
		slugs, sentences := map[string]bool{}, map[string]bool{}
		for _, v := range values {
			slug, sentence := v.String(), v.Explain()
			if !slugForm.MatchString(slug) || slugs[slug] {
				t.Errorf("%s %d: slug %q is malformed or used twice", what, v, slug)
			}
			if !strings.HasSuffix(sentence, ".") || strings.Contains(sentence, ". ") || sentences[sentence] {
				t.Errorf("%s %d: %q is not a sentence of its own", what, v, sentence)
			}
			slugs[slug], sentences[sentence] = true, true
		}
	}
}

// The words end exactly where the constants do.
func TestUnknownValuesShowTheirNumber(t *testing.T) {
	for _, row := range []struct {
		got  fmt.Stringer
		want string
	}{
		{numReasons - 1, "bridge-fixed"}, {numReasons, "reason-12"}, {HookCall, "call"}, {HookCall + 1, "hook-6"},
		{Kind(0), "kind-0"}, {Call, "call"}, {Call + 1, "kind-4"}, {Refuse, "refuse"}, {Accept, "accept"}, {Accept + 1, "verdict-2"},
		{Reason(255), "reason-255"},
	} {
		if got := row.got.String(); got != row.want {
			t.Errorf("%T.String() = %q, want %q", row.got, got, row.want)
		}
	}
	if got, want := Reason(255).Explain(), "Not a reason that this version knows."; got != want {
		t.Errorf("Reason(255).Explain() = %q, want %q", got, want)
	}
}

func TestFlagsString(t *testing.T) {
	for _, row := range []struct {
		f    Flags
		want string
	}{
		{0, "-"}, {Proven, "proven"}, {AsyncCancel, "async-cancel"}, {EdgeInWindow, "edge-in-window"}, {ViaBridge, "via-bridge"},
		{HookIsSvc, "hook-is-svc"}, {BridgeEntry, "bridge-entry"}, {Proven | ViaBridge, "proven,via-bridge"},
		{BridgeEntry << 1, "flags-0x40"}, {Proven | 0x8000, "proven,flags-0x8000"},
	} {
		if got := row.f.String(); got != row.want {
			t.Errorf("Flags(%#x).String() = %q, want %q", uint16(row.f), got, row.want)
		}
	}
}

func TestReasonsAreAllRefusals(t *testing.T) {
	want := []Reason{NumberNotRelayed, NumberInRegister, NumberFromMemory, NumberComputed, NumberTooFar, WindowBranch,
		WindowUnknown, WindowStart, NumberConflict, CallNumberUnknown, BridgeFixed}
	if diff := cmp.Diff(want, Reasons()); diff != "" {
		t.Errorf("Reasons() differs (-want +got):\n%s", diff)
	}
}
