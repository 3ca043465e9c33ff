//go:build linux && arm64 && !cgo

// The one moment before the Go runtime changes signals: it calls _cgo_init first,
// where there is one. C code would define it; we do.

package tracer

import _ "unsafe" // for go:linkname

// started is what this process was started with.
var started inherited

// noteStarted is the function in started_arm64.s.
//
//go:linkname noteStarted noteStarted
var noteStarted byte

//go:linkname _cgo_init _cgo_init
var _cgo_init = &noteStarted
