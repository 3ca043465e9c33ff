//go:build linux && arm64

// The name of the machine and of its kernel, when -k gives the guest one of its
// own. /proc/sys/kernel still tells the machine's.

package tracer

import (
	"fmt"
	"syscall"

	"svcrelay/runtime/sysno"
)

var unameCalls = map[int]handler{
	sysno.Uname:         (*Tracer).answerUname,
	sysno.Sethostname:   (*Tracer).setName,
	sysno.Setdomainname: (*Tracer).setName,
}

// nameKernel makes what uname answers, nil without -k.
func (t *Tracer) nameKernel() error {
	if t.cfg.Kernel == "" {
		return nil
	}
	u, err := machineName()
	if err != nil {
		return fmt.Errorf("uname: %w", err)
	}
	if err := u.setKernel(t.cfg.Kernel); err != nil {
		return fmt.Errorf("kernel name: %w", err)
	}
	t.uts = u
	return nil
}

// machineName is what the kernel says.
func machineName() (*utsname, error) {
	var k syscall.Utsname
	if err := syscall.Uname(&k); err != nil {
		return nil, err
	}
	u := new(utsname)
	for i, field := range [utsFields][utsField]int8{k.Sysname, k.Nodename, k.Release, k.Version, k.Machine, k.Domainname} {
		for j, c := range field {
			u[i*utsField+j] = byte(c)
		}
	}
	return u, nil
}

func (t *Tracer) answerUname(tk *task, _ int) {
	if writeMemory(tk.tid, t.regs.X[0], t.uts[:]) != len(t.uts) {
		t.fail(tk, syscall.EFAULT)
		return
	}
	t.finish(tk, 0)
}

// setName is sethostname and setdomainname: root's, and kept for the whole guest.
func (t *Tracer) setName(tk *task, nr int) {
	size := int64(int32(t.regs.X[1]))
	var name [utsField - 1]byte
	switch {
	case t.uts == nil || !t.root(tk):
		t.fail(tk, syscall.EPERM)
		return
	case size < 0 || size > int64(len(name)):
		t.fail(tk, syscall.EINVAL)
		return
	case readMemory(tk.tid, t.regs.X[0], name[:size]) != int(size):
		t.fail(tk, syscall.EFAULT)
		return
	}
	field := utsNode
	if nr == sysno.Setdomainname {
		field = utsDomain
	}
	place := t.uts[field*utsField : (field+1)*utsField]
	clear(place[copy(place, name[:size]):])
	t.finish(tk, 0)
}
