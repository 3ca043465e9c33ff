// Guest roots: each disk is a read-only image, found by its serial number, and
// gets a writable layer in memory on top. They appear at /r/NAME. The machine's
// own root is one more layer over one of the images, so that nothing a guest
// does to its root changes the machine.

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"svcrelay/cmd/internal/frame"
)

const sysroot = "/sysroot"

// shared are the machine's folders that are seen in every root.
var shared = []string{"/proc", "/sys", "/dev", "/tmp"}

// mountRoots reads rig.base=NAME, rig.roots=NAME,NAME and rig.label=LABEL from
// the command line.
func mountRoots() error {
	base, err := word("rig.base")
	if err != nil || base == "" {
		return err
	}
	names, err := word("rig.roots")
	if err != nil {
		return err
	}
	label, err := word("rig.label")
	if err != nil {
		return err
	}
	roots := strings.Split(names, ",")
	for _, name := range roots {
		if err := mountImage(name, labelUnless(name == base, label)); err != nil {
			return err
		}
	}
	if err := mountLayer(base, "base", sysroot, ""); err != nil {
		return err
	}
	for _, name := range roots {
		if err := mountLayer(name, name, filepath.Join(sysroot, "r", name), label); err != nil {
			return err
		}
	}
	if err := leaveCopy(sysroot + frame.AgentFile); err != nil {
		return err
	}
	return enterSysroot()
}

// leaveCopy puts the agent where tests inside the machine find it: they enter
// places as the host's commands do.
func leaveCopy(name string) error {
	self, err := os.ReadFile(selfExe)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, self, 0o755)
}

// labelUnless: a file system has one label wherever it is mounted, and the
// image that the machine runs from must not have a guest's.
func labelUnless(own bool, label string) string {
	if own {
		return ""
	}
	return label
}

// withLabel adds a label to the options of a mount.
func withLabel(options, label string) string {
	if label == "" {
		return options
	}
	return strings.TrimPrefix(options+",context="+label, ",")
}

// mountImage mounts a disk's image below /image. On 5.10 a mapping of a file
// has the label of the image and not that of the layer above it.
func mountImage(name, label string) error {
	disk, err := findDisk(name)
	if err != nil {
		return err
	}
	return mount{disk, "/image/" + name, "erofs", withLabel("", label)}.do(unix.MS_RDONLY)
}

// findDisk waits for the disk with a serial number.
func findDisk(serial string) (string, error) {
	for end := time.Now().Add(diskTime); time.Now().Before(end); time.Sleep(time.Millisecond) {
		files, err := filepath.Glob("/sys/block/vd*/serial")
		if err != nil {
			return "", err
		}
		for _, f := range files {
			if text, err := os.ReadFile(f); err == nil && string(text) == serial {
				return "/dev/" + filepath.Base(filepath.Dir(f)), nil
			}
		}
	}
	return "", fmt.Errorf("disk %s: not there after %v", serial, diskTime)
}

// mountLayer shows an image at a place, writable, with the machine's folders in
// it. All its files have the label, unless that is empty.
func mountLayer(image, layer, place, label string) error {
	dir := "/layer/" + layer
	if err := (mount{"tmpfs", dir, "tmpfs", withLabel("mode=755", label)}).do(0); err != nil {
		return err
	}
	for _, d := range []string{"/upper", "/work"} {
		if err := os.MkdirAll(dir+d, 0o755); err != nil {
			return err
		}
	}
	options := fmt.Sprintf("lowerdir=/image/%s,upperdir=%s/upper,workdir=%s/work", image, dir, dir)
	if err := (mount{layer, place, "overlay", withLabel(options, label)}).do(0); err != nil {
		return err
	}
	for _, d := range shared {
		if err := (mount{d, place + d, "", ""}).do(unix.MS_BIND | unix.MS_REC); err != nil {
			return err
		}
	}
	return nil
}

// enterSysroot makes it the machine's root.
func enterSysroot() error {
	if err := os.Chdir(sysroot); err != nil {
		return err
	}
	if err := unix.Mount(".", "/", "", unix.MS_MOVE, ""); err != nil {
		return fmt.Errorf("mount /: %w", err)
	}
	if err := unix.Chroot("."); err != nil {
		return fmt.Errorf("chroot: %w", err)
	}
	return os.Chdir("/")
}
