# Makes calls on Unix sockets with ordinary and hostile arguments, and prints a line
# for each: its result, the memory that it filled, and whether it left a register
# as no kernel would. Calls go through a stub of machine code, so that the kernel
# gets exactly what is written here.
import ctypes, errno, logging, logging.handlers, mmap, os, shutil, signal, socket, struct, sys, threading, time

SOCKET, SOCKETPAIR, BIND, LISTEN, ACCEPT, CONNECT, GETSOCKNAME, GETPEERNAME = range(198, 206)
SENDTO, RECVFROM, SENDMSG, RECVMSG, ACCEPT4, RECVMMSG, SENDMMSG = 206, 207, 211, 212, 242, 243, 269
STREAM, DGRAM, SEQPACKET = 1, 2, 5
libc = ctypes.CDLL(None, use_errno=True)

code = mmap.mmap(-1, 4096, prot=7)
code.write(bytes.fromhex(  # x0 to x8 from a table, svc, and back into it
    "fd7bbea9fd030091f30b00f9f30300aa600640a9620e41a9641642a9661e43a9682240f9010000d4"
    "600600a9620e01a9641602a9661e03a9682200f9f30b40f9fd7bc2a8c0035fd6"))
stub = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(ctypes.addressof(ctypes.c_char.from_buffer(code)))


def call(nr, *args):
    """Returns the result, and what else changed in the registers."""
    given = [a & (1 << 64) - 1 for a in args] + [0x1111 * i for i in range(len(args), 8)] + [nr]
    table = (ctypes.c_uint64 * 9)(*given)
    stub(ctypes.addressof(table))
    changed = ["x%d changed" % i for i in range(1, 9) if table[i] != given[i]]
    result = ctypes.c_int64(table[0]).value
    return (errno.errorcode.get(-result, result) if -4096 < result < 0 else result, *changed)


# Memory: a page that ends where nothing is mapped, and one that cannot be written.
area = mmap.mmap(-1, 4 << 16, prot=3)
base = ctypes.addressof(ctypes.c_char.from_buffer(area))
edge = base + (1 << 16)
libc.mprotect(ctypes.c_void_p(edge), 1 << 16, 0)
readonly = base + (2 << 16)


def lock(on):
    libc.mprotect(ctypes.c_void_p(readonly), 1 << 16, 1 if on else 3)


def put(at, data):
    ctypes.memmove(at, data, len(data))
    return at


def get(at, n):
    return ctypes.string_at(at, n)


def un(path, family=1):
    if isinstance(path, str):
        path = os.fsencode(path)
    return struct.pack("H", family) + path


def brief(b):
    """Bytes without the long middle and the fill behind."""
    text = repr(b.rstrip(b"\xaa"))
    return text if len(text) < 200 else text[:90] + "..%d.." % len(b.rstrip(b"\xaa")) + text[-90:]


def show(what, *results):
    print(what, "=", *results, flush=True)


# Sockets by their numbers, closed at the end of each part.
opened = []


def sock(kind=STREAM, domain=1):
    fd = call(SOCKET, domain, kind, 0)[0]
    opened.append(fd)
    return fd


def end():
    while opened:
        try:
            os.close(opened.pop())
        except OSError:
            pass


def addressed(nr, fd, address, size=None, *before):
    """bind, connect, sendto: in memory of exactly the address's size."""
    at = put(edge - len(address), address)
    size = len(address) if size is None else size
    return call(nr, fd, *before, at, size)


def bind(fd, path):
    return addressed(BIND, fd, (un(path) + b"\0")[:110])


def connect(fd, path):
    return addressed(CONNECT, fd, (un(path) + b"\0")[:110])


def sendto(fd, path, data=b"data"):
    return addressed(SENDTO, fd, (un(path) + b"\0")[:110], None, put(base, data), len(data), 0)


def named(nr, fd, size=128, *before):
    """getsockname, getpeername, accept, recvfrom: the result, the address, its length."""
    put(base + 4096, b"\xaa" * 256)
    length = put(base + 8192, struct.pack("i", size) + b"\xaa" * 12)
    result = call(nr, fd, *before, base + 4096, length)
    return (*result, brief(get(base + 4096, 256)), brief(get(length, 16)))


def own(fd):
    return named(GETSOCKNAME, fd)[1:]


def accepted(fd):
    result = named(ACCEPT, fd)
    opened.append(result[0])
    return (result[0] if isinstance(result[0], str) else "fd", *result[1:])


def received(fd):
    return named(RECVFROM, fd, 128, put(base, b"\xaa" * 64), 64, 0x40)


def header(name=0, size=0, data=0, n=0, control=0, controlled=0, flags=0x55):
    iov = put(base + 12288, struct.pack("QQ", data, n)) if data else 0
    return struct.pack("QixxxxQQQQiI", name, size, iov, 1 if data else 0, control, controlled, flags, 0xaaaaaaaa)


def kind_of(path):
    try:
        return "%o" % os.lstat(path).st_mode
    except OSError as e:
        return e.strerror


home = sys.argv[1]


def fresh(folder=home):
    os.chdir("/")
    shutil.rmtree(folder, ignore_errors=True)
    os.mkdir(folder)
    os.chdir(folder)
    os.makedirs("d/e")
    os.symlink("d", "link")
    os.symlink(folder + "/d", "abs")
    os.symlink("nowhere", "dangling")
    os.symlink("loop", "loop")
    os.symlink("/../../.." + folder + "/d", "above")
    open("f", "w").close()


long = "n" * 100
places = ["a", "./a", "././a", ".//a", "d/a", "d//e/./a", "../%s/a" % os.path.basename(home), home + "/a", home + "//a", home + "/d/../a", "/.." + home + "/a",
          "link/a", "abs/a", "above/a", home + "/link/a", home + "/abs/e/a", "none/a", "f/a", "a/", "d", "d/", ".", "..", "/", "dangling", "loop/a", "link",
          "f", "\udcff\udc80", home + "/\udcff", " ", "a (deleted)", home + "/d (deleted)", "/tmp/sockets-a", "/tmp/../tmp/sockets-a", "/proc/self/cwd/a", "/proc/self/a", "/dev/null/a",
          "/dev/sockets-a", long, home + "/" + "m" * (107 - len(home)), home + "/d/" + "m" * (105 - len(home)), "x" * 107, "x" * 108, "d/" + "x" * 106, "./" + "x" * 106, home + "/" + "m" * (106 - len(home)),
          "/" + "y" * 107, "/" + "y" * 106, "abs/" + "z" * 104, "abs/" + "z" * 103]


def names():
    fresh()
    for k in STREAM, DGRAM, SEQPACKET:
        for p in places[::1 if k == STREAM else 6]:
            t = "%d %.40s %d" % (k, ascii(p), len(p))
            fd = sock(k)
            show("bind " + t, *bind(fd, p), kind_of(p), *own(fd))
            if k != DGRAM:
                call(LISTEN, fd, 5)
            other = sock(k)
            show("connect " + t, *connect(other, p), *named(GETPEERNAME, other))
            if k == DGRAM:
                show("sendto " + t, *sendto(sock(k), p), *received(fd))
            else:
                show("accept " + t, *(accepted(fd) if kind_of(p)[:2] == "14" else "-"))
            again = sock(k)
            show("again " + t, *bind(again, p), *own(again))
            show("twice " + t, *bind(fd, p))
            if kind_of(p)[:2] == "14":
                os.unlink(p)
            show("gone " + t, *connect(sock(k), p), *own(fd), *named(GETPEERNAME, other))
            end()


def clients():
    """What a server is told of its clients, and replies to."""
    fresh()
    for p in places:
        server, client = sock(DGRAM), sock(DGRAM)
        bind(server, home + "/server")
        if bind(client, p)[0] == 0:
            t = "%.40s %d" % (ascii(p), len(p))
            show("datagram of " + t, *sendto(client, "server"), *received(server))
            size = struct.unpack("i", get(base + 8192, 4))[0]
            show("reply", *call(SENDTO, server, put(base, b"reply"), 5, 0, base + 4096, min(size, 110)), *received(client))
            stream, listener = sock(), sock()
            os.unlink(p)
            bind(stream, p)
            bind(listener, "listener")
            call(LISTEN, listener, 5)
            show("stream of " + t, *connect(stream, home + "/listener"), *accepted(listener), *named(GETPEERNAME, opened[-1]))
            os.unlink("listener")
            os.unlink(p)
        os.unlink("server")
        end()


def lengths():
    fresh()
    for n in (0, 1, 2, 3, 4, 106, 107, 108):
        for tail in b"", b"\0", b"\0tail", b"\0" * 10:
            address = un(b"p" * n + tail)
            fd = sock(DGRAM)
            show("bind %d+%r" % (n, tail), *addressed(BIND, fd, address), *(own(fd) if n else "-"), kind_of(b"p" * n or "none"))
            show("sendto %d+%r" % (n, tail), *addressed(SENDTO, sock(DGRAM), address, None, base, 4, 0))
            if n and kind_of(b"p" * n)[:2] == "14":
                os.unlink(b"p" * n)
            end()
    absolute = os.fsencode(home + "/a")
    for size in (0, 1, 2, 3, len(absolute) + 2, 110, 111, 128, 129, -1, 2 ** 32 + len(absolute) + 2, 2 ** 31):
        for nr in BIND, CONNECT, SENDTO:
            fd, before = sock(DGRAM), (base, 4, 0) if nr == SENDTO else ()
            r = call(nr, fd, *before, put(base + 4096, un(absolute) + b"\0" * 128), size)
            show("%d of size %d" % (nr, size), *r, *((own(fd) if 2 < size < 2 ** 31 else "-")))
            end()
            os.path.lexists("a") and os.unlink("a")
    for nr in BIND, CONNECT, SENDTO:
        before = (base, 4, 0) if nr == SENDTO else ()
        for at in 0, 8, -1, edge, edge - 5, 1 << 63:
            show("%d at %#x" % (nr, at - base if base < at <= edge else at if at < base else 1), *call(nr, sock(DGRAM), *before, at, 9))
        for family in 0, 2, 10, 16, 0xffff:
            show("%d family %d" % (nr, family), *addressed(nr, sock(DGRAM), un("/none/x\0", family), None, *before))
            show("%d Unix address of %d" % (nr, family), *addressed(nr, sock(DGRAM, 2), un("/none/x\0"), None, *before))
        for bad in -1, 999, os.open("f", os.O_RDONLY):
            show("%d on %d" % (nr, min(bad, 10)), *addressed(nr, bad, un("/none/x\0"), None, *before))
        end()


def abstract():
    fresh()
    for text in b"\0sockets", b"\0sockets\0", b"\0/w/a", b"\0" + b"q" * 107, b"\0":
        fd, other = sock(DGRAM), sock(DGRAM)
        show("abstract %.20r" % text, *addressed(BIND, fd, un(text)), *own(fd), *addressed(CONNECT, other, un(text)), *named(GETPEERNAME, other))
        end()
    fd = sock(DGRAM)
    show("autobind", *addressed(BIND, fd, un(b"")), *named(GETSOCKNAME, fd)[2:], get(base + 4098, 1))
    show("no name", *own(sock()), *named(GETPEERNAME, sock()))
    put(base, b"\xaa" * 16)
    show("pair", *call(SOCKETPAIR, 1, 1, 0, base))
    pair = struct.unpack("ii", get(base, 8))
    opened.extend(pair)
    show("of a pair", *own(pair[0]), *named(GETPEERNAME, pair[1]))
    end()


def rooms():
    """Addresses cut to the room that there is for them."""
    fresh()
    for p in "a", home + "//a", home + "/" + "m" * (107 - len(home)):
        fd = sock()
        bind(fd, p)
        call(LISTEN, fd, 200)
        full = struct.unpack("i", get(base + 8192, 4))[0] if own(fd) else 0
        for size in sorted({-1, 0, 1, 2, 3, full - 1, full, full + 1, 110, 111, 128, 2 ** 31 - 1}):
            show("getsockname %.10s into %d" % (p, size), *named(GETSOCKNAME, fd, size))
            client = sock()
            bind(client, "c")
            connect(client, p)
            before = len(os.listdir("/proc/self/fd"))
            r = named(ACCEPT, fd, size)
            show("accept %.10s into %d" % (p, size), r[0] if isinstance(r[0], str) else "fd", *r[1:-1], len(os.listdir("/proc/self/fd")) - before)
            if not isinstance(r[0], str):
                os.close(r[0])
            os.unlink("c")
            os.close(client)
        dgram = sock(DGRAM)
        bind(dgram, p + "d" if len(p) < 100 else p[:-1] + "d")
        for size in -1, 0, 2, 3, full, 110, 200:
            client = sock(DGRAM)
            os.path.lexists("c") and os.unlink("c")
            bind(client, home + "/c")
            sendto(client, p + "d" if len(p) < 100 else p[:-1] + "d")
            show("recvfrom %.10s into %d" % (p, size), *named(RECVFROM, dgram, size, base, 64, 0x40))
            show("what is left", *received(dgram)[:1])
            os.close(client)
        os.unlink(p)
        end()


def pointers():
    """Addresses and lengths where there is no memory, or less than it seems."""
    fresh()
    server = sock(STREAM)
    bind(server, home + "/server")
    call(LISTEN, server, 100)
    dgram = sock(DGRAM)
    bind(dgram, home + "/dgram")
    lock(True)
    length = base + 8192
    spots = [(0, length), (base, 0), (0, 0), (8, length), (base, 8), (edge - 1, length), (edge - 2, length), (edge - 10, length), (edge - 64, length), (edge, length),
             (readonly, length), (base, readonly), (base, edge - 3), (base, edge), (-1, length), (base, -4), (base, base + 8193)]
    for where, size in spots:
        for nr in GETSOCKNAME, GETPEERNAME, ACCEPT, RECVFROM:
            client = sock(DGRAM if nr == RECVFROM else STREAM)
            bind(client, home + "/client")
            sendto(client, "dgram") if nr == RECVFROM else connect(client, "server")
            fd, before = {GETSOCKNAME: client, GETPEERNAME: client, ACCEPT: server, RECVFROM: dgram}[nr], (base + 512, 64, 0x40) if nr == RECVFROM else ()
            put(base, b"\xaa" * 128)
            put(edge - 128, b"\xaa" * 128)
            put(length, struct.pack("i", 64) + b"\xaa" * 12)
            n = len(os.listdir("/proc/self/fd"))
            r = call(nr, fd, *before, where, size)
            t = "%d at spot %d" % (nr, spots.index((where, size)))
            show(t, "fd" if nr == ACCEPT and not isinstance(r[0], str) else r[0], *r[1:], brief(get(base, 64)), "" if r[0] == "EFAULT" else brief(get(edge - 128, 128).lstrip(b"\xaa")),
                 "" if r[0] == "EFAULT" else brief(get(length, 16)), len(os.listdir("/proc/self/fd")) - n)
            if nr == ACCEPT and not isinstance(r[0], str):
                os.close(r[0])
            if nr == ACCEPT:
                show("then", *call(RECVFROM, client, base, 1, 0x40, 0, 0))
            show("left", *call(ACCEPT, server, 0, 0)[1:] if nr in (GETSOCKNAME, GETPEERNAME) else received(dgram)[:1])
            os.unlink("client")
            os.close(client)
    lock(False)
    end()


def messages():
    fresh()
    for p in "r", home + "/r", home + "//r", home + "/" + "r" * (107 - len(home)):
        a, b = sock(DGRAM), sock(DGRAM)
        bind(a, p)
        bind(b, home + "/b" if len(p) < 60 else home + "/" + "b" * (107 - len(home)))
        name, data = put(base + 40960, un(p) + b"\0\xaa\xaa"), put(base, b"message")
        put(base + 8192, header(name, len(p) + 3, data, 7))
        show("sendmsg %.10s" % p, *call(SENDMSG, b, base + 8192, 0), get(base + 8192, 56) == header(name, len(p) + 3, data, 7), brief(get(name, len(p) + 5)))
        for size in 0, 2, 3, 9, 110, 111, 128, 1000, -1:
            call(SENDMSG, b, put(base + 8192, header(name, len(p) + 3, data, 7)), 0)
            put(base + 16384, b"\xaa" * 256)
            r = call(RECVMSG, a, put(base + 8192, header(base + 16384, size, base + 20480, 5)), 0x40)
            h = struct.unpack("QixxxxQQQQiI", get(base + 8192, 56))
            show("recvmsg %.10s %d" % (p, size), *r, h[0] - base, h[1], h[2] - base, *h[3:], brief(get(base + 16384, 256)))
            show("left", *call(RECVFROM, a, base, 64, 0x40, 0, 0))
        os.unlink(p)
        os.unlink(home + "/b" if len(p) < 60 else home + "/" + "b" * (107 - len(home)))
        end()
    a, b = sock(DGRAM), sock(DGRAM)
    bind(a, home + "/a")
    bind(b, home + "/b")
    name = put(base + 40960, un(home + "/a\0"))
    for size in 0, 1, 2, 3, 111, 128, 129, 1000, -1:
        show("sendmsg with size %d" % size, *call(SENDMSG, b, put(base + 8192, header(name, size, base, 7)), 0), *received(a)[:1])
    for at in 0, 8, edge, edge - 3, readonly:
        show("sendmsg with name at %d" % max(at - base, -1), *call(SENDMSG, b, put(base + 8192, header(at, 12, base, 7)), 0))
    for at in 0, 8, edge, edge - 55, edge - 8:
        show("headers at %d" % max(at - base, -1), *call(SENDMSG, b, at, 0), *call(RECVMSG, a, at, 0x40))
    put(readonly, header(base + 16384, 100, base + 20480, 5))
    lock(True)
    sendto(b, "a")
    show("recvmsg into what cannot be written", *call(RECVMSG, a, readonly, 0x40), brief(get(readonly, 56)[8:16]), *received(a)[:1])
    lock(False)
    for at in 8, edge - 5, edge - 30, readonly:
        sendto(b, "a")
        put(base + 8192, header(at, 100, base + 20480, 5))
        lock(True)
        show("recvmsg with name at %d" % max(at - base, -1), *call(RECVMSG, a, base + 8192, 0x40), get(base + 8192 + 40, 12), *received(a)[:1])
        lock(False)
    fd = os.open("f", os.O_RDWR)
    os.write(fd, b"in the file")
    while not isinstance(received(a)[0], str):
        pass
    control = put(base + 24576, struct.pack("QiiiI", 20, 1, 1, fd, 0))
    put(base + 16384, b"\xaa" * 256)
    show("descriptor sent", *call(SENDMSG, b, put(base + 8192, header(name, len(home) + 5, base, 7, control, 24)), 0))
    show("descriptor received", *call(RECVMSG, a, put(base + 8192, header(base + 16384, 64, base + 20480, 5, base + 28672, 64)), 0x40), *struct.unpack("QQiI", get(base + 8192 + 32, 24))[1:], brief(get(base + 16384, 64)))
    n, level, kind, passed = struct.unpack("Qiii", get(base + 28672, 20))
    show("descriptor", n, level, kind, os.pread(passed, 20, 0))
    end()


def arrays():
    """sendmmsg and recvmmsg."""
    fresh()
    for n in 1, 2, 3, 50, 0, 1025:
        for p in "r", home + "/r", home + "/" + "r" * (107 - len(home)):
            a, b = sock(DGRAM), sock(DGRAM)
            bind(a, p)
            bind(b, home + "/link/b")
            call(208, a, 1, 8, put(base, struct.pack("i", 1 << 20)), 4)
            m = min(n, 8)  # what a queue holds
            name, vector = put(base + 40960, un(p) + b"\0"), base + 32768
            put(vector, b"".join(header(name, len(p) + 3, base, i + 1) + struct.pack("iI", -1, 0x77777777) for i in range(m)))
            show("sendmmsg %d %.10s" % (n, p), *call(SENDMMSG, b, vector, m, 0x40), brief(get(vector, 64 * m)[56:64] + b"|" + get(vector, 64 * m)[-8:]))
            put(base + 16384, b"\xaa" * 8192)
            into = b"".join(header(base + 16384 + 128 * i if i % 4 < 3 else 0, (128, 10, 0, 50)[i % 4], base + 12000, 9) + struct.pack("iI", -1, 0x77777777) for i in range(min(n, 50)))
            put(vector, into)
            show("recvmmsg %d %.10s" % (n, p), *call(RECVMMSG, a, vector, n if n < 1000 else 4, 0x40, 0))
            for i in range(min(n, 10)):
                h = struct.unpack("QixxxxQQQQiIiI", get(vector + 64 * i, 64))
                show("message", h[1], *h[3:], brief(get(base + 16384 + 128 * i, 128)))
            for f in p, "link/b":
                os.unlink(f)
            end()
    a, b = sock(DGRAM), sock(DGRAM)
    bind(a, home + "/a")
    bind(b, home + "/b")
    entries = {"good": (base + 40960, len(home) + 5), "none": (base + 41216, len(home) + 5), "inet": (base + 41472, 16), "null": (0, 0), "bad": (8, 10), "short": (base + 40960, 1)}
    put(base + 40960, un(home + "/a\0"))
    put(base + 41216, un(home + "/x\0"))
    put(base + 41472, un(b"\0" * 14, 2))
    for pattern in ("good good good", "none", "good none good", "none good", "inet good", "good inet good", "null good", "good null", "bad good", "good bad", "good short", "none none"):
        words = pattern.split()
        put(base + 32768, b"".join(header(*entries[w], base, 4) + struct.pack("iI", -1, 0) for w in words))
        show("sendmmsg " + pattern, *call(SENDMMSG, b, base + 32768, len(words), 0x40), [struct.unpack("i", get(base + 32768 + 64 * i + 56, 4))[0] for i in range(len(words))])
        while not isinstance(received(a)[0], str):
            pass
    whole = header(base + 40960, len(home) + 5, base, 4) + struct.pack("iI", -1, 0)
    put(edge - 128, whole * 2)
    show("sendmmsg past the end", *call(SENDMMSG, b, edge - 128, 3, 0x40), *call(SENDMMSG, b, edge - 32, 1, 0x40), *call(SENDMMSG, b, 8, 1, 0x40), *call(SENDMMSG, b, 0, 0, 0x40))
    put(edge - 128, (header(base + 16384, 64, base, 4) + struct.pack("iI", -1, 0)) * 2)
    show("recvmmsg at the end", *call(RECVMMSG, a, edge - 128, 2, 0x40, 0), *call(RECVMMSG, a, edge - 32, 1, 0x40, 0), *call(RECVMMSG, a, 8, 1, 0x40, 0))
    for i in range(3):
        sendto(b, "a")
    put(base + 512, struct.pack("qq", 0, 0))
    put(base + 32768, (header(base + 16384, 64, base, 4) + struct.pack("iI", -1, 0)) * 5)
    show("recvmmsg, one is enough", *call(RECVMMSG, a, base + 32768, 5, 0x10000, 0))
    sendto(b, "a")
    show("recvmmsg with no time", *call(RECVMMSG, a, base + 32768, 5, 0, base + 512), struct.unpack("qq", get(base + 512, 16)))
    show("recvmmsg with a bad time", *call(RECVMMSG, a, base + 32768, 5, 0, 8))
    lent = []
    t = threading.Thread(target=lambda: lent.append(mapped()))  # memory is borrowed by threads
    t.start()
    t.join()
    show("still mapped afterwards", lent)
    end()


def mapped():
    """How much more is mapped after another array."""
    def size():
        return sum(int(b, 16) - int(a, 16) for a, b in (line.split()[0].split("-") for line in open("/proc/self/maps")))
    a = sock(DGRAM)
    bind(a, "m")
    size()
    n = size()
    for i in range(5):
        call(SENDMMSG, sock(DGRAM), put(base + 32768, (header(put(base + 4096, un(home + "/m\0")), len(home) + 5, base, 4) + b"\0" * 8) * 6), 6, 0x40)
        call(RECVMMSG, a, put(base + 32768, (header(base + 16384, 64, base, 4) + b"\0" * 8) * 6), 6, 0x40, 0)
    return size() - n


def families():
    """Sockets of other kinds, again and again: they are remembered."""
    for domain in 2, 10:
        server, client = sock(STREAM, domain), sock(DGRAM, domain)
        receiver = sock(DGRAM, domain)
        any = struct.pack("H", domain) + b"\0\0\x7f\0\0\1" + b"\0" * 8 if domain == 2 else struct.pack("H", domain) + b"\0" * 21 + b"\1" + b"\0" * 4
        for i in range(3):
            show("bind", *addressed(BIND, receiver if not i else sock(DGRAM, domain), any), named(GETSOCKNAME, receiver)[2])
            at = put(base + 4096, get(base + 4096, 28))
            address = get(at, len(any))
            show("sendto", *addressed(SENDTO, client, address, None, base, 4, 0))
            show("recvfrom", *named(RECVFROM, receiver, 5, base, 9, 0x40)[::2])
            addressed(SENDTO, client, address, None, base, 4, 0)
            show("recvmsg", *call(RECVMSG, receiver, put(base + 8192, header(base + 16384, 100, base, 4)), 0x40), get(base + 8200, 4))
            show("Unix path", *connect(client, home + "/a"), *sendto(client, home + "/a"))
            put(base + 32768, (header(put(base + 4096, address), len(address), base, 4) + b"\0" * 8) * 3)
            show("sendmmsg", *call(SENDMMSG, client, base + 32768, 3, 0))
            put(base + 32768, (header(base + 16384, 64, base, 4) + b"\0" * 8) * 5)
            show("recvmmsg", *call(RECVMMSG, receiver, base + 32768, 5, 0x40, 0))
    end()
    show("netlink", *named(GETSOCKNAME, sock(3, 16)))
    end()


def order():
    """Which of several errors is told."""
    fresh()
    listener, client, bound = sock(), sock(), sock()
    bind(listener, "l")
    call(LISTEN, listener, 1)
    connect(client, "l")
    for p in "none/x", "f/x", "loop/x", "l", home + "/none/x", home + "/loop", "x" * 108, "d", "/", home + "/dangling":
        show("on a connected stream: %.20s" % p, *sendto(client, p), *connect(client, p))
        show("on a listening one", *connect(listener, p), *bind(listener, p))
        show("of another type", *connect(sock(DGRAM), p), *sendto(sock(DGRAM), p), *connect(sock(SEQPACKET), p))
        show("out of band", *addressed(SENDTO, sock(DGRAM), un(p) + b"\0", None, base, 4, 1))
        show("no data there", *addressed(SENDTO, sock(DGRAM), un(p) + b"\0", None, 8, 4, 0))
        end_of = sock(DGRAM)
        show("too much", *addressed(SENDTO, end_of, un(p) + b"\0", None, base, 1 << 24, 0))
    show("l not listening", *connect(sock(), home + "/l"))
    end()
    for path in "l", home + "/l":
        show("nobody there", *connect(sock(), path), *sendto(sock(DGRAM), path), *bind(sock(), path))
    end()


def modes():
    fresh()
    for mask, mode in (0, None), (0o022, None), (0o777, None), (0, 0o600), (0o027, 0o4755):
        os.umask(mask)
        for p in "s", home + "/s", home + "/" + "s" * (107 - len(home)):
            fd = sock()
            if mode is not None:
                os.fchmod(fd, mode)
            show("mode %o %s" % (mask, mode), *bind(fd, p), kind_of(p))
            call(LISTEN, fd, 5)
            show("then", *connect(sock(), p), *connect(sock(STREAM), home + "/" + os.path.basename(p)))
            os.unlink(p)
            end()
    os.umask(0o022)
    os.mkdir("closed")
    inside = sock(DGRAM)
    bind(inside, "closed/in")
    for mode in 0, 0o111, 0o444, 0o555:
        os.chmod("closed", mode)
        for p in "closed/in", home + "/closed/in", home + "/closed/new", "closed/" + "n" * 101, home + "/closed/" + "n" * (99 - len(home)):
            fd = sock(DGRAM)
            show("in a closed folder %o %.20s" % (mode, p), *bind(fd, p), *connect(sock(DGRAM), p))
            os.getuid() == 0 and kind_of(p)[:2] == "14" and not p.endswith("in") and os.unlink(p)
    os.chmod("closed", 0o755)
    end()


def moves():
    """Sockets and folders that are renamed, linked and removed."""
    fresh()
    for p in "s", home + "/s", home + "/" + "s" * (107 - len(home)):
        fd, new = sock(), p[:-1] + "t"
        bind(fd, p)
        call(LISTEN, fd, 9)
        os.rename(p, new)
        show("renamed %.10s" % p, *connect(sock(), p), *connect(sock(), new), *own(fd))
        os.link(new, "hard")
        os.symlink(os.path.basename(new), "soft")
        os.symlink(home + "/" + os.path.basename(new), "far")
        for n in "hard", "soft", "far", home + "/soft", home + "/far", "far/":
            client = sock()
            show("connect to " + n, *connect(client, n), *named(GETPEERNAME, client))
        show("bind to links", *bind(sock(), "soft"), *bind(sock(), "far"), *bind(sock(), home + "/soft"))
        again = sock()
        show("the old name again", *bind(again, p), *own(again), *own(fd))
        for n in p, new, "hard", "soft", "far":
            os.unlink(n)
        end()
    os.chdir("d")
    fd = sock(DGRAM)
    bind(fd, "here")
    os.rename(home + "/d", home + "/dd")
    client = sock(DGRAM)
    show("in a moved folder", *connect(client, "here"), *own(fd), *named(GETPEERNAME, client), *connect(client, home + "/d/here"), *connect(client, home + "/dd/here"))
    os.mkdir("gone")
    os.chdir("gone")
    os.rmdir("../gone")
    show("in a removed one", *bind(sock(), "x"), *connect(sock(DGRAM), "x"), *connect(sock(DGRAM), "../here"), *bind(sock(), "../x"))
    os.chdir("/")
    for p in home[1:] + "/dd/here", "." + home + "/dd/here", "//" + home + "/dd/here", ".." + home + "/dd/here":
        client = sock(DGRAM)
        show("from the root: " + p, *connect(client, p), *named(GETPEERNAME, client))
    end()
    os.chdir(home)
    deep = home + "/deep"
    os.mkdir(deep)
    os.chdir(deep)
    for i in range(18):
        os.mkdir("e" * 200)
        os.chdir("e" * 200)
    fd, client = sock(DGRAM), sock(DGRAM)
    show("3600 bytes deep", *bind(fd, "s"), *own(fd), *connect(client, "s"), *connect(client, "./s"), *connect(client, "../" + "e" * 100 + "/s"), *bind(client, ".//t"), *own(client), *connect(client, "..//"), *sendto(client, ".//s"), *received(fd))
    os.chdir("/")
    end()
    # An inode that many names lead to, bound in turn.
    for i in range(10):
        p = home + ("/dd" if i % 2 else "//dd") + "/%d" % i
        fd = sock(DGRAM)
        bind(fd, p)
        show("one of many", *own(fd))
    for fd in list(opened):
        show("later", *own(fd))
    end()


def interrupted():
    """Calls that a signal interrupts, with and without restart."""
    fresh()
    hits = []
    # A handler of the process's own, so that the call is interrupted where it is.
    signal.signal(signal.SIGALRM, lambda *a: hits.append(1))
    listener, receiver, sender = sock(), sock(DGRAM), sock(DGRAM)
    bind(listener, home + "/l")
    call(LISTEN, listener, 0)
    bind(receiver, home + "/r")
    bind(sender, home + "/link/s")

    def later(f):
        t = threading.Timer(0.15, f)
        t.start()
        return t

    def client():
        c = sock()
        bind(c, home + "/c")
        connect(c, "l")

    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])  # for the threads
    for restart in False, True:
        signal.siginterrupt(signal.SIGALRM, not restart)
        for what, f, g in (
            ("accept", client, lambda: (lambda r: ("fd" if not isinstance(r[0], str) else r[0], *r[1:]))(named(ACCEPT, listener))),
            ("recvfrom", lambda: libc.send(late, b"late", 4, 0), lambda: named(RECVFROM, receiver, 128, base, 64, 0)),
            ("recvmsg", lambda: libc.send(late, b"late", 4, 0), lambda: (*call(RECVMSG, receiver, put(base + 8192, header(base + 16384, 128, base, 5)), 0), brief(get(base + 16384, 64)), get(base + 8200, 4))),
            ("recvmmsg", lambda: libc.send(late, b"late", 4, 0), lambda: (*call(RECVMMSG, receiver, put(base + 32768, (header(base + 16384, 128, base, 5) + b"\0" * 8) * 3), 3, 0x10000, 0), brief(get(base + 16384, 64)))),
        ):
            put(base + 16384, b"\xaa" * 256)
            late = sock(DGRAM)
            bind(late, home + "//late")
            connect(late, home + "/r")
            t = later(f)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGALRM])
            signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05 if not restart else 0)
            show("%s, restart %s" % (what, restart), *g())
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
            t.join()
            while not isinstance(call(RECVFROM, receiver, base, 64, 0x40, 0, 0)[0], str):
                pass
            call(25, listener, 4, 0o4000)
            while not isinstance(call(ACCEPT4, listener, 0, 0, 0)[0], str):
                pass
            call(25, listener, 4, 0)
            for n in "c", "late":
                os.path.lexists(n) and os.unlink(n)
        show("hit", len(hits) > 0)
    # connect to a queue that is full
    first = sock()
    show("fills the queue", *connect(first, "l"))
    for restart in False, True:
        signal.siginterrupt(signal.SIGALRM, not restart)
        for p in home + "/l", home + "//l", "l", "/proc/self/cwd/l":
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
            t = later(lambda: restart and call(ACCEPT, listener, 0, 0))
            signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGALRM])
            signal.setitimer(signal.ITIMER_REAL, 0.05)
            c = sock()
            show("connect %s, restart %s" % (p, restart), *connect(c, p), *named(GETPEERNAME, c))
            t.join()
    end()
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    pid = os.fork()
    if pid == 0:  # stopped and continued in the middle of a call
        receiver = sock(DGRAM)
        bind(receiver, home + "/stopped")
        show("stopped", *named(RECVFROM, receiver, 128, base, 64, 0))
        os._exit(0)
    while not os.path.lexists("stopped"):
        time.sleep(0.01)
    time.sleep(0.1)
    os.kill(pid, signal.SIGSTOP)
    os.waitpid(pid, os.WUNTRACED)
    os.kill(pid, signal.SIGCONT)
    sender = sock(DGRAM)
    bind(sender, home + "/sender")
    show("to the stopped one", *sendto(sender, home + "/stopped"), os.waitpid(pid, 0)[1])
    end()


def small():
    """A stack with little room, and one with none."""
    fresh()
    fd = sock(DGRAM)
    bind(fd, home + "/a")
    stack = base + (3 << 16)
    out = []

    def on(sp, nr, *args):
        # A stub that changes the stack for the call.
        table = (ctypes.c_uint64 * 10)(*[a & (1 << 64) - 1 for a in args], *[0] * (8 - len(args)), nr, sp)
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(ctypes.addressof(ctypes.c_char.from_buffer(code)) + 256)(ctypes.addressof(table))
        r = ctypes.c_int64(table[0]).value
        return errno.errorcode.get(-r, r) if -4096 < r < 0 else r, table[9] == sp

    code.seek(256)
    code.write(bytes.fromhex(other_stack))
    for sp in stack + 4096, stack + 300, stack + 128, stack + 16, stack, 0, 16, 8, edge + 64, readonly + 4096, 1 << 63, (1 << 64) - 16:
        lock(True)
        put(base + 4096, b"\xaa" * 256)
        put(base + 8192, struct.pack("i", 128))
        client = sock(DGRAM)
        here = put(base + 16384, un(home + "/c") + b"\0")
        show("on a stack", *on(sp, BIND, client, here, len(home) + 5), *on(sp, CONNECT, client, put(base + 512, un(home + "/a") + b"\0"), len(home) + 5),
             *on(sp, GETSOCKNAME, client, base + 4096, base + 8192), brief(get(base + 4096, 128)), *on(sp, SENDTO, client, base, 5, 0, 0, 0), kind_of("c"))
        put(base + 8192, struct.pack("i", 128))
        show("received", *on(sp, RECVFROM, fd, base, 64, 0x40, base + 4096, base + 8192), brief(get(base + 4096, 128)))
        lock(False)
        os.path.lexists("c") and os.unlink("c")
        os.close(client)
    end()


other_stack = (  # x0 to x8 and sp from a table
    "f353bfa9f30300aaf4030091692640f9600640a9620e41a9641642a9661e43a9682240f93f010091"
    "010000d4e90300919f020091692600f9600600a9620e01a9641602a9661e03a9f353c1a8c0035fd6")


def programs():
    """Real uses: a log, readiness messages with credentials, descriptors."""
    fresh()
    for name in "log", home + "/log", home + "/" + "log" * 30:
        log = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        log.bind(name)
        h = logging.handlers.SysLogHandler(name)
        logger = logging.Logger("x")
        logger.addHandler(h)
        logger.error("an error")
        show("log", log.recvfrom(100))
        h.close()
        os.unlink(name)
        log.close()
    for name in home + "/notify", home + "/" + "notify" * 13, "\0notify":
        s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        s.bind(name)
        c = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        c.sendmsg([b"READY=1"], [(socket.SOL_SOCKET, 2, struct.pack("iII", os.getpid(), os.getuid(), os.getgid()))], 0, name)
        data, control, flags, address = s.recvmsg(100, socket.CMSG_SPACE(12))
        show("notify", data, flags, address, [(l, t, struct.unpack("iII", d) == (os.getpid(), os.getuid(), os.getgid())) for l, t, d in control])
        c.close()
        s.close()
    for kind in socket.SOCK_STREAM, socket.SOCK_SEQPACKET:
        server = socket.socket(socket.AF_UNIX, kind)
        server.bind(home + "/server%d" % kind)
        server.listen()
        if os.fork() == 0:
            c = socket.socket(socket.AF_UNIX, kind)
            os.chdir("d")
            c.bind("client%d" % kind)
            c.connect("../server%d" % kind)
            socket.send_fds(c, [b"fd"], [os.open("/etc/hostname", os.O_RDONLY)])
            show("child", c.getpeername(), c.recv(10))
            os._exit(0)
        conn, address = server.accept()
        data, fds, flags, a = socket.recv_fds(conn, 10, 4)
        show("parent", address, data, len(os.pread(fds[0], 100, 0)) > 0, a, conn.getpeername(), conn.getsockname())
        conn.send(b"done")
        os.wait()


def threads():
    """Many at once."""
    fresh()
    bad = []

    def work(i):
        for j in range(9):
            s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            name = home + "/" + ("link/" if j % 2 else "") + "t%d" % i * (1 + 20 * (j % 3 == 0))
            s.bind(name)
            c = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            c.bind(name[:-1] + "c%d" % i)
            c.sendto(b"%d" % j, name)
            got = s.recvfrom(10)
            if got != (b"%d" % j, name[:-1] + "c%d" % i) or s.getsockname() != name:
                bad.append((got, name))
            s.close()
            c.close()
            os.unlink(name)
            os.unlink(name[:-1] + "c%d" % i)
    all = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    [t.start() for t in all]
    [t.join() for t in all]
    show("threads", bad)


for part in names, clients, lengths, abstract, rooms, pointers, messages, arrays, families, order, modes, moves, interrupted, small, programs, threads:
    if not sys.argv[2:] or part.__name__ in sys.argv[2:]:
        print("==", part.__name__, flush=True)
        part()
