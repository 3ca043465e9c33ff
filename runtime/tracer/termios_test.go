package tracer

import "testing"

func TestSpeeds(t *testing.T) {
	for _, tt := range []struct{ code, speed uint32 }{
		{0, 0}, {1, 50}, {0o15, 9600}, {0o17, 38400}, {0o10001, 57600}, {0o10002, 115200}, {0o10017, 4000000},
	} {
		if got := speedOf(tt.code | 0o60); got != tt.speed {
			t.Errorf("speedOf(%o) = %d, want %d", tt.code, got, tt.speed)
		}
		if got := codeOf(tt.speed); got != tt.code {
			t.Errorf("codeOf(%d) = %o, want %o", tt.speed, got, tt.code)
		}
	}
	if speedOf(bother) != 38400 || codeOf(12345) != b38400 {
		t.Error("a speed without a code: want 38400 both ways")
	}
}

func TestTermios(t *testing.T) {
	const input = inputShift
	for _, tt := range []struct {
		name             string
		cflag            uint32
		in, out          uint32 // speeds in a termios2
		classic          uint32 // flags in a termios
		wantIn, wantOut2 uint32 // speeds read back
	}{
		{"codes", 0o15 | 0xb0, 0, 0, 0o15 | 0xb0, 9600, 9600},
		{"both codes", 0o15 | 0o16<<input, 0, 0, 0o15 | 0o16<<input, 19200, 9600},
		{"numbers", bother | bother<<input | 0xb0, 115200, 9600, 0o15 | 0o10002<<input | 0xb0, 115200, 9600},
		{"number out", bother, 1, 57600, 0o10001, 57600, 57600},
		{"no such speed", bother, 1, 31250, b38400, 38400, 38400},
		{"hang up", 0, 0, 0, 0, 0, 0},
	} {
		var tio [sizeofTermios2]byte
		for i := range tio {
			tio[i] = byte(i)
		}
		le.PutUint32(tio[termiosCflag:], tt.cflag)
		le.PutUint32(tio[termiosIspeed:], tt.in)
		le.PutUint32(tio[termiosOspeed:], tt.out)
		dropSpeeds(&tio)
		if got := le.Uint32(tio[termiosCflag:]); got != tt.classic {
			t.Errorf("%s: flags %o, want %o", tt.name, got, tt.classic)
		}
		addSpeeds(&tio)
		if in, out := le.Uint32(tio[termiosIspeed:]), le.Uint32(tio[termiosOspeed:]); in != tt.wantIn || out != tt.wantOut2 {
			t.Errorf("%s: speeds %d and %d, want %d and %d", tt.name, in, out, tt.wantIn, tt.wantOut2)
		}
		for i, b := range tio {
			if i/4 != termiosCflag/4 && i < termiosIspeed && b != byte(i) {
				t.Errorf("%s: byte %d changed", tt.name, i)
			}
		}
	}
}
