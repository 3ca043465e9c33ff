// What -k may say, and what uname then answers.

package tracer

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// The fields of struct new_utsname, each of utsField bytes with its NUL.
const (
	utsSystem = iota
	utsNode
	utsRelease
	utsVersion
	utsMachine
	utsDomain
	utsFields
	utsField = 65
)

// utsname is struct new_utsname.
type utsname [utsFields * utsField]byte

func (u *utsname) set(field int, value string) error {
	if len(value) >= utsField {
		return fmt.Errorf("%q: more than %d bytes", value, utsField-1)
	}
	if strings.IndexByte(value, 0) >= 0 {
		return fmt.Errorf("%q: a NUL in it", value)
	}
	place := u[field*utsField : (field+1)*utsField]
	clear(place[copy(place, value):])
	return nil
}

func (u *utsname) get(field int) string {
	value, _, _ := bytes.Cut(u[field*utsField:(field+1)*utsField], []byte{0})
	return string(value)
}

// SetKernel changes u by the text of -k: a release, or
//
//	\sysname\nodename\release\version\machine\domainname\hwcap\
//
// with all that differs; an empty field, and what is left out at the end, stays
// as it is. The last field must be a number and is not used: the guest runs on the
// processor that there is.
func (u *utsname) setKernel(text string) error {
	fields, ok := strings.CutPrefix(text, `\`)
	if !ok {
		return u.set(utsRelease, text)
	}
	values := strings.Split(strings.TrimSuffix(fields, `\`), `\`)
	if len(values) > utsFields+1 {
		return fmt.Errorf("%d fields, want %d at most", len(values), utsFields+1)
	}
	for i, value := range values {
		if value == "" {
			continue
		}
		if i == utsFields {
			if _, err := strconv.ParseInt(value, 0, 64); err != nil {
				return fmt.Errorf("hwcap %q: not a number", value)
			}
			continue
		}
		if err := u.set(i, value); err != nil {
			return err
		}
	}
	return nil
}
