package tracer

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"svcrelay/runtime/blob"
	"svcrelay/runtime/loadplan"
)

// unpacked unpacks into a folder and checks what is there then.
func unpacked(t *testing.T, dir string) (name string, done func()) {
	t.Helper()
	name, done, err := findLoader("", dir)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(name)
	if err != nil || !bytes.Equal(got, blob.Loader) {
		t.Errorf("%s: error %v, %d bytes, want the loader's %d", name, err, len(got), len(blob.Loader))
	}
	if fi, err := os.Lstat(name); err != nil || fi.Mode() != loaderMode {
		t.Errorf("%s: error %v, mode %v, want %v", name, err, fi.Mode(), os.FileMode(loaderMode))
	}
	return name, done
}

func entries(t *testing.T, dir string) int {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

// TestUnpackOnce: a tracer leaves one file, however it ends, and the next one
// takes it.
func TestUnpackOnce(t *testing.T) {
	dir := t.TempDir()
	name, _ := unpacked(t, dir)
	before, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	again, done := unpacked(t, dir)
	done()
	after, err := os.Stat(again)
	if err != nil || again != name || !os.SameFile(before, after) || entries(t, dir) != 1 {
		t.Errorf("%s, then %s, error %v, %d files; want one, twice", name, again, err, entries(t, dir))
	}
}

// TestUnpackReplaces: a file of ours that is not the loader is written anew.
func TestUnpackReplaces(t *testing.T) {
	for _, tt := range []struct {
		what  string
		spoil func(name string) error
	}{
		{"other content", func(name string) error { return rewrite(name, []byte(strings.Repeat("x", len(blob.Loader)))) }},
		{"cut", func(name string) error { return rewrite(name, blob.Loader[:100]) }},
		{"longer", func(name string) error { return rewrite(name, append(bytes.Clone(blob.Loader), 0)) }},
		{"writable by all", func(name string) error { return os.Chmod(name, 0o777) }},
		{"not to be run", func(name string) error { return os.Chmod(name, 0o444) }},
		{"set-user-ID", func(name string) error { return os.Chmod(name, loaderMode|os.ModeSetuid) }},
		{"a symlink to the like", func(name string) error {
			return errors.Join(os.Rename(name, name+".x"), os.Symlink(name+".x", name))
		}},
		{"a pipe", func(name string) error { return errors.Join(os.Remove(name), syscall.Mkfifo(name, loaderMode)) }},
	} {
		dir := t.TempDir()
		name, _ := unpacked(t, dir)
		if err := tt.spoil(name); err != nil {
			t.Fatal(err)
		}
		if again, _ := unpacked(t, dir); again != name {
			t.Errorf("%s: unpacked to %s, want %s", tt.what, again, name)
		}
	}
}

func rewrite(name string, content []byte) error {
	return errors.Join(os.Remove(name), os.WriteFile(name, content, loaderMode), os.Chmod(name, loaderMode))
}

// TestUnpackElsewhere: where the name cannot be had, the loader has a folder of
// its own, and that goes.
func TestUnpackElsewhere(t *testing.T) {
	dir := t.TempDir()
	name, _ := unpacked(t, dir)
	if err := errors.Join(os.Remove(name), os.Mkdir(name, 0o755), os.WriteFile(filepath.Join(name, "x"), nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	again, done := unpacked(t, dir)
	if filepath.Dir(again) == dir {
		t.Errorf("unpacked to %s, want a folder of its own", again)
	}
	done()
	if n := entries(t, dir); n != 1 {
		t.Errorf("%d entries are left, want that of before", n)
	}
}

// TestForeignFile: the owner decides, which only root can test.
func TestForeignFile(t *testing.T) {
	dir := t.TempDir()
	name, _ := unpacked(t, dir)
	if !isOurs(name, blob.Loader) {
		t.Errorf("%s is not ours", name)
	}
	if os.Geteuid() != 0 {
		return
	}
	if err := os.Chown(name, 1, -1); err != nil {
		t.Fatal(err)
	}
	if isOurs(name, blob.Loader) {
		t.Errorf("%s of another user is ours", name)
	}
}

func TestGivenLoader(t *testing.T) {
	dir := t.TempDir()
	good, bad := filepath.Join(dir, "good"), filepath.Join(dir, "bad")
	if err := errors.Join(os.WriteFile(good, blob.Loader, 0o555), os.WriteFile(bad, blob.Loader[:200], 0o555)); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	for _, given := range []string{good, "good", "../" + filepath.Base(dir) + "/good"} {
		name, done, err := findLoader(given, "/none")
		if err != nil || name != good {
			t.Errorf("loader %s: %s, %v, want %s", given, name, err, good)
		}
		done()
	}
	if _, _, err := findLoader(bad, ""); !errors.Is(err, loadplan.ErrNotLoader) || !strings.Contains(err.Error(), bad) {
		t.Errorf("loader %s: %v", bad, err)
	}
	for _, given := range []string{"none", dir} {
		if _, _, err := findLoader(given, ""); err == nil || !strings.HasPrefix(err.Error(), "exec loader "+filepath.Join(dir, strings.TrimPrefix(given, dir))+": ") {
			t.Errorf("loader %s: %v", given, err)
		}
	}
}

func TestNoFolderToUnpackInto(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for temp, why := range map[string]syscall.Errno{filepath.Join(dir, "none"): syscall.ENOENT, file: syscall.ENOTDIR} {
		_, done, err := findLoader("", temp)
		if !errors.Is(err, why) || err.Error() != "unpack the exec loader into "+temp+": "+why.Error() {
			t.Errorf("into %s: %v", temp, err)
		}
		done()
	}
}
