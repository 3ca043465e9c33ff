// Command man writes the manual pages of svcrelay, one per command, into a
// folder. It is a program of its own so that the renderer and its libraries are
// not part of what a rootfs ships.
package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"svcrelay/cmd/svcrelay/command"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: man DIR")
		os.Exit(2)
	}
	root := command.New()
	root.DisableAutoGenTag = true
	err := os.MkdirAll(os.Args[1], 0o755)
	for _, cmd := range append(root.Commands(), root) {
		if err == nil {
			err = write(os.Args[1], cmd)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "man:", err)
		os.Exit(1)
	}
}

// write renders one page. The renderer stamps a date, which is taken out: the
// same sources must give the same pages.
func write(dir string, cmd *cobra.Command) error {
	var page bytes.Buffer
	header := &doc.GenManHeader{Section: "1", Source: "svcrelay", Manual: "svcrelay", Date: &time.Time{}}
	if err := doc.GenMan(cmd, header, &page); err != nil {
		return err
	}
	dateless := bytes.Replace(page.Bytes(), []byte(time.Time{}.Format("Jan 2006")), nil, 1)
	name := strings.ReplaceAll(cmd.CommandPath(), " ", "-") + ".1"
	return os.WriteFile(filepath.Join(dir, name), dateless, 0o644)
}
