# Makes path calls with ordinary and hostile arguments, and prints a line for each:
# what it is, its result, its errno, and what it filled. The call numbers are
# arm64's; ctypes gives the kernel exactly what is written here.
import ctypes, os, shutil

libc = ctypes.CDLL(None, use_errno=True)
CWD, EMPTY, NOFOLLOW, FOLLOW = -100, 0x1000, 0x100, 0x400
OPENAT, MKDIRAT, MKNODAT, UNLINKAT, SYMLINKAT, LINKAT, RENAMEAT2 = 56, 34, 33, 35, 36, 37, 276
FACCESSAT, FACCESSAT2, NEWFSTATAT, STATX, READLINKAT, UTIMENSAT = 48, 439, 79, 291, 78, 88
FCHMODAT, FCHOWNAT, CHDIR, FCHDIR, GETCWD, STATFS, TRUNCATE = 53, 54, 49, 50, 17, 43, 45
CREAT, EXCL, DIRECTORY, O_NOFOLLOW, PATH, TRUNC, RDWR = 0o100, 0o200, 0o40000, 0o100000, 0o10000000, 0o1000, 2


def call(nr, *args):
    args = [ctypes.c_char_p(a) if isinstance(a, bytes) else a if not isinstance(a, int) else ctypes.c_long(a) for a in args]
    ctypes.set_errno(0)
    r = libc.syscall(ctypes.c_long(nr), *args)
    return r, ctypes.get_errno()


def show(what, nr, *args, out=None):
    r, e = call(nr, *args)
    if nr == OPENAT and r >= 0:
        st = os.fstat(r)
        os.close(r)
        r = "fd mode %o size %d" % (st.st_mode, st.st_size)
    print(what, "=", r, e and os.strerror(e), out.raw[:r] if out is not None and isinstance(r, int) and r > 0 else "")


os.mkdir("/calls")
os.chdir("/calls")
os.umask(0o027)
for d in ("d", "d/e"):
    os.mkdir(d)
for f in ("f", "d/g"):
    open(f, "w").write(f)
os.symlink("/calls/f", "abs")
os.symlink("../f", "d/up")
os.symlink("nowhere", "dangling")
os.symlink("loop", "loop")
os.symlink("/../../../calls/d", "above")
os.symlink("f/", "slashed")
d, f = os.open("d", os.O_RDONLY), os.open("f", os.O_RDWR)

names = [b"f", b"./f", b"d", b"d/", b"f/", b"abs", b"abs/", b"d/up", b"dangling", b"dangling/", b"loop", b"loop/x", b"above/g",
         b"slashed", b"", b".", b"..", b"/", b"//calls//f", b"/../calls/f", b"d/../f", b"f/..", b"none", b"none/x", b"x" * 255, b"x" * 256,
         b"/" + b"a/" * 2047, b"a/" * 2048, 0, 1, -1, 4096]
buf = ctypes.create_string_buffer(4096)
for n in names:
    t = n[:20] if isinstance(n, bytes) else n
    show(f"stat {t}", NEWFSTATAT, CWD, n, buf, 0)
    show(f"lstat {t}", NEWFSTATAT, CWD, n, buf, NOFOLLOW)
    show(f"statx {t}", STATX, CWD, n, 0, 0x7ff, buf)
    show(f"access {t}", FACCESSAT, CWD, n, 4)
    show(f"access2 {t}", FACCESSAT2, CWD, n, 2, NOFOLLOW)
    show(f"readlink {t}", READLINKAT, CWD, n, buf, 100, out=buf)
    show(f"open {t}", OPENAT, CWD, n, 0, 0)
    show(f"open nofollow {t}", OPENAT, CWD, n, O_NOFOLLOW, 0)
    show(f"open path {t}", OPENAT, CWD, n, PATH | O_NOFOLLOW, 0)
    show(f"open directory {t}", OPENAT, CWD, n, DIRECTORY, 0)
    show(f"open excl {t}", OPENAT, CWD, n, CREAT | EXCL | RDWR, 0o666)
    show(f"dirfd {t}", NEWFSTATAT, d, n, buf, 0)
    show(f"file as dirfd {t}", NEWFSTATAT, f, n, buf, 0)
    show(f"bad dirfd {t}", NEWFSTATAT, 99, n, buf, 0)
    show(f"empty path {t}", NEWFSTATAT, d, n, buf, EMPTY)
    show(f"statfs {t}", STATFS, n, buf)
    show(f"truncate {t}", TRUNCATE, n, 1)
    if t not in (b"..", b"/"):  # the root is the same for the next run
        show(f"chmod {t}", FCHMODAT, CWD, n, 0o700)
    show(f"chown {t}", FCHOWNAT, CWD, n, 0, 0, 0)
    show(f"utimens {t}", UTIMENSAT, CWD, n, 0, 0)
    show(f"chdir {t}", CHDIR, n)
    show("getcwd", GETCWD, buf, 4096, out=buf)
    os.chdir("/calls")

show("unmapped result", NEWFSTATAT, CWD, b"f", 4096, 0)
show("readlink size 0", READLINKAT, CWD, b"abs", buf, 0)
show("readlink short", READLINKAT, CWD, b"abs", buf, 3, out=buf)
show("readlink fd", READLINKAT, os.open("abs", PATH | O_NOFOLLOW), b"", buf, 99, out=buf)
show("readlink unmapped", READLINKAT, CWD, b"abs", 4096, 9)
show("getcwd short", GETCWD, buf, 3)
show("getcwd unmapped", GETCWD, 4096, 99)
show("fchdir", FCHDIR, d)
show("getcwd", GETCWD, buf, 4096, out=buf)
os.chdir("/calls")
show("fchdir file", FCHDIR, f)
show("create", OPENAT, CWD, b"new", CREAT | RDWR, 0o666)
show("create through dangling", OPENAT, CWD, b"dangling", CREAT | RDWR, 0o666)
show("trunc through link", OPENAT, CWD, b"abs", TRUNC | RDWR, 0)
show("mkdir", MKDIRAT, CWD, b"m/", 0o777)
show("mkdir exists", MKDIRAT, CWD, b"dangling", 0o777)
show("mkdir root", MKDIRAT, CWD, b"/", 0o777)
show("mkfifo", MKNODAT, d, b"fifo", 0o10666, 0)
show("symlink", SYMLINKAT, b"/etc/../x", d, b"s")
show("symlink over", SYMLINKAT, b"x", CWD, b"f")
show("symlink empty", SYMLINKAT, b"", CWD, b"s2")
show("symlink unmapped", SYMLINKAT, 4096, CWD, b"s2")
show("link", LINKAT, CWD, b"f", CWD, b"hard", 0)
show("link of link", LINKAT, CWD, b"abs", CWD, b"hardlink", 0)
show("link through link", LINKAT, CWD, b"abs", CWD, b"hard2", FOLLOW)
show("link of fd", LINKAT, f, b"", CWD, b"/calls/hard3", EMPTY)
show("link of fd to nothing", LINKAT, f, b"", CWD, b"", EMPTY)
show("link of directory", LINKAT, CWD, b"d", CWD, b"hd", 0)
show("rename", RENAMEAT2, CWD, b"hard", d, b"hard", 0)
show("rename noreplace", RENAMEAT2, CWD, b"hard2", CWD, b"f", 1)
show("rename exchange", RENAMEAT2, CWD, b"hard2", d, b"up", 2)
show("rename into itself", RENAMEAT2, CWD, b"d", CWD, b"d/e/x", 0)
show("rename dot", RENAMEAT2, CWD, b".", CWD, b"x", 0)
show("rmdir full", UNLINKAT, CWD, b"d", 0x200)
show("rmdir", UNLINKAT, CWD, b"m", 0x200)
show("rmdir file", UNLINKAT, CWD, b"f", 0x200)
show("unlink directory", UNLINKAT, CWD, b"d", 0)
show("unlink slash", UNLINKAT, CWD, b"abs/", 0)
show("unlink link", UNLINKAT, CWD, b"abs", 0)
show("unlink flags", UNLINKAT, CWD, b"f", 1)
show("futimens", UTIMENSAT, f, 0, 0, 0)
for top, dirs, files in sorted(os.walk("/calls")):
    for n in sorted(dirs + files):
        st = os.lstat(os.path.join(top, n))
        print(top, n, "%o" % st.st_mode, st.st_nlink, st.st_size, os.readlink(os.path.join(top, n)) if os.path.islink(os.path.join(top, n)) else "")
os.chdir("/")
shutil.rmtree("/calls")
