// A suite's release file: who it says it is, until when it counts, and the hash
// of each index. testing's expires a week after it was made, stable's never.

package debian

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A Sum is what a file must be.
type Sum struct {
	Size   int64
	SHA256 string // lower-case hex
}

// A Release is the checked content of one suite's InRelease.
type Release struct {
	Suite, Codename string
	ValidUntil      time.Time // zero: for ever
	ByHash          bool      // indexes may be asked for by their hash
	Files           map[string]Sum
}

// parseRelease reads the text inside the signature.
func parseRelease(text []byte) (Release, error) {
	for f, err := range paragraphs(bytes.NewReader(text)) {
		if err != nil {
			return Release{}, err
		}
		return releaseOf(f)
	}
	return Release{}, errors.New("empty")
}

func releaseOf(f fields) (Release, error) {
	r := Release{
		Suite:    f["suite"],
		Codename: f["codename"],
		ByHash:   parseBool(f["acquire-by-hash"], false),
		Files:    map[string]Sum{},
	}
	if until := f["valid-until"]; until != "" {
		t, err := time.Parse(time.RFC1123, until)
		if err != nil {
			return r, fmt.Errorf("Valid-Until: %w", err)
		}
		r.ValidUntil = t
	}
	for _, line := range strings.Split(strings.TrimSpace(f["sha256"]), "\n") {
		w := strings.Fields(line)
		if len(w) != 3 {
			return r, fmt.Errorf("SHA256 list: bad line %.80q", line)
		}
		sum, err := parseSum(w[1], w[0])
		if err != nil {
			return r, fmt.Errorf("SHA256 list: %s: %w", w[2], err)
		}
		r.Files[w[2]] = sum
	}
	return r, nil
}

// parseSum checks the shape of a size and a hash.
func parseSum(size, sha string) (Sum, error) {
	n, err := strconv.ParseInt(size, 10, 64)
	if err != nil || n < 0 {
		return Sum{}, fmt.Errorf("bad size %q", size)
	}
	if raw, err := hex.DecodeString(sha); err != nil || len(raw) != 32 {
		return Sum{}, fmt.Errorf("bad sha256 %.80q", sha)
	}
	return Sum{Size: n, SHA256: strings.ToLower(sha)}, nil
}

// check refuses a release that is not the suite's.
func (r Release) check(suite string) error {
	if suite != r.Codename && suite != r.Suite {
		return fmt.Errorf("is for %q (%q)", r.Codename, r.Suite)
	}
	return nil
}

func (r Release) expired(now time.Time) bool {
	return !r.ValidUntil.IsZero() && now.After(r.ValidUntil)
}
