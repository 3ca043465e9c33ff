package tracer

import (
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var idCmp = cmp.AllowUnexported(ids{}, idSet{}, lentIDs{})

func TestSetIDs(t *testing.T) {
	const none, eperm = noID, syscall.EPERM
	set := func(id uint32) func(*idSet, bool) syscall.Errno {
		return func(s *idSet, root bool) syscall.Errno { return s.set(id, root) }
	}
	re := func(r, e uint32) func(*idSet, bool) syscall.Errno {
		return func(s *idSet, root bool) syscall.Errno { return s.setRE(r, e, root) }
	}
	res := func(r, e, v uint32) func(*idSet, bool) syscall.Errno {
		return func(s *idSet, root bool) syscall.Errno { return s.setRES(r, e, v, root) }
	}
	mixed := idSet{1, 2, 3, 4}
	for _, tt := range []struct {
		name       string
		call       func(*idSet, bool) syscall.Errno
		user, root idSet // after the call, from mixed
		errno      syscall.Errno
	}{
		{"set real", set(1), idSet{1, 1, 3, 1}, sameIDs(1), 0},
		{"set effective", set(2), mixed, sameIDs(2), eperm},
		{"set saved", set(3), idSet{1, 3, 3, 3}, sameIDs(3), 0},
		{"set fs", set(4), mixed, sameIDs(4), eperm},
		{"set other", set(70000), mixed, sameIDs(70000), eperm},
		{"re none", re(none, none), idSet{1, 2, 3, 2}, idSet{1, 2, 3, 2}, 0},
		{"re real", re(1, none), idSet{1, 2, 2, 2}, idSet{1, 2, 2, 2}, 0},
		{"re real to effective", re(2, none), idSet{2, 2, 2, 2}, idSet{2, 2, 2, 2}, 0},
		{"re real to saved", re(3, none), mixed, idSet{3, 2, 2, 2}, eperm},
		{"re effective to real", re(none, 1), idSet{1, 1, 3, 1}, idSet{1, 1, 3, 1}, 0},
		{"re effective to itself", re(none, 2), idSet{1, 2, 2, 2}, idSet{1, 2, 2, 2}, 0},
		{"re effective to saved", re(none, 3), idSet{1, 3, 3, 3}, idSet{1, 3, 3, 3}, 0},
		{"re swap", re(2, 1), idSet{2, 1, 1, 1}, idSet{2, 1, 1, 1}, 0},
		{"re effective to other", re(2, 9), mixed, idSet{2, 9, 9, 9}, eperm},
		{"res none", res(none, none, none), idSet{1, 2, 3, 2}, idSet{1, 2, 3, 2}, 0},
		{"res turn", res(2, 3, 1), idSet{2, 3, 1, 3}, idSet{2, 3, 1, 3}, 0},
		{"res fs", res(4, none, none), mixed, idSet{4, 2, 3, 2}, eperm},
		{"res last", res(2, 3, 9), mixed, idSet{2, 3, 9, 3}, eperm},
	} {
		user, root := mixed, mixed
		if e := tt.call(&user, false); e != tt.errno || user != tt.user {
			t.Errorf("%s: %v, %v, want %v, %v", tt.name, user, e, tt.user, tt.errno)
		}
		if e := tt.call(&root, true); e != 0 || root != tt.root {
			t.Errorf("%s as root: %v, %v, want %v", tt.name, root, e, tt.root)
		}
	}
	s := mixed
	if e := s.set(none, true); e != syscall.EINVAL || s != mixed {
		t.Errorf("set(-1) = %v, %v, want EINVAL and no change", e, s)
	}
}

func TestSetFS(t *testing.T) {
	for _, tt := range []struct {
		id         uint32
		user, root uint32
	}{{1, 1, 1}, {2, 2, 2}, {3, 3, 3}, {4, 4, 4}, {5, 4, 5}, {noID, 4, 4}} {
		user, root := idSet{1, 2, 3, 4}, idSet{1, 2, 3, 4}
		if b := user.setFS(tt.id, false); b != 4 || user != (idSet{1, 2, 3, tt.user}) {
			t.Errorf("setFS(%d) = %d, %v, want 4, %d", tt.id, b, user, tt.user)
		}
		if b := root.setFS(tt.id, true); b != 4 || root != (idSet{1, 2, 3, tt.root}) {
			t.Errorf("setFS(%d) as root = %d, %v, want 4, %d", tt.id, b, root, tt.root)
		}
	}
}

func TestExecuteIDs(t *testing.T) {
	for _, tt := range []struct {
		before ids
		lends  lentIDs
		after  ids
		secure bool
	}{
		{ids{uid: sameIDs(5), gid: sameIDs(6)}, lentIDs{uid: 7, gid: 8}, ids{uid: sameIDs(5), gid: sameIDs(6)}, false},
		{ids{uid: idSet{5, 6, 7, 8}, gid: sameIDs(6)}, lentIDs{}, ids{uid: idSet{5, 6, 6, 6}, gid: sameIDs(6)}, true},
		{ids{uid: sameIDs(5), gid: idSet{1, 2, 3, 4}}, lentIDs{}, ids{uid: sameIDs(5), gid: idSet{1, 2, 2, 2}}, true},
		{ids{uid: sameIDs(5), gid: sameIDs(6)}, lentIDs{uid: 7, setUID: true}, ids{uid: idSet{5, 7, 7, 7}, gid: sameIDs(6)}, true},
		{ids{uid: sameIDs(5), gid: sameIDs(6)}, lentIDs{gid: 7, setGID: true}, ids{uid: sameIDs(5), gid: idSet{6, 7, 7, 7}}, true},
		{ids{uid: sameIDs(5), gid: sameIDs(6)}, lentIDs{uid: 5, setUID: true}, ids{uid: sameIDs(5), gid: sameIDs(6)}, false},
	} {
		got := tt.before
		if secure := got.execute(tt.lends); secure != tt.secure {
			t.Errorf("execute(%v) of %v: secure %t, want %t", tt.lends, tt.before, secure, tt.secure)
		}
		if diff := cmp.Diff(tt.after, got, idCmp); diff != "" {
			t.Errorf("execute(%v) of %v: -want +got:\n%s", tt.lends, tt.before, diff)
		}
	}
}

func TestReplaceGroup(t *testing.T) {
	for _, tt := range []struct {
		groups   []uint32
		from, to uint32
		want     []uint32
	}{
		{nil, 1, 0, nil},
		{[]uint32{3003, 1000, 9997}, 1000, 0, []uint32{0, 3003, 9997}},
		{[]uint32{1, 2, 2}, 1, 2, []uint32{2}},
		{[]uint32{5, 4}, 9, 0, []uint32{4, 5}},
	} {
		if diff := cmp.Diff(tt.want, replaceGroup(tt.groups, tt.from, tt.to)); diff != "" {
			t.Errorf("replaceGroup(%v, %d, %d): -want +got:\n%s", tt.groups, tt.from, tt.to, diff)
		}
	}
	g := []uint32{2, 1}
	if sortedGroups(g); g[0] != 2 {
		t.Error("sortedGroups changed its argument")
	}
}

func TestIDsOf(t *testing.T) {
	const status = "Name:\tx\nUid:\t1\t2\t3\t4294967294\nGid:\t5\t6\t7\t8\nGroups:\t9 70000 \nCapEff:\t0000000008000000\n"
	got, err := idsOf([]byte(status))
	if err != nil {
		t.Fatal(err)
	}
	want := ids{idSet{1, 2, 3, 4294967294}, idSet{5, 6, 7, 8}, []uint32{9, 70000}}
	if diff := cmp.Diff(want, got, idCmp); diff != "" {
		t.Errorf("idsOf: -want +got:\n%s", diff)
	}
	if !got.equal(&want) || got.equal(&ids{uid: want.uid, gid: want.gid}) || got.equal(&ids{gid: want.gid, groups: want.groups}) {
		t.Error("equal: want to tell each kind of ids")
	}
	if !hasCapability([]byte(status), 27) || hasCapability([]byte(status), 26) || hasCapability(nil, 0) {
		t.Error("hasCapability: want bit 27 alone")
	}
	for _, bad := range []string{"", "Name:\tx\nUid:\t1\t2\t3\nGid:\t1\t1\t1\t1\nGroups:\t\n", "\nUid:\t1\t2\t3\tx\nGid:\t1\t1\t1\t1\nGroups:\t\n", "\nUid:\t1\t2\t3\t4\nGid:\t1\t1\t1\t1\n"} {
		if got, err := idsOf([]byte(bad)); err == nil {
			t.Errorf("idsOf(%q) = %v, want an error", bad, got)
		}
	}
}

func TestModeOf(t *testing.T) {
	root, user := ids{uid: sameIDs(0), gid: sameIDs(0)}, ids{uid: sameIDs(10123), gid: sameIDs(10123), groups: []uint32{3003, 10123}}
	odd := ids{uid: idSet{10123, 0, 0, 0}, gid: sameIDs(10123)}
	rootShown := ids{uid: sameIDs(0), gid: sameIDs(0), groups: []uint32{0, 3003}}
	for _, tt := range []struct {
		own      ids
		want     *IDs
		filtered bool
		mode     idMode
		first    ids
	}{
		{user, nil, false, idsKernel, user},
		{root, nil, false, idsKernel, root},
		{user, nil, true, idsFixed, user},
		{root, nil, true, idsFixed, root},
		{user, &IDs{10123, 10123}, false, idsKernel, user},
		{user, &IDs{10123, 10123}, true, idsFixed, user},
		{root, &IDs{}, false, idsKernel, root},
		{root, &IDs{}, true, idsShown, root},
		{user, &IDs{}, false, idsShown, rootShown},
		{user, &IDs{}, true, idsShown, rootShown},
		{odd, &IDs{10123, 10123}, false, idsShown, ids{uid: sameIDs(10123), gid: sameIDs(10123)}},
		{user, &IDs{10123, 5}, false, idsShown, ids{uid: sameIDs(10123), gid: sameIDs(5), groups: []uint32{5, 3003}}},
	} {
		mode, first := modeOf(tt.own, tt.want, tt.filtered)
		if diff := cmp.Diff(tt.first, first, idCmp); mode != tt.mode || diff != "" {
			t.Errorf("modeOf(%v, %v, %t) = %d, want %d; -want +got:\n%s", tt.own, tt.want, tt.filtered, mode, tt.mode, diff)
		}
	}
}

func TestOwners(t *testing.T) {
	w := identity{own: ids{uid: sameIDs(10123), gid: sameIDs(20)}}
	who := ids{uid: idSet{1, 2, 3, 4}, gid: idSet{5, 6, 7, 8}}
	for _, tt := range []struct{ host, guest [2]uint32 }{
		{[2]uint32{10123, 20}, [2]uint32{4, 8}},
		{[2]uint32{20, 10123}, [2]uint32{20, 10123}},
		{[2]uint32{0, 0}, [2]uint32{0, 0}},
		{[2]uint32{10123, 0}, [2]uint32{4, 0}},
	} {
		owner := le.AppendUint32(le.AppendUint32(nil, tt.host[0]), tt.host[1])
		w.showOwner(&who, owner)
		if got := [2]uint32{le.Uint32(owner), le.Uint32(owner[4:])}; got != tt.guest {
			t.Errorf("showOwner(%v) = %v, want %v", tt.host, got, tt.guest)
		}
		args := []uint64{7<<32 | uint64(tt.guest[0]), uint64(tt.guest[1])}
		w.hostOwner(&who, args)
		if got := [2]uint32{uint32(args[0]), uint32(args[1])}; got != tt.host {
			t.Errorf("hostOwner(%v) = %v, want %v", tt.guest, got, tt.host)
		}
	}
}

func TestLentBy(t *testing.T) {
	w := identity{own: ids{uid: sameIDs(10123), gid: sameIDs(20)}}
	for _, tt := range []struct {
		mode, uid, gid uint32
		want           lentIDs
	}{
		{0o100755, 10123, 20, lentIDs{0, 0, false, false}},
		{0o104755, 10123, 20, lentIDs{0, 0, true, false}},
		{0o102755, 5, 6, lentIDs{5, 6, false, true}},
		{0o102745, 5, 20, lentIDs{5, 0, false, false}},
		{0o106755, 5, 20, lentIDs{5, 0, true, true}},
	} {
		if got := w.lentBy(tt.mode, tt.uid, tt.gid); got != tt.want {
			t.Errorf("lentBy(%o, %d, %d) = %v, want %v", tt.mode, tt.uid, tt.gid, got, tt.want)
		}
	}
}

func TestPatchVector(t *testing.T) {
	who := ids{uid: idSet{1, 2, 3, 4}, gid: idSet{5, 6, 7, 0xfffffffe}}
	pairs := func(p ...uint64) (v []byte) {
		for _, word := range p {
			v = le.AppendUint64(v, word)
		}
		return v
	}
	for _, tt := range []struct {
		in, want []byte
		secure   bool
	}{
		{pairs(11, 9, 12, 9, 13, 9, 14, 9, 23, 9, 0, 0), pairs(11, 1, 12, 2, 13, 5, 14, 6, 23, 0, 0, 0), false},
		{pairs(23, 0, 6, 4096, 0, 0), pairs(23, 1, 6, 4096, 0, 0), true},
		{pairs(11, 9, 12), pairs(11, 1, 12), false},
		{nil, nil, true},
	} {
		got := append([]byte(nil), tt.in...)
		patchVector(got, &who, tt.secure)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("patchVector(%x): -want +got:\n%s", tt.in, diff)
		}
	}
	for _, tt := range []struct {
		in   []byte
		want int
	}{{pairs(3, 1, 0, 0, 7, 7), 32}, {pairs(3, 1, 4, 0), 32}, {pairs(3, 1, 0), 16}, {pairs(0, 5), 16}, {nil, 0}} {
		if got := vectorLen(tt.in); got != tt.want {
			t.Errorf("vectorLen(%x) = %d, want %d", tt.in, got, tt.want)
		}
	}
}
