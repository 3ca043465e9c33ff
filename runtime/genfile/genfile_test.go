package genfile

import (
	"os"
	"path/filepath"
	"testing"
)

func TestReplace(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "x")
	for _, content := range []string{"old", "new and longer", ""} {
		if err := Replace(name, []byte(content)); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(name)
		if err != nil || string(got) != content {
			t.Errorf("after Replace(%q): %q, %v", content, got, err)
		}
	}
	info, err := os.Stat(name)
	if err != nil || info.Mode() != 0o644 {
		t.Errorf("mode %v, %v, want 0644", info.Mode(), err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("%d files left in the folder, %v, want 1", len(entries), err)
	}
	if err := Replace(filepath.Join(dir, "none", "x"), nil); err == nil {
		t.Error("Replace in a folder that is not there succeeds")
	}
}
