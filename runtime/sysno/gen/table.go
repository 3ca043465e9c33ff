// The text table in memory. Everything that a later reader takes for granted is
// refused here, with the line that breaks it: a tracer that finds a dirfd word
// two places before its path would translate from the wrong directory.

package main

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// meaning is one word of the vocabulary. Its shape is that of an argument, or
// the errno of a sigsys word.
type meaning struct{ word, shape, text string }

// call is one row as text, but for its number and level pair.
type call struct {
	nr                      int
	name, since             string
	args, relay             []string
	class                   string
	seed                    bool
	androidSome, androidAll int
	androidText, note       string
	sigsys                  string
}

type table struct {
	minLevel, maxLevel     int
	classes, relays, words []meaning
	sigsys                 []meaning
	calls                  []call
}

func (t *table) max() int { return t.calls[len(t.calls)-1].nr }

// at returns the call with number nr, or nil for a hole.
func (t *table) at(nr int) *call {
	i, ok := slices.BinarySearchFunc(t.calls, nr, func(c call, nr int) int { return c.nr - nr })
	if !ok {
		return nil
	}
	return &t.calls[i]
}

func (t *table) named(name string) *call {
	i := slices.IndexFunc(t.calls, func(c call) bool { return c.name == name })
	if i < 0 {
		return nil
	}
	return &t.calls[i]
}

func find(ms []meaning, word string) (meaning, bool) {
	i := slices.IndexFunc(ms, func(m meaning) bool { return m.word == word })
	if i < 0 {
		return meaning{}, false
	}
	return ms[i], true
}

// parse reads the whole file. The vocabulary stands before the calls that use it.
func parse(text string) (*table, error) {
	t := &table{}
	for i, line := range strings.Split(text, "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if err := t.line(strings.Split(line, "\t")); err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	if len(t.calls) == 0 {
		return nil, errors.New("no calls")
	}
	for _, c := range t.calls {
		if err := t.verifySigsys(c); err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
	}
	return t, nil
}

func (t *table) line(f []string) error {
	switch f[0] {
	case "levels":
		return t.levels(f[1:])
	case "class":
		return define(&t.classes, f[1:], nil)
	case "relay":
		return define(&t.relays, f[1:], nil)
	case "word":
		return define(&t.words, f[1:], argShape)
	case "sigsys":
		return define(&t.sigsys, f[1:], errnoShape)
	}
	c, err := t.call(f)
	if err != nil {
		return err
	}
	if n := len(t.calls); n > 0 && t.calls[n-1].nr >= c.nr {
		return fmt.Errorf("%s: number %d does not ascend", c.name, c.nr)
	}
	if slices.ContainsFunc(t.calls, func(x call) bool { return x.name == c.name }) {
		return fmt.Errorf("%s: second row", c.name)
	}
	t.calls = append(t.calls, c)
	return nil
}

func (t *table) levels(f []string) error {
	if len(f) != 2 {
		return fmt.Errorf("levels: %d fields, want 2", len(f))
	}
	var errs [2]error
	t.minLevel, errs[0] = strconv.Atoi(f[0])
	t.maxLevel, errs[1] = strconv.Atoi(f[1])
	if errs != [2]error{} || t.minLevel < 1 || t.minLevel > t.maxLevel || t.maxLevel > 255 {
		return fmt.Errorf("levels: %s to %s is no range within 1 to 255", f[0], f[1])
	}
	return nil
}

// define reads a word, its shape where the kind of word has one, and its meaning.
func define(ms *[]meaning, f []string, shape *regexp.Regexp) error {
	fields := 2
	if shape != nil {
		fields = 3
	}
	if len(f) != fields {
		return fmt.Errorf("definition: %d fields, want %d", len(f), fields)
	}
	m := meaning{word: f[0], text: f[fields-1]}
	if shape != nil {
		m.shape = f[1]
		if !shape.MatchString(m.shape) {
			return fmt.Errorf("word %s: shape %q", m.word, m.shape)
		}
	}
	if _, twice := find(*ms, m.word); twice || m.word == "" || !strings.HasSuffix(m.text, ".") {
		return fmt.Errorf("word %q: defined twice, empty, or its meaning is no sentence", m.word)
	}
	*ms = append(*ms, m)
	return nil
}

func (t *table) call(f []string) (call, error) {
	if len(f) == 9 {
		f = append(f, "")
	}
	if len(f) != 10 {
		return call{}, fmt.Errorf("%d fields, want 9 or 10", len(f))
	}
	c := call{name: f[1], since: f[2], args: list(f[3], " "), class: f[4], relay: list(f[5], "+"),
		seed: f[6] == "seed", androidText: f[7], sigsys: f[8], note: f[9]}
	nr, err := strconv.Atoi(f[0])
	if err != nil || nr < 0 || nr > 4095 {
		return call{}, fmt.Errorf("%s: number %q is not within 0 to 4095", c.name, f[0])
	}
	c.nr = nr
	if f[6] != "seed" && f[6] != "-" {
		return call{}, fmt.Errorf("%s: seed field %q", c.name, f[6])
	}
	if err := t.verify(&c); err != nil {
		return call{}, fmt.Errorf("%s: %w", c.name, err)
	}
	return c, nil
}

func list(s, sep string) []string {
	if s == "-" {
		return nil
	}
	return strings.Split(s, sep)
}
