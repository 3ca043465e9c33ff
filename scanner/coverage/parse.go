// Reading golden text. People edit it and merges break it, so that everything
// the format does not say is an error with its line: a misspelt call that was
// skipped would be coverage that nobody checks.

package coverage

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"svcrelay/runtime/sysno"
	"svcrelay/scanner"
)

// Why a golden file is refused, for errors.Is.
var (
	ErrHeader    = errors.New("not a golden file of this version")
	ErrLine      = errors.New("not a line of this format")
	ErrWord      = errors.New("unknown word")
	ErrNumber    = errors.New("bad count")
	ErrDuplicate = errors.New("said twice")
	ErrMissing   = errors.New("section without it")
	ErrNoSection = errors.New("no build line above")
)

// A ParseError is a fault in a line of a golden file.
type ParseError struct {
	Line int // from 1
	What string
	Err  error
}

func (e *ParseError) Error() string { return fmt.Sprintf("line %d: %s: %v", e.Line, e.What, e.Err) }

// Unwrap returns the reason.
func (e *ParseError) Unwrap() error { return e.Err }

// maxLine bounds a line; the longest function name takes 12 KiB.
const maxLine = 64 << 10

// ParseGolden reads golden text. Empty lines and lines that start with # are
// skipped, and sections and lines may come in any order.
func ParseGolden(r io.Reader) (*Golden, error) {
	p := parser{golden: &Golden{}, known: map[string]bool{}}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		p.line++
		if text := lines.Text(); text != "" && text[0] != '#' {
			if err := p.read(text); err != nil {
				return nil, err
			}
		}
	}
	if err := lines.Err(); err != nil {
		p.line++
		return nil, p.fault("reading", err)
	}
	if !p.started {
		p.line = 1
		return nil, p.fault("no header", ErrHeader)
	}
	if err := p.endSection(); err != nil {
		return nil, err
	}
	return p.golden, nil
}

// A parser is the state between two lines.
type parser struct {
	golden  *Golden
	line    int
	started bool // the header was read
	known   map[string]bool
	counted [numCounters]bool // in the section that is read
}

func (p *parser) fault(what string, err error) error {
	if len(what) > 80 {
		what = what[:80] + "..."
	}
	return &ParseError{p.line, what, err}
}

func (p *parser) read(text string) error {
	if !p.started {
		p.started = true
		if text != "golden "+strconv.Itoa(GoldenVersion) {
			return p.fault(strconv.QuoteToASCII(text), ErrHeader)
		}
		return nil
	}
	words := strings.Split(text, " ")
	if words[0] == "build" && len(words) == 5 {
		return p.build(words)
	}
	if len(p.golden.Sections) == 0 {
		return p.fault(strconv.QuoteToASCII(words[0]), ErrNoSection)
	}
	counts := &p.golden.Sections[len(p.golden.Sections)-1].Counts
	switch {
	case words[0] == "count" && len(words) == 3:
		return p.count(counts, words)
	case words[0] == "site" && len(words) == 5:
		return p.site(counts.Accepted, words)
	case words[0] == "unproven" && len(words) == 5:
		return p.site(counts.Unproven, words)
	case words[0] == "refuse" && len(words) == 4:
		return p.refusal(counts.Refused, words)
	}
	return p.fault(strconv.QuoteToASCII(words[0]), ErrLine)
}

func (p *parser) build(words []string) error {
	if err := p.endSection(); err != nil {
		return err
	}
	var texts [4]string
	for i, word := range words[1:] {
		text, ok := unescape(word)
		if !ok {
			return p.word(word)
		}
		texts[i] = text
	}
	id := texts[0]
	if id == "" {
		return p.fault("build", ErrNoID)
	}
	if p.known[id] {
		return p.fault("build "+words[1], ErrDuplicate)
	}
	p.known[id] = true
	p.golden.Sections = append(p.golden.Sections, Section{id, texts[1], texts[2], texts[3], newCounts()})
	p.counted = [numCounters]bool{}
	return nil
}

// endSection checks that the section above, if any, is whole.
func (p *parser) endSection() error {
	if len(p.golden.Sections) == 0 {
		return nil
	}
	for c, counted := range p.counted {
		if !counted {
			return p.fault("count "+Counter(c).String(), ErrMissing)
		}
	}
	return nil
}

func (p *parser) count(counts *Counts, words []string) error {
	for c := range numCounters {
		if c.String() != words[1] {
			continue
		}
		n, err := p.number(words[2], 0)
		if err != nil {
			return err
		}
		if p.counted[c] {
			return p.fault("count "+words[1], ErrDuplicate)
		}
		p.counted[c], counts.Totals[c] = true, n
		return nil
	}
	return p.word(words[1])
}

func (p *parser) site(sites map[Key]int, words []string) error {
	number, ok := callNumber(words[1])
	if !ok {
		return p.word(words[1])
	}
	kind, ok := kindOf(words[2])
	if !ok {
		return p.word(words[2])
	}
	function, ok := unescape(words[3])
	if !ok {
		return p.word(words[3])
	}
	return addOnce(p, sites, Key{number, kind, function}, words)
}

func (p *parser) refusal(refused map[Refusal]int, words []string) error {
	kind, ok := kindOf(words[2])
	if !ok {
		return p.word(words[2])
	}
	for _, reason := range scanner.Reasons() {
		if reason.String() == words[1] {
			return addOnce(p, refused, Refusal{reason, kind}, words)
		}
	}
	return p.word(words[1])
}

// addOnce enters the count that ends a line under key.
func addOnce[K comparable](p *parser, m map[K]int, key K, words []string) error {
	last := len(words) - 1
	n, err := p.number(words[last], 1)
	if err != nil {
		return err
	}
	if m[key] != 0 {
		return p.fault(strings.Join(words[:last], " "), ErrDuplicate)
	}
	m[key] = n
	return nil
}

// number reads a count as Write writes it, of at least least.
func (p *parser) number(word string, least int) (int, error) {
	n, err := strconv.ParseInt(word, 10, 32)
	if err != nil || int(n) < least || strconv.FormatInt(n, 10) != word {
		return 0, p.fault(strconv.QuoteToASCII(word), ErrNumber)
	}
	return int(n), nil
}

func (p *parser) word(word string) error { return p.fault(strconv.QuoteToASCII(word), ErrWord) }

// callNumber undoes CallName.
func callNumber(word string) (int, bool) {
	if word == "-" {
		return scanner.NoNumber, true
	}
	if call, ok := sysno.ByName(word); ok {
		return call.Nr, true
	}
	digits, _ := strings.CutPrefix(word, "syscall-")
	n, err := strconv.ParseInt(digits, 10, 32)
	return int(n), err == nil && CallName(int(n)) == word
}

func kindOf(word string) (scanner.Kind, bool) {
	for _, kind := range scanner.Kinds() {
		if kind.String() == word {
			return kind, true
		}
	}
	return 0, false
}
