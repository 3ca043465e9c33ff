// The auxiliary vector, by which the kernel tells a program what it runs as: pairs
// of a type and a value, to a type of 0.

package tracer

// Entries of the auxiliary vector.
const (
	atUID    = 11
	atEUID   = 12
	atGID    = 13
	atEGID   = 14
	atSecure = 23
)

// vectorLen is the length of the auxiliary vector at the start of memory, its end
// included, or that of the pairs that are there.
func vectorLen(memory []byte) int {
	n := 0
	for ; n+16 <= len(memory); n += 16 {
		if le.Uint64(memory[n:]) == 0 {
			return n + 16
		}
	}
	return n
}

// patchVector changes the ids in an auxiliary vector.
func patchVector(vector []byte, who *ids, secure bool) {
	for n := 0; n+16 <= len(vector); n += 16 {
		value := vector[n+8:]
		switch le.Uint64(vector[n:]) {
		case atUID:
			le.PutUint64(value, uint64(who.uid.real))
		case atEUID:
			le.PutUint64(value, uint64(who.uid.effective))
		case atGID:
			le.PutUint64(value, uint64(who.gid.real))
		case atEGID:
			le.PutUint64(value, uint64(who.gid.effective))
		case atSecure:
			le.PutUint64(value, 0)
			if secure {
				le.PutUint64(value, 1)
			}
		}
	}
}
