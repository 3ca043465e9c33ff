// The words of run: proot's, all its spellings, read by its rules and not by
// pflag's. A word that does not start with "-" is the program, and ends them; "-"
// alone is a word like any other, and an unknown one; a value may start with "-",
// as in "-v -1".
package command

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"svcrelay/runtime/tracer"
)

// runOptions is what the words of a command line ask for.
type runOptions struct {
	root       string
	binds      []bindWord // in the order of the command line
	cwd        string
	ids        *tracer.IDs
	kernel     string
	verbose    tracer.Level
	loud       bool // verbose was given
	killOnExit bool
	stats      statsForm
	ask        question
	notes      []string // about words that have no effect
	argv       []string
}

// A bindWord is the value of a bind, or one of those that -R stands for: these
// are left out in silence where the host has nothing to show.
type bindWord struct {
	text  string
	usual bool
}

// A statsForm is how stops are printed.
type statsForm uint8

const (
	statsNone statsForm = iota
	statsText
	statsJSON
)

// A question is answered instead of running anything.
type question uint8

const (
	askNothing question = iota
	askHelp
	askVersion
)

// A runWord is one option.
type runWord struct {
	names    []string // the usual spelling first
	value    string   // what the value is called, "" for none
	optional bool     // a value comes with "=" or not at all
	help     string   // "" for words that help does not list
	do       func(o *runOptions, value string) error
}

// runWords in the order of the help.
var runWords = []runWord{
	{names: []string{"-r", "--rootfs"}, value: "PATH", help: "the guest's root (default /)",
		do: func(o *runOptions, v string) error { return o.setRoot(v) }},
	{names: []string{"-b", "--bind", "-m", "--mount"}, value: "HOST[:GUEST[!]]",
		help: "show HOST at GUEST, by default at the same path; a symlink at GUEST is followed, unless it has a !",
		do:   func(o *runOptions, v string) error { o.binds = append(o.binds, bindWord{text: v}); return nil }},
	{names: []string{"-w", "--cwd", "--pwd"}, value: "PATH", help: "working directory in the guest (default that of the caller)",
		do: func(o *runOptions, v string) error { o.cwd = v; return nil }},
	{names: []string{"-R"}, value: "PATH", help: "-r PATH and the binds that most guests want",
		do: func(o *runOptions, v string) error { return o.setUsual(v, fullBinds) }},
	{names: []string{"-S"}, value: "PATH", help: "-0 -r PATH and the binds that changing the guest's packages wants",
		do: func(o *runOptions, v string) error { o.ids = &tracer.IDs{}; return o.setUsual(v, packageBinds) }},
	{names: []string{"-0", "--root-id"}, help: "let the guest believe to be root",
		do: func(o *runOptions, _ string) error { o.ids = &tracer.IDs{}; return nil }},
	{names: []string{"-i", "--change-id"}, value: "UID:GID", help: "let the guest believe to have these ids",
		do: (*runOptions).setIDs},
	{names: []string{"-k", "--kernel-release"}, value: "RELEASE", help: `what uname says: a release, or \SYSNAME\NODENAME\RELEASE\VERSION\MACHINE\DOMAIN\HWCAP\`,
		do: (*runOptions).setKernel},
	{names: []string{"--kill-on-exit"}, help: "end every process of the guest with its first",
		do: func(o *runOptions, _ string) error { o.killOnExit = true; return nil }},
	{names: []string{"-v", "--verbose"}, value: "LEVEL", help: "-1 nothing, 0 warnings, 1 settings as well, 2 what each path became",
		do: (*runOptions).setVerbose},
	{names: []string{"--stats"}, value: "FORM", optional: true,
		help: "count stops, and print them at the end and on SIGUSR1, as text or json",
		do:   (*runOptions).setStats},
	{names: []string{"-V", "--version", "--about"}, help: "print the version",
		do: func(o *runOptions, _ string) error { o.ask = askVersion; return nil }},
	{names: []string{"-h", "--help", "--usage"}, help: "print this",
		do: func(o *runOptions, _ string) error { o.ask = askHelp; return nil }},

	without("-l", "--link2symlink"),
	without("-L"),
	without("-H"),
	without("--sysvipc"),
	without("--ashmem-memfd"),
	without("--tcsetsf2tcsets"),
	without("--tcsetsf2tcsetsw"),
	unsupported("VALUE", "--mixed-mode"),
	unsupported("COMMAND", "-q", "--qemu"),
	unsupported("FILE", "-P"),
	unsupported("", "-p"),
	unsupported("", "-n", "--netcoop"),
}

// without makes a word of proot's that a guest can do without.
func without(names ...string) runWord {
	return runWord{names: names, do: func(o *runOptions, _ string) error {
		o.notes = append(o.notes, names[0]+" has no effect")
		return nil
	}}
}

// unsupported makes a word of proot's that changes what a guest gets, and that we
// do not have.
func unsupported(value string, names ...string) runWord {
	return runWord{names: names, value: value, do: func(*runOptions, string) error {
		return errors.New("not supported")
	}}
}

func findRunWord(name string) (runWord, bool) {
	i := slices.IndexFunc(runWords, func(w runWord) bool { return slices.Contains(w.names, name) })
	if i < 0 {
		return runWord{}, false
	}
	return runWords[i], true
}

// parseRun reads the words of a command line. A question ends it.
func parseRun(args []string) (runOptions, error) {
	o := runOptions{root: "/"}
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		if args[0] == "--" {
			args = args[1:]
			break
		}
		n, err := o.word(args)
		if err != nil || o.ask != askNothing {
			return o, err
		}
		args = args[n:]
	}
	o.argv = args
	return o, nil
}

// word carries out the first of args and returns how many it took.
func (o *runOptions) word(args []string) (int, error) {
	name, value, joined := args[0], "", false
	if strings.HasPrefix(name, "--") {
		name, value, joined = strings.Cut(name, "=")
	}
	w, ok := findRunWord(name)
	taken := 1
	switch {
	case !ok:
		return 0, unknownWord(name)
	case w.value == "" && joined:
		return 0, fmt.Errorf("%s takes no value", name)
	case w.value != "" && !joined && !w.optional:
		if len(args) < 2 {
			return 0, fmt.Errorf("%s needs a value: %s", name, w.value)
		}
		value, taken = args[1], 2
	}
	if err := w.do(o, value); err != nil {
		return 0, fmt.Errorf("%s: %w", strings.Join(args[:taken], " "), err)
	}
	return taken, nil
}

// unknownWord tells what is wrong with a word, and that short ones stand alone.
func unknownWord(name string) error {
	if len(name) > 2 && name[1] != '-' {
		if w, ok := findRunWord(name[:2]); ok && w.value != "" {
			return fmt.Errorf("unknown option %s: %s and its value are separate words", name, name[:2])
		}
	}
	return fmt.Errorf("unknown option %s", name)
}

func (o *runOptions) setRoot(path string) error {
	if path == "" {
		return errors.New("no path")
	}
	o.root = path
	return nil
}

func (o *runOptions) setUsual(path string, binds []string) error {
	for _, b := range binds {
		o.binds = append(o.binds, bindWord{text: b, usual: true})
	}
	o.binds = append(o.binds, bindWord{text: path, usual: true})
	return o.setRoot(path)
}

func (o *runOptions) setIDs(text string) error {
	uid, gid, _ := strings.Cut(text, ":")
	u, errU := parseID(uid)
	g, errG := parseID(gid)
	if errU != nil || errG != nil {
		return errors.New("not UID:GID")
	}
	o.ids = &tracer.IDs{UID: u, GID: g}
	return nil
}

// parseID reads an id. The last number is none: chown takes it for "leave alone".
func parseID(text string) (uint32, error) {
	id, err := strconv.ParseUint(text, 10, 32)
	if err == nil && uint32(id) == ^uint32(0) {
		err = strconv.ErrRange
	}
	return uint32(id), err
}

func (o *runOptions) setKernel(text string) error {
	if text == "" {
		return errors.New("no release")
	}
	o.kernel = text
	return nil
}

func (o *runOptions) setVerbose(text string) error {
	level, err := parseLevel(text)
	o.verbose, o.loud = level, true
	return err
}

func parseLevel(text string) (tracer.Level, error) {
	n, err := strconv.Atoi(text)
	if err != nil {
		return tracer.Warnings, errors.New("not a number")
	}
	return tracer.Level(n), nil
}

func (o *runOptions) setStats(form string) error {
	switch form {
	case "", "text":
		o.stats = statsText
	case "json":
		o.stats = statsJSON
	default:
		return errors.New("neither text nor json")
	}
	return nil
}
