//go:build linux && arm64 && cgo

package tracer

// started is not known in a program with C: signals that the caller ignores or
// blocks are then the guest's as far as the Go runtime left them alone.
var started inherited
