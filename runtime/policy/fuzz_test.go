package policy

import (
	"encoding/binary"
	"testing"
)

// source hands out the bytes of a fuzz input, and zeros when they are used up.
type source []byte

func (s *source) next() byte {
	if len(*s) == 0 {
		return 0
	}
	b := (*s)[0]
	*s = (*s)[1:]
	return b
}

// value draws a number whose halves are often borders.
func (s *source) value() uint64 {
	half := func() uint32 {
		switch b := s.next(); b % 8 {
		case 0:
			return 0
		case 1:
			return 0xffff_ffff
		case 2:
			return 1 << (b >> 3)
		case 3:
			return uint32(b >> 3)
		default:
			return binary.BigEndian.Uint32([]byte{s.next(), s.next(), s.next(), b})
		}
	}
	return uint64(half())<<32 | uint64(half())
}

func (s *source) action() Action {
	b := s.next()
	return [...]Action{Allow, Trap, KillProcess, Errno(uint16(b)), Trace(uint16(b))}[b%5]
}

func (s *source) test() Test {
	return Test{Field(s.next() % 7), op(s.next() % 3), s.value(), s.value()}
}

// rule draws up to three cases of up to three tests, and now and then a rule in a case.
func (s *source) rule(depth int) Rule {
	r := Always(s.action())
	for range s.next() % 4 {
		c := Case{Then: Always(s.action())}
		for range s.next() % 4 {
			c.When = append(c.When, s.test())
		}
		if depth > 0 && s.next()%3 == 0 {
			c.Then = s.rule(depth - 1)
		}
		r.Cases = append(r.Cases, c)
	}
	return r
}

// filter draws a few rules and spreads them over the numbers in stretches.
func (s *source) filter() Filter {
	rules := make([]Rule, 1+s.next()%12)
	for i := range rules {
		rules[i] = s.rule(2)
	}
	last := int(s.next())*4 + int(s.next()%4) - 1
	stretch := 0
	var r Rule
	return New(last, func(int) Rule {
		if stretch == 0 {
			r, stretch = rules[int(s.next())%len(rules)], 1+int(s.next()%8)
		}
		stretch--
		return r
	}, s.action(), s.action())
}

// FuzzCompile: whatever the filter, its program says what the model says, and
// what looks at nothing but the number is cached by the kernel.
func FuzzCompile(f *testing.F) {
	f.Add([]byte{}, int32(0), uint64(0), uint64(0))
	f.Add([]byte("a filter of many rules \x01\x02\x03\x04\x05\xff\xfe\xfd\xfc and numbers to draw them for"), int32(3), uint64(1)<<32, uint64(7))
	f.Add([]byte{3, 0, 2, 1, 6, 2, 5, 9, 13, 7, 1, 3, 2, 2, 2, 2, 0, 0, 9, 9, 250, 3}, int32(-1), ^uint64(0), uint64(1))
	f.Add([]byte{11, 4, 3, 3, 2, 1, 3, 0, 0, 1, 0, 1, 1, 5, 2, 1, 1, 1, 1, 60, 70, 80, 90, 100, 110, 255}, int32(512), uint64(5), uint64(1)<<63)
	f.Fuzz(func(t *testing.T, data []byte, nr int32, x, y uint64) {
		s := source(data)
		filter := s.filter()
		m := newMachine(t, filter)
		for _, nr := range []int32{nr, nr % 1024, -1, int32(len(filter.rules)) - 1, int32(len(filter.rules)) - 2} {
			m.agree(t, Data{Nr: nr, Arch: Arch, IP: x, Args: [6]uint64{x, y, x + y, x ^ y, x & y, y - x}})
			m.agree(t, Data{Nr: nr, Arch: uint32(x)})
			tests := filter.rule(int64(nr)).tests()
			for i, test := range tests[:min(len(tests), 8)] {
				for _, v := range test.interesting() {
					d := Data{Nr: nr, Arch: Arch, IP: v, Args: [6]uint64{v, v, v, v, v, v}}
					m.agree(t, d.with(tests[len(tests)-1-i].Field, tests[len(tests)-1-i].witness()))
				}
			}
			if a, ok := filter.constant(nr); ok && m.prog.cached(nr) != (a == Allow) {
				t.Errorf("number %d: always %v, cached %t", nr, a, m.prog.cached(nr))
			}
		}
	})
}
