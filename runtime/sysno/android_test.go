package sysno

import (
	"encoding/json"
	"os"
	"slices"
	"strconv"
	"testing"
)

// policy is the part of testdata/app-seccomp-arm64.json that the table must
// agree with. Level 37 is there without a list.
type policy struct {
	NeverAllowed []string `json:"never_allowed"`
	Levels       map[string]struct {
		Allowed       []string
		AllowedInSome map[string][]string `json:"allowed_in_some"`
	}
}

func readPolicy(t *testing.T) policy {
	t.Helper()
	data, err := os.ReadFile("testdata/app-seccomp-arm64.json")
	if err != nil {
		t.Fatal(err)
	}
	var p policy
	if err := json.Unmarshal(data, &p); err != nil {
		t.Fatal(err)
	}
	return p
}

// TestAndroidAgreesWithPolicy goes both ways at every level: each call of the
// table has the answer of the data, and each name of the data is in the table.
func TestAndroidAgreesWithPolicy(t *testing.T) {
	p := readPolicy(t)
	for level := AndroidMin; level <= AndroidMax; level++ {
		data, ok := p.Levels[strconv.Itoa(level)]
		if !ok || len(data.Allowed) < 200 {
			t.Fatalf("level %d: %d calls in the data", level, len(data.Allowed))
		}
		want := map[string]Allowance{}
		for _, name := range data.Allowed {
			want[name] = Allowed
		}
		for name := range data.AllowedInSome {
			want[name] = AllowedInSome
		}
		for _, c := range All() {
			w := max(want[c.Name], Blocked)
			if got := c.Android.AllowedAt(level); got != w {
				t.Errorf("%s AllowedAt(%d) = %v, want %v", c.Name, level, got, w)
			}
			delete(want, c.Name)
		}
		for name := range want {
			t.Errorf("level %d: %s is in the data, not in the table", level, name)
		}
	}
}

func TestAndroidNever(t *testing.T) {
	want := readPolicy(t).NeverAllowed
	var got []string
	for _, c := range All() {
		if c.Android == (Android{}) {
			got = append(got, c.Name)
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, want) || len(got) != 100 {
		t.Errorf("never let through: %d calls %v, want the 100 of the data", len(got), got)
	}
}

// The range of known levels is the range of the data: a new list must reach the table.
func TestAndroidLevels(t *testing.T) {
	var known []int
	for s, l := range readPolicy(t).Levels {
		if n, err := strconv.Atoi(s); err == nil && l.Allowed != nil {
			known = append(known, n)
		}
	}
	if lo, hi := slices.Min(known), slices.Max(known); lo != AndroidMin || hi != AndroidMax || len(known) != hi-lo+1 {
		t.Errorf("levels of the table %d to %d, of the data %v", AndroidMin, AndroidMax, known)
	}
}

func TestAllowedAtBoundaries(t *testing.T) {
	always, partial, late, never := Android{29, 29}, Android{34, 35}, Android{36, 0}, Android{}
	for _, row := range []struct {
		a     Android
		level int
		want  Allowance
	}{
		{always, 28, Unlisted}, {always, 29, Allowed}, {always, 36, Allowed}, {always, 37, Unlisted},
		{partial, 33, Blocked}, {partial, 34, AllowedInSome}, {partial, 35, Allowed},
		{late, 35, Blocked}, {late, 36, AllowedInSome}, {late, 37, Unlisted},
		{never, 28, Unlisted}, {never, 29, Blocked}, {never, 36, Blocked}, {never, 37, Unlisted}, {never, 0, Unlisted}, {always, -1, Unlisted}, {always, 1 << 40, Unlisted},
	} {
		if got := row.a.AllowedAt(row.level); got != row.want {
			t.Errorf("%v AllowedAt(%d) = %v, want %v", row.a, row.level, got, row.want)
		}
	}
}

func TestAndroidOfKnownCalls(t *testing.T) {
	for name, want := range map[string]Android{"openat": {29, 29}, "statx": {30, 30}, "clone3": {34, 35}, "mseal": {35, 36},
		"openat2": {36, 0}, "landlock_add_rule": {36, 36}, "rseq": {}, "accept": {}} {
		if c, _ := ByName(name); c.Android != want {
			t.Errorf("Android of %s = %v, want %v", name, c.Android, want)
		}
	}
}
