//go:build rig

// The command line of run on a real kernel: what its words do, what is inherited,
// what is said when a guest cannot start, what is counted.

package main

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"svcrelay/cmd/internal/machine"
	"svcrelay/cmd/internal/rigtest"
	"svcrelay/cmd/internal/selinux"
	"svcrelay/runtime/blob"
)

// withRelay starts a machine that has the command in it, under two names, and the
// exec loader.
func withRelay(t *testing.T, o machine.Options) *rigtest.Machine {
	t.Helper()
	m := rigtest.Start(t, o)
	command, loader := rigtest.Build(t, "cmd/svcrelay"), filepath.Join(t.TempDir(), "loader")
	if err := os.WriteFile(loader, blob.Loader, 0o555); err != nil {
		t.Fatal(err)
	}
	m.Run(t, rigtest.Options{Files: map[string]string{
		relay: command, "/lib/app/libproot.so": command, "/lib/app/libproot-loader.so": loader,
	}}, "true")
	return m
}

// cliHead is the head of shell programs: run starts a guest.
const cliHead = `
run() { /svcrelay run -r /r/trixie -b /proc -b /dev "$@"; }
mkdir -p /tmp/cli; cd /tmp/cli
`

// TestRunWords: what a guest sees of its command line.
func TestRunWords(t *testing.T) {
	m := withRelay(t, machine.Options{})
	for _, tt := range []struct{ name, text, want string }{
		{"status of the program", `run sh -c 'exit 7'; echo $?; run sh -c 'kill -TERM $$'; echo $?`, "7\n143\n"},
		{"working directory", `run -w /usr/lib/../share sh -c 'pwd; echo $PWD; readlink /proc/self/cwd'; run --pwd=/bin pwd; cd /usr; run pwd; run -w share pwd`,
			"/usr/share\n/usr/share\n/usr/share\n/usr/bin\n/usr\n/usr/share\n"},
		{"working directory that is not there", `run -w /none sh -c 'pwd; echo $PWD' 2>&1; run -w /etc/passwd pwd 2>&1; run -v -1 -w /none pwd 2>&1; mkdir -p /elsewhere; cd /elsewhere; run pwd 2>&1`,
			"svcrelay: working directory /none: no such file or directory in the guest, / instead\n/\n/\n" +
				"svcrelay: working directory /etc/passwd: not a directory in the guest, / instead\n/\n/\n" +
				"svcrelay: working directory /elsewhere: no such file or directory in the guest, / instead\n/\n"},
		{"the environment", `A=1 PROOT_VERBOSE=0 PROOT_TMP_DIR=/tmp PWD=/x run -w /tmp env -u HOME | grep -E '^(A|P)' | grep -v PATH | sort`,
			"A=1\nPROOT_TMP_DIR=/tmp\nPROOT_VERBOSE=0\nPWD=/tmp\n"},
		{"binds", `mkdir -p a b; echo A >a/f; echo B >b/f
run -b /tmp/cli/a:/mnt cat /mnt/f; run -b a -b b:/mnt/ cat /tmp/cli/a/f /mnt/f; cd /tmp; run -b cli/a:mnt -w / cat /tmp/mnt/f; run -b cli/a/f:/etc/hostname cat /etc/hostname`,
			"A\nA\nB\nA\nA\n"},
		{"binds at one path", `run -b /tmp/cli/a:/mnt -b /tmp/cli/b:/mnt -w / cat /mnt/f 2>&1; run --mount=/tmp/cli/b:/mnt -m /tmp/cli/b:/mnt -w / cat /mnt/f 2>&1`,
			"svcrelay: both /tmp/cli/a and /tmp/cli/b are bound at /mnt: the last one wins\nB\nB\n"},
		{"a bind over a symlink", `run -b a/f:/etc/mtab -w / sh -c 'cat /etc/mtab; test -L /etc/mtab || echo file'; run -b 'a/f:/bin!' -w / /usr/bin/cat /bin`,
			"A\nfile\nA\n"},
		{"binds that are not there", `run -b /none -b /none/x:/mnt -w / echo on 2>&1; PROOT_IGNORE_MISSING_BINDINGS=1 run -b /none -w / echo on 2>&1; run -v -1 -b /none -w / echo on 2>&1`,
			"svcrelay: bind /none at /none: no such file or directory: left out\nsvcrelay: bind /none/x at /mnt: no such file or directory: left out\non\non\non\n"},
		{"-R", `HOME=/tmp/cli/b /svcrelay run -R /r/bookworm -b /tmp/cli/a:/mnt sh -c 'cat ~/f /mnt/f; ls -d /tmp/cli/a /r/bookworm/usr /proc/self; . /etc/os-release; echo $VERSION_ID; cmp /etc/passwd /r/bookworm/etc/passwd'; cmp /etc/passwd /r/bookworm/etc/passwd`,
			"B\nA\n/proc/self\n/r/bookworm/usr\n/tmp/cli/a\n12\n"},
		{"the last of -R and -b", `/svcrelay run -b /tmp/cli/a:/tmp -R /r/trixie -w / ls -d /tmp/cli; /svcrelay run -R /r/trixie -b /tmp/cli/a:/tmp -w / ls /tmp`,
			"/tmp/cli\nf\n"},
		{"the shell when there is no program", `echo 'echo $0 "$@"; tr "\0" " " </proc/$$/cmdline; readlink /proc/$$/exe' | run -w /`, "-sh\n-sh /usr/bin/dash\n"},
		{"where programs are looked for", `mkdir -p p; printf '#!/bin/sh\necho own "$0"' >p/ls; chmod 755 p/ls; echo x >p/cat
PATH=/x:/p:/bin run -b p:/p -w / ls; PATH=/p:/bin run -b p:/p -w /etc cat hostname; PATH=:/bin run -b p:/p -w /p ls; cd /usr/bin; PATH=/none run env`,
			"own /p/ls\nrig\nown ./ls\n"},
		{"what ends the words", `run -w / -- echo -h; run -w / echo -r -- x`, "-h\n-r -- x\n"},
		{"what is not needed", `run -w / -l --sysvipc -L -H echo on 2>&1; run -v -1 -w / --link2symlink echo on 2>&1`,
			"svcrelay: -l has no effect\nsvcrelay: --sysvipc has no effect\nsvcrelay: -L has no effect\nsvcrelay: -H has no effect\non\non\n"},
		{"ids and the kernel's name", `setpriv --reuid 1000 --regid 1000 --clear-groups bash -c '/svcrelay run -r /r/trixie -w / -0 id -u; /svcrelay run -S /r/trixie -w / id -g; /svcrelay run -r /r/trixie -w / -0 --change-id=5:6 id -g'
run -w / -k 5.5 uname -r; run -w / '--kernel-release=\Linux\name\5.5\#1\aarch64\domain\-1\' uname -n`, "0\n0\n6\n5.5\nname\n"},
		{"without seccomp", `PROOT_NO_SECCOMP=1 run -w / echo on 2>&1`, "svcrelay: PROOT_NO_SECCOMP has no effect: nothing but the filter stops a guest's calls\non\n"},
		{"verbose", `run -v 1 -w / -i 5:6 -k 5.5 true 2>&1; PROOT_VERBOSE=2 run -w / cat /etc/os-release 2>&1 >/dev/null | grep -o 'openat /etc/os.*' | tail -1`,
			"svcrelay: root /r/trixie\nsvcrelay: bind /proc at /proc\nsvcrelay: bind /dev at /dev\nsvcrelay: ids 5:6\nsvcrelay: kernel 5.5\nsvcrelay: command [\"true\"]\n" +
				"svcrelay: program /usr/bin/true in /\nsvcrelay: exec loader /tmp/svcrelay-LOADER\nopenat /etc/os-release: /r/trixie/usr/lib/os-release\n"},
		{"by proot's name", `/lib/app/libproot.so -r /r/trixie -b /proc -w /usr readlink /proc/self/cwd; cp /svcrelay proot; ./proot --rootfs=/r/trixie --cwd=/ echo on`,
			"/usr\non\n"},
		{"a loader that is given", `PROOT_LOADER=/lib/app/libproot-loader.so run -v 1 -w / true 2>&1 | grep loader; cd /lib/app; PROOT_LOADER=libproot-loader.so run -w / echo on`,
			"svcrelay: exec loader /lib/app/libproot-loader.so\non\n"},
		{"what a tracer leaves", `mkdir -p left; export PROOT_TMP_DIR=/tmp/cli/left; run -w / true; (exec /svcrelay run -r /r/trixie sleep 60) & until grep -q sleep /proc/[0-9]*/comm; do sleep 0.1; done; kill -9 $!; wait $!; echo $?; run -w / true; ls left | wc -l`,
			"137\n1\n"},
		{"the tracer keeps no pipe", `(exec /svcrelay run -r /r/trixie --kill-on-exit -w / -b /tmp sh -c 'echo on; exec >&- 7>&-; while [ ! -e /tmp/cli/go ]; do sleep 0.05; done' 7>&1) | (cat; touch go; echo end)`,
			"on\nend\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := m.Run(t, rigtest.Options{Timeout: limit}, "bash", "-c", cliHead+tt.text)
			out := regexp.MustCompile(`svcrelay-0-[0-9a-f]{16}`).ReplaceAllString(got.Stdout, "svcrelay-LOADER")
			if diff := cmp.Diff(tt.want, out); diff != "" || got.Signal != 0 {
				t.Errorf("%s\nsignal %d, -want +got:\n%s\n%s", tt.text, got.Signal, diff, got.Stderr)
			}
		})
	}
}

// TestWhyNoGuest: each message is one line and names the thing.
func TestWhyNoGuest(t *testing.T) {
	m := withRelay(t, machine.Options{})
	// refuse runs its arguments under a filter that answers call $1 with EPERM.
	const refuse = `
refuse() { nr=$1; shift; python3 -c '
import ctypes,os,struct,sys
code=[(0x20,0,0,0),(0x15,0,1,int(sys.argv[1])),(6,0,0,0x50001),(6,0,0,0x7fff0000)]
text=ctypes.create_string_buffer(b"".join(struct.pack("HBBI",*c) for c in code))
libc=ctypes.CDLL(None); libc.prctl(38,1,0,0,0); libc.prctl(22,2,struct.pack("HxxxxxxQ",len(code),ctypes.addressof(text)))
os.execvp(sys.argv[2],sys.argv[2:])' $nr /svcrelay run -r /r/trixie -w / "$@"; }
`
	for _, tt := range []struct{ text, want string }{
		{`/svcrelay run -r /none true`, `root /none: no such file or directory`},
		{`/svcrelay run -r none true`, `root /tmp/cli/none: no such file or directory`},
		{`/svcrelay run -r /etc/passwd true`, `root /etc/passwd: not a directory`},
		{`mkdir -p closed/root; chmod 700 closed; setpriv --reuid 1000 --clear-groups /svcrelay run -r /tmp/cli/closed/root true`, `root /tmp/cli/closed/root: permission denied`},
		{`run none`, `none: not found in the guest's PATH, which is "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"`},
		{`run ''`, `the program's name is empty`},
		{`run /none`, `/none: no such file or directory`},
		{`run ./none`, `./none: no such file or directory`},
		{`run /etc`, `/etc: not a regular file: permission denied`},
		{`run /etc/passwd`, `/etc/passwd: permission denied`},
		{`PATH=/none:/etc run passwd`, `/etc/passwd: permission denied`},
		{`echo text >t; chmod 755 t; run -b t:/t /t`, `/t: exec format error`},
		{`printf '#!/none' >t; chmod 755 t; run -b t:/t /t`, `/t: its interpreter is not in the guest: no such file or directory`},
		{`(head -c 4 /bin/true; printf '\001'; tail -c +6 /bin/true) >t; chmod 755 t; run -b t:/t /t`, `/t: exec format error`},
		{`run -b /bin/true:/lib/ld-linux-aarch64.so.1 sh -c 'exit 3'; (exit 1)`, ``}, // a program, if no interpreter
		{`PROOT_TMP_DIR=/none run true`, `unpack the exec loader into /none: no such file or directory`},
		{`PROOT_TMP_DIR=/etc/passwd run true`, `unpack the exec loader into /etc/passwd: not a directory`},
		{`mkdir -p closed; chmod 755 closed; PROOT_TMP_DIR=/tmp/cli/closed setpriv --reuid 1000 --clear-groups /svcrelay run -r /r/trixie true`, `unpack the exec loader into /tmp/cli/closed: permission denied`},
		{`mkdir noexec; mount -t tmpfs -o noexec none noexec; PROOT_TMP_DIR=noexec run true`, `exec loader /tmp/cli/noexec/svcrelay-LOADER: permission denied: files there may not be run (PROOT_LOADER or PROOT_TMP_DIR names another place)`},
		{`cp /lib/app/libproot-loader.so l; chmod 644 l; PROOT_LOADER=l run true`, `exec loader /tmp/cli/l: permission denied: files there may not be run (PROOT_LOADER or PROOT_TMP_DIR names another place)`},
		{`PROOT_LOADER=/none run true`, `exec loader /none: no such file or directory`},
		{`PROOT_LOADER=/bin/true run true`, `exec loader /bin/true: not an exec loader of this version: no note of svcrelay`},
		{`PROOT_LOADER=/etc/passwd run true`, `exec loader /etc/passwd: not an exec loader of this version: .*`},
		{`strace -f -o /dev/null -e none /svcrelay run -r /r/trixie -w / true`, `trace the guest: ptrace is refused: operation not permitted \(this process is itself traced, by TracerPid \d+\)`},
		{refuse + `refuse 117 true`, `trace the guest: ptrace is refused: operation not permitted`},
		{refuse + `refuse 277 true`, `seccomp: the kernel, or a policy around, refuses the filter: operation not permitted`},
		{`echo 3 >/proc/sys/kernel/yama/ptrace_scope; run true`, `trace the guest: ptrace is refused: operation not permitted \(kernel.yama.ptrace_scope is 3\)`}, // from here on
		{`run -w / --nonsense true`, `unknown option --nonsense \(svcrelay run -h lists the options\)`},
	} {
		want := ""
		if tt.want != "" {
			want = "svcrelay: " + tt.want + "\n"
		}
		got := m.Run(t, rigtest.Options{Timeout: limit}, "bash", "-c", cliHead+tt.text)
		out := regexp.MustCompile(`svcrelay-0-[0-9a-f]{16}`).ReplaceAllString(got.Stderr, "svcrelay-LOADER")
		matched := out == want
		if strings.Contains(want, `\d`) || strings.Contains(want, ".*") || strings.Contains(want, `\(`) {
			matched = regexp.MustCompile("^" + want + "$").MatchString(out)
		}
		if !matched || got.Stdout != "" || got.Code != 1 {
			t.Errorf("%s:\nstatus %d, prints %q and %q, want %q", tt.text, got.Code, got.Stdout, out, want)
		}
	}
}

// TestLoaderUnderSELinux: an app may not run what it wrote, and a mode does not
// show it.
func TestLoaderUnderSELinux(t *testing.T) {
	m := withRelay(t, machine.Options{SELinux: true})
	m.Run(t, rigtest.Options{}, "bash", "-c", `/svcrelay run -r /r/trixie -w / true
python3 -c 'import glob,os; os.setxattr(glob.glob("/tmp/svcrelay-*")[0], "security.selinux", b"`+selinux.AppData+`\0")'`)
	o := rigtest.Options{Domain: selinux.App, Level: 34, Timeout: limit}
	got := m.Run(t, o, relay, "run", "-r", "/r/trixie", "-w", "/", "true")
	if want := "^svcrelay: exec loader /tmp/svcrelay-0-[0-9a-f]+: permission denied: files there may not be run"; got.Code != 1 || !regexp.MustCompile(want).MatchString(got.Stderr) {
		t.Errorf("with app data as loader: status %d, %q, want 1 and %q", got.Code, got.Stderr, want)
	}
	o.Env = []string{"PROOT_LOADER=/lib/app/libproot-loader.so"}
	if got := m.Run(t, o, relay, "run", "-r", "/r/trixie", "-w", "/", "sh", "-c", "echo on"); got.Stdout != "on\n" || got.Code != 0 {
		t.Errorf("with a loader of the system: status %d, %q, %q", got.Code, got.Stdout, got.Stderr)
	}
}

// both runs a python program that runs its arguments, which end in argv, in a guest
// and without one, and returns what it prints.
func both(t *testing.T, m *rigtest.Machine, file string, argv ...string) (got, want string) {
	t.Helper()
	program, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	print := func(argv []string) string {
		r := m.Run(t, rigtest.Options{Timeout: limit}, append([]string{"python3", "-c", string(program)}, argv...)...)
		if r.Code != 0 {
			t.Errorf("%s %q: status %d: %s", file, argv, r.Code, r.Stderr)
		}
		return r.Stdout
	}
	return print(append([]string{relay, "run", "-r", "/r/trixie", "-b", "/proc", "-b", "/dev", "-w", "/"}, argv...)), print(argv)
}

// TestInherited: dispositions and masks of signals, descriptors, limits are the
// caller's, whatever the tracer's own runtime does with them.
func TestInherited(t *testing.T) {
	got, want := both(t, withRelay(t, machine.Options{}), "testdata/inherited.py", "sh", "-c")
	if diff := cmp.Diff(sections(want), sections(got)); diff != "" || len(sections(want)) < 15 {
		t.Errorf("of %d, -want +got:\n%s", len(sections(want)), diff)
	}
}

// TestJobControl: an interactive shell on a terminal stops and continues its jobs.
func TestJobControl(t *testing.T) {
	got, want := both(t, withRelay(t, machine.Options{}), "testdata/jobcontrol.py", "bash", "--norc", "--noediting", "-i")
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")); diff != "" || !strings.HasSuffix(want, "status 5\n") {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// counts is what --stats=json prints.
type counts struct {
	Calls                       map[string]int
	Ends, Signals, Execs, Tasks int
	Processes                   []struct {
		Pid, Stops int
		Exe        string
	}
	Rest struct{ Processes, Stops int }
}

func countsOf(t *testing.T, line string) (c counts) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&c); err != nil {
		t.Fatalf("stats %q: %v", line, err)
	}
	return c
}

// TestStats: stops are those of the guest alone, by call and by process, and the
// same for the same programs.
func TestStats(t *testing.T) {
	m := withRelay(t, machine.Options{})
	const text = `for i in 1 2 3; do (test -e /etc/passwd; test -e /none; kill -URG $$; exec /bin/true); done`
	run := func() counts {
		got := m.Run(t, rigtest.Options{Timeout: limit}, relay, "run", "-r", "/r/trixie", "-w", "/", "--stats=json", "sh", "-c", text)
		return countsOf(t, got.Stderr)
	}
	first, second := run(), run()
	if diff := cmp.Diff(first.Calls, second.Calls); diff != "" {
		t.Errorf("calls of two runs: %s", diff)
	}
	if first.Tasks != 3 || first.Execs != 4 || first.Calls["execve"] != 3 || first.Calls["newfstatat"]+first.Calls["faccessat"] < 6 || first.Rest.Processes != 0 {
		t.Errorf("got %+v, want 3 tasks, 4 execs, 3 execve, 6 looks", first)
	}
	stops, exes := 0, []string{}
	for _, p := range first.Processes {
		stops += p.Stops
		exes = append(exes, p.Exe)
	}
	slices.Sort(exes)
	if diff := cmp.Diff([]string{"/usr/bin/dash", "/usr/bin/true", "/usr/bin/true", "/usr/bin/true"}, exes); diff != "" {
		t.Errorf("programs -want +got:\n%s", diff)
	}
	// What is no call, end or signal is an event: a birth, an exec, a first stop.
	if sum := total(first.Calls) + first.Ends + first.Signals; stops < sum || stops > sum+first.Tasks+first.Execs+4 {
		t.Errorf("%d stops of processes, %d of calls, ends and signals: %+v", stops, sum, first)
	}
}

func total(calls map[string]int) (sum int) {
	for n := range maps.Values(calls) {
		sum += n
	}
	return sum
}

// TestStatsOnSignal: a guest that runs on is counted so far.
func TestStatsOnSignal(t *testing.T) {
	m := withRelay(t, machine.Options{})
	got := m.Run(t, rigtest.Options{Timeout: limit}, "bash", "-c", cliHead+`
(exec /svcrelay run -r /r/trixie -b /tmp --stats=json sh -c 'trap "" USR1; : >/tmp/cli/up; until [ -e /tmp/cli/end ]; do sleep 0.05; done' 2>stats) &
until [ -e up ]; do sleep 0.05; done
for n in 1 2; do kill -USR1 $!; until [ $(wc -l <stats) = $n ]; do sleep 0.05; done; done
: >end; wait $!; echo $?; cat stats`)
	lines := strings.Split(got.Stdout, "\n")
	if len(lines) != 5 || lines[0] != "0" {
		t.Fatalf("prints %q, %s; want a status and three lines", got.Stdout, got.Stderr)
	}
	for i, line := range lines[1:3] {
		if a, b := countsOf(t, line), countsOf(t, lines[i+2]); total(a.Calls) == 0 || total(a.Calls) > total(b.Calls) {
			t.Errorf("after %s comes %s", line, lines[i+2])
		}
	}
}
