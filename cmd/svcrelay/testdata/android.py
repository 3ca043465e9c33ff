# Asks what Android's policy refuses: of terminals, of hard links, of files without
# a name. Prints what a machine without a policy says, but for what is marked.
import ctypes, errno, fcntl, os, signal, struct, termios

libc = ctypes.CDLL(None, use_errno=True)
TCGETS2, TCSETS2, TCSETSW2, TCSETSF2, TCSETSF, FICLONE = 0x802c542a, 0x402c542b, 0x402c542c, 0x402c542d, 0x5404, 0x40049409
CBAUD, BOTHER, B115200, ECHO, ICANON = 0o10017, 0o10000, 0o10002, 8, 2


def tried(f, *a):
    try: r = f(*a)
    except (OSError, termios.error) as e: return errno.errorcode[e.args[0]]
    return r if isinstance(r, bytes) else 'ok'


def get2(fd): return list(struct.unpack('4IB19s2I', fcntl.ioctl(fd, TCGETS2, bytes(44))))
def put2(fd, request, t): return fcntl.ioctl(fd, request, struct.pack('4IB19s2I', *t))


master, slave = os.openpty()
for fd in slave, master:
    first = termios.tcgetattr(fd)
    for when in termios.TCSANOW, termios.TCSADRAIN, termios.TCSAFLUSH:
        first[3] ^= ECHO
        print(when, tried(termios.tcsetattr, fd, when, first), termios.tcgetattr(fd)[3] == first[3])
    for request in TCSETS2, TCSETSW2, TCSETSF2:
        t = get2(fd)
        t[2], t[3], t[6], t[7] = t[2] & ~CBAUD | BOTHER, t[3] ^ ECHO, 115200, 115200
        put2(fd, request, t)
        now = get2(fd)
        print(hex(request), now[3] == t[3], now[6:], now[2] & CBAUD in (BOTHER, B115200))

# What was typed and not read is thrown away by a request that flushes, alone.
raw = get2(slave); raw[3] &= ~(ICANON | ECHO); put2(slave, TCSETS2, raw)
os.set_blocking(slave, False)
for request in TCSETSF, TCSETSF2, TCSETSW2, TCSETS2:
    os.write(master, b'typed')
    put2(slave, request, raw)
    print(hex(request), tried(os.read, slave, 10))

# Pointers, descriptors and files that are no terminal.
plain = os.open('plain', os.O_RDWR | os.O_CREAT)
print([tried(fcntl.ioctl, fd, request, bytes(44)) for fd in (plain, 99) for request in (TCGETS2, TCSETS2, TCSETSF, TCSETSF2)])
for request in TCGETS2, TCSETS2, TCSETSF, TCSETSF2:
    print(libc.ioctl(slave, ctypes.c_ulong(request), ctypes.c_void_p(8)), errno.errorcode[ctypes.get_errno()])

# A signal whose handler makes such requests too, while one is made in other words.
def handler(*a): get2(slave); put2(slave, TCSETSF, raw)
signal.signal(signal.SIGALRM, handler)
signal.setitimer(signal.ITIMER_REAL, 0.02, 0.05)
for i in range(300): put2(slave, (TCSETSF2, TCSETSF)[i & 1], raw); assert get2(slave)[3] == raw[3]
signal.setitimer(signal.ITIMER_REAL, 0)

other = os.open('other', os.O_RDWR | os.O_CREAT)
print('clone', tried(fcntl.ioctl, other, FICLONE, plain))
print('link', tried(os.link, 'plain', 'linked'), tried(os.link, 'none', 'linked'), tried(os.link, 'plain', 'other'))
print('nameless', tried(os.open, '.', os.O_TMPFILE | os.O_RDWR, 0o600), tried(os.open, '.', os.O_TMPFILE | os.O_RDWR | os.O_EXCL, 0o600))
for path in b'/dev/shm', b'/dev/shm/.', b'/dev/shm/../shm/below', b'/dev/shm-other', b'/dev/shm/none':
    buf = (ctypes.c_ulong * 15)()
    print(path, libc.statfs(path, buf), hex(buf[0]))
print('memfd', libc.memfd_create(b'JITCode:x', 0) >= 0)
