package depend

import (
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"svcrelay/cmd/internal/debian"
)

// index is made of lines "name: needs; provides", a need being "a" or "a|b".
func index(lines ...string) iter.Seq2[debian.Package, error] {
	return func(yield func(debian.Package, error) bool) {
		for _, line := range lines {
			name, rest, _ := strings.Cut(line, ":")
			needs, provides, _ := strings.Cut(rest, ";")
			p := debian.Package{Name: name, Version: "1", Provides: strings.Fields(provides)}
			for _, n := range strings.Fields(needs) {
				p.Depends = append(p.Depends, strings.Split(n, "|"))
			}
			if !yield(p, nil) {
				return
			}
		}
	}
}

func all(string) bool { return true }

func names(ps []debian.Package) string {
	var s []string
	for _, p := range ps {
		s = append(s, p.Name)
	}
	return strings.Join(s, " ")
}

func TestResolve(t *testing.T) {
	for _, tt := range []struct {
		name   string
		index  []string
		want   string
		follow Rule
		got    string
	}{
		{"alone", []string{"a", "b"}, "a", all, "a"},
		{"chain", []string{"c", "b: c", "a: b", "d"}, "a", all, "a b c"},
		{"circle", []string{"a: b", "b: a"}, "a", all, "a b"},
		{"sorted, whatever the order", []string{"z", "m", "a: z m"}, "z a", all, "a m z"},
		{"first alternative", []string{"a: b|c", "b", "c"}, "a", all, "a b"},
		{"the alternative that exists", []string{"a: b|c", "c"}, "a", all, "a c"},
		{"the alternative that was asked for", []string{"a: b|c", "b", "c"}, "a c", all, "a c"},
		{"asked for later in the list too", []string{"a: b|c", "b", "c"}, "c a", all, "a c"},
		{"a provider", []string{"a: v", "p:; v"}, "a", all, "a p"},
		{"the first provider by name", []string{"a: v", "q:; v", "p:; v"}, "a", all, "a p"},
		{"the provider that was asked for", []string{"a: v", "q:; v", "p:; v"}, "a q", all, "a q"},
		{"a package of that name beats a provider", []string{"a: v", "p:; v", "v"}, "a", all, "a v"},
		{"not followed", []string{"a: b c", "b: d", "c", "d"}, "a", func(n string) bool { return n != "b" }, "a c"},
		{"not followed but asked for", []string{"a: b", "b: d", "d"}, "a b", func(n string) bool { return n != "b" }, "a b d"},
		{"one of a group is followed", []string{"a: b|c", "b", "c"}, "a", func(n string) bool { return n != "c" }, "a b"},
		{"missing but not followed", []string{"a: b"}, "a", func(n string) bool { return n != "b" }, "a"},
		{"two versions of what nobody needs", []string{"a", "b", "b"}, "a", all, "a"},
	} {
		got, err := Resolve(index(tt.index...), strings.Fields(tt.want), tt.follow)
		if err != nil || names(got) != tt.got {
			t.Errorf("%s: Resolve = %q, %v, want %q", tt.name, names(got), err, tt.got)
		}
	}
}

func TestResolvePreDepends(t *testing.T) {
	ps := []debian.Package{{Name: "a", PreDepends: [][]string{{"b"}}}, {Name: "b"}}
	seq := func(yield func(debian.Package, error) bool) {
		for _, p := range ps {
			if !yield(p, nil) {
				return
			}
		}
	}
	got, err := Resolve(seq, []string{"a"}, all)
	if diff := cmp.Diff(ps, got); diff != "" || err != nil {
		t.Errorf("Resolve: %v, -want +got:\n%s", err, diff)
	}
}

func TestResolveRefuses(t *testing.T) {
	broken := errors.New("broken index")
	for _, tt := range []struct {
		name  string
		index iter.Seq2[debian.Package, error]
		is    error
		want  string
	}{
		{"wanted and missing", index("b"), errMissing, "package a: not in the index"},
		{"needed and missing", index("a: b|c"), errMissing, "package a: package b | c: not in the index"},
		{"wanted twice", index("a", "a"), errTwice, "package a: listed with two versions: 1 and 1"},
		{"needed twice", index("a: b", "b", "b"), errTwice, "package a: package b: listed with two versions: 1 and 1"},
		{"broken index", func(yield func(debian.Package, error) bool) { yield(debian.Package{}, broken) }, broken, "broken index"},
	} {
		got, err := Resolve(tt.index, []string{"a"}, all)
		if !errors.Is(err, tt.is) || err.Error() != tt.want || got != nil {
			t.Errorf("%s: Resolve = %v, %v, want %s", tt.name, got, err, tt.want)
		}
	}
}

// TestResolveOrder: the index's order does not matter.
func TestResolveOrder(t *testing.T) {
	lines := []string{"a: v x|y", "p:; v", "q:; v", "x: p", "y"}
	want, err := Resolve(index(lines...), []string{"a"}, all)
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(lines)
	got, err := Resolve(index(lines...), []string{"a"}, all)
	if err != nil || names(got) != names(want) || names(got) != "a p x" {
		t.Errorf("Resolve of the reversed index = %q, %v, want %q", names(got), err, names(want))
	}
}
