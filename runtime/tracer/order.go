// The byte order of guests, and of the kernel that serves them.

package tracer

import "encoding/binary"

var le = binary.LittleEndian
