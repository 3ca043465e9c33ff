package sysno

// The numbers against two lists that others keep: golang.org/x/sys/unix, and
// the asm/unistd.h of the cross compiler. The latter is of an older kernel, so
// it is asked which of our calls it knows; the former knows them all.

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

const cc = "aarch64-linux-gnu-gcc"

// output runs a tool that the tests cannot do without.
func output(t *testing.T, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, stderr.String())
	}
	return string(out)
}

// sameNumbers compares the table with lines of another list: name, number.
func sameNumbers(t *testing.T, matches [][]string, atLeast int) {
	t.Helper()
	seen := map[string]bool{}
	for _, m := range matches {
		name := strings.ToLower(m[1])
		if name == "arch_specific_syscall" || name == "syscalls" {
			continue // a base and a count
		}
		nr, err := strconv.Atoi(m[2])
		if err != nil {
			t.Fatal(err)
		}
		if c, ok := ByName(name); !ok || c.Nr != nr {
			t.Errorf("ByName(%q) = %d, %t, want %d, true", name, c.Nr, ok, nr)
		}
		seen[name] = true
	}
	for _, c := range All() {
		if atLeast == len(byName) && !seen[c.Name] {
			t.Errorf("%s (%d) is in the table alone", c.Name, c.Nr)
		}
	}
	if len(seen) < atLeast {
		t.Errorf("%d numbers compared, want %d or more", len(seen), atLeast)
	}
}

func TestNumbersAgreeWithXSys(t *testing.T) {
	// Not go list -m: it names no folder before something has fetched the module.
	var module struct{ Dir string }
	if err := json.Unmarshal([]byte(output(t, "go", "mod", "download", "-json", "golang.org/x/sys")), &module); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(module.Dir, "unix", "zsysnum_linux_arm64.go"))
	if err != nil {
		t.Fatal(err)
	}
	sameNumbers(t, regexp.MustCompile(`(?m)^\tSYS_(\w+)\s+= (\d+)$`).FindAllStringSubmatch(string(data), -1), len(byName))
}

func TestNumbersAgreeWithKernelHeader(t *testing.T) {
	src := write(t, "ask.c", "#include <asm/unistd.h>\n")
	macros := output(t, cc, "-E", "-dM", src)
	// __NR_fcntl is __NR3264_fcntl is 25.
	long := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^#define (__NR3264_\w+) (\d+)$`).FindAllStringSubmatch(macros, -1) {
		long[m[1]] = m[2]
	}
	matches := regexp.MustCompile(`(?m)^#define __NR_(\w+) (\w+)$`).FindAllStringSubmatch(macros, -1)
	for _, m := range matches {
		if nr, ok := long[m[2]]; ok {
			m[2] = nr
		}
	}
	sameNumbers(t, matches, 300)
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// cSource asserts in C what Go says of every row.
func cSource() string {
	var b strings.Builder
	b.WriteString("#include \"sysno.h\"\n#define X(nr, name, class, relay) enum { N_##name = nr, C_##name = class, R_##name = relay };\n" +
		"SR_EACH_CALL(X)\n#undef X\n#define X(nr, name, class, relay) + 1\n")
	relayed := 0
	for _, c := range All() {
		fmt.Fprintf(&b, "_Static_assert(SR_NR_%[1]s == %[2]d && N_%[1]s == %[2]d && C_%[1]s == %[3]d && R_%[1]s == %[4]d, \"%[1]s\");\n",
			c.Name, c.Nr, c.Class, c.Relay)
		if c.Relay != 0 {
			relayed++
		}
	}
	fmt.Fprintf(&b, "_Static_assert(0 SR_EACH_CALL(X) == %d, \"calls\");\n", len(byName))
	fmt.Fprintf(&b, "_Static_assert(0 SR_EACH_RELAYED(X) == %d, \"relayed\");\n", relayed)
	fmt.Fprintf(&b, "_Static_assert(SR_NR_MAX == %d && SR_CLASS_refuse == %d && SR_RELAY_cache == %d, \"words\");\n", Max, ClassRefuse, RelayCache)
	return b.String()
}

func compile(src string, flags ...string) (string, error) {
	args := append([]string{"-std=c11", "-ffreestanding", "-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only"}, flags...)
	out, err := exec.Command(cc, append(args, src)...).CombinedOutput()
	return string(out), err
}

func TestHeaderIsFreestandingAndAgrees(t *testing.T) {
	src := write(t, "rows.c", cSource())
	if out, err := compile(src, "-I.", "-nostdinc"); err != nil {
		t.Errorf("sysno.h without any other header: %v\n%s", err, out)
	}
	if out, err := compile(src, "-I.", "-DSR_CHECK_NUMBERS"); err != nil {
		t.Errorf("sysno.h against asm/unistd.h: %v\n%s", err, out)
	}
}

// TestHeaderAssertsBite breaks one number and wants the compiler to name it.
func TestHeaderAssertsBite(t *testing.T) {
	data, err := os.ReadFile("sysno.h")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"io_setup", "fcntl", "openat", "clone3", "faccessat2"} {
		c, _ := ByName(name)
		define := fmt.Sprintf("#define SR_NR_%s %d\n", name, c.Nr)
		broken := strings.Replace(string(data), define, fmt.Sprintf("#define SR_NR_%s %d\n", name, c.Nr+1), 1)
		if broken == string(data) {
			t.Fatalf("sysno.h has no line %q", define)
		}
		out, err := compile(write(t, "broken.c", broken), "-DSR_CHECK_NUMBERS")
		if err == nil || !strings.Contains(out, `"`+name+`"`) {
			t.Errorf("a wrong number of %s compiles, or is not named: %v\n%s", name, err, out)
		}
	}
}
