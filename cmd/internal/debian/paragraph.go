// Paragraphs of "Field: value" lines, the one syntax that apt sources, release
// files and package indexes share. The surprise is the line length: a Provides
// field of a real index is tens of kilobytes on one line.

package debian

import (
	"bufio"
	"fmt"
	"io"
	"iter"
	"strings"
)

// maxLine bounds one line, and with it what a hostile index can make us hold.
const maxLine = 1 << 20

// fields maps lower-case field names to values; the lines of a multi-line value
// are joined by "\n", each trimmed.
type fields map[string]string

// words splits the value of a list-valued field at white space.
func (f fields) words(name string) []string { return strings.Fields(f[name]) }

func isComment(line string) bool      { return strings.HasPrefix(line, "#") }
func isContinuation(line string) bool { return line[0] == ' ' || line[0] == '\t' }

// paragraphs yields the paragraphs of r. After an error it yields nothing more.
func paragraphs(r io.Reader) iter.Seq2[fields, error] {
	return func(yield func(fields, error) bool) {
		lines := bufio.NewScanner(r)
		lines.Buffer(make([]byte, 0, 64<<10), maxLine)
		para, last, n := fields{}, "", 0
		for lines.Scan() {
			n++
			line := strings.TrimRight(lines.Text(), " \t\r")
			if line == "" {
				if len(para) > 0 && !yield(para, nil) {
					return
				}
				para, last = fields{}, ""
				continue
			}
			if isComment(line) {
				continue
			}
			var err error
			if last, err = para.add(last, line); err != nil {
				yield(nil, fmt.Errorf("line %d: %w", n, err))
				return
			}
		}
		if err := lines.Err(); err != nil {
			yield(nil, fmt.Errorf("line %d: %w", n+1, err))
			return
		}
		if len(para) > 0 {
			yield(para, nil)
		}
	}
}

// add puts one line into f and returns the field it belongs to; last is the
// field of the line before.
func (f fields) add(last, line string) (string, error) {
	if isContinuation(line) {
		if last == "" {
			return "", fmt.Errorf("continuation of no field: %.40q", line)
		}
		f[last] += "\n" + strings.TrimSpace(line)
		return last, nil
	}
	name, value, ok := strings.Cut(line, ":")
	if !ok || name == "" {
		return "", fmt.Errorf("not a field: %.40q", line)
	}
	name = strings.ToLower(name)
	if _, dup := f[name]; dup {
		return "", fmt.Errorf("field %q given twice", name)
	}
	f[name] = strings.TrimSpace(value)
	return name, nil
}
