package tracer

import (
	"slices"
	"testing"
)

// message is a control message of a length that its head says.
func message(size uint64, level, kind uint32, data ...byte) []byte {
	m := le.AppendUint64(nil, size)
	m = le.AppendUint32(le.AppendUint32(m, level), kind)
	m = append(m, data...)
	for len(m)%8 != 0 {
		m = append(m, 0)
	}
	return m
}

func TestEachCred(t *testing.T) {
	cred := []byte{1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0}
	good, rights := message(28, solSocket, scmCredentials, cred...), message(20, solSocket, 1, 9, 0, 0, 0)
	for _, tt := range []struct {
		name    string
		control []byte
		want    []int
	}{
		{"none", nil, nil},
		{"one", good, []int{16}},
		{"not padded", good[:28], []int{16}},
		{"behind another", slices.Concat(rights, good), []int{40}},
		{"two", slices.Concat(good, good), []int{16, 48}},
		{"other level", message(28, 2, scmCredentials, cred...), nil},
		{"other type", message(28, solSocket, 3, cred...), nil},
		{"cut", good[:27], nil},
		{"too short", message(24, solSocket, scmCredentials, cred[:8]...), nil},
		{"length 0", slices.Concat(message(0, solSocket, scmCredentials, cred...), good), nil},
		{"length of a head", slices.Concat(message(16, solSocket, 1), good), []int{32}},
		{"huge length", slices.Concat(message(1<<63, solSocket, scmCredentials, cred...), good), nil},
		{"length that wraps", slices.Concat(message(^uint64(0)-3, solSocket, scmCredentials, cred...), good), nil},
	} {
		var got []int
		eachCred(tt.control, func(at int, c *[sizeofUcred]byte) {
			if !slices.Equal(c[:], cred) {
				t.Errorf("%s: %v at %d, want %v", tt.name, c, at, cred)
			}
			got = append(got, at)
		})
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: at %v, want %v", tt.name, got, tt.want)
		}
	}
}
