package main

import (
	"os"
	"strings"
	"testing"

	"svcrelay/runtime/abi"
)

func TestCHeader(t *testing.T) {
	type pair struct {
		First  [3]uint8
		Second uint8
		Third  int32
	}
	got, err := cHeader([]abi.Define{{Name: "SR_X", Value: 18}}, []abi.Struct{{Name: "sr_pair", Value: pair{}}})
	if err != nil {
		t.Fatal(err)
	}
	const want = `
#define SR_X 0x12

#ifndef __ASSEMBLER__

struct sr_pair {
	uint8_t first[3];
	uint8_t second;
	int32_t third;
};
_Static_assert(offsetof(struct sr_pair, first) == 0, "sr_pair.first");
_Static_assert(offsetof(struct sr_pair, second) == 3, "sr_pair.second");
_Static_assert(offsetof(struct sr_pair, third) == 4, "sr_pair.third");
_Static_assert(sizeof(struct sr_pair) == 8, "sr_pair");
#endif
`
	if !strings.Contains(string(got), want) {
		t.Errorf("cHeader() = %s\nwant in it: %s", got, want)
	}
}

func TestCHeaderRefuses(t *testing.T) {
	type padded struct {
		A uint32
		B uint64
	}
	type word struct{ A uint16 }
	type open struct{ A string }
	for _, tt := range []struct {
		value any
		want  string
	}{
		{padded{}, "sr_x: 12 bytes of fields in 16 bytes: padding, or no fixed size"},
		{word{}, "sr_x: A: no C type for uint16"},
		{open{}, "sr_x: -1 bytes of fields in 16 bytes: padding, or no fixed size"},
	} {
		if _, err := cHeader(nil, []abi.Struct{{Name: "sr_x", Value: tt.value}}); err == nil || err.Error() != tt.want {
			t.Errorf("cHeader(%T) = %v, want %s", tt.value, err, tt.want)
		}
	}
}

func TestCurrent(t *testing.T) {
	want, err := cHeader(abi.Defines, abi.Structs)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../guest/abi.h")
	if err != nil || string(got) != string(want) {
		t.Errorf("abi.h (%v) is out of date: run make generate", err)
	}
}
