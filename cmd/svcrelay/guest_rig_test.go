//go:build rig

// Processes, signals and execs of a guest against the same programs in a real
// chroot: what they print and how they end must be equal.

package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"svcrelay/cmd/internal/machine"
	"svcrelay/cmd/internal/rigtest"
)

const relay = "/svcrelay"

// under is the words that run a program in a guest.
func under(argv ...string) []string {
	return append([]string{relay, "run", "-r", "/r/trixie", "-b", "/proc", "-b", "/dev", "-b", "/sys", "-b", "/tmp"}, argv...)
}

// limit ends a program that hangs.
const limit = 2 * time.Minute

// An outcome is how a program ended, as a shell would tell it.
type outcome struct {
	Out  string
	Code int
}

func outcomeOf(r rigtest.Result) outcome {
	if r.Signal != 0 {
		return outcome{r.Stdout, 128 + r.Signal}
	}
	return outcome{r.Stdout, r.Code}
}

// libc is the head of programs that need calls python does not have.
const libc = `
import ctypes,os,signal,subprocess,sys,threading,time
libc=ctypes.CDLL(None,use_errno=True)
def show(*a): print(*a,flush=True)
def tried(f,*a,**k):
    try: show(f(*a,**k))
    except OSError as e: show(e.errno)
def fork(f):
    pid=os.fork()
    if pid: return pid
    try: f()
    finally: os._exit(99)
def file(name,text,mode=0o755):
    with open(name,'wb') as f: f.write(text)
    os.chmod(name,mode)
    return name
os.makedirs('/tmp/guest',exist_ok=True); os.chdir('/tmp/guest')
`

// programs run as they are; one that starts with a # is of python, the rest are
// of the shell.
var programs = []struct{ name, text string }{
	{"exit code", `exit 7`},
	{"death by signal", `kill -SEGV $$`},
	{"death by kill", `kill -KILL $$`},
	{"death by SIGSYS", `kill -SYS $$`},
	{"what is inherited", `ulimit -n; ulimit -s; umask; grep -E '^(Sig[BIC]|Groups|Uid)' /proc/self/status; ls /proc/self/fd; pwd; env`},
	{"pipes", `seq 1000 | sort -rn | head -3 | tr '\n' ' '; false | true; echo $?; (exit 3) | cat; yes | head -1`},
	{"jobs", `(exit 3) & a=$!; (sleep 0.05; exit 4) & b=$!; wait $a; echo $?; wait $b; echo $?; sleep 60 & kill $!; wait $!; echo $?; wait; echo $?`},
	{"200 forks", `i=0; while [ $i -lt 200 ]; do (exit $((i % 8))); n=$((n + $?)); i=$((i + 1)); done; echo $n`},
	{"no program", `/none; echo $?; /etc/passwd; echo $?; /etc; echo $?; /etc/passwd/x; echo $?; exec /none`},
	{"names", `cat /proc/self/comm; tr '\0' ' ' </proc/self/cmdline; readlink /proc/self/exe; bash -c 'exec -a other cat /proc/self/cmdline'`},
	{"traps", `trap 'echo term' TERM; trap 'echo exit' EXIT; kill -TERM $$; echo on; kill -INT $$; echo never`},
	{"scripts", `#
file('a',b'#!/bin/echo  one two \nx'); file('b',b'#!/tmp/guest/a b'); file('c',b'#!b'); file('none',b'#!/none'); file('dir',b'#!/etc')
file('empty',b'#!\n'); file('text',b'text'); file('mode',b'#!/bin/sh',0o644); file('nothing',b''); file('cat',b'#!/bin/cat /proc/self/comm')
last='b'
for i in range(8): last=file('n%d'%i,b'#!/tmp/guest/'+last.encode())
for name in ['a','./b','c','none','dir','empty','text','mode','nothing','cat','/tmp/guest','missing','a/x']+['n%d'%i for i in range(8)]:
    def run():
        try: os.execv(name,['zero','first','second'])
        except OSError as e: os._exit(e.errno)
    show(name,os.waitpid(fork(run),0)[1])
`},
	{"program files", `#
elf=open('/bin/true','rb').read()
file('arm',elf[:4]+b'\1'+elf[5:18]+b'\x28'+elf[19:]); file('x86',elf[:18]+b'\x3e\0'+elf[20:]); file('cut',elf[:40]); file('rel',elf[:16]+b'\1'+elf[17:])
file('copy',elf); os.symlink('copy','link'); os.link('copy','hard'); os.symlink('loop','loop'); os.mkfifo('fifo',0o777); os.mkdir('dir')
file('interp',elf.replace(b'/lib/ld-linux','/lib/xx-linux'.encode()))
for name in ['arm','x86','cut','rel','copy','link','hard','loop','fifo','dir','interp','./dir/../copy','copy/','/dev/null','x'*300,'']:
    def run():
        try: os.execv(name,['zero'])
        except OSError as e: os._exit(e.errno)
    show(name[:9],os.waitpid(fork(run),0)[1])
tried(libc.execve,b'/bin/true',ctypes.c_void_p(8),None); show(ctypes.get_errno())
tried(libc.execve,ctypes.c_void_p(8),None,None); show(ctypes.get_errno())
`},
	{"descriptors as programs", `#
fd=os.open('/bin/echo',os.O_RDONLY); os.set_inheritable(fd,True)
path=os.open('/bin/echo',os.O_PATH)
d=os.open('/bin',os.O_PATH); os.set_inheritable(d,True)
mem=os.memfd_create('m',0); os.write(mem,open('/bin/echo','rb').read())
script=os.open(file('s',b'#!/bin/echo s'),os.O_RDONLY); os.set_inheritable(script,True)
closed=os.open('s',os.O_RDONLY)
def at(fd,name,flags):
    def run():
        argv=(ctypes.c_char_p*3)(b'zero',b'word',None)
        libc.syscall(281,fd,name,argv,None,flags)
        os._exit(ctypes.get_errno())
    show(name,flags,os.waitpid(fork(run),0)[1])
for f in fd,path,d,mem,script,closed,99,os.pipe()[0]: at(f,b'',0x1000)
at(d,b'echo',0); at(d,b'none',0); at(d,b'echo',1); at(fd,b'',0); at(-100,b'/bin/sh',0x100); at(99,b'/bin/echo',0); at(99,b'echo',0); at(-100,b's',0)
`},
	{"programs without a name", `#
elf=open('/bin/readlink','rb').read()
def run(fd,name,flags):
    def child():
        argv=(ctypes.c_char_p*3)(b'zero',b'/proc/self/exe',None)
        libc.syscall(281,fd,name,argv,None,flags); os._exit(ctypes.get_errno())
    show(flags,os.waitpid(fork(child),0)[1])
def both(fd): run(fd,b'',0x1000); run(-100,b'/proc/self/fd/%d'%fd,0); run(-100,b'/dev/fd/%d'%fd,0); os.close(fd)
for flags in 0,1:
    for data in elf,b'#!/bin/echo hi\n':
        fd=os.memfd_create('prog',flags); os.write(fd,data); both(fd)
for close in 0,1:
    fd=os.open(file('gone',elf),os.O_RDONLY); os.unlink('gone'); os.set_inheritable(fd,not close); both(fd)
both(os.open('/bin/readlink',os.O_RDONLY)); both(os.open('/bin/readlink',os.O_PATH))
show([n for n in os.listdir('/tmp') if n.startswith('svcrelay-program')])
`},
	{"auxiliary vector", `#
libc.getauxval.restype=ctypes.c_ulong
show(ctypes.string_at(libc.getauxval(31)), libc.getauxval(6), libc.getauxval(4), libc.getauxval(16)!=0, libc.getauxval(23))
code='import ctypes;l=ctypes.CDLL(None);l.getauxval.restype=ctypes.c_ulong;print(ctypes.string_at(l.getauxval(31)))'
os.symlink('/usr/bin/python3','py')
subprocess.run(['zero','-c',code],executable='./py'); subprocess.run(['zero','-c',code],executable='../'*9+'usr/bin/python3')
file('s',('#!/usr/bin/python3\n'+code).encode()); subprocess.run(['./s'])
for line in open('/proc/self/maps'):
    low,high=[int(x,16) for x in line.split()[0].split('-')]
    for what in 3,7,9:
        if low<=libc.getauxval(what)<high: show(what,os.path.basename(line.split()[-1]))
`},
	{"posix_spawn", `#
show(subprocess.run(['sh','-c','echo a; exit 5'],close_fds=False).returncode)
show(os.waitpid(os.posix_spawn('/bin/sh',['sh','-c','kill -9 $$'],os.environ),0)[1])
tried(os.posix_spawn,'/none',['x'],os.environ)
tried(subprocess.run,['/none'])
show([subprocess.run('true').returncode for i in range(20)])
`},
	{"exec of a thread", `#
threading.Thread(target=lambda: os.execv('/bin/sh',['sh','-c','echo thread; [ $$ = '+str(os.getpid())+' ] && cat /proc/self/comm; readlink /proc/$$/exe; exit 6'])).start()
time.sleep(60)
`},
	{"exec among threads", `#
def work():
    while True: os.stat('/etc/passwd')
for i in range(8): threading.Thread(target=work,daemon=True).start()
time.sleep(0.05)
os.execv('/bin/sh',['sh','-c','ls /proc/$$/task | wc -l; exit 6'])
`},
	{"exec of a thread among threads", `#
def work():
    while True: os.stat('/etc/passwd')
for i in range(8): threading.Thread(target=work,daemon=True).start()
threading.Thread(target=lambda: os.execv('/bin/sh',['sh','-c','ls /proc/$$/task | wc -l; exit 6'])).start()
time.sleep(60)
`},
	{"threads that fork", `#
codes=[]
def work(i): codes.append(os.waitstatus_to_exitcode(os.waitpid(fork(lambda: os._exit(i)),0)[1]))
all=[threading.Thread(target=work,args=(i,)) for i in range(16)]
[t.start() for t in all]; [t.join() for t in all]
show(sorted(codes))
`},
	{"failed execs among threads", `#
def work():
    for i in range(20):
        try: os.execv('/none',['x'])
        except FileNotFoundError: pass
all=[threading.Thread(target=work) for i in range(4)]
[t.start() for t in all]; [t.join() for t in all]
show('on')
`},
	{"killed among forks", `#
def work():
    while True: os.waitpid(fork(lambda: os._exit(0)),0)
for i in range(10):
    pid=fork(work); time.sleep(0.02); os.kill(pid,9); show(os.waitpid(pid,0)[1])
`},
	{"job control", `#
def work():
    while True: time.sleep(1)
pid=fork(work)
def step(sig):
    os.kill(pid,sig); p,s=os.waitpid(pid,os.WUNTRACED|os.WCONTINUED)
    show(p==pid,os.WIFSTOPPED(s) and os.WSTOPSIG(s),os.WIFCONTINUED(s),os.WIFSIGNALED(s) and os.WTERMSIG(s))
    show(open('/proc/%d/stat'%pid).read().split()[2] in 'Tt' if os.WIFSTOPPED(s) else '')
for sig in signal.SIGSTOP,signal.SIGCONT,signal.SIGTSTP,signal.SIGCONT,signal.SIGTTIN,signal.SIGCONT,signal.SIGSTOP: step(sig)
os.kill(pid,15); show(os.waitpid(pid,os.WNOHANG)); os.kill(pid,18); show(os.waitpid(pid,0)[1])
pid=fork(work); step(signal.SIGSTOP); os.kill(pid,9); show(os.waitpid(pid,0)[1])
pid=fork(lambda: (os.kill(os.getpid(),signal.SIGSTOP),os._exit(8))); show(os.waitpid(pid,os.WUNTRACED)[1]); os.kill(pid,18); show(os.waitpid(pid,0)[1])
`},
	{"a stopped group with threads", `#
def threads():
    def work():
        while True: os.stat('/')
    for i in range(4): threading.Thread(target=work,daemon=True).start()
    os.write(up[1],b'x'); time.sleep(60)
up=os.pipe(); pid=fork(threads); os.read(up[0],1)
for i in range(3):
    os.kill(pid,19); show(os.waitpid(pid,os.WUNTRACED)[1]); os.kill(pid,18); show(os.waitpid(pid,os.WCONTINUED)[1])
os.kill(pid,9); show(os.waitpid(pid,0)[1])
`},
	{"a filter of the guest's own", `#
import struct
got=[]
def trap():
    code=[(0x20,0,0,0),(0x15,0,1,173),(6,0,0,0x30007),(6,0,0,0x7fff0000)]
    text=ctypes.create_string_buffer(b''.join(struct.pack('HBBI',*c) for c in code))
    prog=struct.pack('HxxxxxxQ',len(code),ctypes.addressof(text))
    libc.prctl(38,1,0,0,0); show(libc.prctl(22,2,prog)); os.getppid(); show('never')
show(os.waitpid(fork(trap),0)[1])
signal.signal(signal.SIGSYS,lambda *a: show('handled')); os.kill(os.getpid(),signal.SIGSYS)
`},
	{"a call that is interrupted", `#
os.mkfifo('wait')
hits=[]
signal.signal(signal.SIGALRM,lambda *a: hits.append(1))
for restart in 0,1:
    hits.clear(); signal.siginterrupt(signal.SIGALRM,not restart)
    pid=fork(lambda: (time.sleep(0.4),os.close(os.open('wait',os.O_WRONLY)),os._exit(0)))
    signal.setitimer(signal.ITIMER_REAL,0.1,0.1)
    fd=libc.syscall(56,-100,b'wait',0,0); show(fd>=0 or ctypes.get_errno(),len(hits)>0)
    signal.setitimer(signal.ITIMER_REAL,0); os.kill(pid,9); os.waitpid(pid,0)
`},
	{"the heap", `#
libc.sbrk.restype=ctypes.c_void_p
a=libc.sbrk(1<<20); b=libc.sbrk(0); show(b-a); ctypes.memset(a,7,1<<20); libc.sbrk(ctypes.c_long(-(1<<20))); show(libc.sbrk(0)==a)
show([l.split()[-1] for l in open('/proc/self/maps') if 'heap' in l])
show(len(bytearray(50_000_000)))
`},
	{"many arguments", `#
show(subprocess.run(['sh','-c','echo $#']+['x'*1000]*1000,stdout=subprocess.PIPE).stdout)
tried(subprocess.run,['true','x'*131072]); tried(subprocess.run,['true']+['x'*10000]*1000)
file('many',b'#!/bin/sh\necho $#'); show(subprocess.run(['./many']+['x'*1000]*500,stdout=subprocess.PIPE).stdout)
`},
}

// driver runs programs one by one, each in a process and a folder of its own:
// python starts once.
const driver = `
import shutil
for name,text in zip(sys.argv[1::2],sys.argv[2::2]):
    os.chdir('/'); shutil.rmtree('/tmp/guest'); os.mkdir('/tmp/guest'); os.chdir('/tmp/guest')
    print('==',name,flush=True)
    show(os.waitpid(fork(lambda: (exec(text,globals()),os._exit(0))),0)[1])
`

// sections cuts the output of the driver.
func sections(out string) map[string]string {
	all := map[string]string{}
	for _, section := range strings.Split(out, "== ")[1:] {
		name, text, _ := strings.Cut(section, "\n")
		all[name] = text
	}
	return all
}

func TestGuestAsInChroot(t *testing.T) {
	m := rigtest.Start(t, machine.Options{})
	files := map[string]string{relay: rigtest.Build(t, "cmd/svcrelay")}
	m.Run(t, rigtest.Options{Files: files}, "true")
	both := func(argv ...string) (got, want outcome, errors string) {
		r := m.Run(t, rigtest.Options{Timeout: limit}, under(argv...)...)
		return outcomeOf(r), outcomeOf(m.Run(t, rigtest.Options{Root: "trixie", Timeout: limit}, argv...)), r.Stderr
	}
	python := []string{"/usr/bin/python3", "-c", libc + driver}
	for _, p := range programs {
		if text, ok := strings.CutPrefix(p.text, "#"); ok {
			python = append(python, p.name, text)
			continue
		}
		if got, want, errors := both("/bin/sh", "-c", p.text); got != want {
			t.Errorf("%s: %s\n%s\ngot  %d %q\nwant %d %q", p.name, p.text, errors, got.Code, got.Out, want.Code, want.Out)
		}
	}
	got, want, errors := both(python...)
	if got.Code != 0 || want.Code != 0 {
		t.Errorf("driver: code %d, want %d and 0: %s", got.Code, want.Code, errors)
	}
	if diff := cmp.Diff(sections(want.Out), sections(got.Out)); diff != "" {
		t.Errorf("-want +got:\n%s\n%s", diff, errors)
	}
}

// tracerTest is the head of shell programs that stand outside of the guest: $! is
// the tracer after a run in the background. ended waits until no guest is left.
const tracerTest = `
run() { exec /svcrelay run -r /r/trixie -b /proc -b /dev -b /tmp "$@"; }
guests() { grep -l TracerPid:.[1-9] /proc/[0-9]*/status 2>/dev/null | wc -l; }
until_file() { while [ ! -e "$1" ]; do sleep 0.02; done; }
ended() { while [ "$(guests)" != 0 ]; do sleep 0.02; done; echo ended; }
mkdir -p /tmp/guest; rm -rf /tmp/guest/* /tmp/svcrelay-*
`

// TestTracer: how the tracer itself ends, and what it leaves.
func TestTracer(t *testing.T) {
	m := rigtest.Start(t, machine.Options{})
	files := map[string]string{relay: rigtest.Build(t, "cmd/svcrelay")}
	for _, tt := range []struct{ name, text, want string }{
		{"kill -9 of the tracer ends the guest",
			`(run sh -c 'sleep 60 & setsid sleep 60 & echo >/tmp/guest/up; wait') & until_file /tmp/guest/up; kill -9 $!; wait $!; echo $?; ended`,
			"137\nended\n"},
		{"kill on exit",
			`(run --kill-on-exit sh -c 'setsid sleep 60 & (trap "" TERM; sleep 60) & exit 3'); echo $?; guests`, "3\n0\n"},
		{"kill on exit among forks",
			`(run --kill-on-exit sh -c 'for i in 1 2 3 4; do (while :; do (:); done) & done; sleep 0.1; exit 3'); echo $?; guests`, "3\n0\n"},
		{"an orphan keeps the tracer",
			`(run sh -c 'setsid sh -c "sleep 0.3; echo late" & exit 3'); echo $?; guests`, "late\n3\n0\n"},
		{"signals for the whole group",
			`cat >/tmp/guest/s <<'X'
trap 'echo int' INT; trap 'echo term' TERM; trap 'echo quit' QUIT; trap 'echo hup' HUP; trap 'echo usr1' USR1; trap 'exit 5' USR2
echo >/tmp/guest/up; while :; do sleep 0.05 & wait; done
X
set -m; run sh /tmp/guest/s & until_file /tmp/guest/up
for s in INT INT TERM QUIT HUP USR1 USR2; do kill -$s -$!; sleep 0.3; done; wait $!; echo $?`,
			"int\nint\nterm\nquit\nhup\nusr1\n5\n"},
		{"a signal that the guest dies of",
			`set -m; run sh -c "echo >/tmp/guest/up; sleep 60; :" & until_file /tmp/guest/up
kill -TERM -$!; wait $!; echo $?; guests; ls -d /tmp/svcrelay-*/ 2>/dev/null`, "143\n0\n"},
		{"a program that is not there", `(run /none) 2>/dev/null; echo $?; (run none) 2>/dev/null; echo $?; ls -d /tmp/svcrelay-*/ 2>/dev/null`, "1\n1\n"},
		{"places for binds that the root does not have",
			`echo text >/tmp/guest/file; (run -b /tmp/guest:/none/deep/dir -b /tmp/guest/file:/none/file sh -c 'ls -d /none /none/*; ls /none/deep; cat /none/file /none/deep/dir/file')
ls -d /r/trixie/none 2>&1 | grep -c none/; ls /r/trixie | grep -c none`, "/none\n/none/deep\n/none/file\ndir\ntext\ntext\n0\n0\n"},
		{"descriptors are the guest's", `(run sh -c 'cat <&3; cat <&7') 3<<X 7<<Y
three
X
seven
Y
`, "three\nseven\n"},
		{"the end of an unknown number of threads", `(run python3 -c '
import os,threading,time
for i in range(20): threading.Thread(target=time.sleep,args=(60,)).start()
os._exit(4)'); echo $?; guests`, "4\n0\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := m.Run(t, rigtest.Options{Files: files, Timeout: limit}, "bash", "-c", tracerTest+tt.text)
			files = nil
			if got.Stdout != tt.want || got.Signal != 0 {
				t.Errorf("%s\n%s\ngot  %d %q\nwant %q", tt.text, got.Stderr, got.Signal, got.Stdout, tt.want)
			}
		})
	}
}

// TestKernelsAndPolicies: the order of stops, and the calls that a policy traps,
// differ.
func TestKernelsAndPolicies(t *testing.T) {
	files := map[string]string{relay: rigtest.Build(t, "cmd/svcrelay")}
	const smoke = `(exit 3); echo $?; seq 3 | tail -1; ls -d /etc/hostname /none 2>/dev/null; python3 -c 'import threading;t=threading.Thread(target=print,args=("thread",));t.start();t.join()'; kill -SEGV $$`
	for _, tt := range []struct {
		kernel string
		level  int
		root   string
	}{{"5.10", 0, "trixie"}, {"7", 0, "trixie"}, {"", 34, "forky"}} {
		o := rigtest.Options{Options: machine.Options{Kernel: tt.kernel}, Level: tt.level, Files: files, Timeout: limit}
		got := rigtest.Run(t, o, relay, "run", "-r", "/r/"+tt.root, "-b", "/proc", "-b", "/dev", "sh", "-c", smoke)
		if want := "3\n3\n/etc/hostname\nthread\n"; got.Stdout != want || got.Code != 128+11 {
			t.Errorf("kernel %q, level %d: %q, code %d, %s, want %q and 139", tt.kernel, tt.level, got.Stdout, got.Code, got.Stderr, want)
		}
	}
}
