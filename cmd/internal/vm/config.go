// Package vm runs one arm64 machine in QEMU, emulated, and talks to the agent
// inside it.
//
// A machine is booted, or restored from a template: a booted machine that was
// stopped, with its memory in one file and its devices in another. Any number
// of machines can be restored from one template at once; their memory is copied
// when it is written. Restoring takes a tenth of a second.
//
// It promises that a machine dies with the process that started it, that no
// machine has a network, and that every wait ends: with an answer, or when the
// machine is gone. It does not know what is in a machine; see package machine.
package vm

import (
	"fmt"
	"strconv"
	"strings"
)

// Emulator is the program that this package runs.
const Emulator = "qemu-system-aarch64"

// Files of a template, in its folder.
const (
	ramFile    = "ram"
	deviceFile = "devices"
)

// A Mode says how a machine comes to life.
type Mode int

const (
	Boot    Mode = iota // memory is the process's own
	Prepare             // boot a machine that Save makes a template of
	Restore             // from a template
)

// A Disk is a read-only image. Its name is its serial number in the machine.
type Disk struct{ Name, File string }

// A Config is a machine. All of it, paths apart, must be equal when a template
// is made and when it is restored.
type Config struct {
	CPU    string
	Cores  int
	MiB    int
	Disks  []Disk
	Icount bool // one virtual nanosecond an instruction: counts can be repeated

	// For Boot and Prepare.
	Kernel, Initrd, Append string

	Mode     Mode
	Template string // folder, for Prepare and Restore
}

// The machine's ends of the inherited sockets and files.
const (
	channelFD = 3
	monitorFD = 4
	devicesFD = 5
)

// args are the emulator's arguments. It runs in the template's folder, so that
// no path of that needs quoting.
func (c Config) args() []string {
	board := "virt"
	if c.Mode != Boot {
		board += ",memory-backend=ram"
	}
	a := []string{
		"-nodefaults", "-nographic", "-no-reboot", "-nic", "none", "-serial", "stdio",
		"-M", board, "-cpu", c.CPU, "-smp", strconv.Itoa(c.Cores), "-m", fmt.Sprintf("%dM", c.MiB),
		"-device", "virtio-serial-pci,disable-legacy=on",
		"-chardev", fmt.Sprintf("socket,id=rig,fd=%d", channelFD),
		"-device", "virtserialport,chardev=rig,name=rig",
		"-chardev", fmt.Sprintf("socket,id=monitor,fd=%d", monitorFD),
		"-mon", "chardev=monitor,mode=control",
	}
	a = append(a, c.clock()...)
	a = append(a, c.memory()...)
	for _, d := range c.Disks {
		a = append(a,
			"-drive", fmt.Sprintf("if=none,format=raw,readonly=on,id=%s,file=%s", d.Name, escape(d.File)),
			"-device", fmt.Sprintf("virtio-blk-pci,drive=%s,serial=%s", d.Name, d.Name))
	}
	if c.Mode == Restore {
		return append(a, "-incoming", "defer") // kernel and initrd are in memory
	}
	return append(a, "-kernel", c.Kernel, "-initrd", c.Initrd, "-append", c.Append)
}

// clock: with instructions counted there is one thread, and sleep=off makes
// idle time free.
func (c Config) clock() []string {
	if c.Icount {
		return []string{"-accel", "tcg,thread=single", "-icount", "shift=0,sleep=off"}
	}
	return []string{"-accel", "tcg,thread=multi"}
}

// memory: shared with the file while a template is made, copied on write after.
func (c Config) memory() []string {
	if c.Mode == Boot {
		return nil
	}
	share := "on"
	if c.Mode == Restore {
		share = "off"
	}
	return []string{"-object", fmt.Sprintf("memory-backend-file,id=ram,size=%dM,mem-path=%s,share=%s", c.MiB, ramFile, share)}
}

// escape doubles the commas of a file name, which would end it.
func escape(name string) string { return strings.ReplaceAll(name, ",", ",,") }
