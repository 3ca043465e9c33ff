// Gen makes zsysno.go, sysno.h and SYSCALLS.md from syscalls.tsv, and compares
// that file with the headers of a kernel.
//
//	go run ./gen                  write the three files (go generate does this)
//	go run ./gen -check HEADERS   compare numbers, names and arguments
//
// It imports nothing of package sysno: a broken zsysno.go must not keep it from
// making a good one. The same file gives the same bytes, on any machine.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"svcrelay/runtime/genfile"
)

const source = "syscalls.tsv"

// output is one generated file.
type output struct {
	name string
	data []byte
}

func main() {
	dir := flag.String("dir", ".", "folder that holds "+source)
	headers := flag.String("check", "", "folder that holds the kernel's include/: compare, write nothing")
	flag.Parse()
	if err := run(*dir, *headers); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(dir, headers string) error {
	t, err := load(dir)
	if err != nil {
		return err
	}
	if headers != "" {
		return check(t, headers)
	}
	outs, err := generate(t)
	if err != nil {
		return err
	}
	for _, o := range outs {
		if err := genfile.Replace(filepath.Join(dir, o.name), o.data); err != nil {
			return err
		}
	}
	return nil
}

func load(dir string) (*table, error) {
	data, err := os.ReadFile(filepath.Join(dir, source))
	if err != nil {
		return nil, err
	}
	t, err := parse(string(data))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", source, err)
	}
	return t, nil
}

// generate makes every output from the table, in memory.
func generate(t *table) ([]output, error) {
	code, err := goSource(t)
	if err != nil {
		return nil, fmt.Errorf("zsysno.go: %w", err)
	}
	return []output{{"zsysno.go", code}, {"sysno.h", cHeader(t)}, {"SYSCALLS.md", markdown(t)}}, nil
}
