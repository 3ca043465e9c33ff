package tracer

import (
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"svcrelay/runtime/sysno"
)

func TestStats(t *testing.T) {
	var s Stats
	first := s.born(7, "")
	s.exec(first, "/bin/sh")
	second := s.born(3, "/bin/sh")
	for range 3 {
		s.call(sysno.Openat)
		first.stop()
	}
	for _, nr := range []int{sysno.Execve, -1, sysno.Max + 1, 1 << 30} {
		s.call(nr)
	}
	second.stop()
	s.end()
	s.signal()
	s.task()
	s.task()
	s.died(first)
	s.born(3, "/bin/ls").stop() // the number again
	want := Summary{
		Calls: map[string]uint64{"openat": 3, "execve": 1, "unknown": 3}, Ends: 1, Signals: 1, Execs: 1, Tasks: 2,
		Processes: []ProcessStops{{7, "/bin/sh", 3}, {3, "/bin/ls", 1}, {3, "/bin/sh", 1}},
	}
	if diff := cmp.Diff(want, s.Summary()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestStatsOfManyProcesses: what is remembered of the dead is bounded, and nothing
// that was counted is lost.
func TestStatsOfManyProcesses(t *testing.T) {
	const n = 10 * keptProcesses
	var s Stats
	want := uint64(0)
	for i := range n {
		c := s.born(i, "/bin/true")
		for range i % 3 {
			c.stop()
			want++
		}
		s.died(c)
	}
	got := s.Summary()
	stops := got.Rest.Stops
	for i, p := range got.Processes {
		stops += p.Stops
		if i > 0 && busiest(got.Processes[i-1], p) >= 0 {
			t.Fatalf("%v before %v", got.Processes[i-1], p)
		}
	}
	if len(got.Processes) >= 2*keptProcesses || got.Processes[0].Stops != 2 {
		t.Errorf("%d processes, the first with %d stops, want less than %d and 2", len(got.Processes), got.Processes[0].Stops, 2*keptProcesses)
	}
	if sum := int(got.Rest.Processes) + len(got.Processes); sum != n || stops != want {
		t.Errorf("%d processes and %d stops, want %d and %d", sum, stops, n, want)
	}
}

// TestStatsAllocateNothing: no stop may cost memory.
func TestStatsAllocateNothing(t *testing.T) {
	for _, s := range []*Stats{{}, nil} {
		c := s.born(1, "/bin/sh")
		if n := testing.AllocsPerRun(100, func() { s.call(sysno.Openat); s.end(); s.signal(); s.task(); c.stop() }); n != 0 {
			t.Errorf("%v allocations a stop", n)
		}
		s.exec(c, "/bin/ls")
		s.died(c)
	}
}

// TestStatsWhileCounting is for the race detector.
func TestStatsWhileCounting(t *testing.T) {
	var s Stats
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := range 1000 {
			c := s.born(i, "/bin/sh")
			s.call(sysno.Openat)
			c.stop()
			s.exec(c, "/bin/ls")
			s.died(c)
		}
	})
	for range 100 {
		s.Summary()
	}
	wg.Wait()
	if got := s.Summary(); got.Calls["openat"] != 1000 || len(got.Processes) != 1000 {
		t.Errorf("%d calls and %d processes, want 1000", got.Calls["openat"], len(got.Processes))
	}
}
