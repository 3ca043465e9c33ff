// Package blob holds the built guest programs.
//
// It promises the bytes that were checked when they were built: the exec loader
// is one file of one segment, position-independent, without relocations, that
// takes a page. It refuses nothing and knows nothing of what it holds.
package blob

import _ "embed"

// Loader is the exec loader, an ELF program for arm64 Linux.
//
//go:embed loader.elf
var Loader []byte

// Built says what built the programs: a line per tool, then a SHA-256 with the
// name of every source.
//
//go:embed built.txt
var Built string
