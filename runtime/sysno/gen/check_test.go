package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Headers in the shape of the kernel's: a condition that holds, one that does
// not, a 3264 pair, a continued line, a typedef that hides a pointer.
const (
	unistd = `/* comment */
#ifndef __SYSCALL
#define __SYSCALL(x, y)
#endif
#define __NR_openat 56
__SYSCALL(__NR_openat, sys_openat)
#define __NR3264_fstat 80
__SC_3264(__NR3264_fstat, sys_fstat64, sys_newfstat)
#define __NR_capget 90
__SYSCALL(__NR_capget, sys_capget)
#define __NR_nfsservctl   142
__SYSCALL(__NR_nfsservctl, sys_ni_syscall)
#define __NR_clone 220
__SC_COMP(__NR_clone, sys_clone, \
	compat_sys_clone)
#define __NR_arch_specific_syscall 244
#if defined(__SYSCALL_COMPAT) || __BITS_PER_LONG == 32
#define __NR_clock_gettime64 403
#endif
#define __NR_syscalls 404
#if __BITS_PER_LONG == 64 && !defined(__SYSCALL_COMPAT)
#define __NR_fstat __NR3264_fstat
#else
#define __NR_fstat64 __NR3264_fstat
#endif
`
	syscalls = `asmlinkage long sys_openat(int dfd, const char __user *filename, int flags,
			   umode_t mode);
asmlinkage long sys_newfstat(unsigned int fd, struct stat __user *statbuf);
asmlinkage long sys_capget(cap_user_header_t header,
	cap_user_data_t dataptr);
#ifdef CONFIG_CLONE_BACKWARDS
asmlinkage long sys_clone(unsigned long, unsigned long, int __user *, unsigned long, int __user *);
#else
asmlinkage long sys_clone(unsigned long, unsigned long);
#endif
`
)

func headers(t *testing.T, unistd, syscalls string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"uapi/asm-generic/unistd.h": unistd, "linux/syscalls.h": syscalls, "asm-generic/syscalls.h": ""} {
		path := filepath.Join(dir, "include", filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const rows = `levels	29	36
class	run	Runs.
sigsys	ENOSYS	38	No such call.
word	dirfd	value	A directory.
word	path	pointer	A path.
word	str	pointer	A string.
word	int	value	A number.
word	ptr	pointer	A structure.
word	addr	any	An address.
56	openat	3.7	dirfd path int int	run	-	-	29	-
80	fstat	3.7	int ptr	run	-	-	29	-
90	capget	3.7	ptr addr	run	-	-	29	-
142	nfsservctl	3.7	int ptr ptr	run	-	-	never	ENOSYS
220	clone	3.7	int addr ptr addr ptr	run	-	-	29	-
`

func TestCheck(t *testing.T) {
	for _, row := range []struct{ old, new, want string }{
		{"", "", ""}, // nothing changed: no error
		{"56\topenat", "57\topenat", "openat: 56 in the headers, not in the table"},
		{"80\tfstat", "80\tfstatt", "fstatt: 80 in the table, not in the headers"},
		{"dirfd path int int", "dirfd path int", "openat: 3 arguments, the headers have 4"},
		{"dirfd path int int", "int path int int", "argument 0 is int"},
		{"dirfd path int int", "int str int int", "argument 1 is str"},
		{"dirfd path int int", "dirfd path int ptr", "argument 3 is ptr"},
		{"fstat\t3.7\tint ptr", "fstat\t3.7\tint path", "argument 1 is path"},
		{"fstat\t3.7\tint ptr", "fstat\t3.7\tint int", "argument 1 is int"},
		{"ptr addr", "ptr int", "argument 1 is int"},
		{"int addr ptr addr ptr", "int addr ptr ptr addr", "argument 3 is ptr"},
	} {
		tab, err := parse(strings.Replace(rows, row.old, row.new, 1))
		if err != nil {
			t.Fatal(err)
		}
		err = check(tab, headers(t, unistd, syscalls))
		if row.want == "" && err != nil || row.want != "" && (err == nil || !strings.Contains(err.Error(), row.want)) {
			t.Errorf("check with %q for %q = %v, want %q", row.new, row.old, err, row.want)
		}
	}
}

func TestCheckMissesPrototype(t *testing.T) {
	tab, err := parse(rows)
	if err != nil {
		t.Fatal(err)
	}
	err = check(tab, headers(t, unistd, strings.Replace(syscalls, "sys_capget", "sys_capgot", 1)))
	if err == nil || !strings.Contains(err.Error(), `capget: no prototype of "sys_capget"`) {
		t.Errorf("check without capget's prototype = %v", err)
	}
}
