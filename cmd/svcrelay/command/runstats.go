// Printing what --stats counted.
package command

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"svcrelay/runtime/tracer"
)

// statsLine is the JSON form; the help describes it.
type statsLine struct {
	Calls     map[string]uint64 `json:"calls"`
	Ends      uint64            `json:"ends"`
	Signals   uint64            `json:"signals"`
	Execs     uint64            `json:"execs"`
	Tasks     uint64            `json:"tasks"`
	Processes []statsProcess    `json:"processes"`
	Rest      statsRest         `json:"rest"`
}

type statsProcess struct {
	Pid   int    `json:"pid"`
	Exe   string `json:"exe"`
	Stops uint64 `json:"stops"`
}

type statsRest struct {
	Processes uint64 `json:"processes"`
	Stops     uint64 `json:"stops"`
}

// print prints in a form.
func (f statsForm) print(w io.Writer, s tracer.Summary) {
	if f == statsJSON {
		printStatsJSON(w, s)
		return
	}
	for _, name := range slices.Sorted(maps.Keys(s.Calls)) {
		fmt.Fprintf(w, "%-20s %d\n", name, s.Calls[name])
	}
	fmt.Fprintf(w, "ends %d, signals %d, execs %d, tasks %d\n", s.Ends, s.Signals, s.Execs, s.Tasks)
	for _, p := range s.Processes {
		fmt.Fprintf(w, "pid %-10d %-9d %s\n", p.Pid, p.Stops, printable(p.Exe))
	}
	if s.Rest.Processes > 0 {
		fmt.Fprintf(w, "rest %-9d %d\n", s.Rest.Processes, s.Rest.Stops)
	}
}

func printStatsJSON(w io.Writer, s tracer.Summary) {
	line := statsLine{Calls: s.Calls, Ends: s.Ends, Signals: s.Signals, Execs: s.Execs, Tasks: s.Tasks,
		Processes: []statsProcess{}, Rest: statsRest(s.Rest)}
	for _, p := range s.Processes {
		line.Processes = append(line.Processes, statsProcess(p))
	}
	text, err := json.Marshal(line)
	if err != nil {
		panic(err) // numbers and strings
	}
	fmt.Fprintf(w, "%s\n", text)
}

// printOnSignal prints on every SIGUSR1 until the function that it returns is
// called.
func (f statsForm) printOnSignal(w io.Writer, s *tracer.Stats) (stop func()) {
	asked, done, end := make(chan os.Signal, 1), make(chan bool), make(chan bool)
	signal.Notify(asked, syscall.SIGUSR1)
	go func() {
		defer close(done)
		for {
			select {
			case <-asked:
				f.print(w, s.Summary())
			case <-end:
				return
			}
		}
	}()
	return func() {
		signal.Stop(asked)
		close(end)
		<-done
	}
}
