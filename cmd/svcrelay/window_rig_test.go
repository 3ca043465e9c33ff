//go:build rig

// The window: a guest sees it, and has no way to write it, to take it away or to
// put something else in its place.

package main

import (
	"fmt"
	"strings"
	"testing"

	"svcrelay/cmd/internal/machine"
	"svcrelay/cmd/internal/rigtest"
	"svcrelay/runtime/abi"
)

const windowProgram = `
window,size=%#x,%#x
show([l.split()[:2] for l in open('/proc/self/maps') if int(l.split('-')[0],16)==window])
def call(nr,*a): ctypes.set_errno(0); show(nr,libc.syscall(nr,*[ctypes.c_long(x) for x in a]),ctypes.get_errno())
call(226,window,4096,3)
call(215,window,4096); call(215,window+size-4096,4096); call(215,window-size,2*size); call(215,0x5a<<56|window,4096); call(215,0,1<<47)
call(222,window,4096,3,0x32,-1,0); call(222,window-4096,8192,3,0x32,-1,0)
call(216,window,4096,8192,1,0); call(216,window,4096,8192,3,1<<40)
call(233,window,4096,10); call(215,0x7<<32,4096); call(222,0x7<<32,4096,3,0x32,-1,0)
for name in os.listdir('/tmp'):
    if name.startswith('svcrelay-window'):
        for f in os.stat,open,lambda n: os.open(n,2),os.unlink,lambda n: os.link(n,'/tmp/other'),lambda n: os.rename(n,'/tmp/other'):
            try: show('reached',f('/tmp/'+name))
            except OSError as e: show(e.errno)
pid=os.fork()
if pid==0:
    show(open('/etc/hostname').read()!=''); os._exit(0)
os.waitpid(pid,0)
for i in range(300): os.close(os.open('/etc',0))
`

func TestWindow(t *testing.T) {
	m := rigtest.Start(t, machine.Options{})
	files := map[string]string{relay: rigtest.Build(t, "cmd/svcrelay")}
	text := libc + fmt.Sprintf(windowProgram, uint64(abi.WindowAddr), uint64(abi.WindowSize))
	got := m.Run(t, rigtest.Options{Files: files, Timeout: limit}, under("/usr/bin/python3", "-c", text)...)
	want := `[['fffe00000-ffff00000', 'r--s']]
226 -1 13
` + strings.Repeat("215 -1 22\n", 5) + strings.Repeat("222 -1 22\n", 2) + strings.Repeat("216 -1 22\n", 2) + `233 -1 22
215 0 0
222 0 0
` + strings.Repeat("2\n", 6) + "True\n"
	if got.Stdout != want || got.Code != 0 {
		t.Errorf("got %q, code %d, %s\nwant %q", got.Stdout, got.Code, got.Stderr, want)
	}
	// A tracer that was killed leaves its window; the next one removes it.
	const killed = tracerTest + `(run sh -c 'echo >/tmp/guest/up; sleep 60') & until_file /tmp/guest/up; kill -9 $!; wait $!; ended
ls -d /tmp/svcrelay-window-* | wc -l; (run true); ls -d /tmp/svcrelay-window-* 2>/dev/null | wc -l`
	if got := m.Run(t, rigtest.Options{Timeout: limit}, "bash", "-c", killed); got.Stdout != "ended\n1\n0\n" {
		t.Errorf("after a kill: %q, %s, want one window and then none", got.Stdout, got.Stderr)
	}
}
