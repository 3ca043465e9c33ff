# What a program is started with, seen by a shell: runs its arguments, which end
# in "sh -c", once for each way of starting them.
import os, resource, signal, sys

LOOK = '''for fd in 0 1 2; do [ -e /proc/$$/fd/$fd ] || echo "$fd is closed" >&9; done
exec 2>&9 >&9
while read name value; do case $name in Sig[PBIC]*|Shd*) echo $name $value; esac; done </proc/self/status
for fd in /proc/$$/fd/*; do echo ${fd##*/}; done
ulimit -Sn; ulimit -Hn; ulimit -Sc; umask; echo "$-"
'''

signals = [s for s in range(1, 65) if s not in (signal.SIGKILL, signal.SIGSTOP, 32, 33)]

def start(name, prepare):
    print('==', name, flush=True)
    pid = os.fork()
    if pid == 0:
        for s in signals:
            signal.signal(s, signal.SIG_DFL)
        os.dup2(1, 9)
        null = os.open('/dev/null', os.O_RDWR)
        for fd in 0, 1, 2:
            os.dup2(null, fd)
        os.close(null)
        prepare()
        os.execvp(sys.argv[1], sys.argv[1:] + [LOOK])
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)

def ignore(*which):
    return lambda: [signal.signal(s, signal.SIG_IGN) for s in which]

def block(*which):
    return lambda: signal.pthread_sigmask(signal.SIG_SETMASK, which)

def close(*which):
    return lambda: [os.close(fd) for fd in which]

start('nothing', lambda: None)
start('ignored for a job in the background', ignore(signal.SIGINT, signal.SIGQUIT))
start('ignored under nohup', ignore(signal.SIGHUP))
start('ignored for a terminal', ignore(signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU))
start('ignored', ignore(signal.SIGPIPE, signal.SIGXFSZ, signal.SIGURG, signal.SIGUSR1, 40, 64))
start('all ignored', ignore(*(s for s in signals if s != signal.SIGCHLD)))
start('blocked', block(signal.SIGUSR1, signal.SIGURG, signal.SIGPROF, signal.SIGSEGV, 64))
start('all blocked', block(*(s for s in signals if s != signal.SIGCHLD)))
start('no input', close(0))
start('no output', close(1))
start('no errors', close(2))
start('nothing open', close(0, 1, 2))
start('more open', lambda: [os.dup2(9, fd) for fd in (3, 4, 8, 20, 100)])
start('few descriptors', lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, 128)))
start('limits', lambda: (resource.setrlimit(resource.RLIMIT_CORE, (0, 0)), os.umask(0o27)))
