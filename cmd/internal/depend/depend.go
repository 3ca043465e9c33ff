// Package depend finds the packages that some packages need, out of the index
// of one suite.
//
// It promises a closed set, sorted by name, that depends on nothing but the
// index and the wishes. It compares no versions: one suite's index is
// consistent with itself. A need that nothing meets is an error, as is a name
// that the index lists with two versions.
package depend

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"svcrelay/cmd/internal/debian"
)

var (
	errMissing = errors.New("not in the index")
	errTwice   = errors.New("listed with two versions")
)

// A Rule says whether a need of a package is followed. Trees that no
// maintainer script will ever run in do without what only scripts use.
type Rule func(need string) bool

// Resolve returns the wanted packages and all that they need.
func Resolve(index iter.Seq2[debian.Package, error], want []string, follow Rule) ([]debian.Package, error) {
	r := resolver{
		byName:    map[string][]debian.Package{},
		providers: map[string][]string{},
		chosen:    map[string]debian.Package{},
		follow:    follow,
	}
	for p, err := range index {
		if err != nil {
			return nil, err
		}
		r.learn(p)
	}
	return r.close(want)
}

type resolver struct {
	byName    map[string][]debian.Package
	providers map[string][]string
	chosen    map[string]debian.Package
	follow    Rule
}

func (r *resolver) learn(p debian.Package) {
	r.byName[p.Name] = append(r.byName[p.Name], p)
	for _, name := range p.Provides {
		r.providers[name] = append(r.providers[name], p.Name)
	}
}

// close chooses the wanted packages first, so that a need with alternatives is
// met by what was asked for, then works off the needs in order.
func (r *resolver) close(want []string) ([]debian.Package, error) {
	var queue []debian.Package
	for _, name := range want {
		p, err := r.choose(name)
		if err != nil {
			return nil, err
		}
		queue = append(queue, p)
	}
	for len(queue) > 0 {
		p := queue[0]
		queue = queue[1:]
		for _, group := range slices.Concat(p.PreDepends, p.Depends) {
			name, err := r.pick(group)
			if err != nil {
				return nil, fmt.Errorf("package %s: %w", p.Name, err)
			}
			if name == "" || r.has(name) {
				continue
			}
			next, err := r.choose(name)
			if err != nil {
				return nil, fmt.Errorf("package %s: %w", p.Name, err)
			}
			queue = append(queue, next)
		}
	}
	return r.sorted(), nil
}

func (r *resolver) has(name string) bool {
	_, ok := r.chosen[name]
	return ok
}

// met reports whether a chosen package is, or provides, name.
func (r *resolver) met(name string) bool {
	return r.has(name) || slices.ContainsFunc(r.providers[name], r.has)
}

// choose takes the package called name.
func (r *resolver) choose(name string) (debian.Package, error) {
	switch found := r.byName[name]; len(found) {
	case 0:
		return debian.Package{}, fmt.Errorf("package %s: %w", name, errMissing)
	case 1:
		r.chosen[name] = found[0]
		return found[0], nil
	default:
		return debian.Package{}, fmt.Errorf("package %s: %w: %s and %s", name, errTwice, found[0].Version, found[1].Version)
	}
}

// pick returns the name of the package that shall meet a group of alternatives,
// or "" when it is met already or not followed.
func (r *resolver) pick(group []string) (string, error) {
	if slices.ContainsFunc(group, r.met) {
		return "", nil
	}
	if !slices.ContainsFunc(group, r.follow) {
		return "", nil
	}
	for _, name := range group {
		if len(r.byName[name]) > 0 {
			return name, nil
		}
		if by := r.providers[name]; len(by) > 0 {
			return slices.Min(by), nil
		}
	}
	return "", fmt.Errorf("package %s: %w", strings.Join(group, " | "), errMissing)
}

func (r *resolver) sorted() []debian.Package {
	var all []debian.Package
	for _, p := range r.chosen {
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b debian.Package) int { return strings.Compare(a.Name, b.Name) })
	return all
}
