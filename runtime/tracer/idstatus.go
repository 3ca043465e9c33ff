// Ids as /proc/<pid>/status has them: the real, the effective, the saved and the
// one for files of each kind, then the groups.

package tracer

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// statusLine returns what is behind a name in /proc/<pid>/status.
func statusLine(status []byte, name string) (string, bool) {
	_, rest, ok := bytes.Cut(status, []byte("\n"+name))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	return string(line), ok
}

// idsOf reads the ids of a status.
func idsOf(status []byte) (ids, error) {
	uid, err := idLine(status, "Uid:")
	if err != nil {
		return ids{}, err
	}
	gid, err := idLine(status, "Gid:")
	if err != nil {
		return ids{}, err
	}
	groups, err := idLine(status, "Groups:")
	if err != nil {
		return ids{}, err
	}
	if len(uid) != 4 || len(gid) != 4 {
		return ids{}, fmt.Errorf("%d user and %d group ids in status, want 4 and 4", len(uid), len(gid))
	}
	return ids{idSet{uid[0], uid[1], uid[2], uid[3]}, idSet{gid[0], gid[1], gid[2], gid[3]}, groups}, nil
}

func idLine(status []byte, name string) ([]uint32, error) {
	line, ok := statusLine(status, name)
	if !ok {
		return nil, fmt.Errorf("no line %s in status", name)
	}
	var out []uint32
	for _, word := range strings.Fields(line) {
		id, err := strconv.ParseUint(word, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("status: %s %w", name, err)
		}
		out = append(out, uint32(id))
	}
	return out, nil
}

// hasCapability tells whether a status has an effective capability.
func hasCapability(status []byte, bit uint) bool {
	line, _ := statusLine(status, "CapEff:")
	mask, err := strconv.ParseUint(strings.TrimSpace(line), 16, 64)
	return err == nil && mask>>bit&1 != 0
}

func (i *ids) equal(other *ids) bool {
	return i.uid == other.uid && i.gid == other.gid && slices.Equal(i.groups, other.groups)
}
