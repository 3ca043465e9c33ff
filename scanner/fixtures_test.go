package scanner_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"svcrelay/scanner"
	"svcrelay/scanner/elfimg"
)

const fixtures = "../testdata/fixtures"

// TestFixtures compares the scan of each small image with rows that were derived
// by hand from its disassembly (testdata/fixtures/README.md).
func TestFixtures(t *testing.T) {
	wants, err := filepath.Glob(filepath.Join(fixtures, "*.want"))
	if err != nil || len(wants) < 50 {
		t.Fatalf("%d expectations in %s (%v), want at least 50", len(wants), fixtures, err)
	}
	for _, file := range wants {
		name := strings.TrimSuffix(filepath.Base(file), ".want")
		t.Run(name, func(t *testing.T) {
			want := strings.TrimRight(string(read(t, file)), "\n")
			got := scanRows(read(t, filepath.Join(fixtures, name+".elf")))
			if strings.HasPrefix(want, "refused\t") {
				if !strings.HasPrefix(got, "refused\t") {
					t.Errorf("scan gives %d rows, want it refused", strings.Count(got, "\n")+1)
				}
				return
			}
			if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")); diff != "" {
				t.Errorf("rows (-want +got):\n%s", diff)
			}
		})
	}
}

func read(t testing.TB, file string) []byte {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// scanRows is the scan of an image in the form of a .want file.
func scanRows(raw []byte) string {
	img, err := elfimg.New(raw)
	if err != nil {
		return "refused\t" + err.Error()
	}
	r, err := scanner.Scan(img, scanner.Options{})
	if err != nil {
		return "refused\t" + err.Error()
	}
	rows := make([]string, len(r.Sites))
	for i, s := range r.Sites {
		rows[i] = row(s)
	}
	return strings.Join(rows, "\n")
}

func row(s scanner.Site) string {
	hook, hookReason, reason, number, distance := "-", "-", "-", "-", "-"
	if s.Verdict == scanner.Accept {
		hook, hookReason = fmt.Sprintf("0x%x", s.Hook), s.HookReason.String()
	} else {
		reason = s.Reason.String()
	}
	if s.Number != scanner.NoNumber {
		number = fmt.Sprint(s.Number)
	}
	if s.Distance != 0 {
		distance = fmt.Sprint(s.Distance)
	}
	return strings.Join([]string{
		s.Kind.String(), fmt.Sprintf("0x%x", s.Vaddr), number, distance, dash(s.Function),
		s.Verdict.String(), reason, hook, hookReason, s.Flags.String(),
	}, "\t")
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
