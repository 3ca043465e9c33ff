// Is a table true of an image? The key is a claim, and a rewritten copy of an
// image keeps the original's build-ID: so the words decide. Every entry is
// derived again from the image's own words and compared.
//
// Not checked, because only a whole scan can: the live mask, and the flags other
// than those that say where the hook is. The proof that every path carries the
// number is the scan's too; a relay does not depend on it, it reads x8. Whether
// the hook must be the svc because a branch lands on it is also the scan's to
// say: so a hook that is the svc is never denied.

package cachefmt

import (
	"errors"
	"fmt"
	"iter"
	"slices"

	"svcrelay/scanner"
	"svcrelay/scanner/elfimg"
)

// A recogniser derives a site from the words of an image alone: Number,
// Distance, Hook, HookWord, Start and End.
type recogniser interface {
	At(kind scanner.Kind, vaddr uint64) (scanner.Site, bool)
}

// ErrMismatch is what every Mismatch wraps.
var ErrMismatch = errors.New("table does not match the image")

// A Field names what a Mismatch is about.
type Field string

const (
	FieldKey      Field = "key"
	FieldExec     Field = "executable ranges"
	FieldWord     Field = "hook word"
	FieldSite     Field = "site"
	FieldNumber   Field = "number"
	FieldDistance Field = "distance"
	FieldHook     Field = "hook"
	FieldStart    Field = "bridge start"
	FieldEnd      Field = "bridge end"
)

// A Mismatch is one thing that a table says and its image denies.
type Mismatch struct {
	Entry        int    // index, or -1 when it is about the whole table
	Svc          uint32 // offset of that entry's svc
	Field        Field
	Table, Image string // what each has
}

func (m *Mismatch) Error() string {
	where := "table"
	if m.Entry >= 0 {
		where = fmt.Sprintf("entry %d, svc 0x%x", m.Entry, m.Svc)
	}
	return fmt.Sprintf("%s: %s: table has %s, image has %s", where, m.Field, m.Table, m.Image)
}

func (m *Mismatch) Unwrap() error { return ErrMismatch }

// Validate returns the first thing that is wrong with t as the table of img.
func Validate(t *Table, img *elfimg.Image) error {
	for err := range ValidateAll(t, img) {
		return err
	}
	return nil
}

// ValidateAll yields everything that is wrong with t as the table of img, in
// the order of the table. After a broken rule of the format, or another image's
// key, it yields nothing more: the rest would be noise.
func ValidateAll(t *Table, img *elfimg.Image) iter.Seq[error] {
	return t.validate(img, scanner.NewRecogniser(img, t.Window))
}

func (t *Table) validate(img *elfimg.Image, r recogniser) iter.Seq[error] {
	return func(yield func(error) bool) {
		err := t.checkImage(img)
		if err != nil && (!yield(err) || !sameImage(err)) {
			return
		}
		for i, e := range t.Entries {
			c := comparison{entry: i, svc: e.Svc, yield: yield}
			if !c.run(e, img, r) {
				return
			}
		}
	}
}

// checkImage checks all but the entries.
func (t *Table) checkImage(img *elfimg.Image) error {
	if err := t.check(); err != nil {
		return fmt.Errorf("table %v: %w", t.Key, err)
	}
	ranges, err := execOf(img)
	if err != nil {
		return err
	}
	if key := keyOf(img, ranges); key != t.Key {
		return &Mismatch{Entry: -1, Field: FieldKey, Table: t.Key.String(), Image: key.String()}
	}
	if !slices.Equal(ranges, t.Exec) {
		return &Mismatch{Entry: -1, Field: FieldExec, Table: text(t.Exec), Image: text(ranges)}
	}
	return nil
}

// sameImage tells whether the entries are worth a look after err.
func sameImage(err error) bool {
	var m *Mismatch
	return errors.As(err, &m) && m.Field == FieldExec
}

// text prints ranges as start-end, for messages.
func text(ranges []Range) string {
	s := "none"
	for i, r := range ranges {
		if i == 0 {
			s = ""
		} else {
			s += " "
		}
		s += fmt.Sprintf("0x%x-0x%x", r.Offset, r.End())
	}
	return s
}

// A comparison is that of one entry with the image. Its methods report whether
// yield wants more.
type comparison struct {
	entry int
	svc   uint32
	yield func(error) bool
}

func (c comparison) run(e Entry, img *elfimg.Image, r recogniser) bool {
	origin := base(img)
	word, ok := img.Word(origin + uint64(e.Hook))
	if !ok {
		return c.deny(FieldWord, hex32(uint32(e.Word)), "no code")
	}
	if word != uint32(e.Word) && !c.deny(FieldWord, hex32(uint32(e.Word)), hex32(word)) {
		return false
	}
	site, ok := r.At(e.Kind, origin+uint64(e.Svc))
	if !ok {
		return c.deny(FieldSite, e.Kind.String(), "none")
	}
	got, err := fromSite(site, origin)
	if err != nil {
		return c.deny(FieldSite, e.Kind.String(), err.Error())
	}
	if e.Flags&scanner.HookIsSvc != 0 {
		got.Hook = e.Hook
	}
	return c.fields(e, got)
}

// fields compares what the recogniser derives. The hook word is among it only
// through the hook: run has read it from the image.
func (c comparison) fields(e, got Entry) bool {
	for _, f := range [...]struct {
		field        Field
		table, image uint32
		text         func(uint32) string
	}{
		{FieldNumber, uint32(e.Number), uint32(got.Number), numberText},
		{FieldDistance, uint32(e.Distance), uint32(got.Distance), decimal},
		{FieldHook, e.Hook, got.Hook, hex32},
		{FieldStart, e.Start, got.Start, hex32},
		{FieldEnd, e.End, got.End, hex32},
	} {
		if f.table != f.image && !c.deny(f.field, f.text(f.table), f.text(f.image)) {
			return false
		}
	}
	return true
}

func (c comparison) deny(f Field, table, image string) bool {
	return c.yield(&Mismatch{Entry: c.entry, Svc: c.svc, Field: f, Table: table, Image: image})
}
