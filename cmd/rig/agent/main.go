// Command agent is process 1 of the test machine.
//
// It makes the machine usable: file systems, drivers, the roots, of which one
// becomes the machine's own. Then a child of it carries out what the host asks
// for over a virtio port, while process 1 itself only collects orphans: a
// process that waits for all children must not be the one whose library waits
// for some. When the child ends, the machine does.
package main

import (
	"fmt"
	"os"
)

// Ways to call the agent.
const (
	selfExe   = "/proc/self/exe"
	serveWord = "serve" // agent serve
	enterWord = "enter" // agent enter PLACE PROGRAM ARGUMENTS...
)

func main() {
	switch {
	case os.Getpid() == 1:
		fmt.Println("agent:", boot())
		powerOff()
	case len(os.Args) == 2 && os.Args[1] == serveWord:
		fmt.Println("agent:", serve())
	case len(os.Args) > 3 && os.Args[1] == enterWord:
		fmt.Fprintln(os.Stderr, "agent:", enter(os.Args[2], os.Args[3:]))
	default:
		fmt.Fprintln(os.Stderr, "agent: runs in the test machine only")
	}
	os.Exit(127)
}
