//go:build rig

// Ids and what else a guest hears of itself, against a real chroot: as root, whom
// an ordinary user's guest believes to be, and as an ordinary user.

package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"svcrelay/cmd/internal/machine"
	"svcrelay/cmd/internal/rigtest"
	"svcrelay/cmd/internal/selinux"
)

// user is an ordinary user of the machine.
const user = 1000

// idSections are those of testdata/ids.py.
var idSections = []string{"rules", "pointers", "groups", "threads", "files", "given_up", "execs", "lent", "itself", "vector", "sockets", "messages"}

func withoutSections(names ...string) []string {
	return slices.DeleteFunc(slices.Clone(idSections), func(s string) bool { return slices.Contains(names, s) })
}

func TestIDs(t *testing.T) {
	program, err := os.ReadFile("testdata/ids.py")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{relay: rigtest.Build(t, "cmd/svcrelay")}
	for _, tt := range []struct {
		name     string
		kernel   string
		like     int // the user of the chroot
		guest    rigtest.Options
		flags    []string
		sections []string
	}{
		{"a user's guest that sees root", "", 0, rigtest.Options{UID: user}, []string{"-0"}, idSections},
		{"the same under a policy", "", 0, rigtest.Options{UID: user, Level: 34}, []string{"-0"}, idSections},
		{"the same on an old kernel", "5.10", 0, rigtest.Options{UID: user}, []string{"-0"}, withoutSections("rules", "lent")},
		// The kernel runs the loader, so no file lends its owner's ids to root's guest.
		{"root's guest", "", 0, rigtest.Options{}, nil, withoutSections("lent")},
		{"root's guest that sees root", "", 0, rigtest.Options{}, []string{"-0"}, []string{"groups", "files", "given_up"}},
		{"a user's guest", "", user, rigtest.Options{UID: user}, nil, idSections},
		// Where ids are fixed, setgroups grants what changes nothing.
		{"a user's guest under a policy", "", user, rigtest.Options{UID: user, Level: 34}, nil, withoutSections("groups", "given_up", "lent")},
		{"a user's guest that sees its own ids", "", user, rigtest.Options{UID: user, Level: 34}, []string{"-i", "1000:1000"}, []string{"rules", "files", "sockets"}},
		{"a user's guest that sees another", "", user, rigtest.Options{UID: 3000}, []string{"-i", "1000:1000"}, withoutSections("groups", "given_up", "lent", "messages")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := rigtest.Start(t, machine.Options{Kernel: tt.kernel})
			m.Run(t, rigtest.Options{Files: files}, "true")
			argv := func(folder string) []string {
				return append([]string{"/usr/bin/python3", "-c", string(program), folder}, tt.sections...)
			}
			want := m.Run(t, rigtest.Options{Root: "trixie", UID: tt.like, Timeout: 2 * limit}, argv("/tmp/truth")...)
			tt.guest.Timeout = 2 * limit
			got := m.Run(t, tt.guest, slices.Insert(under(argv("/tmp/guest")...), 2, tt.flags...)...)
			if want.Code != 0 || got.Code != 0 {
				t.Errorf("code %d, want %d and 0: %s%s", got.Code, want.Code, want.Stderr, got.Stderr)
			}
			if diff := cmp.Diff(sections(want.Stdout), sections(got.Stdout)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// rootTools is what root does with packages and owners, told so that it does not
// depend on what an owner then is.
const rootTools = `
exec 2>&1
cd "$1" || exit
printf 'www-data:x:33:33::/:/bin/sh\n_apt:x:42:65534::/nonexistent:/usr/sbin/nologin\n' >>/etc/passwd; printf 'www-data:x:33:\nadm:x:4:\n' >>/etc/group
id
touch f; chown www-data:www-data f; echo $?; chgrp adm f; echo $?; chown -h 65534 f; echo $?; chmod 4755 f; stat -c '%a %F' f
install -o www-data -g adm -m 2750 f g; echo $?; stat -c %a g; cp -a /etc/passwd copy; echo $?; mkdir -m 1777 d; chown -R www-data d; echo $?
mknod null c 1 3; echo $?; chmod 666 null; echo $?; chown 5 null; echo $?; touch -d @1 null; stat -c '%a %Y' null
python3 - <<'X'
import io,tarfile
t=tarfile.open('a.tar','w')
def add(name,type=tarfile.REGTYPE,mode=0o644,uid=33,gid=44,data=b'',**k):
    i=tarfile.TarInfo(name); i.type,i.mode,i.uid,i.gid,i.size,i.mtime=type,mode,uid,gid,len(data),1000000
    for n in k: setattr(i,n,k[n])
    t.addfile(i,io.BytesIO(data))
add('x',tarfile.DIRTYPE,0o750); add('x/f',data=b'text'); add('x/su',mode=0o4755,data=b'#!'); add('x/l',tarfile.SYMTYPE,linkname='f'); add('x/h',tarfile.LNKTYPE,linkname='x/f')
add('x/null',tarfile.CHRTYPE,0o666,0,0,devmajor=1,devminor=3); add('x/loop',tarfile.BLKTYPE,0o660,0,6,devmajor=7,devminor=0); add('x/p',tarfile.FIFOTYPE)
t.close()
X
tar xpf a.tar --same-owner; echo $?; (cd x; stat -c '%n %a %Y %h' *)
mkdir -p /opt/keep pkg/DEBIAN pkg/opt/x/bin; printf 'Package: x\nVersion: 1\nArchitecture: all\nMaintainer: m <m@m>\nDescription: d\n' >pkg/DEBIAN/control
printf '#!/bin/sh\nset -e\nid -u\nchown www-data:adm /opt/x/bin/x\nchmod 4750 /opt/x/bin/x\n' >pkg/DEBIAN/postinst; chmod 755 pkg/DEBIAN/postinst; echo text >pkg/opt/x/bin/x
dpkg-deb --build pkg x.deb; dpkg -i x.deb; echo $?; stat -c '%a' /opt/x/bin/x; dpkg -s x | grep Status; dpkg -r x; echo $?; ls /opt
apt-get install -qy ./x.deb >apt.log; echo $?; dpkg -s x | grep Status
useradd -M newuser; echo $?; id newuser; chroot / id -u; chroot none id -u; echo $?
`

// TestRootTools: package managers, archivers and user databases of a guest that
// sees root, in a root file system that belongs to an ordinary user.
func TestRootTools(t *testing.T) {
	m := rigtest.Start(t, machine.Options{})
	// What an unpacked root would give its user: the folders that are written to.
	const prepare = `set -e
for d in var etc; do cp -a /r/bookworm/$d /tmp/$d; done
mkdir -p /tmp/opt /tmp/root /tmp/work /tmp/truth /r/bookworm/tmp/truth; chown -R 1000:1000 /tmp/var /tmp/etc /tmp/opt /tmp/root /tmp/work`
	files := map[string]string{relay: rigtest.Build(t, "cmd/svcrelay")}
	if r := m.Run(t, rigtest.Options{Files: files}, "sh", "-c", prepare); r.Code != 0 {
		t.Fatalf("prepare: %s", r.Stderr)
	}
	argv := []string{"/bin/sh", "-c", rootTools, "sh"}
	run := []string{relay, "run", "-0", "-r", "/r/bookworm", "-b", "/proc", "-b", "/dev", "-b", "/sys", "-b", "/tmp",
		"-b", "/tmp/var:/var", "-b", "/tmp/etc:/etc", "-b", "/tmp/opt:/opt", "-b", "/tmp/root:/root"}
	got := m.Run(t, rigtest.Options{UID: user, Timeout: 2 * limit}, append(append(run, argv...), "/tmp/work")...)
	want := m.Run(t, rigtest.Options{Root: "bookworm", Timeout: 2 * limit}, append(argv, "/tmp/truth")...)
	if diff := cmp.Diff(strings.Split(want.Stdout, "\n"), strings.Split(got.Stdout, "\n")); diff != "" {
		t.Errorf("-want +got:\n%s\n%s", diff, got.Stderr)
	}
}

// TestAndroidAnswers: where the policy around refuses, a program hears what it
// knows what to do with.
func TestAndroidAnswers(t *testing.T) {
	program, err := os.ReadFile("testdata/android.py")
	if err != nil {
		t.Fatal(err)
	}
	m := rigtest.Start(t, machine.Options{SELinux: true})
	files := map[string]string{relay: rigtest.Build(t, "cmd/svcrelay")}
	// An app's own folder, and one that is no file system in memory for /dev/shm.
	const prepare = `mkdir -p -m 777 /r/trixie/data /r/trixie/shm/below /r/trixie/none`
	m.Run(t, rigtest.Options{Files: files}, "sh", "-c", prepare)
	run := func(o rigtest.Options) []string {
		o.Timeout = limit
		argv := under("-b", "/r/trixie/shm:/dev/shm", "-b", "/r/trixie/none:/dev/shm-other", "-w", "/data", "/usr/bin/python3", "-c", string(program))
		r := m.Run(t, o, argv...)
		if r.Code != 0 {
			t.Errorf("domain %q: code %d: %s", o.Domain, r.Code, r.Stderr)
		}
		m.Run(t, rigtest.Options{}, "sh", "-c", "rm -f /r/trixie/data/*")
		return strings.Split(r.Stdout, "\n")
	}
	want := run(rigtest.Options{})
	for i, line := range want { // what a policy changes
		switch {
		case strings.HasPrefix(line, "link "):
			want[i] = "link EPERM ENOENT EPERM"
		case strings.HasPrefix(line, "nameless "):
			want[i] = "nameless ENOTSUP ok"
		}
	}
	for _, tt := range []struct{ line, at string }{{"b'/dev/shm' 0 0x1021994", "/dev/shm"}, {"b'/dev/shm/../shm/below' 0 0x1021994", "below"}, {"b'/dev/shm-other' 0 0x794c7630", "another"}} {
		if !slices.Contains(want, tt.line) {
			t.Errorf("statfs of %s: want %q in %q", tt.at, tt.line, want)
		}
	}
	if diff := cmp.Diff(want, run(rigtest.Options{Domain: selinux.App, Level: 34, UID: user})); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// nameTools tells and changes the names of a machine.
const nameTools = `
uname -s; uname -n; uname -r; uname -v; uname -m; hostname; domainname
python3 -c 'import os,ctypes
l=ctypes.CDLL(None,use_errno=True)
print(os.uname())
print([(l.syscall(n,b,ctypes.c_long(size)) and ctypes.get_errno()) for n in (161,162) for b,size in ((b"new-host",8),(b"x"*65,65),(b"x",-1),(ctypes.c_void_p(8),4),(b"s",1))],l.syscall(160,ctypes.c_void_p(8)),ctypes.get_errno())
print(os.uname().nodename)
print([l.sethostname(b"x"*64,64),os.uname().nodename])
'
uname -n`

func TestKernelName(t *testing.T) {
	m := rigtest.Start(t, machine.Options{})
	m.Run(t, rigtest.Options{Files: map[string]string{relay: rigtest.Build(t, "cmd/svcrelay")}}, "true")
	for _, tt := range []struct{ name, flags, want string }{
		{"all", `-0 -k \Linux\box\6.99\#1_x\aarch64\home\-1\`, `Linux
box
6.99
#1_x
aarch64
box
home
posix.uname_result(sysname='Linux', nodename='box', release='6.99', version='#1_x', machine='aarch64')
[0, 22, 22, 14, 0, 0, 22, 22, 14, 0] -1 14
s
[0, '` + strings.Repeat("x", 64) + `']
` + strings.Repeat("x", 64) + "\n"},
		{"a release", "-k 3.4.0", ""},
	} {
		argv := slices.Insert(under("/bin/sh", "-c", nameTools), 2, strings.Fields(tt.flags)...)
		got := m.Run(t, rigtest.Options{UID: user, Timeout: limit}, argv...)
		if tt.want != "" && got.Stdout != tt.want {
			t.Errorf("%s: %s\ngot  %q\nwant %q", tt.name, got.Stderr, got.Stdout, tt.want)
		}
		if tt.want == "" && (!strings.Contains(got.Stdout, "\n3.4.0\n") || !strings.Contains(got.Stdout, "[1, 1, 1, 1, 1, 1, 1, 1, 1, 1]")) {
			t.Errorf("%s: %q, want release 3.4.0 and an ordinary user's EPERM", tt.name, got.Stdout)
		}
	}
	own := m.Run(t, rigtest.Options{}, "uname", "-a").Stdout
	if got := m.Run(t, rigtest.Options{}, under("uname", "-a")...).Stdout; got != own {
		t.Errorf("without -k: %q, want the machine's %q", got, own)
	}
	if r := m.Run(t, rigtest.Options{}, relay, "run", "-k", strings.Repeat("x", 65), "-r", "/r/trixie", "true"); r.Code == 0 {
		t.Error("-k with a release of 65 bytes: code 0, want a refusal")
	}
}

// TestStackLimits: limits hold for the guest's programs as for any, though each is
// loaded by another one.
func TestStackLimits(t *testing.T) {
	m := rigtest.Start(t, machine.Options{})
	m.Run(t, rigtest.Options{Files: map[string]string{relay: rigtest.Build(t, "cmd/svcrelay")}}, "true")
	const program = `for s in 32 64 256 8192 unlimited; do (ulimit -Ss $s; sh -c 'ulimit -s'; bash -c ':'; echo $?; /bin/true "$(head -c 100000 /dev/zero | tr '\0' x)"; echo $?; /bin/true $(seq 30000); echo $?); done 2>&1
bash -c 'ulimit -s unlimited; ulimit -v 4000000; python3 -c "print(len(bytearray(100000000)))"; prlimit --pid $$ --stack=1000000:; ulimit -s; prlimit --pid $$ --stack | tail -1'`
	want := outcomeOf(m.Run(t, rigtest.Options{Root: "trixie", Timeout: limit}, "/bin/sh", "-c", program))
	if got := outcomeOf(m.Run(t, rigtest.Options{Timeout: limit}, under("/bin/sh", "-c", program)...)); got != want {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}
