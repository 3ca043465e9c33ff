// Counting stops. The tracer's thread counts, any other may look: so a stop costs
// an atomic addition or two, and what is slow happens when a process comes, runs
// another program or goes.
package tracer

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"svcrelay/runtime/sysno"
)

// Stats counts the stops of one guest. A nil Stats counts nothing.
type Stats struct {
	calls                       [sysno.Max + 2]atomic.Uint64 // the last: numbers beyond the table
	ends, signals, execs, tasks atomic.Uint64

	mu    sync.Mutex
	live  map[*counter]bool
	ended []ProcessStops
	more  Rest
}

// A counter is one process's.
type counter struct {
	pid   int
	exe   string // under mu
	stops atomic.Uint64
}

// A Summary is what was counted so far.
type Summary struct {
	Calls   map[string]uint64 // stops at the entry of a call, by its name
	Ends    uint64            // second stops, at the end of a call
	Signals uint64
	Execs   uint64
	Tasks   uint64 // processes and threads that were made
	// Processes, those with most stops first. Of those that are gone, it holds
	// the busiest thousand or two, and Rest the others.
	Processes []ProcessStops
	Rest      Rest
}

// ProcessStops is how often a process was stopped. A pid may come again.
type ProcessStops struct {
	Pid   int
	Exe   string // guest path of the last program that it ran
	Stops uint64
}

// Rest is the processes that are not listed.
type Rest struct{ Processes, Stops uint64 }

// keptProcesses bounds what is remembered of processes that are gone.
const keptProcesses = 1024

func (s *Stats) call(nr int) {
	if s == nil {
		return
	}
	if nr < 0 || nr > sysno.Max {
		nr = sysno.Max + 1
	}
	s.calls[nr].Add(1)
}

func (s *Stats) end() {
	if s != nil {
		s.ends.Add(1)
	}
}

func (s *Stats) signal() {
	if s != nil {
		s.signals.Add(1)
	}
}

func (s *Stats) task() {
	if s != nil {
		s.tasks.Add(1)
	}
}

// stop counts any stop of the process.
func (c *counter) stop() {
	if c != nil {
		c.stops.Add(1)
	}
}

// born returns the counter of a new process, which runs what its parent ran.
func (s *Stats) born(pid int, exe string) *counter {
	if s == nil {
		return nil
	}
	c := &counter{pid: pid, exe: exe}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.live == nil {
		s.live = map[*counter]bool{}
	}
	s.live[c] = true
	return c
}

// exec counts an exec, which made the process run exe.
func (s *Stats) exec(c *counter, exe string) {
	if s == nil || c == nil {
		return
	}
	s.execs.Add(1)
	s.mu.Lock()
	c.exe = exe
	s.mu.Unlock()
}

// died moves a process to those that are gone.
func (s *Stats) died(c *counter) {
	if s == nil || c == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.live, c)
	if s.ended = append(s.ended, c.summary()); len(s.ended) < 2*keptProcesses {
		return
	}
	slices.SortFunc(s.ended, busiest)
	for _, p := range s.ended[keptProcesses:] {
		s.more.Processes++
		s.more.Stops += p.Stops
	}
	s.ended = s.ended[:keptProcesses]
}

func (c *counter) summary() ProcessStops { return ProcessStops{c.pid, c.exe, c.stops.Load()} }

func busiest(a, b ProcessStops) int {
	return cmp.Or(cmp.Compare(b.Stops, a.Stops), cmp.Compare(a.Pid, b.Pid), cmp.Compare(a.Exe, b.Exe))
}

// Summary may be called at any time, by any goroutine.
func (s *Stats) Summary() Summary {
	sum := Summary{
		Calls: map[string]uint64{}, Ends: s.ends.Load(), Signals: s.signals.Load(), Execs: s.execs.Load(), Tasks: s.tasks.Load(),
	}
	for nr := range s.calls {
		name := "unknown"
		if nr <= sysno.Max {
			name = sysno.Name(nr)
		}
		if n := s.calls[nr].Load(); n > 0 {
			sum.Calls[name] = n
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	sum.Processes = slices.Clone(s.ended)
	for c := range maps.Keys(s.live) {
		sum.Processes = append(sum.Processes, c.summary())
	}
	slices.SortFunc(sum.Processes, busiest)
	sum.Rest = s.more
	return sum
}
