// What a guest program must not have. Most of it a compiler flag or the linker
// script forbids already; this is the proof that they did, on the bytes that are
// shipped.
package guestbuild

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"

	"svcrelay/scanner/a64"
)

// MaxLoader is what the exec loader may take of memory: one page of the smallest
// size, because the page it runs in cannot unmap itself.
const MaxLoader = 4096

const (
	fourGiB = 1 << 32
	shtRELR = 19 // not in debug/elf
)

// Check returns what is wrong with a linked guest program.
func Check(image []byte) []error {
	f, err := elf.NewFile(bytes.NewReader(image))
	if err != nil {
		return []error{err}
	}
	var broken []error
	for _, p := range f.Progs {
		broken = append(broken, checkSegment(f, p))
	}
	for _, s := range f.Sections {
		broken = append(broken, checkSection(s))
	}
	broken = append(broken, checkSymbols(f))
	if f.Machine != elf.EM_AARCH64 || f.Class != elf.ELFCLASS64 {
		broken = append(broken, errors.New("no 64-bit arm64 program"))
	}
	return compact(broken)
}

func compact(errs []error) (kept []error) {
	for _, err := range errs {
		if err != nil {
			kept = append(kept, err)
		}
	}
	return kept
}

func checkSegment(f *elf.File, p *elf.Prog) error {
	switch {
	case p.Type == elf.PT_INTERP, p.Type == elf.PT_DYNAMIC, p.Type == elf.PT_TLS:
		return fmt.Errorf("has a %v", p.Type)
	case p.Type == elf.PT_GNU_STACK && p.Flags&elf.PF_X != 0:
		return errors.New("the stack is executable")
	case p.Type != elf.PT_LOAD:
		return nil
	case p.Flags&elf.PF_W != 0:
		return fmt.Errorf("segment at %#x is writable", p.Vaddr)
	case f.Type != elf.ET_DYN && p.Vaddr < fourGiB:
		return fmt.Errorf("segment at %#x lies below 4 GiB", p.Vaddr)
	case p.Vaddr+p.Memsz > MaxLoader && f.Type == elf.ET_DYN:
		return fmt.Errorf("%d bytes of memory, more than a page of %d", p.Vaddr+p.Memsz, MaxLoader)
	case p.Memsz != p.Filesz:
		return fmt.Errorf("segment at %#x has %d bytes that are not in the file", p.Vaddr, p.Memsz-p.Filesz)
	}
	return nil
}

func checkSection(s *elf.Section) error {
	switch {
	case s.Type == elf.SHT_REL, s.Type == elf.SHT_RELA, s.Type == shtRELR:
		return fmt.Errorf("section %s holds relocations", s.Name)
	case s.Flags&elf.SHF_EXECINSTR == 0:
		return nil
	}
	code, err := s.Data()
	if err != nil {
		return fmt.Errorf("section %s: %w", s.Name, err)
	}
	for i := 0; i+a64.Size <= len(code); i += a64.Size {
		if err := checkWord(a64.Word(binary.LittleEndian.Uint32(code[i:]))); err != nil {
			return fmt.Errorf("section %s: %#x: %w", s.Name, s.Addr+uint64(i), err)
		}
	}
	return nil
}

func checkWord(w a64.Word) error {
	switch {
	case w.IsFloat():
		return fmt.Errorf("word %08x uses a vector register", uint32(w))
	case a64.Decode(w).Flow == a64.Unknown:
		return fmt.Errorf("word %08x is unknown", uint32(w))
	}
	return nil
}

func checkSymbols(f *elf.File) error {
	symbols, err := f.Symbols()
	if err != nil && !errors.Is(err, elf.ErrNoSymbols) {
		return err
	}
	for _, s := range symbols {
		if s.Section == elf.SHN_UNDEF && s.Name != "" {
			return fmt.Errorf("symbol %s is undefined", s.Name)
		}
	}
	return nil
}
