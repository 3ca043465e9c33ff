package coverage

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"svcrelay/scanner"
	"svcrelay/scanner/elfimg"
)

func TestStripSizes(t *testing.T) {
	const page = 4096
	for _, row := range []struct {
		exec   []elfimg.Range
		size   uint64
		strips int
	}{
		{nil, page, 0},
		{[]elfimg.Range{{Vaddr: 0x1000, Size: 0}}, page, 0},
		{[]elfimg.Range{{Vaddr: 0x1000, Size: 4}}, page, 1},
		{[]elfimg.Range{{Vaddr: 0x1000, Size: page}}, page, 1},
		{[]elfimg.Range{{Vaddr: 0x1000, Size: page + 4}}, page, 2},
		{[]elfimg.Range{{Vaddr: 0x1ffc, Size: 8}}, page, 2},
		{[]elfimg.Range{{Vaddr: 0, Size: mostStrips*page - 4}}, page, mostStrips},
		{[]elfimg.Range{{Vaddr: 0, Size: mostStrips * page}}, 2 * page, mostStrips / 2},
		{[]elfimg.Range{{Vaddr: 0x1000, Size: 8}, {Vaddr: 0x1010, Size: 8}, {Vaddr: 0x1000_0000, Size: 8}}, page, 2}, // no strips for the hole
		{[]elfimg.Range{{Vaddr: 0, Size: 1 << 36}}, 1 << 32, 16},
	} {
		strips, size := strips(&Build{Exec: row.exec, Result: &scanner.Result{}})
		if size != row.size || len(strips) != row.strips {
			t.Errorf("strips of %v: %d of 0x%x, want %d of 0x%x", row.exec, len(strips), size, row.strips, row.size)
		}
	}
}

// Text in very many places still makes a map of a page.
func TestStripsAreBounded(t *testing.T) {
	for n, want := range map[int]int{2 * mostStrips: 2 * mostStrips, 2*mostStrips + 1: mostStrips + 1, 1000: 32} {
		var exec []elfimg.Range
		for i := range n {
			exec = append(exec, elfimg.Range{Vaddr: uint64(i) * 4096, Size: 4})
		}
		if got, _ := emptyStrips(exec); len(got) != want {
			t.Errorf("%d ranges: %d strips, want %d", n, len(got), want)
		}
	}
}

func TestStrips(t *testing.T) {
	b := libc43()
	b.Exec = []elfimg.Range{{Vaddr: 0x1100, Size: 0x300}, {Vaddr: 0x1400, Size: 0xd00}}
	b.Result.Sites = append(b.Result.Sites, refused(0x2004, scanner.NumberTooFar, ""), refused(0x9000, scanner.NumberTooFar, ""))
	all, size := strips(b)
	var got []string
	for _, s := range all {
		got = append(got, fmt.Sprintf("%s %d accepted %d refused text %v", s.From, s.Accepted, s.Refused, s.Text))
		for _, m := range s.Marks {
			got = append(got, m.X+" "+m.Shape)
		}
	}
	want := []string{
		"0x001000 5 accepted 1 refused text [{6.25% 18.75%} {25.00% 75.00%}]",
		"25.00% quiet", "6.25% accepted", "12.50% accepted", "31.25% call", "37.50% call", "19.73% bridge",
		"0x002000 0 accepted 1 refused text [{0.00% 6.25%}]",
		"0.10% refused",
	}
	if diff := cmp.Diff(want, got); diff != "" || size != 4096 {
		t.Errorf("strips of 0x%x (-want +got):\n%s", size, diff)
	}
}

func TestByteSize(t *testing.T) {
	for n, want := range map[uint64]string{4096: "4 KiB", 1 << 19: "512 KiB", 1 << 20: "1 MiB", 1 << 32: "4096 MiB"} {
		if got := byteSize(n); got != want {
			t.Errorf("byteSize(0x%x) = %q, want %q", n, got, want)
		}
	}
}
