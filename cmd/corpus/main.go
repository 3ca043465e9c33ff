// Corpus fetches the real libraries that the project is tested with: Debian's
// arm64 glibc of four releases, with symbols, and musl.
//
// It promises that every file is what the archive's signed index says, and that
// a second run finds out without the network. It refuses what it cannot check.
// index.tsv in its folder lists every file.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const usage = `usage: corpus [-dir DIR] [-update] [SUITE...]

Fetches the arm64 packages libc6, libc6-dbg and musl of Debian suites through
this machine's apt configuration, and unpacks their images. All suites: %s.

`

func main() { os.Exit(run(os.Args[1:], os.Stderr)) }

// run returns 0, 1 when something could not be fetched, 2 for wrong usage.
func run(args []string, log io.Writer) int {
	flags := flag.NewFlagSet("corpus", flag.ContinueOnError)
	flags.SetOutput(log)
	dir := flags.String("dir", ".corpus", "`folder` of the corpus")
	update := flags.Bool("update", false, "ask the archive for newer packages even when all are present")
	flags.Usage = func() {
		fmt.Fprintf(log, usage, strings.Join(suiteNames(), ", "))
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err == flag.ErrHelp {
		return 0
	} else if err != nil {
		return 2
	}
	chosen, err := choose(flags.Args())
	if err != nil {
		fmt.Fprintln(log, "corpus:", err)
		return 2
	}
	say := func(what string) { fmt.Fprintln(log, "corpus:", what) }
	b := &builder{dir: *dir, update: *update, say: say, open: opener(filepath.Join(*dir, "lists"), say)}
	code := report(b.buildAll(chosen), log)
	if code == 0 {
		say(fmt.Sprintf("%d files in %s are right", len(b.rows), *dir))
	}
	return code
}

// report turns the outcome into one line, if any, and an exit code.
func report(err error, log io.Writer) int {
	if err == nil {
		return 0
	}
	fmt.Fprintln(log, "corpus:", strings.ReplaceAll(err.Error(), "\n", "; "))
	return 1
}

func (b *builder) buildAll(chosen []release) error {
	var err error
	if b.rows, err = readIndex(b.indexFile()); err != nil {
		return err
	}
	for _, rel := range chosen {
		if err := b.build(rel); err != nil {
			return err
		}
	}
	return nil
}

func suiteNames() []string {
	var names []string
	for _, r := range releases {
		names = append(names, r.suite)
	}
	return names
}

// choose returns the named releases, all when none is named.
func choose(names []string) ([]release, error) {
	if len(names) == 0 {
		return releases, nil
	}
	var chosen []release
	for _, name := range names {
		i := slices.Index(suiteNames(), name)
		if i < 0 {
			return nil, fmt.Errorf("suite %q: not in the corpus", name)
		}
		chosen = append(chosen, releases[i])
	}
	return chosen, nil
}
