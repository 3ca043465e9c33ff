// sysno.h: the same table for freestanding C. It includes nothing and defines
// no object; a list macro lets each reader make the table or switch it needs.
// The kernel's own header is only asked where SR_CHECK_NUMBERS is defined, call
// by call, because an older one lacks the newest calls.

package main

import (
	"bytes"
	"fmt"
	"strings"
)

func cHeader(t *table) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "/* %s */\n#ifndef SVCRELAY_SYSNO_H\n#define SVCRELAY_SYSNO_H\n\n", banner)
	cNumbers(&b, t)
	cWords(&b, t)
	cLists(&b, t)
	cAsserts(&b, t)
	b.WriteString("#endif\n")
	return b.Bytes()
}

func cNumbers(b *bytes.Buffer, t *table) {
	for _, c := range t.calls {
		fmt.Fprintf(b, "#define SR_NR_%s %d\n", c.name, c.nr)
	}
	fmt.Fprintf(b, "#define SR_NR_MAX %d\n\n", t.max())
}

func cWords(b *bytes.Buffer, t *table) {
	b.WriteString("/* What the tracer does with a call. A number without a row: SR_CLASS_refuse. */\n")
	for i, m := range t.classes {
		fmt.Fprintf(b, "#define SR_CLASS_%s %d /* %s */\n", m.word, i+1, m.text)
	}
	b.WriteString("\n/* What the relays do with a call: bits; 0 for nothing. */\n")
	for i, m := range t.relays {
		fmt.Fprintf(b, "#define SR_RELAY_%s %d /* %s */\n", m.word, 1<<i, m.text)
	}
	b.WriteString("\n")
}

func cRelay(c call) string {
	if c.relay == nil {
		return "0"
	}
	return "SR_RELAY_" + strings.Join(c.relay, " | SR_RELAY_")
}

func cLists(b *bytes.Buffer, t *table) {
	b.WriteString("/* X(number, name, class, relay bits) for every call, by number. */\n#define SR_EACH_CALL(X)")
	for _, c := range t.calls {
		cItem(b, c)
	}
	b.WriteString("\n\n/* The same for the calls that relays handle. */\n#define SR_EACH_RELAYED(X)")
	for _, c := range t.calls {
		if c.relay != nil {
			cItem(b, c)
		}
	}
	b.WriteString("\n\n")
}

func cItem(b *bytes.Buffer, c call) {
	fmt.Fprintf(b, " \\\n\tX(%d, %s, SR_CLASS_%s, %s)", c.nr, c.name, c.class, cRelay(c))
}

func cAsserts(b *bytes.Buffer, t *table) {
	b.WriteString("#ifdef SR_CHECK_NUMBERS\n#include <asm/unistd.h>\n")
	for _, c := range t.calls {
		fmt.Fprintf(b, "#ifdef __NR_%[1]s\n_Static_assert(__NR_%[1]s == SR_NR_%[1]s, \"%[1]s\");\n#endif\n", c.name)
	}
	b.WriteString("#endif\n\n")
}
