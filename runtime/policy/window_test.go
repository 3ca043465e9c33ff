package policy

import (
	"math/rand/v2"
	"testing"

	"svcrelay/runtime/abi"
	"svcrelay/runtime/sysno"
)

// untag is what the kernel makes of an address that it unmaps.
func untag(addr uint64) uint64 { return addr << 8 >> 8 }

// reaches reports whether a range overlaps the window.
func reaches(addr, length uint64) bool {
	addr = untag(addr)
	end := addr + length
	return addr < abi.WindowAddr+abi.WindowSize && (end > abi.WindowAddr || end < addr)
}

// TestWindow: no call that overlaps the window runs without a stop, and what
// programs do all day does not stop.
func TestWindow(t *testing.T) {
	if abi.WindowAddr+abi.WindowSize > 1<<36 || abi.WindowAddr < addrHigh&^(1<<35|1<<34|1<<33) {
		t.Fatalf("the window at %#x is not where the filter keeps it", uint64(abi.WindowAddr))
	}
	f := mustGuest(t, Options{Window: true})
	stops := func(nr int32, args ...uint64) bool {
		d := Data{Nr: nr, Arch: Arch}
		copy(d.Args[:], args)
		_, ok := f.Decide(d).Traced()
		return ok
	}
	edges := []uint64{0, 0x1000, abi.WindowAddr - 0x1000, abi.WindowAddr, abi.WindowAddr + 0x1000, abi.WindowAddr + abi.WindowSize - 0x1000,
		abi.WindowAddr + abi.WindowSize, 1 << 32, 1<<32 - 0x1000, 1 << 36, 1<<36 - 0x1000, 1 << 47, ^uint64(0xfff), 0xf << 32, 0x5a<<56 | abi.WindowAddr, 0x5a << 56}
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		edges = append(edges, rnd.Uint64()>>rnd.IntN(60)&^0xfff)
	}
	for i, addr := range edges {
		for _, length := range append(edges[:16:16], edges[(i*7)%len(edges)]) {
			if !reaches(addr, length) {
				continue
			}
			if !stops(sysno.Munmap, addr, length) || !stops(sysno.Mmap, addr, length, 1, 0x12) || !stops(sysno.Mremap, addr, length, 0x1000) ||
				!stops(sysno.Mremap, 1<<40, 0x1000, length, 3, addr) || !stops(sysno.Shmat, 1, addr, 0o40000) || !stops(sysno.Madvise, addr, length, 10) {
				t.Fatalf("a call on %#x bytes at %#x runs without a stop", length, addr)
			}
		}
	}
	for _, args := range [][]uint64{{0x7f00_0000_0000, 1 << 30, 1, 0x12}, {0x40_0000, 0x10_0000, 1, 0x12}, {0, 1 << 40, 1, 0x22}, {0xf_fff0_0000, 0x1000, 1, 0x10_0022}} {
		if stops(sysno.Mmap, args...) {
			t.Errorf("mmap(%#x) stops", args)
		}
	}
	if stops(sysno.Munmap, 0x7f00_0000_0000, 1<<30) || stops(sysno.Munmap, 0x40_0000, 1<<20) || stops(sysno.Mremap, 0x7f00_0000_0000, 1<<20, 1<<21, 1) || stops(sysno.Shmat, 1, abi.WindowAddr, 0) || stops(sysno.Madvise, abi.WindowAddr, 0x1000, 4) {
		t.Error("an everyday call stops")
	}
	if _, ok := mustGuest(t, Options{}).Decide(Data{Nr: sysno.Munmap, Arch: Arch, Args: [6]uint64{abi.WindowAddr, 0x1000}}).Traced(); ok {
		t.Error("munmap stops without a window to keep")
	}
}
