// The two lists that the C header is made of. A constant that C needs is named
// here once; a structure brings its fields along.
package abi

// A Define is a number with its C name.
type Define struct {
	Name  string
	Value uint64
}

// Defines are the numbers of the header.
var Defines = []Define{
	{"SR_VERSION", Version},
	{"SR_PLAN_MAGIC", PlanMagic},
	{"SR_NOTE_TYPE", NoteType},
	{"SR_EXIT_STATUS", ExitStatus},
	{"SR_NO_REPORT", NoReport},
	{"SR_PLAN_EXEC_STACK", PlanExecStack},
	{"SR_IMAGE_FIXED", ImageFixed},
	{"SR_IMAGE_INTERP", ImageInterp},
	{"SR_IMAGE_KEEP_FD", ImageKeepFD},
	{"SR_PROT_READ", ProtRead},
	{"SR_PROT_WRITE", ProtWrite},
	{"SR_PROT_EXEC", ProtExec},
	{"SR_PROT_BTI", ProtBTI},
	{"SR_STEP_DONE", uint64(StepDone)},
	{"SR_STEP_PLAN", uint64(StepPlan)},
	{"SR_STEP_OPEN", uint64(StepOpen)},
	{"SR_STEP_RESERVE", uint64(StepReserve)},
	{"SR_STEP_MAP", uint64(StepMap)},
	{"SR_STEP_ZERO", uint64(StepZero)},
	{"SR_STEP_WINDOW", uint64(StepWindow)},
	{"SR_WINDOW_ADDR", WindowAddr},
	{"SR_WINDOW_SIZE", WindowSize},
}

// A Struct is a structure with its C tag.
type Struct struct {
	Name  string
	Value any
}

// Structs are the structures of the header.
var Structs = []Struct{
	{"sr_plan", Plan{}},
	{"sr_image", Image{}},
	{"sr_segment", Segment{}},
}
