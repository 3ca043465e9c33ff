package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// patience is how long a test waits for what is certain to come.
const patience = time.Minute

// running starts a build of one image and waits until a file of it is there.
func running(t *testing.T, file string, args ...string) (cmd *exec.Cmd, stderr *bytes.Buffer) {
	t.Helper()
	stderr = &bytes.Buffer{}
	cmd = exec.CommandContext(t.Context(), "svcrelay", append([]string{"build", "../../testdata/fixtures/numbers.elf"}, args...)...)
	cmd.Stderr = stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		if found, _ := filepath.Glob(file); len(found) > 0 {
			return cmd, stderr
		}
		if time.Now().After(end) {
			t.Fatalf("no %s is written: %s", file, stderr)
		}
	}
}

// TestInterrupt: a build that waits for the lock of a store hears of a signal.
func TestInterrupt(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		dir := t.TempDir()
		lock, err := os.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
			t.Fatal(err)
		}
		cmd, stderr := running(t, filepath.Join(dir, "tables/*/*.svct"), "-o", dir)
		if err := cmd.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
		timer := time.AfterFunc(patience, func() { cmd.Process.Kill() })
		err = cmd.Wait()
		timer.Stop()
		lock.Close()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 1 || stderr.String() != "svcrelay: interrupted\n" {
			t.Errorf("build after %v: %v, and it prints %q; want status 1 and one line", s, err, stderr)
		}
	}
}

// TestInterruptTwice: the first signal cannot end a build that waits for somebody
// to read its pipe; another one kills it.
func TestInterruptTwice(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o644); err != nil {
		t.Fatal(err)
	}
	cmd, _ := running(t, filepath.Join(dir, "out/manifest.json"), "-o", filepath.Join(dir, "out"), "--pack", pipe)
	done := make(chan error)
	go func() { done <- cmd.Wait() }()
	for end := time.Now().Add(patience); ; {
		cmd.Process.Signal(os.Interrupt)
		select {
		case err := <-done:
			if status := cmd.ProcessState.Sys().(syscall.WaitStatus); status.Signal() != syscall.SIGINT {
				t.Errorf("build ends with %v, want it killed by %v", err, syscall.SIGINT)
			}
			return
		case <-time.After(5 * time.Millisecond):
		}
		if time.Now().After(end) {
			cmd.Process.Kill()
			t.Fatal("signals do not end the build")
		}
	}
}
