//go:build rig

// What a call of a guest costs, in instructions of the whole machine: the guest,
// the kernel and the tracer. A machine that counts them gives the same numbers
// every time, within a few in a hundred, however busy its host is.

package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"svcrelay/cmd/internal/machine"
	"svcrelay/cmd/internal/rigtest"
)

// limits is what a call may cost under the tracer. Termux's proot, the fastest
// that there was, needs 761 for getppid and 85,800 for stat.
var limits = map[string]float64{
	"getppid": 770, "stat": 45_000, "open+close": 60_000, "access": 44_000, "fstatat": 50_000, "missing": 45_000,
	"readlink-exe": 45_000, "getcwd": 22_000, "uname": 22_000, "brk": 22_000, "thread": 70_000, "fork+exec+wait": 1_400_000,
}

const calls = "/r/trixie/calls"

// costs reads the output of testdata/calls.c.
func costs(t testing.TB, out string) map[string]float64 {
	t.Helper()
	all := map[string]float64{}
	for line := range strings.Lines(out) {
		var name string
		var cost float64
		if _, err := fmt.Sscan(line, &name, &cost); err != nil {
			t.Fatalf("calls: %q: %v", line, err)
		}
		all[name] = cost
	}
	return all
}

func TestCallCosts(t *testing.T) {
	m := rigtest.Start(t, machine.Options{Kernel: "6.12", Icount: true})
	files := map[string]string{relay: rigtest.Build(t, "cmd/svcrelay"), calls: rigtest.Compile(t, "cmd/svcrelay/testdata/calls.c")}
	o := rigtest.Options{Files: files, Timeout: 3 * limit}
	native := costs(t, m.Run(t, o, "chroot", "/r/trixie", "/calls", "9", "400").Stdout)
	got := map[string]float64{}
	// How the tasks of a guest take turns differs from run to run: the least counts.
	for range 3 {
		argv := []string{relay, "run", "-r", "/r/trixie", "-b", "/proc", "/calls", "9", "400"}
		if len(got) > 0 {
			argv = append(argv, strings.Join(tooDear(got), " "))
		}
		for name, cost := range costs(t, m.Run(t, rigtest.Options{Timeout: 3 * limit}, argv...).Stdout) {
			if got[name] == 0 || cost < got[name] {
				got[name] = cost
			}
		}
		if len(tooDear(got)) == 0 {
			break
		}
	}
	for _, name := range slices.Sorted(maps.Keys(limits)) {
		t.Logf("%-14s native %7.0f, under svcrelay run %8.0f, at most %8.0f", name, native[name], got[name], limits[name])
	}
	if dear := tooDear(got); len(dear) > 0 {
		t.Errorf("%s: more instructions than the limits above", dear)
	}
}

// tooDear lists the calls that cost more than they may, or were not measured.
func tooDear(got map[string]float64) (names []string) {
	for _, name := range slices.Sorted(maps.Keys(limits)) {
		if got[name] == 0 || got[name] > limits[name] {
			names = append(names, name)
		}
	}
	return names
}

// contenders are ways to run a program of the same root.
var contenders = []struct{ name, prefix string }{
	{"native", "chroot /r/trixie"},
	{"svcrelay", "/svcrelay run -r /r/trixie -b /proc -b /dev -b /tmp"},
	{"proot", "env PROOT_NO_SECCOMP=1 proot -r /r/trixie -b /proc -b /dev -b /tmp"},
}

// workloads are whole programs.
var workloads = []struct{ name, program string }{
	{"find", "find /usr -newer /none -o -size +1000M"},
	{"tar", "tar -cf /dev/null --ignore-failed-read /usr/share"},
	{"python", "python3 -c 'import json,re,socket,subprocess,threading,ctypes,email,http.client,decimal,argparse'"},
	{"200-execs", "sh -c 'i=0; while [ $i -lt 200 ]; do /bin/true; i=$((i+1)); done'"},
}

// BenchmarkGuest measures time: each program native, under svcrelay run and under
// Debian's proot (which filters nothing on arm64), in turn, five times over. The
// unit is the median of ratios to native.
func BenchmarkGuest(b *testing.B) {
	m := rigtest.Start(b, machine.Options{})
	files := map[string]string{relay: rigtest.Build(b, "cmd/svcrelay"), calls: rigtest.Compile(b, "cmd/svcrelay/testdata/calls.c")}
	m.Run(b, rigtest.Options{Files: files}, "true")
	for _, w := range workloads {
		b.Run(w.name, func(b *testing.B) { compare(b, m, w.program) })
	}
	b.Run("calls", func(b *testing.B) { compareCalls(b, m) })
}

const rounds = 5

func compare(b *testing.B, m *rigtest.Machine, program string) {
	var ratios [3][]float64
	for range b.N * rounds {
		var native time.Duration
		for i, c := range contenders {
			r := m.Run(b, rigtest.Options{Timeout: 10 * limit}, "sh", "-c", "exec "+c.prefix+" "+program+" >/dev/null 2>&1")
			if i == 0 {
				native = r.Wall
			}
			ratios[i] = append(ratios[i], float64(r.Wall)/float64(native))
		}
	}
	for i, c := range contenders[1:] {
		b.ReportMetric(median(ratios[i+1]), c.name+"/native")
	}
	b.ReportMetric(0, "ns/op")
}

func compareCalls(b *testing.B, m *rigtest.Machine) {
	ratios := map[string][]float64{}
	for range b.N * rounds {
		var native map[string]float64
		for i, c := range contenders {
			r := m.Run(b, rigtest.Options{Timeout: 10 * limit}, "sh", "-c", "exec "+c.prefix+" /calls 3 80")
			got := costs(b, r.Stdout)
			if i == 0 {
				native = got
				continue
			}
			for name, cost := range got {
				key := name + ":" + c.name + "/native"
				ratios[key] = append(ratios[key], cost/native[name])
			}
		}
	}
	for key, all := range ratios {
		b.ReportMetric(median(all), key)
	}
	b.ReportMetric(0, "ns/op")
}

func median(all []float64) float64 {
	all = slices.Sorted(slices.Values(all))
	return all[len(all)/2]
}
