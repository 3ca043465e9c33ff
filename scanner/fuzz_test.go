package scanner_test

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/arch/arm64/arm64asm"

	"svcrelay/cachefmt"
	"svcrelay/scanner"
	"svcrelay/scanner/a64"
	"svcrelay/scanner/elfimg"
	"svcrelay/scanner/elfimg/elftest"
)

// FuzzScan scans whatever opens as an image. Its oracle: every svc word that a
// plain loop sees is listed once, and the accepted sites make a table that
// survives encoding and fits the image.
func FuzzScan(f *testing.F) {
	files, err := filepath.Glob(filepath.Join(fixtures, "*.elf"))
	if err != nil || len(files) == 0 {
		f.Fatalf("no fixtures: %v", err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		img, err := elfimg.New(raw)
		if err != nil {
			return
		}
		r, err := scanner.Scan(img, scanner.Options{})
		if err != nil {
			if !errors.Is(err, scanner.ErrSpread) {
				t.Fatal(err)
			}
			return
		}
		checkListed(t, img, r)
		checkTable(t, img, r)
	})
}

func checkListed(t *testing.T, img *elfimg.Image, r *scanner.Result) {
	var want, got []uint64
	for _, x := range img.Exec {
		code := img.Bytes(x)
		for i := 0; i+4 <= len(code); i += 4 {
			if binary.LittleEndian.Uint32(code[i:]) == uint32(a64.SVC0) {
				want = append(want, x.Vaddr+uint64(i))
			}
		}
	}
	last := uint64(0)
	for _, s := range r.Sites {
		if s.Vaddr <= last && last != 0 {
			t.Fatalf("site 0x%x after 0x%x", s.Vaddr, last)
		}
		last = s.Vaddr
		if (s.Verdict == scanner.Accept) != (s.Reason == scanner.ReasonNone) {
			t.Fatalf("site 0x%x: verdict %v with reason %v", s.Vaddr, s.Verdict, s.Reason)
		}
		if s.Kind != scanner.Call {
			got = append(got, s.Vaddr)
		}
	}
	if len(got) != len(want) {
		t.Fatalf("%d svc words listed, %d there", len(got), len(want))
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("svc word 0x%x listed, 0x%x there", got[i], want[i])
		}
	}
}

func checkTable(t *testing.T, img *elfimg.Image, r *scanner.Result) {
	table, err := cachefmt.FromSites(img, scanner.RecogniserVersion, r.Window, r.Sites)
	if err != nil {
		if errors.Is(err, cachefmt.ErrTooFar) {
			return
		}
		t.Fatal(err)
	}
	b, err := table.Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	back, err := cachefmt.Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	if err := cachefmt.Validate(back, img); err != nil {
		t.Fatal(err)
	}
}

// FuzzWindow puts any words before an svc. Its oracle is arm64asm: where the scan
// gives a number, that very word moves it into w8 or x8, and no word between
// names that register as its destination.
func FuzzWindow(f *testing.F) {
	words := func(ws ...uint32) (b []byte) {
		for _, w := range ws {
			b = binary.LittleEndian.AppendUint32(b, w)
		}
		return b
	}
	f.Add(words(0xd2800708))                         // mov x8, #56
	f.Add(words(0x52800708, 0xaa0103e0))             // mov w8, #56; mov x0, x1
	f.Add(words(0xd2800708, 0xf2a00028))             // mov x8, #56; movk x8, #1, lsl #16
	f.Add(words(0xd2800708, 0xaa0003e8))             // mov x8, #56; mov x8, x0
	f.Add(words(0xd2800708, 0x14000001, 0xd503201f)) // mov x8, #56; b; nop
	f.Add(words(0xd2800708, 0xf8408d09))             // mov x8, #56; ldr x9, [x8, #8]!
	f.Add(words(0xd2800708, 0x04205029))             // mov x8, #56; an SVE word
	f.Fuzz(func(t *testing.T, window []byte) {
		window = window[:min(len(window)&^3, 64)]
		code := binary.LittleEndian.AppendUint32(window, uint32(a64.SVC0))
		img, err := elfimg.New(elftest.Build(elftest.Spec{Text: wordsOf(code)}))
		if err != nil {
			t.Fatal(err)
		}
		r, err := scanner.Scan(img, scanner.Options{})
		if err != nil {
			t.Fatal(err)
		}
		last := r.Sites[len(r.Sites)-1]
		if last.Distance > 0 {
			checkWindow(t, code, last)
		}
	})
}

func wordsOf(code []byte) (ws []uint32) {
	for i := 0; i+4 <= len(code); i += 4 {
		ws = append(ws, binary.LittleEndian.Uint32(code[i:]))
	}
	return ws
}

func checkWindow(t *testing.T, code []byte, s scanner.Site) {
	at := len(code) - 4 - 4*s.Distance
	load, err := arm64asm.Decode(code[at:])
	if err != nil || (load.Op != arm64asm.MOVZ && load.Op != arm64asm.MOV) || !isNumberReg(load.Args[0]) {
		t.Fatalf("number %d from %v (%v)", s.Number, load, err)
	}
	for i := at + 4; i < len(code)-4; i += 4 {
		w, err := arm64asm.Decode(code[i:])
		if err != nil || !isNumberReg(w.Args[0]) || readsFirst(w.Op) {
			continue
		}
		t.Fatalf("number %d is %d words back, past %v", s.Number, s.Distance, w)
	}
}

func isNumberReg(a arm64asm.Arg) bool { return a == arm64asm.W8 || a == arm64asm.X8 }

// readsFirst reports whether the first operand of op is a source.
func readsFirst(op arm64asm.Op) bool {
	name := op.String()
	for _, p := range []string{"ST", "CMP", "CMN", "TST", "CCM", "PRF", "MSR", "DC", "IC", "AT", "TLBI", "SYS"} {
		if strings.HasPrefix(name, p) && !strings.HasPrefix(name, "STX") && !strings.HasPrefix(name, "STLX") && name != "SYSL" {
			return true
		}
	}
	return false
}
