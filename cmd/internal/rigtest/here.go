// Programs on the machine that the test itself runs on.

package rigtest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"svcrelay/cmd/internal/frame"
	"svcrelay/cmd/internal/machine"
	"svcrelay/cmd/internal/vm"
)

// here runs a request, whose files are copied first.
func here(q frame.Request, files map[string]string, stdin string) (vm.Result, error) {
	for name, host := range files {
		if err := copyTree(name, host); err != nil {
			return vm.Result{}, err
		}
	}
	agent, err := findAgent()
	if err != nil {
		return vm.Result{}, err
	}
	place, err := json.Marshal(q.Place)
	if err != nil {
		return vm.Result{}, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), q.Timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, agent, append([]string{"enter", string(place)}, q.Argv...)...)
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &errs
	cmd.Env = append(os.Environ(), q.Env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	start := time.Now()
	if err := cmd.Run(); cmd.ProcessState == nil {
		return vm.Result{}, err
	}
	status := frame.StatusOf(cmd.ProcessState)
	status.Wall = time.Since(start)
	return vm.Result{Status: status, Stdout: out.String(), Stderr: errs.String()}, nil
}

// findAgent returns the program that enters places: the machine's own, or one
// built on an arm64 host.
func findAgent() (string, error) {
	if _, err := os.Stat(frame.AgentFile); err == nil {
		return frame.AgentFile, nil
	}
	r, err := machine.Find(func(string) {})
	if err != nil {
		return "", err
	}
	return r.Agent()
}

// copyTree copies a file or a folder to a name.
func copyTree(name, host string) error {
	info, err := os.Stat(host)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return os.CopyFS(name, os.DirFS(host))
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	in, err := os.Open(host)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, info.Mode().Perm())
	if err != nil {
		return err
	}
	defer out.Close()
	if _, err := io.Copy(out, in); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return out.Close()
}
