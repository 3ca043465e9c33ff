// svcrelay check: for CI over many glibc builds.

package command

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"svcrelay/cmd/internal/store"
	"svcrelay/scanner/coverage"
)

type check struct {
	imageFlags
	golden, junit, html string
	update              bool
}

func checkCommand() *cobra.Command {
	c := &check{}
	cmd := &cobra.Command{
		Use:   "check SOURCE... --golden FILE",
		Short: "fail when the coverage of a known image got worse",
		Long: `Print the coverage of all images as a matrix, builds across and calls down, and
compare each with its section in the golden file. Fails with the call and the
function that lost coverage. An image that the file does not know gets structural
checks and a note.`,
		Example: "  svcrelay check debs/*.deb --golden coverage.txt --junit junit.xml --html coverage.html\n  svcrelay check debs/*.deb --golden coverage.txt --update",
		Args:    needs(1, "a SOURCE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.run(cmd, args)
		},
	}
	c.register(cmd)
	cmd.Flags().StringVar(&c.golden, "golden", "", "compare with `FILE` (required)")
	cmd.Flags().BoolVar(&c.update, "update", false, "write what was found to the golden file; keeps images not seen this time")
	cmd.Flags().StringVar(&c.junit, "junit", "", "write a JUnit report to `FILE`")
	cmd.Flags().StringVar(&c.html, "html", "", "write one self-contained HTML page to `FILE`")
	return cmd
}

func (c *check) run(cmd *cobra.Command, sources []string) error {
	if err := c.check(); err != nil {
		return err
	}
	if c.golden == "" {
		return usagef("--golden FILE is needed")
	}
	if err := c.distinct(); err != nil {
		return err
	}
	golden, err := c.readGolden()
	if err != nil {
		return err
	}
	r := newReporter(cmd)
	builds, err := c.scan(cmd, &r, sources)
	if err != nil {
		return err
	}
	if len(builds) == 0 {
		r.fail(errors.New("no image with an svc word"))
		return r.done()
	}
	r.progress.clear()
	if err := coverage.NewMatrix(builds).WriteText(cmd.OutOrStdout(), width(cmd.OutOrStdout())); err != nil {
		return err
	}
	if c.update {
		golden, err = c.updateGolden(&r, golden, builds)
		if err != nil {
			return err
		}
	}
	reports := reportsOf(golden, builds)
	if err := c.write(reports); err != nil {
		return err
	}
	r.findings(reports)
	return r.done()
}

// distinct reports two flags that name one file.
func (c *check) distinct() error {
	files := []struct{ flag, name string }{{"--golden", c.golden}, {"--junit", c.junit}, {"--html", c.html}}
	for i, a := range files {
		for _, b := range files[:i] {
			if a.name != "" && b.name != "" && store.SameFile(a.name, b.name) {
				return usagef("%s and %s name the same file", b.flag, a.flag)
			}
		}
	}
	return nil
}

func reportsOf(g *coverage.Golden, builds []*coverage.Build) []coverage.Report {
	reports := make([]coverage.Report, len(builds))
	for i, b := range builds {
		reports[i] = coverage.Check(g, b)
	}
	return reports
}

func (r *reporter) findings(reports []coverage.Report) {
	for _, report := range reports {
		for _, f := range report.Findings {
			r.finding(report.Build, f, f.Severity == coverage.Fail)
		}
	}
}

func (r *reporter) finding(b *coverage.Build, f coverage.Finding, fail bool) {
	text := fmt.Errorf("%s: %s", b.Label(), f.Text)
	if fail {
		r.fail(text)
	} else {
		r.note(text)
	}
}

// updateGolden writes the golden file anew and tells what that changed.
func (c *check) updateGolden(r *reporter, old *coverage.Golden, builds []*coverage.Build) (*coverage.Golden, error) {
	for _, b := range builds {
		for _, f := range coverage.Compare(old, b) {
			r.finding(b, f, false)
		}
	}
	merged, err := old.Merge(builds)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.golden, err)
	}
	return merged, store.WriteFile(c.golden, merged.Write)
}

// scan returns one build per image; the same image in two sources counts once,
// and a stub without any svc word, as 2.34's libpthread, not at all.
func (c *check) scan(cmd *cobra.Command, r *reporter, sources []string) ([]*coverage.Build, error) {
	var builds []*coverage.Build
	seen := map[string]*coverage.Build{}
	err := each(cmd.Context(), &c.imageFlags, r, sources, buildOf, func(m *image, b *coverage.Build) {
		switch have := seen[b.BuildID]; {
		case m.err != nil:
			r.refuse(m)
		case len(b.Svcs) == 0:
		case have == nil:
			seen[b.BuildID] = b
			builds = append(builds, b)
		case !slices.Equal(have.Result.Sites, b.Result.Sites):
			r.fail(fmt.Errorf("%s: build-ID %s is also that of %s, whose code is another", m.name(), b.BuildID, have.Source))
		}
	})
	return builds, err
}

// readGolden reads the golden file; with --update it need not exist.
func (c *check) readGolden() (*coverage.Golden, error) {
	f, err := openRegular(c.golden)
	if errors.Is(err, fs.ErrNotExist) && c.update {
		return &coverage.Golden{}, nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: there is no such file; --update makes it", c.golden)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	g, err := coverage.ParseGolden(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.golden, err)
	}
	return g, nil
}

// write writes the reports that were asked for.
func (c *check) write(reports []coverage.Report) error {
	for _, file := range []struct {
		name string
		fill func(io.Writer, []coverage.Report) error
	}{{c.junit, coverage.WriteJUnit}, {c.html, coverage.WriteHTML}} {
		if file.name == "" {
			continue
		}
		fill := func(w io.Writer) error { return file.fill(w, reports) }
		if err := store.WriteFile(file.name, fill); err != nil {
			return err
		}
	}
	return nil
}

// width is the width of a terminal, 0 for anything else.
func width(w io.Writer) int {
	f, ok := w.(*os.File)
	if !ok {
		return 0
	}
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0
	}
	return int(size.Col)
}
