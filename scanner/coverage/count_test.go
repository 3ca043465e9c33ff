package coverage

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"svcrelay/scanner"
)

func TestCounts(t *testing.T) {
	unproven := svc(0x1700, "openat", 2, "f")
	unproven.Flags = scanner.EdgeInWindow | scanner.AsyncCancel | scanner.HookIsSvc
	b := libc43()
	b.Result.Sites = append(b.Result.Sites, unproven, refused(0x1800, scanner.NumberTooFar, ""))
	want := Counts{
		Totals: [numCounters]int{SvcWords: 6, Adjacent: 2, Nearby: 2, Bridges: 1, Calls: 2, Proven: 5, AsyncCancel: 1, Edges: 1, HookIsSvc: 1},
		Accepted: map[Key]int{
			{nr("newfstatat"), scanner.Svc, "fstatat"}: 1, {nr("newfstatat"), scanner.Svc, ""}: 1, {scanner.NoNumber, scanner.Bridge, ""}: 1,
			{nr("openat"), scanner.Call, "open"}: 1, {nr("openat"), scanner.Call, "openat"}: 1, {nr("openat"), scanner.Svc, "f"}: 1,
		},
		Unproven: map[Key]int{{nr("openat"), scanner.Svc, "f"}: 1},
		Refused:  map[Refusal]int{{scanner.NumberNotRelayed, scanner.Svc}: 1, {scanner.NumberTooFar, scanner.Svc}: 1},
	}
	got := b.Counts()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Counts differ (-want +got):\n%s", diff)
	}
	for _, row := range []struct {
		got  Cell
		want string
	}{
		{got.cell(nr("openat")), "1+2c"}, {got.cell(nr("newfstatat")), "2"}, {got.cell(nr("statx")), "-"},
		{got.accepted(), "3+1b+2c"}, {got.refused(scanner.ReasonNone), "2"}, {got.refused(scanner.NumberTooFar), "1"}, {got.refused(scanner.BridgeFixed), "-"},
	} {
		if row.got.String() != row.want {
			t.Errorf("cell %+v = %q, want %q", row.got, row.got, row.want)
		}
	}
}

func TestEveryCounterHasWords(t *testing.T) {
	seen := map[string]bool{}
	for c := range numCounters {
		if c.String() == "" || counters[c].label == "" || seen[c.String()] {
			t.Errorf("counter %d: slug %q, label %q", c, c.String(), counters[c].label)
		}
		seen[c.String()] = true
	}
}
