// Package selinux is the stand-in for the SELinux policy that an Android app
// lives under: may it run a file that it wrote, may code pages be written.
//
// It promises one small policy that every kernel of the rig loads. It says
// nothing about anything else: files, sockets and processes are as free as
// without SELinux, and memfds are not labelled as on Android.
package selinux

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Domains for programs.
const (
	App          = "u:r:app"           // cannot run or patch files that it wrote
	App27        = "u:r:app_27"        // can: an app that targets an API level up to 28
	AppNoExecmem = "u:r:app_noexecmem" // cannot have writable code at all
)

// AppData is the label of what an app wrote; guest roots have it.
const AppData = "u:object_r:app_data_file"

// compiler makes the kernel's form of a policy. version is the newest that 5.10
// loads.
const (
	compiler = "secilc"
	version  = "33"
)

// Source is the policy's text.
//
//go:embed app.cil
var Source string

// Compile returns the policy in the kernel's form.
func Compile() ([]byte, error) {
	if _, err := exec.LookPath(compiler); err != nil {
		return nil, fmt.Errorf("policy: %w (package secilc)", err)
	}
	dir, err := os.MkdirTemp("", "policy")
	if err != nil {
		return nil, fmt.Errorf("policy: %w", err)
	}
	defer os.RemoveAll(dir)
	in, out := filepath.Join(dir, "app.cil"), filepath.Join(dir, "policy")
	if err := os.WriteFile(in, []byte(Source), 0o644); err != nil {
		return nil, fmt.Errorf("policy: %w", err)
	}
	talk, err := exec.Command(compiler, "-c", version, "-o", out, "-f", os.DevNull, in).CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("policy: %s: %w", compiler, errors.Join(err, errors.New(strings.TrimSpace(string(talk)))))
	}
	return os.ReadFile(out)
}
