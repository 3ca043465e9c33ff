package abi

import (
	"encoding/binary"
	"os"
	"reflect"
	"strings"
	"testing"
)

func TestStepString(t *testing.T) {
	for step, want := range map[Step]string{StepDone: "done", StepPlan: "plan", StepZero: "zero", stepEnd: "unknown step", 1 << 31: "unknown step"} {
		if got := step.String(); got != want {
			t.Errorf("Step(%d).String() = %q, want %q", uint32(step), got, want)
		}
	}
}

// TestMagic has a program's argc never be taken for a plan: argc is an int.
func TestMagic(t *testing.T) {
	if PlanMagic <= 1<<32 {
		t.Errorf("PlanMagic = %#x, want more than any argc", uint64(PlanMagic))
	}
}

func TestStructs(t *testing.T) {
	for _, s := range Structs {
		size := reflect.TypeOf(s.Value).Size()
		if packed := binary.Size(s.Value); packed != int(size) || size%8 != 0 {
			t.Errorf("%s: %d bytes of fields in %d, want the same and a multiple of 8", s.Name, packed, size)
		}
	}
}

// TestHeaderNames has every constant of the C sources come from the tables.
func TestHeaderNames(t *testing.T) {
	header, err := os.ReadFile("../guest/abi.h")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range Defines {
		if !strings.Contains(string(header), "#define "+d.Name+" ") {
			t.Errorf("abi.h lacks %s: run make generate", d.Name)
		}
	}
}
