//go:build rig

// The command line of an app that runs a desktop: proot by the name that Android
// gives it, its exec loader beside it, some 25 binds of which not every device has
// each, and all of it as the app's user under the app's filter.

package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"svcrelay/cmd/internal/machine"
	"svcrelay/cmd/internal/rigtest"
)

// appFiles makes what the app has: a folder of its own, files that stand in for
// those of /proc and /sys that an app may not read, storage, a game library.
const appFiles = `
set -e
app=/data/app; mkdir -p $app/tmp $app/shm $app/run $app/home $app/fake/fs $app/guest-tmp /storage/emulated/0/Games /mnt/sd/lib /system/lib64 /vendor
for f in stat loadavg uptime version vmstat cap_last_cap max_user_watches; do echo fake $f >$app/fake/$f; done
echo game >/storage/emulated/0/Games/save; echo sd >/mnt/sd/lib/app.acf; echo host >$app/hosts; echo nameserver >$app/resolv.conf
echo gpu >/vendor/gpu.so; chown -R 10123:10123 $app /storage /mnt/sd
`

// launch is the app's command line, up to the guest's own program.
func launch() []string {
	const app = "/data/app/"
	binds := []string{
		"/dev", "/proc", "/sys", "/dev/urandom:/dev/random", "/proc/self/fd:/dev/fd", "/proc/self/fd/0:/dev/stdin",
		"/proc/self/fd/1:/dev/stdout", "/proc/self/fd/2:/dev/stderr",
		app + "fake/stat:/proc/stat", app + "fake/loadavg:/proc/loadavg", app + "fake/uptime:/proc/uptime", app + "fake/version:/proc/version",
		app + "fake/vmstat:/proc/vmstat", app + "fake/cap_last_cap:/proc/sys/kernel/cap_last_cap",
		app + "fake/max_user_watches:/proc/sys/fs/inotify/max_user_watches", app + "fake/fs:/sys/fs/selinux",
		"/dev/kgsl-3d0", app + "shm:/dev/shm", app + "guest-tmp:/tmp", app + "run:/run/user/10123", app + "hosts:/etc/hosts", app + "resolv.conf:/etc/resolv.conf",
		"/storage/emulated/0:/sdcard", "/mnt/sd:/mnt/droiddeck-sd", "/system", "/vendor", "/apex", "/linkerconfig/ld.config.txt",
		app, app + "home:/home/deck",
	}
	argv := []string{"/lib/app/libproot.so", "--kill-on-exit", `--kernel-release=\Linux\DroidDeck\6.12.38\#1 SMP\aarch64\localdomain\-1\`,
		"-i", "10123:10123", "--rootfs=/r/forky", "--cwd=/home/deck"}
	for _, b := range binds {
		argv = append(argv, "--bind="+b)
	}
	return append(argv, "/usr/bin/env", "-i", "HOME=/home/deck", "USER=deck", "PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8", "XDG_RUNTIME_DIR=/run/user/10123")
}

func TestLauncher(t *testing.T) {
	m := withRelay(t, machine.Options{})
	if r := m.Run(t, rigtest.Options{Timeout: limit}, "bash", "-c", appFiles); r.Code != 0 {
		t.Fatal(r.Stderr)
	}
	const session = `
pwd; echo $PWD $USER; umask; uname -nr; id -u
cat /proc/stat /proc/sys/kernel/cap_last_cap /sdcard/Games/save /mnt/droiddeck-sd/lib/app.acf /etc/hosts /vendor/gpu.so
ls /sys/fs/selinux /proc/self/fd | wc -w; (echo through | tee /dev/stdout) | cat; (echo out >/dev/stdout) | cat; echo from | cat /dev/stdin; cat /dev/fd/3 3</etc/resolv.conf
echo kept >$XDG_RUNTIME_DIR/file; echo shm >/dev/shm/x; echo save >>/sdcard/Games/save; cat /data/app/run/file /data/app/shm/x; mv /tmp/none /tmp/x 2>/dev/null || echo no
readlink /proc/self/exe /proc/self/cwd; [ -e /apex ] || echo no apex
python3 -c 'import threading,os; t=threading.Thread(target=lambda: print("thread", os.getcwd())); t.start(); t.join()'
setsid sleep 60 & exit 5`
	const want = `/home/deck
/home/deck deck
0022
DroidDeck 6.12.38
10123
fake stat
fake cap_last_cap
game
sd
host
gpu
6
through
through
out
from
nameserver
kept
shm
no
/usr/bin/readlink
/home/deck
no apex
thread /home/deck
`
	o := rigtest.Options{Level: 34, UID: 10123, Timeout: limit, Dir: "/data/app", Stdin: "\n",
		Env: []string{"PROOT_LOADER=/lib/app/libproot-loader.so", "PROOT_TMP_DIR=/data/app/tmp"}, Collect: []string{"/storage/emulated/0/Games/save"}}
	got := m.Run(t, o, append(launch(), "/bin/sh", "-c", session)...)
	if diff := cmp.Diff(want, got.Stdout); diff != "" || got.Code != 5 {
		t.Errorf("status %d, -want +got:\n%s\n%s", got.Code, diff, got.Stderr)
	}
	if diff := cmp.Diff("game\nsave\n", got.Files["/storage/emulated/0/Games/save"]); diff != "" {
		t.Errorf("storage -want +got:\n%s", diff)
	}
	for i, what := range []string{"/apex", "/dev/kgsl-3d0", "/linkerconfig/ld.config.txt"} {
		if lines := strings.Split(strings.TrimSpace(got.Stderr), "\n"); len(lines) != 3 || !strings.Contains(lines[i], "bind "+what+" at "+what+": no such file or directory") {
			t.Errorf("prints %q, want a line for %s and two more", got.Stderr, what)
		}
	}
	o.Env = append(o.Env, "PROOT_IGNORE_MISSING_BINDINGS=1")
	if got := m.Run(t, o, append(launch(), "sh", "-c", "ls /data/app/tmp | grep -v window")...); got.Code != 1 || got.Stdout != "" || got.Stderr != "" {
		t.Errorf("status %d, prints %q, %q; want nothing, the loader was given", got.Code, got.Stdout, got.Stderr)
	}
}
