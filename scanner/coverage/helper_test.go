package coverage

import (
	"fmt"
	"strings"
	"testing"

	"svcrelay/runtime/sysno"
	"svcrelay/scanner"
	"svcrelay/scanner/elfimg"
)

// nr is the number of a call that the test names.
func nr(name string) int {
	call, ok := sysno.ByName(name)
	if !ok {
		panic(name)
	}
	return call.Nr
}

// svc is an svc site as the scanner lists it: accepted when a relay handles it.
func svc(vaddr uint64, name string, distance int, function string) scanner.Site {
	s := scanner.Site{Vaddr: vaddr, Kind: scanner.Svc, Number: nr(name), Distance: distance, Flags: scanner.Proven,
		Function: function, Offset: 8, Reason: scanner.NumberNotRelayed}
	if sysno.Relayed(s.Number) {
		s.Verdict, s.Reason, s.Hook, s.HookReason = scanner.Accept, scanner.ReasonNone, vaddr-4, scanner.HookBefore
	}
	return s
}

// refused is an svc whose number is not known.
func refused(vaddr uint64, reason scanner.Reason, function string) scanner.Site {
	return scanner.Site{Vaddr: vaddr, Kind: scanner.Svc, Number: scanner.NoNumber, Reason: reason, Function: function}
}

// bridge is a cancellation bridge whose entry is at vaddr.
func bridge(vaddr uint64) scanner.Site {
	return scanner.Site{Vaddr: vaddr + 40, Kind: scanner.Bridge, Number: scanner.NoNumber, Verdict: scanner.Accept,
		Hook: vaddr, HookReason: scanner.HookEntry, Flags: scanner.BridgeEntry, Start: vaddr + 4, End: vaddr + 44}
}

func call(vaddr uint64, name, function string) scanner.Site {
	return scanner.Site{Vaddr: vaddr, Kind: scanner.Call, Number: nr(name), Verdict: scanner.Accept, Hook: vaddr,
		HookReason: scanner.HookCall, Flags: scanner.Proven | scanner.ViaBridge, Function: function}
}

// build describes an image with these sites in 64 KiB of text at 0x1000.
func build(image, libc, version, id string, sites ...scanner.Site) *Build {
	b := &Build{Image: image, Source: "rootfs", BuildID: id, Libc: libc, Version: version,
		Exec: []elfimg.Range{{Vaddr: 0x1000, Off: 0x1000, Size: 0x10000, Name: ".text"}}, Result: &scanner.Result{Sites: sites, Window: 8}}
	for _, s := range sites {
		if s.Kind != scanner.Call {
			b.Svcs = append(b.Svcs, s.Vaddr)
		}
	}
	return b
}

// libc31, libc43 and ld43 are small builds in which everything holds.
func libc31() *Build {
	async := svc(0x1200, "openat", 3, "open")
	async.Flags |= scanner.AsyncCancel
	return build("libc-2.31.so", "glibc", "2.31", "3131313131",
		svc(0x1100, "openat", 1, "open"), async,
		svc(0x1300, "newfstatat", 1, "__xstat"),
		svc(0x1400, "getpid", 1, "getpid"),
		refused(0x1500, scanner.NumberInRegister, "syscall"))
}

func libc43() *Build {
	return build("libc.so.6", "glibc", "2.43", "4343434343",
		svc(0x1100, "newfstatat", 1, "fstatat"),
		svc(0x1200, "newfstatat", 4, ""),
		bridge(0x1300),
		svc(0x1400, "getpid", 1, "getpid"),
		call(0x1500, "openat", "open"),
		call(0x1600, "openat", "openat"))
}

func ld43() *Build {
	return build("ld-linux-aarch64.so.1", "glibc", "2.43", "1d1d1d1d1d", svc(0x1100, "openat", 1, ""))
}

// merged is the golden of builds.
func merged(t *testing.T, builds ...*Build) *Golden {
	t.Helper()
	g, err := new(Golden).Merge(builds)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// texts are findings as "severity case: text" lines.
func texts(findings []Finding) []string {
	var lines []string
	for _, f := range findings {
		lines = append(lines, fmt.Sprintf("%s %s: %s", f.Severity, f.Case, f.Text))
	}
	return lines
}

// hostile is a name that no output may carry as it is.
const hostile = "a b\n<script>alert(1)</script>\x1b[31m\"&\xff\u202e"

func hostileBuild() *Build {
	return build(hostile, hostile, hostile, hostile, svc(0x1100, "openat", 1, hostile), refused(0x1200, scanner.NumberTooFar, hostile))
}

// checkPrintable fails unless text is lines of printable ASCII without trailing
// spaces.
func checkPrintable(t *testing.T, text string) {
	t.Helper()
	for i, line := range strings.Split(text, "\n") {
		if strings.HasSuffix(line, " ") {
			t.Errorf("line %d ends in a space: %q", i+1, line)
		}
		if strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || r > 0x7e }) {
			t.Errorf("line %d is not printable ASCII: %q", i+1, line)
		}
	}
}
