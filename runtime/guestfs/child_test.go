// Two children of the test binary do the same calls: one in a real chroot with
// real bind mounts, one outside with the host paths of a Resolver. Both answer
// with what a program would see.
package guestfs

import (
	"encoding/gob"
	"errors"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

const childEnv = "GUESTFS_TEST_CHILD"

// A setup tells a child what guest to make.
type setup struct {
	Root    string
	Binds   []Bind
	Proving bool
	UID     int
}

// A request is one call; Path2 is the new name of link and rename, the text of
// symlink.
type request struct {
	Op          string
	Path, Path2 string
}

// A reply is what the call shows.
type reply struct {
	Errno   syscall.Errno
	Stat    bool
	Dev     uint64
	Ino     uint64
	Mode    uint32
	Text    string
	Virtual bool // a directory that only leads to a bind
	Host    string
}

func TestMain(m *testing.M) {
	switch os.Getenv(childEnv) {
	case "chroot":
		serve(enterChroot)
	case "resolve":
		serve(enterResolver)
	default:
		os.Exit(m.Run())
	}
}

// A side turns the paths of requests into paths for the kernel.
type side interface {
	path(path string, how Flags) (string, *Result, syscall.Errno)
	// text turns what the kernel says of a file into the guest's words.
	text(link string, via Via) string
	// chdir notes how the current directory was reached.
	chdir(res *Result)
	readlink(path string, res *Result) (string, syscall.Errno)
}

func serve(enter func(setup) side) {
	runtime.LockOSThread()
	syscall.Umask(0)
	dec, enc := gob.NewDecoder(os.Stdin), gob.NewEncoder(os.Stdout)
	var s setup
	check(dec.Decode(&s))
	on := enter(s)
	for {
		var q request
		if dec.Decode(&q) != nil {
			os.Exit(0)
		}
		check(enc.Encode(call(on, q)))
	}
}

func check(err error) {
	if err != nil {
		println("child:", err.Error())
		os.Exit(3)
	}
}

func become(uid int) {
	if uid != 0 {
		check(syscall.Setgroups(nil))
		check(syscall.Setresgid(uid, uid, uid))
		check(syscall.Setresuid(uid, uid, uid))
		check(unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0)) // or /proc/self is root's
	}
}

type chrootSide struct{}

func enterChroot(s setup) side {
	// Opened before the first mount, which may lie over a host side.
	sources := make([]int, len(s.Binds))
	for i, b := range s.Binds {
		var err error
		sources[i], err = unix.Open(b.Host, unix.O_PATH|unix.O_CLOEXEC, 0)
		check(err)
	}
	for _, i := range byDepth(s.Binds) {
		b := s.Binds[i]
		source := "/proc/self/fd/" + strconv.Itoa(sources[i])
		if err := syscall.Mount(source, s.Root+b.Guest, "", syscall.MS_BIND, ""); err != nil {
			check(errors.New("mount " + b.Host + " at " + b.Guest + ": " + err.Error()))
		}
		check(unix.Close(sources[i]))
	}
	check(syscall.Chroot(s.Root))
	check(syscall.Chdir("/"))
	become(s.UID)
	return chrootSide{}
}

func (chrootSide) path(p string, _ Flags) (string, *Result, syscall.Errno) { return p, nil, 0 }
func (chrootSide) text(link string, _ Via) string                          { return link }
func (chrootSide) chdir(*Result)                                           {}
func (chrootSide) readlink(p string, _ *Result) (string, syscall.Errno) {
	return readlinkOf(p)
}

func readlinkOf(p string) (string, syscall.Errno) {
	buf := make([]byte, 2*PathMax)
	n, err := syscall.Readlink(p, buf)
	return string(buf[:max(n, 0)]), errnoOf(err)
}

type resolverSide struct {
	r   *Resolver
	who Caller
	cwd Via
}

func enterResolver(s setup) side {
	become(s.UID)
	var fs FS = osFS{}
	if s.Proving {
		fs = provingOS{}
	}
	on := &resolverSide{who: Caller{Tgid: os.Getpid(), Tid: syscall.Gettid()}}
	var err error
	on.r, err = New(Config{Root: s.Root, Binds: s.Binds, FS: fs, Procs: on})
	check(err)
	var res Result
	checkErrno(on.r.Resolve(&res, on.who, Base{}, []byte("/"), Follow))
	check(syscall.Chdir(string(res.Host)))
	on.chdir(&res)
	return on
}

// A resolverSide knows one process: its root is the guest's, and it remembers by
// which bind the current directory was reached.

func (s *resolverSide) Traced(tid int) bool { return tid == s.who.Tgid || tid == s.who.Tid }

func (s *resolverSide) Link(t *Target, who Caller, tid int, link Link) bool {
	if !s.Traced(tid) {
		return false
	}
	t.Guest, t.Host = append(t.Guest[:0], '/'), t.Host[:0]
	if link == Cwd {
		text, _ := readlinkOf("/proc/self/cwd")
		var err error
		t.Guest, _, err = s.r.Guest(t.Guest[:0], []byte(text), who, s.cwd)
		return err == nil && !strings.HasSuffix(text, deleted)
	}
	return link == ProcRoot
}

func checkErrno(e syscall.Errno) {
	if e != 0 {
		check(e)
	}
}

func (s *resolverSide) path(p string, how Flags) (string, *Result, syscall.Errno) {
	base := Base{Link: terminated([]byte("/proc/self/cwd")), Via: s.cwd}
	if text, errno := readlinkOf("/proc/self/cwd"); errno == 0 {
		base.Host = []byte(text)
	}
	res := new(Result)
	if errno := s.r.Resolve(res, s.who, base, []byte(p), how); errno != 0 {
		return "", nil, errno
	}
	return string(res.Host), res, 0
}

func (s *resolverSide) chdir(res *Result) { s.cwd = res.Via }

func (s *resolverSide) text(link string, via Via) string {
	guest, _, err := s.r.Guest(nil, []byte(link), s.who, via)
	if err != nil {
		return link
	}
	return string(guest)
}

func (s *resolverSide) readlink(_ string, res *Result) (string, syscall.Errno) {
	text, errno := s.r.Readlink(nil, s.who, res)
	return string(text), errno
}

// anyInode finds what differs between two pipes or two namespaces.
var anyInode = regexp.MustCompile(`:\[\d+\]`)

// A child is the running one.
type child struct {
	t   *testing.T
	cmd *exec.Cmd
	enc *gob.Encoder
	dec *gob.Decoder
}

func start(t *testing.T, kind string, s setup) *child {
	t.Helper()
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), childEnv+"="+kind)
	cmd.Stderr = os.Stderr
	if kind == "chroot" {
		cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("child %s: %v (it needs root: it mounts and calls chroot)", kind, err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("child %s: %v", kind, err)
		}
	})
	c := &child{t: t, cmd: cmd, enc: gob.NewEncoder(in), dec: gob.NewDecoder(out)}
	if err := c.enc.Encode(s); err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *child) ask(q request) reply {
	c.t.Helper()
	var p reply
	if err := c.enc.Encode(q); err != nil {
		c.t.Fatalf("child: %v", err)
	}
	if err := c.dec.Decode(&p); err != nil {
		c.t.Fatalf("child: %v, asked %+v", err, q)
	}
	pid := strconv.Itoa(c.cmd.Process.Pid)
	p.Text = anyInode.ReplaceAllString(strings.ReplaceAll(p.Text, pid, "PID"), ":[N]")
	return p
}
