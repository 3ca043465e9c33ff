// Which modules to load, and in which order. A module says in its .modinfo
// section, as strings that end in a zero, which others it needs; depmod has not
// run on an unpacked package, so there is no list to read that from.

package kernel

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

var errNoDriver = errors.New("neither built in nor a module")

// A module is one driver, uncompressed.
type module struct {
	name string
	data []byte
}

// moduleName is what the kernel calls the module in a file, or "" for other
// files: it writes - as _.
func moduleName(file string) string {
	base := strings.TrimSuffix(path.Base(file), ".xz")
	name, ok := strings.CutSuffix(base, ".ko")
	if !ok {
		return ""
	}
	return strings.ReplaceAll(name, "-", "_")
}

// builtin reads modules.builtin: one file name a line.
func builtin(text string) map[string]bool {
	in := map[string]bool{}
	for line := range strings.Lines(text) {
		in[moduleName(strings.TrimSpace(line))] = true
	}
	return in
}

// needs returns the modules that have to be loaded before one: what it links
// against, and what it would ask modprobe for first.
func needs(data []byte) []string {
	var names []string
	for _, field := range bytes.Split(data, []byte{0}) {
		if v, ok := bytes.CutPrefix(field, []byte("depends=")); ok {
			names = append(names, strings.FieldsFunc(string(v), func(r rune) bool { return r == ',' })...)
		}
		if v, ok := bytes.CutPrefix(field, []byte("softdep=pre: ")); ok {
			before, _, _ := strings.Cut(string(v), "post:")
			names = append(names, strings.Fields(before)...)
		}
	}
	for i, n := range names {
		names[i] = strings.ReplaceAll(n, "-", "_")
	}
	return names
}

// A tree is the modules of one kernel. read returns a module's bytes.
type tree struct {
	builtin map[string]bool
	files   map[string]string // by module name
	read    func(file string) ([]byte, error)
}

// order returns the modules to load for some drivers, needs first.
func (t tree) order(drivers []driver) ([]module, error) {
	var got []module
	for _, d := range drivers {
		if d.optional && !t.has(d.name) {
			continue
		}
		var err error
		if got, err = t.add(got, d.name, nil); err != nil {
			return nil, err
		}
	}
	return got, nil
}

func (t tree) has(name string) bool { return t.builtin[name] || t.files[name] != "" }

// add appends a module behind what it needs. path holds the modules that are
// being added, so that a circle ends.
func (t tree) add(got []module, name string, path []string) ([]module, error) {
	known := slices.ContainsFunc(got, func(m module) bool { return m.name == name })
	if known || t.builtin[name] || slices.Contains(path, name) {
		return got, nil
	}
	if !t.has(name) {
		if len(path) > 0 {
			return got, nil // a wish of modprobe's that this kernel does not have
		}
		return nil, fmt.Errorf("driver %s: %w", name, errNoDriver)
	}
	data, err := t.read(t.files[name])
	if err != nil {
		return nil, fmt.Errorf("module %s: %w", name, err)
	}
	for _, n := range needs(data) {
		if got, err = t.add(got, n, append(path, name)); err != nil {
			return nil, err
		}
	}
	return append(got, module{name, data}), nil
}
