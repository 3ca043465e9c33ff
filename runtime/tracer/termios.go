// struct termios and struct termios2: the second is the first with the speeds as
// numbers behind it, where the first has codes in its flags.
//
//	0        4        8        12       16     17      36       40       44
//	+--------+--------+--------+--------+------+-------+--------+--------+
//	| iflag  | oflag  | cflag  | lflag  | line | cc    | ispeed | ospeed |
//	+--------+--------+--------+--------+------+-------+--------+--------+

package tracer

const (
	sizeofTermios  = 36
	sizeofTermios2 = 44

	termiosCflag  = 8
	termiosIspeed = 36
	termiosOspeed = 40

	cbaud      = 0o010017
	bother     = 0o010000 // the speed is a number
	inputShift = 16       // of the code of the input speed; 0 there means as output
	b38400     = 0o000017
)

// speeds are by the low bits of a code, with CBAUDEX and without.
var speeds = [2][16]uint32{
	{0, 50, 75, 110, 134, 150, 200, 300, 600, 1200, 1800, 2400, 4800, 9600, 19200, 38400},
	{0, 57600, 115200, 230400, 460800, 500000, 576000, 921600, 1000000, 1152000, 1500000, 2000000, 2500000, 3000000, 3500000, 4000000},
}

// speedOf is the speed of a code; 38400 for BOTHER, which has none.
func speedOf(code uint32) uint32 {
	if code&cbaud == bother {
		code = b38400
	}
	return speeds[code>>12&1][code&15]
}

// codeOf is the code of a speed, that of 38400 when it has none.
func codeOf(speed uint32) uint32 {
	for high := range speeds {
		for low, s := range speeds[high] {
			if code := uint32(high)<<12 | uint32(low); s == speed && code != bother {
				return code
			}
		}
	}
	return b38400
}

// addSpeeds fills in the speeds of a termios2 that holds a termios.
func addSpeeds(t *[sizeofTermios2]byte) {
	cflag := le.Uint32(t[termiosCflag:])
	out := speedOf(cflag)
	in := out
	if code := cflag >> inputShift & cbaud; code != 0 {
		in = speedOf(code)
	}
	le.PutUint32(t[termiosIspeed:], in)
	le.PutUint32(t[termiosOspeed:], out)
}

// dropSpeeds makes the start of a termios2 the termios that means the same.
func dropSpeeds(t *[sizeofTermios2]byte) {
	cflag := le.Uint32(t[termiosCflag:])
	if cflag&cbaud == bother {
		cflag = cflag&^cbaud | codeOf(le.Uint32(t[termiosOspeed:]))
	}
	if cflag>>inputShift&cbaud == bother {
		cflag = cflag&^(cbaud<<inputShift) | codeOf(le.Uint32(t[termiosIspeed:]))<<inputShift
	}
	le.PutUint32(t[termiosCflag:], cflag)
}
