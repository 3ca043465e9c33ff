package guestfs

import (
	"os"
	"testing"
)

// TestChrootProc compares what the links of procfs lead to, through a deleted
// directory too.
func TestChrootProc(t *testing.T) {
	var bases []string
	for range 2 {
		base := folder(t)
		bases = append(bases, base)
		for _, dir := range []string{"/root", "/root/proc", "/root/dev", "/root/dev/fd", "/root/dir", "/root/dir/sub", "/root/dir/gone", "/root/dir/sub/gone2", "/one", "/one/in", "/root/mnt"} {
			must(t, os.Mkdir(base+dir, 0o755))
		}
		for _, file := range []string{"/root/dir/file", "/one/in/file", "/root/dir/odd (deleted)"} {
			must(t, os.WriteFile(base+file, nil, 0o644))
		}
		must(t, os.Mkdir(base+"/root/dir/live (deleted)", 0o755))
		must(t, os.Symlink("/proc/self/fd/40", base+"/root/magic"))
		must(t, os.Symlink("self/cwd", base+"/root/dir/rel"))
	}
	label := labels(t, bases...)
	config := func(base string) setup {
		return setup{Root: base + "/root", Binds: []Bind{{Host: "/proc", Guest: "/proc"}, {Host: "/proc/self/fd", Guest: "/dev/fd"}, {Host: base + "/one", Guest: "/mnt"}}}
	}
	truth, ours := start(t, "chroot", config(bases[0])), start(t, "resolve", config(bases[1]))
	equal := func(want, got reply) bool {
		return want.Errno == got.Errno && want.Text == got.Text && want.Mode == got.Mode && label(want) == label(got)
	}
	do := func(op, path string) { compare(t, truth, ours, request{Op: op, Path: path}, equal) }
	paths := []string{
		"/proc/self/fd/40", "/proc/self/fd/40/", "/proc/self/fd/40/file", "/proc/self/fd/40/..", "/proc/self/fd/40/../x", "/proc/self/fd/40/../../..",
		"/proc/thread-self/fd/40/file", "/proc/thread-self/fd/40", "/proc/thread-self/", "/proc/thread-self", "/proc/self", "/proc/self/", "/proc/self/.",
		"/dev/fd/41", "/dev/fd/40/file", "/dev/fd/43", "/dev/fd/", "/dev/fd/..", "/proc/self/fd/43/x", "/proc/self/fd/43", "/proc/self/fd/43/",
		"/proc/self/fd/42", "/proc/self/fd/42/", "/proc/self/fd/42/.", "/proc/self/fd/42/..", "/proc/self/fd/42/x", "/proc/self/fd/42/../file", "/proc/self/fd/42/x/y",
		"/proc/self/cwd", "/proc/self/cwd/", "/proc/self/cwd/file", "/proc/self/cwd/..", "/proc/self/cwd/../dir/file", "/proc/self/task/../cwd/file",
		"/proc/self/root", "/proc/self/root/", "/proc/self/root/..", "/proc/self/root/dir/file", "/proc/self/root/proc/self/root/dir",
		"/proc/mounts", "/proc/net/", "/proc/net/unix", "/proc/self/fd/99", "/proc/self/fd/41/", "/proc/self/fd/41/x", "/proc/999999/cwd", "/proc/999999/x",
		"/magic", "/magic/", "/magic/file", "/magic/..", "/dir/rel", "/proc/self/ns/mnt", "/proc/self/ns/mnt/x", "/proc/self/status", "/proc/self/status/", "/proc/self/fd",
		".", "..", "file", "./", "../", "x", "x/y", "../file", "../../x", "", "...",
	}
	for _, cwd := range []string{"/dir", "/mnt/in", "/", "/dir/sub", "/dir/gone", "/dir/live (deleted)", "/proc/self/fd", "/dev/fd"} {
		do("chdir", cwd)
		for i, path := range []string{"/dir", "/mnt/in/file", "/dir/sub/gone2", ""} {
			if path != "" {
				do([]string{"keep40", "keep41", "keep42"}[i], path)
			}
		}
		do("pipe", "/")
		for _, gone := range []string{"/dir/gone", "/dir/sub/gone2"} {
			if cwd == "/dir/gone" {
				do("rmdir", gone)
			}
		}
		for _, path := range paths {
			for _, op := range []string{"stat", "lstat", "open", "opennofollow", "opendir", "readlink", "access", "nosymlinks", "nomagiclinks", "noxdev", "beneath", "inroot"} {
				do(op, path)
			}
		}
		if cwd == "/dir/gone" {
			do("chdir", "..")
			do("mkdir", "/dir/gone")
			do("mkdir", "/dir/sub/gone2")
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
