// What names of sockets say by themselves, and what has to be remembered. Most host
// paths tell how the guest wrote them, to the tracer of another guest too. What
// they do not tell, /var/run/x where /var/run is a link, is kept; when too much is
// kept, the oldest is told as the path that it resolves to.

package tracer

import "bytes"

// spelled knows how guests wrote paths that host paths do not tell.
type spelled struct {
	by    map[string]string // by host path
	order []string          // a ring
	next  int
}

// maxSpelled is how many are remembered.
const maxSpelled = 1024

// text is how the guest wrote a path, "" when that is not known.
func (s *spelled) text(host []byte) string { return s.by[string(host)] }

// forget keeps the place in the ring.
func (s *spelled) forget(host []byte) {
	if s.text(host) != "" {
		s.by[string(host)] = ""
	}
}

func (s *spelled) remember(host, text []byte) {
	if s.by == nil {
		s.by = map[string]string{}
	}
	known, ok := s.by[string(host)]
	if ok && known == string(text) {
		return
	}
	s.by[string(host)] = string(text)
	switch {
	case ok:
	case len(s.order) < maxSpelled:
		s.order = append(s.order, string(host))
	default:
		delete(s.by, s.order[s.next])
		s.order[s.next] = string(host)
		s.next = (s.next + 1) % maxSpelled
	}
}

// folderName begins the name of a folder of aliases.
const folderName = "svcrelay-"

// isAlias reports whether a directory is named as an alias is.
func isAlias(dir []byte) bool {
	end := bytes.LastIndexByte(dir, '/')
	if _, ok := decimal(dir[end+1:]); !ok || end < 0 {
		return false
	}
	dir = dir[:end]
	return bytes.HasPrefix(dir[bytes.LastIndexByte(dir, '/')+1:], []byte(folderName))
}

// decimal reads a number of digits alone.
func decimal(text []byte) (n uint64, ok bool) {
	for _, c := range text {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + uint64(c-'0')
	}
	return n, len(text) > 0
}
