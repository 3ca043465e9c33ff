// The help of run. Its words are not flags of pflag, so help, manual page and
// completion are made here, from the table.
package command

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

const runIntroduction = `Run a program in a rootfs, as chroot with bind mounts would, without privileges:
proot's command line. Needs linux/arm64 and a kernel that lets the program trace.
Without PROGRAM it is /bin/sh. Installed as "proot" or "libproot.so", svcrelay
takes these words without "run".

Options, up to PROGRAM or "--":

`

const runNotes = `

A value may follow a long option as a word of its own as well. A relative path
starts from the caller's working directory, in the guest too. Binds that the host
does not have are left out with a warning; of two at one guest path the last one
is seen.

%s

Environment, which the guest gets too:

    PROOT_LOADER      the exec loader, where a guest may run files of one folder only
    PROOT_TMP_DIR     folder that the built-in exec loader is unpacked into, once
    PROOT_VERBOSE     as -v, which wins
    PROOT_IGNORE_MISSING_BINDINGS
                      say nothing of binds that the host does not have

PROOT_NO_SECCOMP has no effect, nor have proot's others.

Exit status: that of the program, or 128 and the number of the signal that ended
it; 1 when it could not be started or the command line is wrong.

With --stats=json, each time one line on standard error, an object with "calls"
(stops at the entry of a call, by name), "ends" (second stops, at the end of a
call), "signals", "execs", "tasks" (processes and threads made), "processes"
(objects of "pid", "exe" and "stops", those with most stops first) and "rest"
("processes" and "stops" of those that are gone and not listed). Text is the same,
a line each.`

func runLong() string {
	idle, refused := otherWords()
	others := fmt.Sprintf("Of proot's other options, %s have no effect, and %s are not supported.", idle, refused)
	return runIntroduction + runOptionLines() + fmt.Sprintf(runNotes, strings.Join(wrapped(others, 80), "\n"))
}

// runOptionLines is a line for every word: its spellings, and what it does.
func runOptionLines() string {
	const indent, column = "    ", 34
	var lines []string
	for _, w := range runWords {
		if w.help == "" {
			continue
		}
		head := indent + spellings(w)
		if len(head) >= column {
			lines = append(lines, head)
			head = ""
		}
		for _, part := range wrapped(w.help, 80-column) {
			lines = append(lines, fmt.Sprintf("%-*s%s", column, head, part))
			head = ""
		}
	}
	return strings.Join(lines, "\n")
}

func spellings(w runWord) string {
	text := strings.Join(w.names, ", ")
	switch {
	case w.optional:
		return text + "[=" + w.value + "]"
	case w.value == "":
		return text
	case strings.HasPrefix(w.names[len(w.names)-1], "--"):
		return text + "=" + w.value
	}
	return text + " " + w.value
}

// wrapped cuts text between words.
func wrapped(text string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	return append(lines, line)
}

// otherWords lists the words without help: those that do nothing, and those that
// are refused.
func otherWords() (idle, refused string) {
	var does, doesNot []string
	for _, w := range runWords {
		switch {
		case w.help != "":
		case w.do(&runOptions{}, "") == nil:
			does = append(does, w.names...)
		default:
			doesNot = append(doesNot, w.names...)
		}
	}
	return strings.Join(does, ", "), strings.Join(doesNot, ", ")
}

// completeRun offers words until a program is there; then it is the shell's turn.
func completeRun(_ *cobra.Command, before []string, start string) ([]cobra.Completion, cobra.ShellCompDirective) {
	o, err := parseRun(before)
	if err != nil || len(o.argv) > 0 || slices.Contains(before, "--") || !strings.HasPrefix(start, "-") {
		return nil, cobra.ShellCompDirectiveDefault
	}
	var found []cobra.Completion
	for _, w := range runWords {
		for _, name := range w.names {
			if w.help != "" && strings.HasPrefix(name, start) {
				found = append(found, cobra.CompletionWithDesc(name, w.help))
			}
		}
	}
	return found, cobra.ShellCompDirectiveNoFileComp
}
