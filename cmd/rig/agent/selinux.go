// SELinux: the policy comes with the initrd and is loaded before any guest root
// is mounted, so that each root can have a label; it is enforced after.

package main

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

const (
	policyFile = "/policy"
	selinuxDir = "/sys/fs/selinux"
)

// loadPolicy loads the policy, if the machine has one.
func loadPolicy() error {
	policy, err := os.ReadFile(policyFile)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := unix.Mount("selinuxfs", selinuxDir, "selinuxfs", 0, ""); err != nil {
		return fmt.Errorf("mount %s: %w", selinuxDir, err)
	}
	return tell(selinuxDir+"/load", policy)
}

// enforcePolicy ends the time in which violations are only noted.
func enforcePolicy() error {
	if _, err := os.Stat(selinuxDir + "/enforce"); err != nil {
		return nil // no policy
	}
	return tell(selinuxDir+"/enforce", []byte("1"))
}

// tell writes all of text in one call, as the kernel's control files want it.
func tell(name string, text []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.Write(text)
	return err
}

// setExecDomain chooses the domain of what this thread execs next.
// Preconditions: the thread is locked.
func setExecDomain(domain string) error {
	if err := tell("/proc/thread-self/attr/exec", append([]byte(domain), 0)); err != nil {
		return fmt.Errorf("domain %s: %w", domain, err)
	}
	return nil
}
