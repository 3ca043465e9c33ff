// svcrelay scan: the sites of images, for people and as JSON.

package command

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"svcrelay/cachefmt"
	"svcrelay/scanner"
	"svcrelay/scanner/coverage"
	"svcrelay/scanner/elfimg"
	"svcrelay/scanner/source"
)

type scan struct {
	imageFlags
	json, explain, all bool
}

func scanCommand() *cobra.Command {
	s := &scan{}
	cmd := &cobra.Command{
		Use:   "scan IMAGE|SOURCE...",
		Short: "show the sites of the images in SOURCE",
		Long: `Show the sites of each image by number and function, and how many svc words
were refused for which reason. Nothing is written.

With --json, one object per image, each on a line: build_id, libc, version, counts, and sites with
kind ("svc", "bridge" or "call"), vaddr, hook, nr, name, distance, function,
verdict, reason, live and flags; all svc words are in it, refused ones too. Else a
matrix of what is covered ends the output: a cell like 4+2c means 4 svc sites and 2
calls through a bridge.`,
		Example: "  svcrelay scan /lib/aarch64-linux-gnu/libc.so.6\n  svcrelay scan --explain libc6_2.41-12_arm64.deb\n  svcrelay scan --json libc.so.6 | jq '.sites[] | select(.nr == 56)'",
		Args:    needs(1, "an IMAGE or a SOURCE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.run(cmd, args)
		},
	}
	s.register(cmd)
	cmd.Flags().BoolVar(&s.json, "json", false, "print one JSON object per image")
	cmd.Flags().BoolVar(&s.explain, "explain", false, "list every refused site, and say what the reasons mean")
	cmd.Flags().BoolVar(&s.all, "all", false, "list refused sites too")
	return cmd
}

func (s *scan) run(cmd *cobra.Command, sources []string) error {
	if err := s.check(); err != nil {
		return err
	}
	r := newReporter(cmd)
	out := cmd.OutOrStdout()
	var builds []*coverage.Build // with anything in them
	images := 0
	err := each(cmd.Context(), &s.imageFlags, &r, sources, buildOf, func(m *image, b *coverage.Build) {
		if m.err != nil {
			r.refuse(m)
			return
		}
		images++
		if len(b.Svcs) > 0 {
			builds = append(builds, b)
		}
		r.progress.clear()
		if err := s.print(out, m, b, images > 1); err != nil {
			r.fail(err)
		}
	})
	if err != nil {
		return err
	}
	if !s.json && len(builds) > 0 {
		fmt.Fprintln(out)
		if err := coverage.NewMatrix(builds).WriteText(out, width(out)); err != nil {
			return err
		}
	}
	return r.done()
}

// refuse reports an image that could not be scanned. A library of another
// machine fails the command only when the user named that very file.
func (r *reporter) refuse(m *image) {
	if m.otherMachine() && m.kind != source.File {
		r.note(fmt.Sprintf("%v: left out", m.err))
		return
	}
	r.fail(m.err)
}

// buildOf is the work of commands that need the sites and no table.
func buildOf(m image, img *elfimg.Image, scan *scanner.Result) (*coverage.Build, error) {
	b := coverage.NewBuild(path.Base(m.path), m.source, img, scan)
	if b.BuildID != "" {
		return b, nil
	}
	key, err := cachefmt.KeyOf(img)
	b.BuildID = key.String()
	return b, err
}

func (s *scan) print(w io.Writer, m *image, b *coverage.Build, again bool) error {
	if s.json {
		return json.NewEncoder(w).Encode(jsonOf(m, b))
	}
	if again {
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "%s  %s  %s\n", m.name(), libcText(b.Libc, b.Version), b.BuildID)
	if len(b.Svcs) == 0 {
		_, err := fmt.Fprintln(w, "no svc word in it")
		return err
	}
	return s.printSites(w, b.Result.Sites)
}

func (s *scan) printSites(w io.Writer, sites []scanner.Site) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "CALL\tFUNCTION\tKIND\tSVC\tHOOK\tDISTANCE\tFLAGS")
	for _, site := range byNumber(sites) {
		if site.Verdict == scanner.Accept {
			fmt.Fprintf(t, "%s\t%s\t%s\t0x%x\t0x%x %s\t%s\t%s\n", coverage.CallName(site.Number), functionText(site), site.Kind,
				site.Vaddr, site.Hook, site.HookReason, distanceText(site.Distance), site.Flags)
		}
	}
	if err := t.Flush(); err != nil || !s.all && !s.explain {
		return err
	}
	return s.printRefused(w, sites)
}

func (s *scan) printRefused(w io.Writer, sites []scanner.Site) error {
	fmt.Fprintln(w)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "REFUSED\tCALL\tFUNCTION\tKIND\tREASON")
	seen := map[scanner.Reason]bool{}
	for _, site := range sites {
		if site.Verdict == scanner.Accept {
			continue
		}
		seen[site.Reason] = true
		fmt.Fprintf(t, "0x%x\t%s\t%s\t%s\t%s\n", site.Vaddr, coverage.CallName(site.Number), functionText(site), site.Kind, site.Reason)
	}
	if err := t.Flush(); err != nil || !s.explain {
		return err
	}
	fmt.Fprintln(w)
	for _, reason := range scanner.Reasons() {
		if seen[reason] {
			fmt.Fprintf(w, "%s: %s\n", reason, reason.Explain())
		}
	}
	return nil
}

// byNumber sorts sites by number, function and address.
func byNumber(sites []scanner.Site) []scanner.Site {
	sorted := slices.Clone(sites)
	slices.SortStableFunc(sorted, func(a, b scanner.Site) int {
		return cmp.Or(cmp.Compare(a.Number, b.Number), cmp.Compare(a.Function, b.Function), cmp.Compare(a.Vaddr, b.Vaddr))
	})
	return sorted
}

func functionText(s scanner.Site) string {
	if s.Function == "" {
		return "-"
	}
	return fmt.Sprintf("%s+0x%x", source.Printable(s.Function), s.Offset)
}

func distanceText(d int) string {
	if d == 0 {
		return "-"
	}
	return fmt.Sprint(d)
}
