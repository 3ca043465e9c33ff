// SYSCALLS.md: the docs page.

package main

import (
	"bytes"
	"fmt"
	"strings"
)

func markdown(t *table) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "<!-- %s -->\n\n# System calls\n\n", banner)
	fmt.Fprintf(&b, "The %d system calls of arm64 Linux, 0 to %d, as this project sees them. A number that is not in\n"+
		"the table is answered ENOSYS and never run.\n\n", len(t.calls), t.max())
	mdWords(&b, t)
	mdAndroid(&b, t)
	mdCalls(&b, t)
	return b.Bytes()
}

func mdWords(b *bytes.Buffer, t *table) {
	mdMeanings(b, "Class: what the tracer does", t.classes, func(c call, w string) bool { return c.class == w }, t.calls)
	relayed := func(c call, w string) bool { return strings.Contains("+"+strings.Join(c.relay, "+")+"+", "+"+w+"+") }
	mdMeanings(b, "Relay: what happens in process", t.relays, relayed, t.calls)
	used := func(c call, w string) bool { return strings.Contains(" "+strings.Join(c.args, " ")+" ", " "+w+" ") }
	mdMeanings(b, "Argument words", t.words, used, t.calls)
}

// mdMeanings writes one vocabulary and how many calls use each word.
func mdMeanings(b *bytes.Buffer, title string, ms []meaning, uses func(call, string) bool, calls []call) {
	fmt.Fprintf(b, "## %s\n\n| word | calls | meaning |\n|---|---:|---|\n", title)
	for _, m := range ms {
		n := 0
		for _, c := range calls {
			if uses(c, m.word) {
				n++
			}
		}
		fmt.Fprintf(b, "| %s | %d | %s |\n", m.word, n, m.text)
	}
	b.WriteString("\n")
}

func mdAndroid(b *bytes.Buffer, t *table) {
	fmt.Fprintf(b, "## Android\n\nThe column says from which API level on the app policy lets a call through, for levels %d to %d:\n"+
		"`30` in every AOSP release from level 30 on; `34~35` in some releases of level 34 and in all from 35 on; `36~` in some\n"+
		"releases of level 36; `never` in none. Passing is not success: the kernel may lack the call, SELinux may refuse it, and a\n"+
		"vendor may ship another policy.\n\n", t.minLevel, t.maxLevel)
	mdMeanings(b, "Sigsys: what a call that Android traps gets", t.sigsys, func(c call, w string) bool { return c.sigsys == w }, t.calls)
	b.WriteString("Another name there is the call that is made instead, with the same arguments and zeros after them.\n\n")
}

func mdCalls(b *bytes.Buffer, t *table) {
	b.WriteString("## The calls\n\nA star marks the 20 path calls of the first relays.\n\n" +
		"| nr | name | since | arguments | class | relay | android | sigsys | note |\n|---:|---|---|---|---|---|---|---|---|\n")
	for _, c := range t.calls {
		name, relay := c.name, "-"
		if c.seed {
			name += " \\*"
		}
		if c.relay != nil {
			relay = strings.Join(c.relay, "+")
		}
		// An escaped \~ keeps two of them from striking out what is between.
		android := strings.ReplaceAll(c.androidText, "~", "\\~")
		fmt.Fprintf(b, "| %d | %s | %s | %s | %s | %s | %s | %s | %s |\n",
			c.nr, strings.ReplaceAll(name, "_", "\\_"), c.since, strings.Join(c.args, " "), c.class, relay, android, c.sigsys,
			strings.NewReplacer("_", "\\_", "*", "\\*").Replace(c.note))
	}
}
