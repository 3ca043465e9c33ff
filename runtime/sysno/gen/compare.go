// The comparison behind -check: every difference is listed, none is fatal.

package main

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

var (
	dirParam  = regexp.MustCompile(`\b(old|new|from_|to_)?dfd$`)
	pathParam = regexp.MustCompile(`\b(path|pathname|filename|special|specialfile|dir_name|new_root|put_old)$`)
	pathWord  = regexp.MustCompile(`^(path|entry)2?$|^text$`)
)

// pointerTypes are the typedefs of syscalls.h that hide a pointer.
var pointerTypes = []string{"cap_user_header_t ", "cap_user_data_t "}

func compare(t *table, k *kernel) (errs []error) {
	for _, name := range slices.Sorted(maps.Keys(k.numbers)) {
		if c := t.at(k.numbers[name]); c == nil || c.name != name {
			errs = append(errs, fmt.Errorf("%s: %d in the headers, not in the table", name, k.numbers[name]))
		}
	}
	for _, c := range t.calls {
		if _, ok := k.numbers[c.name]; !ok {
			errs = append(errs, fmt.Errorf("%s: %d in the table, not in the headers", c.name, c.nr))
			continue
		}
		errs = append(errs, compareArgs(t, k, c)...)
	}
	return errs
}

// compareArgs checks one call against the prototype of its entry point. Calls
// that the kernel dropped lead to sys_ni_syscall and have none.
func compareArgs(t *table, k *kernel, c call) (errs []error) {
	fn := k.entries[c.nr]
	if fn == "sys_ni_syscall" {
		return nil
	}
	params, ok := k.protos[fn]
	if !ok {
		return []error{fmt.Errorf("%s: no prototype of %q", c.name, fn)}
	}
	if len(params) != len(c.args) {
		return []error{fmt.Errorf("%s: %d arguments, the headers have %d: %s", c.name, len(c.args), len(params), strings.Join(params, ","))}
	}
	for i, p := range params {
		if !fits(t, c.args[i], strings.TrimSpace(p)) {
			errs = append(errs, fmt.Errorf("%s: argument %d is %s, the headers have %q", c.name, i, c.args[i], strings.TrimSpace(p)))
		}
	}
	return errs
}

// fits reports whether an argument word can stand for a C parameter.
func fits(t *table, word, param string) bool {
	m, _ := find(t.words, word)
	pointer, str, path := isPointer(param), isString(param), pathWord.MatchString(word)
	switch {
	case m.shape == "value" && pointer, m.shape == "pointer" && !pointer:
		return false
	case path && !str, !path && str && pathParam.MatchString(param):
		return false
	}
	return pointer || !dirParam.MatchString(param) || strings.HasPrefix(word, "dirfd")
}

func isString(param string) bool {
	return strings.Contains(param, "char __user") && strings.Count(param, "*") == 1
}

func isPointer(param string) bool {
	hidden := func(s string) bool { return strings.Contains(param, s) }
	return strings.Contains(param, "*") || slices.ContainsFunc(pointerTypes, hidden)
}
