// -check: the table against a kernel's own headers, as Debian's
// linux-headers-*-common packages ship them.
//
// Numbers and entry points come from include/uapi/asm-generic/unistd.h,
// prototypes from include/linux/syscalls.h. Both are C with conditions, but a
// handful of conditions decides for arm64, so a list of true ones replaces a
// preprocessor; a call lost to a condition that is missing there is reported.

package main

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// trueOnArm64 lists the #if lines that hold for a 64-bit arm64 kernel. Any
// other #if or #ifdef is taken as false, any #ifndef as true.
var trueOnArm64 = []string{
	"#if defined(__ARCH_WANT_TIME32_SYSCALLS) || __BITS_PER_LONG != 32",
	"#if __BITS_PER_LONG == 64 && !defined(__SYSCALL_COMPAT)",
	"#if defined(__ARCH_WANT_NEW_STAT) || defined(__ARCH_WANT_STAT64)",
	"#ifdef __ARCH_WANT_RENAMEAT",
	"#ifdef __ARCH_WANT_SET_GET_RLIMIT",
	"#ifdef __ARCH_WANT_MEMFD_SECRET",
	"#ifdef CONFIG_CLONE_BACKWARDS",
	"#ifdef CONFIG_ADVISE_SYSCALLS",
}

var (
	comment   = regexp.MustCompile(`(?s)/\*.*?\*/`)
	continued = regexp.MustCompile(`\\\n`)
	define1   = regexp.MustCompile(`^#define\s+(__NR\w+)\s+(\w+)$`)
	entry     = regexp.MustCompile(`^__S\w+\((__NR\w+),\s*(\w+)(?:,\s*(\w+))?(?:,\s*(\w+))?\)$`)
	prototype = regexp.MustCompile(`(?s)asmlinkage\s+long\s+(sys_\w+)\s*\(([^;]*)\);`)
)

// kernel is what the headers say.
type kernel struct {
	numbers map[string]int      // by name
	entries map[int]string      // sys_NAME, by number
	protos  map[string][]string // parameters, by sys_NAME
}

func check(t *table, headers string) error {
	k, err := readKernel(headers)
	if err != nil {
		return err
	}
	return errors.Join(compare(t, k)...)
}

func readKernel(headers string) (*kernel, error) {
	var texts [3]string
	for i, name := range []string{"uapi/asm-generic/unistd.h", "linux/syscalls.h", "asm-generic/syscalls.h"} {
		data, err := os.ReadFile(filepath.Join(headers, "include", filepath.FromSlash(name)))
		if err != nil {
			return nil, err
		}
		texts[i] = arm64Lines(string(data))
	}
	k := &kernel{map[string]int{}, map[int]string{}, map[string][]string{}}
	k.readNumbers(texts[0])
	k.readPrototypes(texts[1] + texts[2])
	return k, nil
}

// arm64Lines drops comments and the lines that a condition leaves out.
func arm64Lines(text string) string {
	var out strings.Builder
	var stack []bool
	text = continued.ReplaceAllString(comment.ReplaceAllString(text, ""), " ")
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "#if"):
			stack = append(stack, strings.HasPrefix(line, "#ifndef") || slices.Contains(trueOnArm64, line))
		case strings.HasPrefix(line, "#else") && len(stack) > 0:
			stack[len(stack)-1] = !stack[len(stack)-1]
		case strings.HasPrefix(line, "#endif") && len(stack) > 0:
			stack = stack[:len(stack)-1]
		case !slices.Contains(stack, false):
			out.WriteString(line + "\n")
		}
	}
	return out.String()
}

// readNumbers follows __NR_fcntl to __NR3264_fcntl to 25, and the entry of a
// __SC_3264 line to its second, 64-bit function.
func (k *kernel) readNumbers(text string) {
	raw := map[string]int{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if m := define1.FindStringSubmatch(line); m != nil {
			n, err := strconv.Atoi(m[2])
			if err != nil {
				n = raw[m[2]]
			}
			raw[m[1]] = n
			if name, ok := strings.CutPrefix(m[1], "__NR_"); ok {
				k.numbers[name] = n
			}
		}
		if m := entry.FindStringSubmatch(line); m != nil {
			fn := m[2]
			if strings.Contains(line, "3264(") {
				fn = m[3]
			}
			k.entries[raw[m[1]]] = fn
		}
	}
	delete(k.numbers, "arch_specific_syscall")
	delete(k.numbers, "syscalls")
}

func (k *kernel) readPrototypes(text string) {
	for _, m := range prototype.FindAllStringSubmatch(text, -1) {
		params := strings.Split(strings.Join(strings.Fields(m[2]), " "), ",")
		if m[2] == "void" || strings.Contains(m[2], "struct pt_regs") {
			params = nil
		}
		k.protos[m[1]] = params
	}
}
