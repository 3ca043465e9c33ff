// Filters as values: what is decided, not how.

package policy

// Data is the kernel's struct seccomp_data, in its order.
type Data struct {
	Nr   int32 // the kernel reads w8: bits above it are gone
	Arch uint32
	IP   uint64 // the address after the svc, not of it
	Args [6]uint64
}

// Field names one 64-bit field of Data: 0 to 5 for an argument, or IP.
type Field uint8

// IP is the address after the svc.
const IP Field = 6

// Test is one question about a 64-bit field. A register that holds an int has
// anything in its upper half, so those are asked with a mask: see Word.
type Test struct {
	Field Field
	op    op
	a, b  uint64
}

type op uint8

const (
	opEqual  op = iota // field & a == b
	opAny              // field & a != 0
	opWithin           // a <= field <= b
)

// Equal asks whether the field is v, in all 64 bits: for pointers.
func Equal(f Field, v uint64) Test { return Masked(f, ^uint64(0), v) }

// Word asks whether the lower 32 bits are v: for ints, as the kernel reads them.
func Word(f Field, v uint32) Test { return Masked(f, 0xffff_ffff, uint64(v)) }

// Masked asks whether the bits of mask are those of v. A v with other bits never is.
func Masked(f Field, mask, v uint64) Test { return Test{f, opEqual, mask, v} }

// Any asks whether some bit of mask is set.
func Any(f Field, mask uint64) Test { return Test{f, opAny, mask, 0} }

// Within asks whether first <= field <= last.
func Within(f Field, first, last uint64) Test { return Test{f, opWithin, first, last} }

// Case is a rule under conditions: all tests must hold.
type Case struct {
	When []Test
	Then Rule
}

// Rule decides about one number: as the first case that holds, or Else.
type Rule struct {
	Cases []Case
	Else  Action
}

// Always is the rule that looks at nothing but the number.
func Always(a Action) Rule { return Rule{Else: a} }

// Filter decides about every call. Build one with New.
type Filter struct {
	rules   []Rule // for the numbers from -1 on
	above   Action // for all numbers that are higher, or lower than -1
	foreign Action // for every other architecture
}

// New asks rule once about each number from -1 to last. The number -1 is what
// the kernel has in the place of a call that a tracer skipped.
func New(last int, rule func(nr int) Rule, above, foreign Action) Filter {
	f := Filter{above: above, foreign: foreign}
	for nr := -1; nr <= last; nr++ {
		f.rules = append(f.rules, rule(nr))
	}
	return f
}

// Decide returns what the filter does with a call, for any filter that compiles.
func (f Filter) Decide(d Data) Action {
	if d.Arch != Arch {
		return f.foreign
	}
	return f.rule(int64(d.Nr)).decide(d)
}

func (f Filter) rule(nr int64) Rule {
	if nr < -1 || nr+1 >= int64(len(f.rules)) {
		return Always(f.above)
	}
	return f.rules[nr+1]
}

func (r Rule) decide(d Data) Action {
	for _, c := range r.Cases {
		if c.holds(d) {
			return c.Then.decide(d)
		}
	}
	return r.Else
}

func (c Case) holds(d Data) bool {
	for _, t := range c.When {
		if !t.holds(d) {
			return false
		}
	}
	return true
}

func (t Test) holds(d Data) bool {
	v := d.IP
	if t.Field != IP {
		v = d.Args[t.Field]
	}
	switch t.op {
	case opAny:
		return v&t.a != 0
	case opWithin:
		return t.a <= v && v <= t.b
	}
	return v&t.a == t.b
}
