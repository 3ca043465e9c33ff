// The images out of the packages, and the debug files that belong to them. A
// debug package holds some 300 files; only those with an image's build-ID are
// kept, so the images of all packages come first.

package main

import (
	"fmt"
	"io"
	"path"

	"svcrelay/cmd/internal/debian"
)

// unpack writes the images and debug files of a suite's packages.
func (b *builder) unpack(suite string, debs []row) ([]row, error) {
	b.say("unpack " + suite)
	var rows []row
	ids := map[string]bool{}
	err := b.each(debs, func(deb row, file string, r io.Reader) error {
		name := imageName(file)
		if name == "" {
			return nil
		}
		out, err := b.write(deb, kindImage, path.Join("images", suite, name), r)
		if out.buildID != "" {
			ids[out.buildID] = true
		}
		rows = append(rows, out)
		return err
	})
	if err != nil {
		return nil, err
	}
	err = b.each(debs, func(deb row, file string, r io.Reader) error {
		id := debugID(file)
		if deb.pkg != debugPackage || !ids[id] {
			return nil
		}
		out, err := b.write(deb, kindDebug, path.Join("debug", id+".debug"), r)
		rows = append(rows, out)
		return err
	})
	return rows, err
}

// each calls visit for every regular file of every package.
func (b *builder) each(debs []row, visit func(deb row, file string, r io.Reader) error) error {
	for _, deb := range debs {
		err := debian.Unpack(b.file(deb), func(file string, r io.Reader) error { return visit(deb, file, r) })
		if err != nil {
			return err
		}
	}
	return nil
}

// write stores one file that came out of a package and describes it.
func (b *builder) write(deb row, kind, name string, r io.Reader) (row, error) {
	out := row{path: name, kind: kind, suite: deb.suite, pkg: deb.pkg, version: deb.version}
	err := debian.WriteFile(b.file(out), func(w io.Writer) error {
		_, err := io.Copy(w, r)
		return err
	})
	if err != nil {
		return out, err
	}
	if out.sum, err = debian.SumFile(b.file(out)); err != nil {
		return out, err
	}
	if out.buildID, err = buildID(b.file(out)); err != nil {
		return out, fmt.Errorf("image %s: %w", name, err)
	}
	return out, nil
}
