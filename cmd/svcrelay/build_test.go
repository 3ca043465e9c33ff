package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"svcrelay/cachefmt"
	"svcrelay/scanner/elfimg"
)

// crossFile is a library of the cross toolchain: real arm64 code that is there
// wherever the tests run.
func crossFile(t *testing.T, name string) []byte {
	t.Helper()
	out, err := exec.Command("aarch64-linux-gnu-gcc", "-print-file-name="+name).Output()
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(strings.TrimSpace(string(out)))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// manyImages writes n images with build-IDs of their own below a new rootfs.
func manyImages(t *testing.T, n int) (rootfs string) {
	t.Helper()
	raw := crossFile(t, "ld-linux-aarch64.so.1")
	img, err := elfimg.New(raw)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(raw, img.BuildID)
	rootfs = t.TempDir()
	lib := filepath.Join(rootfs, "usr/lib")
	if err := os.MkdirAll(lib, 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		copy(raw[at:], fmt.Sprintf("image %06d", i))
		if err := os.WriteFile(filepath.Join(lib, fmt.Sprintf("lib%04d.so", i)), raw, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return rootfs
}

func build(rootfs string) *exec.Cmd {
	cmd := exec.Command("svcrelay", "build", rootfs, "--image", "*.so")
	cmd.Stderr = os.Stderr
	return cmd
}

// stored is every file of a store by name; temporary ones too.
func stored(t *testing.T, rootfs string) map[string]string {
	t.Helper()
	files := map[string]string{}
	store := os.DirFS(filepath.Join(rootfs, "usr/lib/svcrelay"))
	err := fs.WalkDir(store, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(store, name)
		files[name] = string(b)
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return files
}

// TestKill kills a build ever later. Whatever it leaves under a final name is
// whole, and the next build ends as if nothing had been.
func TestKill(t *testing.T) {
	rootfs := manyImages(t, 60)
	if err := build(rootfs).Run(); err != nil {
		t.Fatal(err)
	}
	want := stored(t, rootfs)
	killed, partly := 0, 0
	for delay := time.Millisecond; ; delay += delay/4 + time.Millisecond {
		if err := os.RemoveAll(filepath.Join(rootfs, "usr/lib/svcrelay")); err != nil {
			t.Fatal(err)
		}
		cmd := build(rootfs)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		timer := time.AfterFunc(delay, func() { cmd.Process.Kill() })
		err := cmd.Wait()
		if timer.Stop() && err == nil {
			break // it was faster than the killer
		}
		killed++
		for name, content := range stored(t, rootfs) {
			if strings.HasSuffix(name, ".svct") {
				partly++
				if _, err := cachefmt.Decode([]byte(content)); err != nil {
					t.Fatalf("killed after %v: %s: %v", delay, name, err)
				}
			}
		}
		if err := build(rootfs).Run(); err != nil {
			t.Fatalf("build after a kill: %v", err)
		}
		if diff := cmp.Diff(want, stored(t, rootfs)); diff != "" {
			t.Fatalf("store after a kill and a build (-want +got):\n%s", diff)
		}
	}
	if killed == 0 || partly == 0 {
		t.Errorf("%d builds killed, %d tables left by them: the test saw no partial build", killed, partly)
	}
}

// TestSideBySide builds the same directory from several processes at once.
func TestSideBySide(t *testing.T) {
	rootfs := manyImages(t, 40)
	if err := build(rootfs).Run(); err != nil {
		t.Fatal(err)
	}
	want := stored(t, rootfs)
	for range 5 {
		if err := os.RemoveAll(filepath.Join(rootfs, "usr/lib/svcrelay")); err != nil {
			t.Fatal(err)
		}
		var running []*exec.Cmd
		for range 3 {
			cmd := build(rootfs)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			running = append(running, cmd)
		}
		for _, cmd := range running {
			if err := cmd.Wait(); err != nil {
				t.Errorf("one of three builds at once: %v", err)
			}
		}
		if diff := cmp.Diff(want, stored(t, rootfs)); diff != "" {
			t.Fatalf("store after three builds at once (-want +got):\n%s", diff)
		}
	}
}

// TestManyImages builds 1,000 images, 200 MB, in little memory: what is read
// waits for a scanner, and only digests are kept.
func TestManyImages(t *testing.T) {
	const limit = 64 << 10 // KiB
	cmd := build(manyImages(t, 1000))
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	if rss := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss; rss > limit {
		t.Errorf("build of 1000 images took %d KiB, want at most %d", rss, limit)
	}
}
