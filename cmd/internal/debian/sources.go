// apt sources in both of their formats, and which of them is the Debian archive.
// Third parties also publish "bookworm main", so a name alone does not decide:
// an entry that is signed by somebody else's key is not the archive.

package debian

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// A Source is one enabled entry for binary packages.
type Source struct {
	URIs       []string
	Suites     []string
	Components []string
	SignedBy   string // key file, or "" when not said or not a file
}

// moving are the suite names that follow releases. A machine whose sources say
// "stable" is as good a place to ask as one that names its release.
var moving = []string{"stable", "testing", "unstable", "sid", "oldstable", "oldoldstable"}

// readSources reads every sources file that apt would read.
func readSources(c Config) ([]Source, error) {
	list, parts := c.sourcePaths()
	files := []string{list}
	for _, glob := range []string{"*.list", "*.sources"} {
		more, err := filepath.Glob(filepath.Join(parts, glob))
		if err != nil {
			return nil, fmt.Errorf("apt sources: %w", err)
		}
		files = append(files, more...)
	}
	var all []Source
	for _, f := range files {
		text, err := os.ReadFile(f)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("apt sources: %w", err)
		}
		got, err := parseSources(f, text)
		if err != nil {
			return nil, fmt.Errorf("apt sources: %s: %w", f, err)
		}
		all = append(all, got...)
	}
	return all, nil
}

// parseSources picks the format by the file's name, as apt does.
func parseSources(name string, text []byte) ([]Source, error) {
	if path.Ext(name) == ".sources" {
		return parseDeb822(text)
	}
	return parseOneLine(text)
}

func parseDeb822(text []byte) ([]Source, error) {
	var all []Source
	for f, err := range paragraphs(bytes.NewReader(text)) {
		if err != nil {
			return nil, err
		}
		if !slices.Contains(f.words("types"), "deb") || !parseBool(f["enabled"], true) {
			continue
		}
		all = append(all, Source{
			URIs:       f.words("uris"),
			Suites:     f.words("suites"),
			Components: f.words("components"),
			SignedBy:   keyFile(f["signed-by"]),
		})
	}
	return all, nil
}

// parseOneLine reads lines such as `deb [signed-by=/k.gpg] URI suite component...`.
func parseOneLine(text []byte) ([]Source, error) {
	var all []Source
	for i, line := range strings.Split(string(text), "\n") {
		line, _, _ = strings.Cut(line, "#")
		rest, ok := strings.CutPrefix(strings.TrimSpace(line), "deb")
		if !ok || rest == "" || !isContinuation(rest) {
			continue // blank, comment, deb-src
		}
		src, err := parseDebLine(strings.TrimSpace(rest))
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		all = append(all, src)
	}
	return all, nil
}

func parseDebLine(rest string) (Source, error) {
	var src Source
	if opts, ok := strings.CutPrefix(rest, "["); ok {
		if opts, rest, ok = strings.Cut(opts, "]"); !ok {
			return src, errors.New("option list is not closed")
		}
		for _, opt := range strings.Fields(opts) {
			if name, value, _ := strings.Cut(opt, "="); strings.ToLower(name) == "signed-by" {
				src.SignedBy = keyFile(value)
			}
		}
	}
	words := strings.Fields(rest)
	if len(words) < 2 {
		return src, errors.New("no URI and suite after deb")
	}
	src.URIs, src.Suites, src.Components = words[:1], words[1:2], words[2:]
	return src, nil
}

// keyFile is the file of a Signed-By value; an embedded key or a fingerprint is none.
func keyFile(signedBy string) string {
	if filepath.IsAbs(signedBy) && !strings.ContainsAny(signedBy, " \n") {
		return signedBy
	}
	return ""
}

// hasMain reports whether s could be the Debian archive.
func (s Source) hasMain() bool {
	ours := s.SignedBy == "" || strings.HasPrefix(filepath.Base(s.SignedBy), "debian-archive-")
	return ours && slices.Contains(s.Components, "main")
}

// names reports whether s has one of the suites.
func (s Source) names(suites ...string) bool {
	return slices.ContainsFunc(s.Suites, func(have string) bool { return slices.Contains(suites, have) })
}

// archiveSources orders the entries that may serve a suite: those that name it
// (an archived release may live elsewhere), those of the machine's own release,
// those that follow releases.
func archiveSources(all []Source, own, suite string) []Source {
	var got []Source
	for _, names := range [][]string{{suite}, {own}, moving} {
		for _, s := range all {
			if s.hasMain() && s.names(names...) {
				got = append(got, s)
			}
		}
	}
	return got
}
