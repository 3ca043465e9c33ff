// What maintainer scripts would have made, as far as programs need it.

package rootfs

import (
	"errors"
	"io/fs"
	"os"
)

var folders = []string{
	"dev", "etc/apt/apt.conf.d", "etc/apt/preferences.d", "etc/apt/sources.list.d", "etc/apt/trusted.gpg.d", "home/u", "proc", "r", "root",
	"run", "sys", "tmp", "var/cache/apt/archives/partial", "var/lib/apt/lists/partial", "var/lib/dpkg/info", "var/lib/dpkg/updates", "var/log/apt", "var/tmp",
}

var files = map[string]string{
	"etc/passwd":             "root:x:0:0:root:/root:/bin/bash\nu:x:1000:1000:u:/home/u:/bin/bash\n_apt:x:42:65534::/nonexistent:/usr/sbin/nologin\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n",
	"etc/group":              "root:x:0:\ntty:x:5:\nshadow:x:42:\nu:x:1000:\nnogroup:x:65534:\n",
	"etc/nsswitch.conf":      "passwd: files\ngroup: files\nhosts: files\n",
	"etc/hosts":              "127.0.0.1 localhost rig\n",
	"etc/hostname":           "rig\n",
	"etc/ld.so.conf":         "include /etc/ld.so.conf.d/*.conf\n",
	"var/lib/dpkg/available": "",
	"var/lib/dpkg/status":    "",
}

// alternatives are links that update-alternatives would have made.
var alternatives = map[string]string{
	"usr/bin/awk":   "mawk",
	"usr/bin/cc":    "gcc",
	"usr/bin/pager": "less",
	"usr/bin/sh":    "dash",
}

// openFolders may be written to by everybody.
var openFolders = []string{"tmp", "var/tmp"}

// addSkeleton completes an unpacked tree.
func addSkeleton(dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, name := range folders {
		if err := root.MkdirAll(name, 0o755); err != nil {
			return err
		}
	}
	for _, name := range openFolders {
		if err := root.Chmod(name, 0o777|fs.ModeSticky); err != nil {
			return err
		}
	}
	for name, text := range files {
		if err := root.WriteFile(name, []byte(text), 0o644); err != nil {
			return err
		}
	}
	for name, target := range alternatives {
		if err := addAlternative(root, name, target); err != nil {
			return err
		}
	}
	return nil
}

// addAlternative links name to a program beside it, when that one is there and
// no package has brought name.
func addAlternative(root *os.Root, name, target string) error {
	if _, err := root.Stat("usr/bin/" + target); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := root.Symlink(target, name); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}
