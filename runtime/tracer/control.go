// Control messages of sockets: a chain of heads, each with its data behind it.
//
//	0        8       12      16               16+n, up to a multiple of 8
//	+--------+-------+-------+----------------+
//	| length | level | type  | data           |  the next one
//	+--------+-------+-------+----------------+

package tracer

const (
	controlHead    = 16
	scmCredentials = 2
	solSocket      = 1
)

// sizeofUcred is the size of struct ucred: a process, a user and a group.
const sizeofUcred = 12

// eachCred calls do for every struct ucred in control messages and where it is.
func eachCred(control []byte, do func(at int, cred *[sizeofUcred]byte)) {
	for at := 0; at+controlHead <= len(control); {
		size := le.Uint64(control[at:])
		if size < controlHead || size > uint64(len(control)-at) {
			return
		}
		data := control[at+controlHead : at+int(size)]
		if le.Uint32(control[at+8:]) == solSocket && le.Uint32(control[at+12:]) == scmCredentials && len(data) >= sizeofUcred {
			do(at+controlHead, (*[sizeofUcred]byte)(data))
		}
		at += (int(size) + 7) &^ 7
	}
}
