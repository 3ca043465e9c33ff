// What a row must satisfy beyond its number of fields.

package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

var (
	nameForm    = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	sinceForm   = regexp.MustCompile(`^[0-9]+\.[0-9]+$`)
	androidForm = regexp.MustCompile(`^([0-9]+)(~([0-9]*))?$`)
	argShape    = regexp.MustCompile(`^(value|pointer|any)$`)
	errnoShape  = regexp.MustCompile(`^(-|[1-9][0-9]{0,2})$`)
)

// verify checks one row and fills in its Android levels.
func (t *table) verify(c *call) error {
	if !nameForm.MatchString(c.name) || !sinceForm.MatchString(c.since) {
		return fmt.Errorf("name %q or kernel %q is malformed", c.name, c.since)
	}
	if c.note != "" && !strings.HasSuffix(c.note, ".") {
		return fmt.Errorf("note %q is no sentence", c.note)
	}
	if err := t.verifyUse(c); err != nil {
		return err
	}
	if err := t.verifyArgs(c.args); err != nil {
		return err
	}
	return t.android(c)
}

// verifyUse checks class and relay: a refused call has nothing to relay, and
// the seed's calls were path calls.
func (t *table) verifyUse(c *call) error {
	if _, ok := find(t.classes, c.class); !ok {
		return fmt.Errorf("unknown class %q", c.class)
	}
	for i, r := range c.relay {
		if _, ok := find(t.relays, r); !ok || i > 0 && c.relay[i-1] == r {
			return fmt.Errorf("unknown or repeated relay %q", r)
		}
	}
	if c.class == "refuse" && c.relay != nil {
		return fmt.Errorf("refused and relayed")
	}
	if c.seed && (len(c.relay) != 1 || c.relay[0] != "path") {
		return fmt.Errorf("seed call whose relay is not path")
	}
	return nil
}

func (t *table) verifyArgs(args []string) error {
	if len(args) > 6 {
		return fmt.Errorf("%d arguments", len(args))
	}
	for i, a := range args {
		if _, ok := find(t.words, a); !ok {
			return fmt.Errorf("unknown argument word %q", a)
		}
		next := ""
		if i+1 < len(args) {
			next = args[i+1]
		}
		if suffix, ok := strings.CutPrefix(a, "dirfd"); ok && next != "path"+suffix && next != "entry"+suffix {
			return fmt.Errorf("%s is not followed by its path", a)
		}
	}
	return nil
}

// android reads 30, 34~35, 36~ or never.
func (t *table) android(c *call) error {
	if c.androidText == "never" {
		return nil
	}
	m := androidForm.FindStringSubmatch(c.androidText)
	if m == nil {
		return fmt.Errorf("android field %q", c.androidText)
	}
	c.androidSome = t.level(m[1])
	c.androidAll = c.androidSome
	if m[2] != "" {
		c.androidAll = t.level(m[3])
	}
	partial := m[2] != ""
	if c.androidSome == 0 || m[3] != "" && c.androidAll == 0 || partial && c.androidAll != 0 && c.androidAll <= c.androidSome {
		return fmt.Errorf("android field %q: levels are %d to %d and ascend", c.androidText, t.minLevel, t.maxLevel)
	}
	return nil
}

// trapped reports whether some known level does not let the call through.
func (t *table) trapped(c call) bool { return c.androidAll != t.minLevel }

// verifySigsys runs when all calls are known, because one may stand for another.
// An answer of the tracer is the same however the call came to it.
func (t *table) verifySigsys(c call) error {
	if !t.trapped(c) {
		if c.sigsys != "-" {
			return fmt.Errorf("sigsys field %q of a call that no level traps", c.sigsys)
		}
		return nil
	}
	_, known := find(t.sigsys, c.sigsys)
	if !known && (t.named(c.sigsys) == nil || c.sigsys == c.name) {
		return fmt.Errorf("sigsys field %q is no answer", c.sigsys)
	}
	if c.class == "answer" && c.sigsys != "tracer" || c.class == "refuse" && c.sigsys != "ENOSYS" {
		return fmt.Errorf("sigsys field %q does not fit class %s", c.sigsys, c.class)
	}
	return nil
}

// level returns a known level, or 0.
func (t *table) level(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil || n < t.minLevel || n > t.maxLevel {
		return 0
	}
	return n
}
