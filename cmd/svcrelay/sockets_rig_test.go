//go:build rig

// Unix sockets of a guest against the same calls in a real chroot: results, names,
// what is written to memory and what is not, registers, and what other guests see.

package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"svcrelay/cmd/internal/machine"
	"svcrelay/cmd/internal/rigtest"
)

// deepRoot is so long that no name in it fits into a socket's address.
var deepRoot = "/tmp/" + strings.Repeat("deep", 40) + "/root"

// inDeep is the words that run a program in a guest with that root.
func inDeep(argv ...string) []string {
	words := []string{relay, "run", "-r", deepRoot, "-b", "/r/trixie/usr:/usr", "-b", "/r/trixie/etc:/etc",
		"-b", "/proc", "-b", "/dev", "-b", "/sys", "-b", "/tmp"}
	return append(words, argv...)
}

// socketMachine starts a machine with folders for everybody in both roots.
func socketMachine(t *testing.T, kernel string) *rigtest.Machine {
	m := rigtest.Start(t, machine.Options{Kernel: kernel})
	text := fmt.Sprintf(`chmod 755 %[2]s; D=%[1]s; mkdir -p $D/usr $D/etc $D/tmp $D/proc $D/dev $D/sys
ln -s usr/bin $D/bin; ln -s usr/lib $D/lib; mkdir -m 777 $D/open /r/trixie/open`, deepRoot, relay)
	o := rigtest.Options{Files: map[string]string{relay: rigtest.Build(t, "cmd/svcrelay")}}
	if got := m.Run(t, o, "sh", "-c", text); got.Code != 0 {
		t.Fatalf("folders: %s", got.Stderr)
	}
	return m
}

// socketProgram is the words that run parts of testdata/sockets.py, or all.
func socketProgram(t *testing.T, parts ...string) []string {
	text, err := os.ReadFile("testdata/sockets.py")
	if err != nil {
		t.Fatal(err)
	}
	return append([]string{"/usr/bin/python3", "-u", "-c", string(text), "/open/sockets"}, parts...)
}

// compareSockets runs parts of the program in a chroot and in a guest.
func compareSockets(t *testing.T, m *rigtest.Machine, o rigtest.Options, run func(...string) []string, least int, parts ...string) {
	t.Helper()
	o.Timeout = 8 * limit
	argv := socketProgram(t, parts...)
	got := m.Run(t, o, run(argv...)...)
	o.Root, o.Level = "trixie", 0
	want := m.Run(t, o, argv...)
	if want.Code != 0 || got.Code != 0 {
		t.Errorf("code %d, want %d and 0: %s%s", got.Code, want.Code, want.Stderr, got.Stderr)
	}
	lines := strings.Split(want.Stdout, "\n")
	if len(lines) < least {
		t.Errorf("the chroot made %d lines, want %d at least", len(lines), least)
	}
	if diff := cmp.Diff(lines, strings.Split(got.Stdout, "\n")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestSockets(t *testing.T) {
	compareSockets(t, socketMachine(t, "6.12"), rigtest.Options{}, under, 1400)
}

// TestSocketsInDeepRoot: every absolute name needs an alias, of a user who is not
// root.
func TestSocketsInDeepRoot(t *testing.T) {
	compareSockets(t, socketMachine(t, "7"), rigtest.Options{UID: 1000}, inDeep, 1400)
}

// TestSocketsOnOldKernel: the same as root.
func TestSocketsOnOldKernel(t *testing.T) {
	compareSockets(t, socketMachine(t, "5.10"), rigtest.Options{}, inDeep, 900,
		"names", "clients", "abstract", "messages", "arrays", "families", "order", "moves", "small", "threads")
}

// TestSocketsUnderPolicy: the policy traps accept, and no question is asked that it
// may not like.
func TestSocketsUnderPolicy(t *testing.T) {
	compareSockets(t, socketMachine(t, "6.12"), rigtest.Options{UID: 1000, Level: 34}, inDeep, 350, "messages", "arrays", "order", "modes", "programs")
}

// socketServer and socketClient run in two guests of one rootfs. The server prints
// whom it hears; the client prints whom it talks to.
const (
	socketServer = `
import os,socket,sys
os.chdir('/open'); os.symlink('/open','/open/link')
names=['/open/a','b','/open/link/c','/open//d','/open/'+'e'*101,'/open/'+'f'*60]
all=[]
for n in names:
    s=socket.socket(socket.AF_UNIX,socket.SOCK_DGRAM); s.bind(n); all.append(s)
l=socket.socket(socket.AF_UNIX); l.bind('/open/stream'); l.listen()
open('/open/ready','w').close()
for s in all:
    data,name=s.recvfrom(100); print(data,name,s.getsockname(),flush=True); s.sendto(b'reply',name)
c,name=l.accept(); print(name,c.recv(10)); c.send(b'reply')
`
	socketClient = `
import os,socket,stat,time
while not os.path.exists('/open/ready'): time.sleep(0.01)
os.chdir('/open')
for i,n in enumerate(['/open/a','/open/b','c','link/d','/open/'+'e'*101,'/open/link/'+'f'*60]):
    c=socket.socket(socket.AF_UNIX,socket.SOCK_DGRAM); c.bind(['/open/client0','client1','/open/link/client2','/open/'+'g'*90,'/open/'+'h'*60,'link/client5'][i])
    c.connect(n); c.send(b'data'); print(stat.S_ISSOCK(os.stat(n).st_mode),c.recvfrom(10),c.getpeername(),flush=True)
c=socket.socket(socket.AF_UNIX); c.bind('/open/'+'i'*80); c.connect('stream'); print(c.getpeername()); c.send(b'data'); print(c.recv(10))
`
)

// TestSocketsBetweenGuests: two tracers, one rootfs. Names that a host path or an
// alias tells are told across; real sockets are at their places. A name that is not
// told is the path that it resolves to.
func TestSocketsBetweenGuests(t *testing.T) {
	m := socketMachine(t, "6.12")
	for _, tt := range []struct {
		root string
		run  func(...string) []string
		uid  int
	}{
		{"/r/trixie", under, 1000},
		{deepRoot, inDeep, 1000},
		{deepRoot, inDeep, 0},
	} {
		m.Run(t, rigtest.Options{}, "sh", "-c", "rm -rf "+tt.root+"/open/*")
		text := fmt.Sprintf("cd %s/open; (%s) >server & (%s) >client; wait; echo ==; cat server; echo ==; cat client; echo ==; find . -type s | sort; ls -d /tmp/svcrelay*/ 2>/dev/null",
			tt.root, quoted(tt.run("/usr/bin/python3", "-c", socketServer)), quoted(tt.run("/usr/bin/python3", "-c", socketClient)))
		got := m.Run(t, rigtest.Options{UID: tt.uid, Timeout: limit}, "sh", "-c", text)
		x := strings.Repeat
		server := fmt.Sprintf(`b'data' /open/client0 /open/a
b'data' client1 b
b'data' /open/client2 /open/link/c
b'data' /open/%s /open//d
b'data' /open/%s /open/%s
b'data' /open/client5 /open/%s
/open/%s b'data'
`, x("g", 90), x("h", 60), x("e", 101), x("f", 60), x("i", 80))
		client := fmt.Sprintf(`True (b'reply', '/open/a') /open/a
True (b'reply', 'b') b
True (b'reply', '/open/c') /open/c
True (b'reply', '/open/d') /open/d
True (b'reply', '/open/%[1]s') /open/%[1]s
True (b'reply', '/open/%[2]s') /open/%[2]s
/open/stream
b'reply'
`, x("e", 101), x("f", 60))
		places := []string{"./a", "./b", "./c", "./d", "./client0", "./client1", "./client2", "./client5", "./stream",
			"./" + x("e", 101), "./" + x("f", 60), "./" + x("g", 90), "./" + x("h", 60), "./" + x("i", 80)}
		slices.Sort(places)
		want := "==\n" + server + "==\n" + client + "==\n" + strings.Join(places, "\n") + "\n"
		if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(got.Stdout, "\n")); diff != "" {
			t.Errorf("%.20s, user %d: -want +got:\n%s\n%s", tt.root, tt.uid, diff, got.Stderr)
		}
	}
}

// quoted writes words for a shell.
func quoted(words []string) string {
	var b strings.Builder
	for _, w := range words {
		b.WriteString("'" + strings.ReplaceAll(w, "'", `'\''`) + "' ")
	}
	return b.String()
}

// TestSocketStops: messages without an address, and sockets of other families once
// they are known, stop a guest once.
func TestSocketStops(t *testing.T) {
	m := socketMachine(t, "6.12")
	const text = `
import ctypes,socket,sys
n=int(sys.argv[1])
a,b=socket.socketpair()
libc=ctypes.CDLL(None)
empty=ctypes.create_string_buffer(56)
u=socket.socket(socket.AF_INET6,socket.SOCK_DGRAM); u.connect(('::1',9))
for i in range(n):
    a.send(b'x'); b.recv(1); b.sendmsg([b'x']); libc.recvmsg(a.fileno(),empty,0x40); libc.sendmmsg(a.fileno(),empty,1,0x40)
    u.getsockname(); u.getpeername()
`
	count := func(n int) map[string]int {
		got := m.Run(t, rigtest.Options{Timeout: limit}, slices.Insert(under("/usr/bin/python3", "-BSI", "-c", text, fmt.Sprint(n)), 2, "--stats=json")...)
		if got.Code != 0 {
			t.Fatalf("code %d: %s", got.Code, got.Stderr)
		}
		return stopsOf(t, got.Stderr)
	}
	few, many := count(10), count(110)
	delete(many, "brk")
	for name, n := range few {
		if many[name] -= n; many[name] == 0 {
			delete(many, name)
		}
	}
	want := map[string]int{"sendmsg": 100, "recvmsg": 100, "sendmmsg": 100, "getsockname": 100, "getpeername": 100}
	if diff := cmp.Diff(want, many); diff != "" {
		t.Errorf("100 times each: -want +got:\n%s", diff)
	}
}

// TestSocketRaces: a guest that changes an address while a call is on its way
// reaches no socket outside.
func TestSocketRaces(t *testing.T) {
	m := socketMachine(t, "6.12")
	m.Run(t, rigtest.Options{Files: map[string]string{"/race": rigtest.Compile(t, "cmd/svcrelay/testdata/socketrace.c")}}, "chmod", "755", "/race")
	for _, uid := range []int{0, 1000} {
		text := fmt.Sprintf("/race outside & until [ -e /open/outside/s ]; do sleep 0.02; done; %s; kill $!; wait $!",
			quoted([]string{relay, "run", "-r", "/r/trixie", "-b", "/proc", "-b", "/dev", "-b", "/race", "/race", "inside"}))
		m.Run(t, rigtest.Options{}, "sh", "-c", "rm -rf /r/trixie/open /open; umask 0; mkdir /r/trixie/open /open")
		got := m.Run(t, rigtest.Options{Timeout: limit, UID: uid}, "sh", "-c", text)
		if got.Stdout != "inside: reached\noutside: not reached\n" {
			t.Errorf("user %d: %q, %s, want only what is inside to be reached", uid, got.Stdout, got.Stderr)
		}
	}
}

// TestSocketAliases: a guest that sees the folder of the aliases has no way into it,
// and nothing of it stays, not even of a tracer that was killed.
func TestSocketAliases(t *testing.T) {
	m := socketMachine(t, "6.12")
	const program = `
import os,socket,sys,time
s=socket.socket(socket.AF_UNIX,socket.SOCK_DGRAM); s.bind('/open/s'); print(s.getsockname())
entry=os.lstat,os.readlink,os.unlink,os.rmdir,lambda n: os.rename(n,'/tmp/other'),lambda n: os.symlink('/',n),lambda n: os.chown(n,os.getuid(),-1,follow_symlinks=False)
file=os.stat,os.listdir,os.chdir,lambda n: os.chmod(n,0o777),lambda n: os.open(n,os.O_PATH),lambda n: os.mkdir(n),lambda n: socket.socket(socket.AF_UNIX).connect(n),lambda n: socket.socket(socket.AF_UNIX).bind(n)
for name in ['/tmp/'+n for n in os.listdir('/tmp') if n.startswith('svcrelay-%d-'%os.getuid())]:
    for f,n in [(f,n) for n in (name,name+'/1','/tmp/../tmp/'+name[5:]+'/none') for f in entry]+[(f,n) for n in (name,name+'/none') for f in file]:
        try: print('reached',n,f(n))
        except FileNotFoundError: print(end='.')
        except OSError as e: print(n,e)
    print()
sys.stdout.flush()
if len(sys.argv)>1: open('/open/up','w').close(); time.sleep(60)
`
	text := fmt.Sprintf(`left() { ls -d /tmp/svcrelay-[0-9]* 2>/dev/null | wc -l; }
guest() { exec %[1]s "$@"; }
(guest); left; rm %[2]s/open/s; (guest wait) & until [ -e %[2]s/open/up ]; do sleep 0.02; done; kill -9 $!; wait $!; left
rm %[2]s/open/s; (guest) | head -1; left`, quoted(inDeep("/usr/bin/python3", "-c", program)), deepRoot)
	for _, uid := range []int{0, 1000} {
		m.Run(t, rigtest.Options{}, "sh", "-c", "rm -rf "+deepRoot+"/open/*")
		got := m.Run(t, rigtest.Options{Timeout: limit, UID: uid}, "sh", "-c", text)
		once := "/open/s\n" + strings.Repeat(".", 3*7+2*8) + "\n"
		if want := once + "0\n" + once + "1\n/open/s\n0\n"; got.Stdout != want {
			t.Errorf("user %d: %q, %s, want %q", uid, got.Stdout, got.Stderr, want)
		}
	}
}
