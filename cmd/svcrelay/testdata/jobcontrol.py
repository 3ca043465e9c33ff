# A person at a terminal: runs its arguments, which end in an interactive shell,
# and prints what is seen.
import os, pty, re, select, sys, time

pid, tty = pty.fork()
if pid == 0:
    os.environ.update(PS1='ready> ', TERM='dumb', LC_ALL='C')
    os.execvp(sys.argv[1], sys.argv[1:])

seen = ''

def give_up(what):
    print('no', what, 'after', repr(seen), flush=True)
    os._exit(1)

def until(pattern):
    global seen
    start = len(seen)
    while not re.search(pattern, seen[start:]):
        if not select.select([tty], [], [], 30)[0]:
            give_up(pattern)
        try:
            seen += os.read(tty, 4096).decode()
        except OSError:
            seen += '<hung up>'

def type(text, pattern='ready> '):
    os.write(tty, text.encode())
    until(pattern)

def running(group, name):
    for stat in os.listdir('/proc'):
        try:
            fields = open('/proc/' + stat + '/stat').read().split()
        except OSError:
            continue
        if fields[1] == '(' + name + ')' and fields[4] == str(group):
            yield stat

# A job is in front once the terminal belongs to another group than the shell's;
# a key that comes before its programs run would be lost on a real terminal too.
def in_front(text, name, processes=1):
    shell = os.tcgetpgrp(tty)
    os.write(tty, text.encode())
    for _ in range(3000):
        group = os.tcgetpgrp(tty)
        if group != shell and len(list(running(group, name))) == processes:
            return
        time.sleep(0.01)
    give_up(text)

until('ready> ')
in_front('sleep 100\n', 'sleep')
type('\x1a', 'Stopped[^>]*ready> ')
type('jobs\n')
type('bg\n')
type('jobs\n')
in_front('fg\n', 'sleep')
type('\x03')
type('echo status $?\n')
in_front('cat | cat\n', 'cat', 2)
type('\x1a', 'Stopped[^>]*ready> ')
in_front('fg\n', 'cat', 2)
type('hello\n', 'hello\r\nhello')
type('\x04')
in_front('sleep 100\n', 'sleep')
type('\x1c', 'ready> ')
in_front('sleep 100\n', 'sleep')
type('\x1a', 'Stopped[^>]*ready> ')
in_front('fg\n', 'sleep')
type('\x03')
type('tty <&0 >/dev/null && echo terminal; stty -a | grep -c isig\n')
os.write(tty, b'exit 5\n')
until('<hung up>')
# Where the echo of a key comes in what the shell prints is not said.
seen = re.sub(r'\^[CZ\\]|\s*\(core dumped\)', '', seen)
print('\n'.join(line for line in seen.splitlines() if line))
print('status', os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
