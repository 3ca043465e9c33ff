package command

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"svcrelay/runtime/tracer"
)

func TestPrintStats(t *testing.T) {
	sum := tracer.Summary{
		Calls: map[string]uint64{"openat": 3, "brk": 1, "execve": 12}, Ends: 4, Signals: 5, Execs: 6, Tasks: 7,
		Processes: []tracer.ProcessStops{{Pid: 31, Exe: "/bin/a\nb", Stops: 9}, {Pid: 4194304, Exe: "", Stops: 1}},
		Rest:      tracer.Rest{Processes: 2, Stops: 3},
	}
	for _, tt := range []struct {
		form statsForm
		sum  tracer.Summary
		want string
	}{
		{statsText, sum, `brk                  1
execve               12
openat               3
ends 4, signals 5, execs 6, tasks 7
pid 31         9         /bin/a?b
pid 4194304    1         ` + `
rest 2         3
`},
		{statsJSON, sum, `{"calls":{"brk":1,"execve":12,"openat":3},"ends":4,"signals":5,"execs":6,"tasks":7,` +
			`"processes":[{"pid":31,"exe":"/bin/a\nb","stops":9},{"pid":4194304,"exe":"","stops":1}],"rest":{"processes":2,"stops":3}}` + "\n"},
		{statsJSON, tracer.Summary{Calls: map[string]uint64{}}, `{"calls":{},"ends":0,"signals":0,"execs":0,"tasks":0,"processes":[],"rest":{"processes":0,"stops":0}}` + "\n"},
	} {
		var out bytes.Buffer
		tt.form.print(&out, tt.sum)
		if diff := cmp.Diff(tt.want, out.String()); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
}
