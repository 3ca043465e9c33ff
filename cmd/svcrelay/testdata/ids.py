# What a guest sees of ids. Each section, named after a folder for them, runs in a
# process and a folder of its own. Python's own set*id calls go through the C library, which
# changes every thread; call() changes the one that makes it.
import ctypes, os, random, signal, socket, stat, struct, subprocess, sys, threading, warnings

warnings.simplefilter('ignore') # this is no place to warn of forks among threads

libc = ctypes.CDLL(None, use_errno=True)
SETREGID, SETGID, SETREUID, SETUID, SETRESUID, GETRESUID, SETRESGID, GETRESGID = 143, 144, 145, 146, 147, 148, 149, 150
SETFSUID, SETFSGID, GETGROUPS, SETGROUPS = 151, 152, 158, 159
FCHOWNAT, NEWFSTATAT, FSTAT, STATX, MKNODAT, FCHMODAT, CHROOT, CAPSET, PRCTL = 54, 79, 80, 291, 33, 53, 51, 91, 167
CWD, EMPTY, NOFOLLOW = -100, 0x1000, 0x100
NONE = 0xffffffff


def call(nr, *args):
    args = [ctypes.c_char_p(a) if isinstance(a, bytes) else a if not isinstance(a, int) else ctypes.c_long(a) for a in args]
    ctypes.set_errno(0)
    r = libc.syscall(ctypes.c_long(nr), *args)
    return r if r != -1 else -ctypes.get_errno()


def show(*a): print(*a, flush=True)


def ids():
    w = (ctypes.c_uint * 3)()
    out = []
    for nr, fs in (GETRESUID, SETFSUID), (GETRESGID, SETFSGID):
        call(nr, w, ctypes.byref(w, 4), ctypes.byref(w, 8))
        out.append((list(w), call(fs, -1) & NONE))
    return out, [call(n) & NONE for n in (174, 175, 176, 177)]


def child(f):
    pid = os.fork()
    if not pid:
        try: f()
        except BaseException as e: show(repr(e))
        os._exit(0)
    return os.waitpid(pid, 0)[1]


def rules():
    """every call, by who may and who may not"""
    r = random.Random(1)
    values = [0, 1, 1000, 70000, 0xfffffffe, -1, NONE, 1 << 32, 5 << 32 | 1000]
    calls = [(SETUID, 1), (SETREUID, 2), (SETRESUID, 3), (SETFSUID, 1), (SETGID, 1), (SETREGID, 2), (SETRESGID, 3), (SETFSGID, 1)]
    def steps():
        for i in range(12):
            nr, n = r.choice(calls)
            args = [r.choice(values) for _ in range(n)]
            show(nr, args, call(nr, *args), ids())
    for i in range(25):
        child(steps)
        for _ in range(i): r.random()


def pointers():
    for nr in GETRESUID, GETRESGID:
        w = (ctypes.c_uint * 3)(7, 7, 7)
        show([call(nr, w, w, ctypes.c_void_p(p)) for p in (0, 8, 1 << 63)], list(w))


def groups():
    buf = (ctypes.c_uint * 5)(9, 8, 7, 8, 70000)
    out = (ctypes.c_uint * 5)()
    def tell(): show(call(GETGROUPS, 0, 0), call(GETGROUPS, 4, out), call(GETGROUPS, 5, out), list(out), call(GETGROUPS, -1, out), call(GETGROUPS, 5, 8))
    for n in 5, 0, 1, -1, 65537, 1 << 32 | 2:
        show(n, call(SETGROUPS, n, buf)); tell()
    show(call(SETGROUPS, 3, 8), call(SETGROUPS, 0, 8), call(SETGROUPS, 5, buf))
    show(call(SETGROUPS, 1, (ctypes.c_uint * 1)(NONE)))
    child(tell)
    call(SETUID, 1000); tell()
    show(call(SETGROUPS, 0, buf), call(SETGROUPS, 5, buf), call(SETGROUPS, 70000, buf))


def threads():
    """the C library changes all threads, the kernel one"""
    start, go, told = threading.Barrier(3), threading.Event(), threading.Barrier(3)
    seen = {}
    def work(i):
        start.wait(); go.wait()
        seen[i] = ids()
        if i: call(SETRESUID, 5, 5, 5)
        seen[i, 'then'] = ids()
        told.wait()
    ts = [threading.Thread(target=work, args=(i,)) for i in range(2)]
    [t.start() for t in ts]
    start.wait(); os.setresgid(7, 8, 9); os.setresuid(0, 1000, 0); os.seteuid(0); go.set(); told.wait()
    [t.join() for t in ts]
    for k in sorted(seen, key=str): show(k, seen[k])
    show(ids())
    made = []
    def after():
        call(SETRESUID, 1, 2, 3)
        t = threading.Thread(target=lambda: made.append(ids())); t.start(); t.join()
        child(lambda: show(ids()))
    t = threading.Thread(target=after); t.start(); t.join()
    show(made, ids())


def owner(how, *args):
    buf = ctypes.create_string_buffer(256)
    r = call(how, *[buf if a is None else a for a in args])
    return (r,) + struct.unpack_from('II', buf, 20 if how == STATX else 24)


def files():
    fd = os.open('f', os.O_RDWR | os.O_CREAT, 0o644)
    os.symlink('f', 'l'); os.mkfifo('p'); os.mkdir('d'); p = os.pipe()
    d, o = os.open('d', os.O_RDONLY), os.open('l', os.O_PATH | os.O_NOFOLLOW)
    def look():
        for name in b'f', b'l', b'p', b'd', b'/', b'none', b'':
            show(name, owner(NEWFSTATAT, CWD, name, None, 0), owner(NEWFSTATAT, CWD, name, None, NOFOLLOW), owner(STATX, CWD, name, 0, 0x7ff, None))
        for n in fd, d, o, p[0], 99, CWD:
            show(n > 2, owner(FSTAT, n, None), owner(NEWFSTATAT, n, b'', None, EMPTY), owner(STATX, n, b'', EMPTY, 0x7ff, None), owner(NEWFSTATAT, n, b'', None, EMPTY | NOFOLLOW))
        show(call(FSTAT, fd, 8), call(FSTAT, 99, 8), call(NEWFSTATAT, fd, b'', 8, EMPTY))
    look()
    for u, g in (0, 0), (-1, -1), (0, -1), (-1, 0), (NONE, 5 << 32):
        show(u, g, call(FCHOWNAT, CWD, b'f', u, g, 0), call(FCHOWNAT, CWD, b'l', u, g, NOFOLLOW), call(FCHOWNAT, CWD, b'none', u, g, 0),
             call(55, fd, u, g), call(55, 99, u, g), call(55, o, u, g), call(FCHOWNAT, fd, b'', u, g, EMPTY), call(FCHOWNAT, 99, b'', u, g, EMPTY))
    look()
    for u, g in (33, 44), (70000, -1), (-1, 0xfffffffe): # done, as far as a root can tell
        show(u, g, call(FCHOWNAT, CWD, b'd', u, g, 0), call(55, d, u, g), call(FCHOWNAT, d, b'', u, g, EMPTY), call(FCHOWNAT, CWD, b'none', u, g, 0))
    show([call(FCHMODAT, CWD, n, 0o600) for n in (b'f', b'none', b'/etc/passwd')], call(52, fd, 0o640), call(52, os.open('/etc/passwd', 0), 0o644), call(52, o, 0))
    show('%o' % os.stat('f').st_mode)
    for name in b'user.a', b'trusted.a', b'security.capability':
        value = struct.pack('<5I', 0x2000000, 1, 0, 0, 0)
        show(name, call(5, b'f', name, value, 20, 0), call(5, b'none', name, value, 20, 0), call(7, fd, name, value, 20, 0), call(7, 99, name, value, 20, 0))
    for name, mode, dev in (b'c', stat.S_IFCHR | 0o666, 0x103), (b'b', stat.S_IFBLK | 0o600, 0x700), (b'q', stat.S_IFIFO | 0o666, 0), (b'f', stat.S_IFCHR, 0), (b'r', 0o640, 0):
        show(name, call(MKNODAT, CWD, name, mode, dev), '%o' % stat.S_IMODE(os.stat(name).st_mode), call(FCHOWNAT, CWD, name, 0, 0, 0), call(FCHMODAT, CWD, name, 0o604), os.utime(name))
        show('%o' % stat.S_IMODE(os.stat(name).st_mode))
    show(call(MKNODAT, CWD, b'none/c', stat.S_IFCHR, 0x103), call(MKNODAT, CWD, b'd', stat.S_IFBLK, 0x103))
    head, data = struct.pack('II', 0x20080522, 0), ctypes.create_string_buffer(24)
    show(call(90, head, data), call(CAPSET, head, data), call(CAPSET, 8, data))
    for fam, typ, proto in (16, 3, 9), (16, 3, 0), (16, 3, 99), (1, 1, 0), (99, 1, 9):
        show(fam, proto, min(call(198, fam, typ, proto), 0))
    show(call(CHROOT, b'/'), call(CHROOT, b'/none'), call(CHROOT, b'/etc/passwd'), call(CHROOT, b''), call(CHROOT, 8), call(CHROOT, b'/etc/..'))


def given_up():
    """what root may no more once it is somebody else"""
    fd = os.open('f', os.O_RDWR | os.O_CREAT, 0o644)
    os.chmod('.', 0o777)
    os.setgroups([]); os.setresgid(1000, 1000, 1000); os.setresuid(1000, 1000, 1000)
    mine = os.open('mine', os.O_RDWR | os.O_CREAT, 0o644)
    show(owner(FSTAT, mine, None), owner(NEWFSTATAT, CWD, b'mine', None, 0))
    show(call(FCHOWNAT, CWD, b'mine', 1000, 1000, 0), call(55, mine, 1000, -1), call(FCHOWNAT, CWD, b'mine', 33, -1, 0), call(55, mine, -1, 33))
    show(call(MKNODAT, CWD, b'dev', stat.S_IFCHR, 0x103), os.path.exists('dev'), call(CHROOT, b'/'), call(CHROOT, b'/none'))
    show(call(5, b'mine', b'trusted.a', b'1', 1, 0), call(7, mine, b'trusted.a', b'1', 1, 0))
    show(call(161, b'x', 1), call(162, b'x', 1))


auxv = '''
import ctypes,os
l=ctypes.CDLL(None); l.getauxval.restype=ctypes.c_ulong
print([l.getauxval(n) for n in (11,12,13,14,23)],os.getresuid(),os.getresgid(),open('/proc/self/comm').read(),os.environ.get('LD_LIBRARY_PATH'),flush=True)
'''


def run(*argv):
    show(subprocess.run(argv, env={'PATH': '/bin:/usr/bin', 'LD_LIBRARY_PATH': '/x'}, stdout=subprocess.PIPE))


def execs():
    python = ('/usr/bin/python3', '-BSIc', auxv)
    for r, e, s in (1, 0, 0), (1, 1, 0), (5, 6, 7):
        child(lambda: (call(SETRESGID, r, e, s), call(SETRESUID, r, e, s), os.execv(python[0], python)))


def lent():
    os.chmod('.', 0o755)
    names = ('u', 0o4755), ('g', 0o2755), ('ug', 0o6755), ('lock', 0o2745), ('none', 0o755)
    for name, mode in names:
        for tool in 'id', 'env': # the second tells whether the environment is trusted
            data = open('/usr/bin/' + tool, 'rb').read()
            open(tool + name, 'wb').write(data); os.chmod(tool + name, mode)
    open('script', 'w').write('#!%s/idug\n' % os.getcwd()); os.chmod('script', 0o6755)
    def user():
        os.setgroups([]); os.setresgid(1000, 1000, 1000); os.setresuid(1000, 1000, 1000)
        for name, _ in names: run('./id' + name); run('./env' + name)
        run('./script')
        show(libc.prctl(38, 1, 0, 0, 0)); run('./idug'); run('./envug')
    run('./idug'); run('./envug')
    child(user)


def itself():
    def privs(): return libc.prctl(39, 0, 0, 0, 0)
    show(privs(), libc.prctl(39, 1, 0, 0, 0), libc.prctl(38, 0, 0, 0, 0), libc.prctl(38, 1, 1, 0, 0), libc.prctl(38, 2, 0, 0, 0), privs())
    seen = []
    def one():
        show(libc.prctl(38, 1, 0, 0, 0), privs())
        t = threading.Thread(target=lambda: seen.append(privs())); t.start(); t.join()
    t = threading.Thread(target=one); t.start(); t.join()
    show(seen, privs())
    child(lambda: show(privs()))
    libc.prctl(38, 1, 0, 0, 0)
    child(lambda: show(privs()))
    get = '/usr/bin/python3', '-BSIc', 'import ctypes;l=ctypes.CDLL(None);print([l.prctl(n,0,0,0,0) for n in (39,3)],flush=True)'
    run(*get)
    for n in 1, 0, 2, 3, 1 << 32, 0, -1: show(n, libc.prctl(4, ctypes.c_long(n), 0, 0, 0), libc.prctl(3, 0, 0, 0, 0))
    libc.prctl(4, 0, 0, 0, 0); show(libc.prctl(3, 5, 0, 0, 0))
    child(lambda: show(libc.prctl(3, 0, 0, 0, 0)))
    os.stat('/etc/passwd'); run(*get)
    libc.prctl(4, 1, 0, 0, 0); show(libc.prctl(3, 0, 0, 0, 0))


def vector():
    buf = ctypes.create_string_buffer(1024)
    n = call(PRCTL, 0x41555856, buf, 1024, 0, 0)
    libc.getauxval.restype = ctypes.c_ulong
    pairs = dict(struct.iter_unpack('QQ', buf.raw[:max(n, 0)]))
    show(n > 0 and [(k, pairs[k] == libc.getauxval(k)) for k in sorted(pairs) if k not in (33,)])
    few = ctypes.create_string_buffer(64)
    show(n == call(PRCTL, 0x41555856, few, 24, 0, 0), few.raw[:24] == buf.raw[:24], few.raw[24:] == bytes(40))
    show(call(PRCTL, 0x41555856, 8, 24, 0, 0), call(PRCTL, 0x41555856, buf, 24, 1, 0))


def sockets():
    def cred(s): return struct.unpack('iII', s.getsockopt(1, 17, 12))
    def pair():
        a, b = socket.socketpair()
        show(cred(a)[1:], cred(b)[0] == os.getpid(), len(a.getsockopt(1, 17, 6)), len(a.getsockopt(1, 17, 40)))
    pair()
    s = socket.socket(1); s.bind('s'); s.listen(); os.chmod('s', 0o777)
    def client():
        call(SETRESGID, 1000, 1001, 1000); call(SETRESUID, 1000, 1001, 1000)
        pair()
        c = socket.socket(1); c.connect('s'); show(cred(c)[1:], cred(c)[0] == os.getppid()); c.send(b'x'); c.recv(1)
    pid = os.fork()
    if not pid:
        client(); os._exit(0)
    c, _ = s.accept(); c.recv(1); show(cred(c)[1:], cred(c)[0] == pid); c.close(); os.waitpid(pid, 0)
    show(s.getsockopt(1, 16), cred(socket.socket(1)))


def messages():
    """credentials that go with messages, said and unsaid, to a stream and to an address"""
    a, b = socket.socketpair()
    d = socket.socket(1, 2); d.bind('d'); os.chmod('d', 0o777)
    for s in b, d: s.setsockopt(1, 16, 1)
    def got(s, ancillary=100):
        data, control, flags, _ = s.recvmsg(10, ancillary)
        creds = [struct.unpack('iII', c[2]) if len(c[2]) == 12 else c[2][4:] for c in control]
        show([(c[0] == os.getpid(),) + c[1:] if len(c) == 3 else c for c in creds], flags)
    def send(*creds):
        for to in (), ('d',):
            s = socket.socket(1, 2) if to else a
            control = [(1, 2, struct.pack('iII', *c)) for c in creds]
            try:
                s.sendmsg([b'x'], control, 0, *to)
                got(d if to else b)
            except OSError as e: show(e.errno)
    pid = os.getpid()
    send(); send((pid, 0, 0)); send((pid, 0, 0), (pid, 0, 0)); send((pid, NONE, 0)); send((pid, 0, NONE))
    a.send(b'x'); got(b, 10)
    call(SETRESGID, 1001, 1002, 1003); call(SETRESUID, 1001, 1002, 1003)
    send(); send((pid, 1001, 1001)); send((pid, 0, 1001)); send((pid, 1001, 0)); send((pid, 99, 99))
    def late():
        show(len(b.recvmsg(10, 100)[1]))
    a.send(b'x'); child(late)


base = sys.argv[1]
os.mkdir(base)
for section in sys.argv[2:]:
    os.mkdir(base + '/' + section); os.chdir(base + '/' + section)
    show('==', section)
    show(child(globals()[section]))
