package vm

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"svcrelay/cmd/internal/frame"
)

const common = "-nodefaults -nographic -no-reboot -nic none -serial stdio "

func TestArgs(t *testing.T) {
	const channel = "-device virtio-serial-pci,disable-legacy=on -chardev socket,id=rig,fd=3 -device virtserialport,chardev=rig,name=rig " +
		"-chardev socket,id=monitor,fd=4 -mon chardev=monitor,mode=control "
	base := Config{CPU: "cortex-a76", Cores: 1, MiB: 512, Kernel: "K", Initrd: "I", Append: "a b"}
	with := func(change func(c *Config)) Config { c := base; change(&c); return c }
	for _, tt := range []struct {
		name   string
		config Config
		want   string
	}{
		{"boot", base,
			common + "-M virt -cpu cortex-a76 -smp 1 -m 512M " + channel + "-accel tcg,thread=multi -kernel K -initrd I -append a b"},
		{"prepare", with(func(c *Config) { c.Mode = Prepare }),
			common + "-M virt,memory-backend=ram -cpu cortex-a76 -smp 1 -m 512M " + channel + "-accel tcg,thread=multi " +
				"-object memory-backend-file,id=ram,size=512M,mem-path=ram,share=on -kernel K -initrd I -append a b"},
		{"restore", with(func(c *Config) { c.Mode = Restore }),
			common + "-M virt,memory-backend=ram -cpu cortex-a76 -smp 1 -m 512M " + channel + "-accel tcg,thread=multi " +
				"-object memory-backend-file,id=ram,size=512M,mem-path=ram,share=off -incoming defer"},
		{"count", with(func(c *Config) { c.Icount = true }),
			common + "-M virt -cpu cortex-a76 -smp 1 -m 512M " + channel + "-accel tcg,thread=single -icount shift=0,sleep=off -kernel K -initrd I -append a b"},
		{"cores", with(func(c *Config) { c.CPU, c.Cores = "max,pauth-impdef=on", 4 }),
			common + "-M virt -cpu max,pauth-impdef=on -smp 4 -m 512M " + channel + "-accel tcg,thread=multi -kernel K -initrd I -append a b"},
		{"disks", with(func(c *Config) { c.Disks = []Disk{{"x", "/a,b"}, {"y", "/c"}} }),
			common + "-M virt -cpu cortex-a76 -smp 1 -m 512M " + channel + "-accel tcg,thread=multi " +
				"-drive if=none,format=raw,readonly=on,id=x,file=/a,,b -device virtio-blk-pci,drive=x,serial=x " +
				"-drive if=none,format=raw,readonly=on,id=y,file=/c -device virtio-blk-pci,drive=y,serial=y -kernel K -initrd I -append a b"},
	} {
		if diff := cmp.Diff(tt.want, strings.Join(tt.config.args(), " ")); diff != "" {
			t.Errorf("%s: -want +got:\n%s", tt.name, diff)
		}
	}
}

func TestTail(t *testing.T) {
	for _, tt := range []struct {
		writes []string
		want   string
	}{
		{nil, ""},
		{[]string{"a\r\n", "b"}, "\n\ta\n\tb"},
		{[]string{strings.Repeat("x", maxTail)}, "\n\t" + strings.Repeat("x", maxTail)},
		{[]string{"y", strings.Repeat("x", maxTail)}, "\n\t" + strings.Repeat("x", maxTail)},
		{[]string{strings.Repeat("x", maxTail-1), "yz"}, "\n\t" + strings.Repeat("x", maxTail-2) + "yz"},
	} {
		var c tail
		for _, w := range tt.writes {
			io.WriteString(&c, w)
		}
		if got := c.lines(); got != tt.want {
			t.Errorf("after %d writes: %d bytes %.20q, want %d", len(tt.writes), len(got), got, len(tt.want))
		}
	}
}

// script is a monitor that answers line by line.
type script struct {
	io.Reader
	asked bytes.Buffer
}

func (s *script) Write(p []byte) (int, error) { return s.asked.Write(p) }

func play(lines ...string) *script {
	return &script{Reader: strings.NewReader(strings.Join(lines, "\n") + "\n")}
}

func TestMonitor(t *testing.T) {
	s := play(`{"QMP":{}}`, `{"return":{}}`, `{"event":"STOP"}`, `{"return":{}}`, `{"return":{}}`,
		`{"return":{"status":"active"}}`, `{"event":"X"}`, `{"return":{"status":"completed"}}`, `{"error":{"desc":"no such thing"}}`)
	m, err := openMonitor(s)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.migrate("migrate", "exec:x"); err != nil {
		t.Error(err)
	}
	if err := m.do("cont", nil, nil); err == nil || err.Error() != "monitor: cont: no such thing" {
		t.Errorf("do = %v, want the monitor's words", err)
	}
	if err := m.do("cont", nil, nil); !errors.Is(err, io.EOF) {
		t.Errorf("do at the end = %v, want %v", err, io.EOF)
	}
	want := `{"execute":"qmp_capabilities"}
{"execute":"migrate-set-capabilities","arguments":{"capabilities":[{"capability":"x-ignore-shared","state":true}]}}
{"execute":"migrate","arguments":{"uri":"exec:x"}}
{"execute":"query-migrate"}
{"execute":"query-migrate"}
{"execute":"cont"}
{"execute":"cont"}
`
	if diff := cmp.Diff(want, s.asked.String()); diff != "" {
		t.Errorf("asked -want +got:\n%s", diff)
	}
}

func TestMonitorFails(t *testing.T) {
	for _, lines := range [][]string{
		nil,
		{`{"QMP":{}}`},
		{`{"QMP":{}}`, `nonsense`},
	} {
		if _, err := openMonitor(play(lines...)); err == nil {
			t.Errorf("openMonitor of %q = nil, want an error", lines)
		}
	}
	m, err := openMonitor(play(`{"QMP":{}}`, `{"return":{}}`, `{"return":{}}`, `{"return":{}}`, `{"return":{"status":"failed"}}`))
	if err != nil {
		t.Fatal(err)
	}
	if err := m.migrate("migrate", "x"); err == nil || err.Error() != "monitor: migrate: failed" {
		t.Errorf("migrate = %v, want it failed", err)
	}
}

// agent is the other end of a channel without a machine.
func agent(t *testing.T) (*VM, *frame.Conn, func()) {
	t.Helper()
	ours, theirs := net.Pipe()
	v := &VM{conn: frame.NewConn(ours), hello: make(chan struct{})}
	go v.receive()
	t.Cleanup(func() { ours.Close(); theirs.Close() })
	return v, frame.NewConn(theirs), func() { theirs.Close() }
}

// TestRunSharesChannel: outputs of two commands arrive mixed and come out apart.
func TestRunSharesChannel(t *testing.T) {
	v, a, _ := agent(t)
	go func() {
		var numbers []uint32
		for len(numbers) < 2 {
			f, err := a.Receive()
			if err != nil {
				return
			}
			numbers = append(numbers, f.Command)
		}
		for _, part := range []string{"x", "y"} {
			for _, n := range numbers {
				a.Send(n, frame.Stdout, []byte(fmt.Sprint(part, n)))
				a.Send(n, frame.Stderr, []byte("e"))
			}
		}
		for _, n := range numbers {
			a.SendValue(n, frame.Exit, frame.Status{Code: int(n)})
		}
	}()
	results := make(chan Result)
	for range 2 {
		go func() {
			r, err := v.Run(context.Background(), frame.Request{Op: frame.OpRun}, nil)
			if err != nil {
				t.Error(err)
			}
			results <- r
		}()
	}
	for range 2 {
		r := <-results
		if want := fmt.Sprintf("x%dy%d", r.Code, r.Code); r.Stdout != want || r.Stderr != "ee" {
			t.Errorf("Run = %+v, want %s and ee", r, want)
		}
	}
}

// TestRunOnGoneMachine: no wait outlives the machine.
func TestRunOnGoneMachine(t *testing.T) {
	v, a, gone := agent(t)
	go func() { a.Receive(); gone() }()
	for range 2 {
		if _, err := v.Run(context.Background(), frame.Request{Op: frame.OpRun}, nil); err == nil {
			t.Error("Run on a machine that is gone = nil, want an error")
		}
	}
}

// TestRunAfterBrokenChannel: a machine that talks nonsense is as good as gone,
// though it still takes what is sent.
func TestRunAfterBrokenChannel(t *testing.T) {
	ours, theirs := net.Pipe()
	defer ours.Close()
	v := &VM{conn: frame.NewConn(ours), hello: make(chan struct{})}
	go io.WriteString(theirs, "nonsense from here on")
	v.receive()
	go io.Copy(io.Discard, theirs)
	if _, err := v.Run(context.Background(), frame.Request{Op: frame.OpRun}, nil); !errors.Is(err, errGone) {
		t.Errorf("Run = %v, want %v", err, errGone)
	}
}

// TestCancel: the end of a context kills the command and still waits for it.
func TestCancel(t *testing.T) {
	v, a, _ := agent(t)
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		start, _ := a.Receive()
		cancel()
		if f, err := a.Receive(); err != nil || f.Kind != frame.Kill || !bytes.Equal(f.Data, []byte{9}) {
			t.Errorf("after the cancel: %v, %v, want a Kill of 9", f, err)
		}
		a.SendValue(start.Command, frame.Exit, frame.Status{Signal: 9})
	}()
	if r, err := v.Run(ctx, frame.Request{Op: frame.OpRun}, nil); err != nil || r.Signal != 9 {
		t.Errorf("Run = %+v, %v, want signal 9", r, err)
	}
}

// TestStuck: a machine that does not answer is given up, some time after the kill.
func TestStuck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v, a, _ := agent(t)
		go func() {
			for {
				if _, err := a.Receive(); err != nil {
					return
				}
			}
		}()
		start := time.Now()
		_, err := v.Run(t.Context(), frame.Request{Op: frame.OpRun, Timeout: time.Second}, nil)
		if after := time.Since(start); !errors.Is(err, errStuck) || after != time.Second+afterKill {
			t.Errorf("Run = %v after %v, want %v after %v", err, after, errStuck, time.Second+afterKill)
		}
	})
}

func TestPack(t *testing.T) {
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"d/x": 0o755, "d/sub/y": 0o600, "f": 0o644} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(name), mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("x", filepath.Join(dir, "d", "link")); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := pack(&b, map[string]string{"/z/one": filepath.Join(dir, "f"), "/a": filepath.Join(dir, "d")}); err != nil {
		t.Fatal(err)
	}
	var got []string
	for tr := tar.NewReader(&b); ; {
		h, err := tr.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(tr)
		got = append(got, fmt.Sprintf("%c %s %o %s%s", h.Typeflag, h.Name, h.Mode, h.Linkname, text))
	}
	want := []string{"5 /a 755 ", "2 /a/link 777 x", "5 /a/sub 755 ", "0 /a/sub/y 600 d/sub/y", "0 /a/x 755 d/x", "0 /z/one 644 f"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if err := pack(io.Discard, map[string]string{"/a": filepath.Join(dir, "none")}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("pack of no file = %v, want %v", err, os.ErrNotExist)
	}
}

func TestStartWithoutEmulator(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, err := Start(Config{}); err == nil || !strings.Contains(err.Error(), "package qemu-system-arm") {
		t.Errorf("Start = %v, want the package's name", err)
	}
}
