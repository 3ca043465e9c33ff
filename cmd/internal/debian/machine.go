// What the machine says about its archive. Debian's cloud images do not name a
// mirror in their sources but a file that lists mirrors, so that is read too.

package debian

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
)

// keyrings are the names of the archive keyring, best first. Newer releases of
// debian-archive-keyring call it .pgp.
var keyrings = []string{
	"/usr/share/keyrings/debian-archive-keyring.gpg",
	"/usr/share/keyrings/debian-archive-keyring.pgp",
}

// A Machine is the part of the apt configuration that fetching needs.
type Machine struct {
	Config  Config
	Sources []Source
	Release string // code name of the machine's own release
	Keyring string // file name
}

// An Archive is where one suite may be found.
type Archive struct {
	Suite   string
	Bases   []string // tried in order
	Keyring string
}

// ReadMachine reads apt's configuration and sources.
func ReadMachine() (Machine, error) {
	conf, err := readConfig()
	if err != nil {
		return Machine{}, err
	}
	sources, err := readSources(conf)
	if err != nil {
		return Machine{}, err
	}
	osRelease, err := os.ReadFile("/etc/os-release")
	if err != nil {
		return Machine{}, fmt.Errorf("own release: %w", err)
	}
	m := Machine{Config: conf, Sources: sources, Release: codename(osRelease)}
	if m.Keyring, err = firstFile(keyrings); err != nil {
		return Machine{}, fmt.Errorf("archive keyring: %w (package debian-archive-keyring)", err)
	}
	return m, nil
}

// codename finds VERSION_CODENAME of an os-release file.
func codename(osRelease []byte) string {
	for _, line := range strings.Split(string(osRelease), "\n") {
		if v, ok := strings.CutPrefix(line, "VERSION_CODENAME="); ok {
			return strings.Trim(v, `"' `)
		}
	}
	return ""
}

func firstFile(names []string) (string, error) {
	for _, name := range names {
		if _, err := os.Stat(name); err == nil {
			return name, nil
		}
	}
	return "", fmt.Errorf("none of %s exists", strings.Join(names, ", "))
}

// Archive says where a suite is to be looked for.
func (m Machine) Archive(suite string) (Archive, error) {
	a := Archive{Suite: suite, Keyring: m.Keyring}
	if !isSuite(suite) {
		return a, fmt.Errorf("suite %q: not a suite's name", suite)
	}
	for _, s := range archiveSources(m.Sources, m.Release, suite) {
		bases, err := expandURIs(s.URIs, os.ReadFile)
		if err != nil {
			return a, fmt.Errorf("suite %s: %w", suite, err)
		}
		for _, b := range bases {
			if !slices.Contains(a.Bases, b) {
				a.Bases = append(a.Bases, b)
			}
		}
	}
	if len(a.Bases) == 0 {
		return a, fmt.Errorf("suite %s: apt has no source for the Debian archive: %w", suite, errNoSource)
	}
	return a, nil
}

var errNoSource = errors.New("no http entry with component main for this release")

// isSuite refuses names that would not be one folder under dists/.
func isSuite(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

func isHTTP(uri string) bool {
	return strings.HasPrefix(uri, "http://") || strings.HasPrefix(uri, "https://")
}

// expandURIs keeps what http can reach, replacing a list of mirrors by its lines.
func expandURIs(uris []string, read func(string) ([]byte, error)) ([]string, error) {
	var bases []string
	for _, uri := range uris {
		if isHTTP(uri) {
			bases = append(bases, strings.TrimRight(uri, "/"))
			continue
		}
		file, ok := strings.CutPrefix(uri, "mirror+file:")
		if !ok {
			continue
		}
		text, err := read("/" + strings.TrimLeft(file, "/"))
		if err != nil {
			return nil, fmt.Errorf("mirror list: %w", err)
		}
		for _, line := range bytes.Split(text, []byte("\n")) {
			if w := strings.Fields(string(line)); len(w) > 0 && isHTTP(w[0]) {
				bases = append(bases, strings.TrimRight(w[0], "/"))
			}
		}
	}
	return bases, nil
}
