// Which words touch the vector side of the machine. Guest code must not: it runs
// between two instructions of a program whose vector registers nobody saves.
package a64

// IsFloat reports whether w reads or writes a floating-point or Advanced SIMD
// register, or their control and status. SVE and SME words are not known here;
// Decode calls their flow Unknown.
func (w Word) IsFloat() bool {
	return w>>25&7 == 7 || // data processing, op0 = x111
		w.isLoadStore() && w.bit(26) ||
		w&0xffdf_ffc0 == 0xd51b_4400 // msr and mrs of fpcr and fpsr
}
