"""A program that starts commands, each below a keeper: whatever comes of a command stays there until nothing is left.

workspace/keeper.py runs it once, with a socket as its input, and asks it for one command after the other.
For each it forks a keeper, which starts the command in a session of its own and is for Linux the parent of
every orphan among the command's descendants (PR_SET_CHILD_SUBREAPER, see prctl(2)). So no process gets away
by a fork, a session, an environment or a limit of its own, and "no child is left" means that all is over.

A request is a message of one byte, the number of the descriptors that come with it (SCM_RIGHTS, see unix(7)):

* where the command's output goes;
* ``news``, a pipe into which the keeper writes lines: ``kept PID`` about itself, then ``started PID`` or
  ``failed ERRNO``, ``exited STATUS`` when the command's first process is gone, ``over`` when nothing is left;
* ``orders``, a pipe from which it reads the command. What comes later means to kill all; its end means that
  codeagent is dead: all is asked to end, and killed ``GRACE`` seconds later;
* a Landlock ruleset, where the command is to be confined by one.

The command: the length of what follows, a line's end, and texts that end with a NUL each: a limit of bytes in
message queues (0 for none), the folder to start in, how many words there are, the words, and the environment.
None of it is an argument of the program, or else pkill would find the keeper.

Started with the descriptor of a ruleset as its one argument, it applies that to itself first, so that all
commands are held by it together: they may signal each other, and nobody else.

This starter holds nothing but the socket, and ends with it; keepers go on without it. It is small
and has one thread, so that a fork costs next to nothing, and imports nothing that imports much: signal and socket
would double the time of its own start.
"""

import ctypes
import gc
import os
import resource
import select
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    import socket
else:
    import _signal as signal
    import _socket as socket

GRACE = 2.0
_SET_SIGNAL_AT_PARENTS_DEATH = 1
_SET_DUMPABLE = 4
_SET_CHILD_SUBREAPER = 36
_NO_NEW_PRIVILEGES = 38
_LANDLOCK_RESTRICT_SELF = 446
_CAPABILITIES_VERSION_3 = 0x20080522
_CAPABILITIES_KEPT = sum(1 << number for number in (0, 1, 3, 4, 5, 6, 7, 8, 10, 13, 31))
"""What builds need, the same as under bubblewrap (workspace/confine.py): CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_FOWNER, …"""

_SPAWN_SETSIGDEF, _SPAWN_SETSID = 0x04, 0x80  # <spawn.h> of glibc and musl, as the next two
_SIZE_OF_SIGNALS = 128  # sigset_t
_ROOM_FOR_ATTRIBUTES = 1024  # more than a posix_spawnattr_t takes
_CAUGHT = ("SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM", "SIGUSR1", "SIGUSR2", "SIGTSTP")
_BYTES_OF_A_DESCRIPTOR = 4
_MOST_DESCRIPTORS = 4
_FIRST_PAUSE = 0.002
_LONGEST_PAUSE = 1.0
_libc = ctypes.CDLL(None, use_errno=True)


# --- the starter


def main() -> None:
    """Forks one keeper after the other, each before it is asked for, until codeagent closes the socket or is dead."""
    if sys.argv[1:]:
        _restrict_self(int(sys.argv[1]))
    requests = socket.socket(fileno=0)
    waiting = select.poll()
    waiting.register(requests, select.POLLHUP)
    gc.disable()  # nothing here makes cycles
    _be_unmoved()
    while not waiting.poll(0):
        spare, taken = os.pipe()
        try:
            pid = os.fork()
        except OSError as error:
            _refuse(requests, error)
        else:
            if pid == 0:
                try:
                    _await_request(requests, taken)
                finally:
                    os._exit(0)  # whatever happens: this is no second starter
        os.close(taken)
        os.read(spare, 1)  # its end is closed when it has a request, or is dead
        os.close(spare)


def _be_unmoved() -> None:
    """By signals that are meant for others, and by debuggers."""
    for name in _CAUGHT:
        signal.signal(getattr(signal, name), lambda _number, _frame: None)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # keepers that have ended are no zombies
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    _libc.prctl(_SET_DUMPABLE, 0, 0, 0, 0)  # none but root can take it over with ptrace(2)


def _received(requests: "socket.socket") -> list[int] | None:
    """The descriptors of the next request, none when not all came through; None at the end."""
    room = socket.CMSG_SPACE(_MOST_DESCRIPTORS * _BYTES_OF_A_DESCRIPTOR)
    message, extras, _, _ = requests.recvmsg(1, room, socket.MSG_CMSG_CLOEXEC)
    if not message:
        return None
    packed = b"".join(data for _, _, data in extras)
    starts = range(0, len(packed) - len(packed) % _BYTES_OF_A_DESCRIPTOR, _BYTES_OF_A_DESCRIPTOR)
    got = [int.from_bytes(packed[at : at + _BYTES_OF_A_DESCRIPTOR], sys.byteorder) for at in starts]
    if len(got) == message[0]:
        return got
    for descriptor in got:
        os.close(descriptor)
    return []


def _refuse(requests: "socket.socket", error: OSError) -> None:
    if descriptors := _received(requests):
        _tell(descriptors[1], f"failed {error.errno}\n")
    for descriptor in descriptors or ():
        os.close(descriptor)


# --- a keeper


def _await_request(requests: "socket.socket", taken: int) -> None:
    os.setsid()  # before it is needed: Linux shares processor time among sessions, and a new one waits for its turn
    _libc.prctl(_SET_SIGNAL_AT_PARENTS_DEATH, signal.SIGKILL, 0, 0, 0)
    if descriptors := _received(requests):
        _libc.prctl(_SET_SIGNAL_AT_PARENTS_DEATH, 0, 0, 0, 0)
        os.dup2(1, 0)  # the socket is the starter's
        os.close(taken)
        _be_keeper(*descriptors)


def _be_keeper(output: int, news: int, orders: int, ruleset: int = -1) -> None:
    woken, wake = os.pipe()
    for end in (woken, wake):
        os.set_blocking(end, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
    _libc.prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    request = _read_request(orders)
    if _tell(news, f"kept {os.getpid()}\n"):
        try:
            shell = _start(request, output, ruleset)
        except OSError as error:
            _tell(news, f"failed {error.errno}\n")
        else:
            _tell(news, f"started {shell}\n")
            _keep(shell, news, orders, woken)


def _read_request(orders: int) -> list[bytes]:
    """The texts; leaves when codeagent has given up."""
    data = b""
    while b"\n" not in data:
        data += os.read(orders, 65_536) or os._exit(0)
    length, _, start = data.partition(b"\n")
    pieces, missing = [start], int(length) - len(start)
    while missing > 0:
        pieces.append(os.read(orders, missing) or os._exit(0))
        missing -= len(pieces[-1])
    return b"".join(pieces).split(b"\0")[:-1]


def _start(request: list[bytes], output: int, ruleset: int) -> int:
    """The pid of the command's first process. Raises OSError when it can not be run.

    What the command is to inherit the keeper has for this moment; only the ruleset stays with it.
    """
    limit, folder, count, *rest = request
    words, variables = rest[: int(count)], rest[int(count) :]
    empty = os.open(os.devnull, os.O_RDWR)
    usual, hard = resource.getrlimit(resource.RLIMIT_MSGQUEUE)
    os.dup2(empty, 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.chdir(folder)
    resource.setrlimit(resource.RLIMIT_MSGQUEUE, (int(limit) or usual, hard))
    if ruleset >= 0:
        _restrict_self(ruleset)
        _give_up_capabilities()
    shell = _spawned(words, variables)
    resource.setrlimit(resource.RLIMIT_MSGQUEUE, (usual, hard))
    os.chdir("/")  # so that the folder can be unmounted, and the output has an end
    os.close(output)
    os.dup2(empty, 1)
    os.dup2(empty, 2)
    os.close(empty)
    return shell


def _spawned(words: list[bytes], variables: list[bytes]) -> int:
    """The pid of a process in a session of its own that ignores no signal.

    The kernel need not copy the keeper for it, as for a fork. Not every build of Python
    offers the session with os.posix_spawn, and none the default of the signals that glibc keeps for itself.
    """
    for variable in variables:
        if variable.startswith(b"PATH="):
            os.environb[b"PATH"] = variable[5:]  # where it is looked for
    attributes = ctypes.create_string_buffer(_ROOM_FOR_ATTRIBUTES)
    _libc.posix_spawnattr_init(attributes)
    _libc.posix_spawnattr_setflags(attributes, ctypes.c_short(_SPAWN_SETSID | _SPAWN_SETSIGDEF))
    _libc.posix_spawnattr_setsigdefault(attributes, b"\xff" * _SIZE_OF_SIGNALS)
    pid = ctypes.c_int()
    arguments = (ctypes.c_char_p * (len(words) + 1))(*words, None)
    environment = (ctypes.c_char_p * (len(variables) + 1))(*variables, None)
    number = _libc.posix_spawnp(ctypes.byref(pid), words[0], None, attributes, arguments, environment)
    if number:
        raise OSError(number, os.strerror(number))
    return pid.value


def _restrict_self(ruleset: int) -> None:
    """Applies a Landlock ruleset, for good; what is forked later is held by it too. Raises OSError."""
    _checked(_libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0))
    _checked(_libc.syscall(_LANDLOCK_RESTRICT_SELF, ruleset, 0))
    os.close(ruleset)


def _give_up_capabilities() -> None:
    """Takes from root what gets past a ruleset, see capabilities(7). Raises OSError.

    With CAP_PERFMON it could read the memory of any process, and so its keys; with others load modules of the kernel
    or set its clock. No program it runs gets them back, as _restrict_self has seen to.
    """
    header = (ctypes.c_uint32 * 2)(_CAPABILITIES_VERSION_3, 0)
    sets = (ctypes.c_uint32 * 6)()  # effective, permitted and inheritable; then the same of numbers above 31
    _checked(_libc.capget(header, sets))
    for at, kept in enumerate((_CAPABILITIES_KEPT,) * 3 + (0,) * 3):
        sets[at] &= kept
    _checked(_libc.capset(header, sets))


def _checked(result: int) -> None:
    if result < 0:
        raise OSError(ctypes.get_errno(), "")


def _keep(shell: int, news: int, orders: int, woken: int) -> None:
    waiting = select.poll()
    waiting.register(woken, select.POLLIN)
    waiting.register(orders, select.POLLIN)
    kill_at: float | None = None
    pause = _FIRST_PAUSE
    while _reap(shell, news):
        is_time = kill_at is not None and time.monotonic() >= kill_at
        if is_time:
            _signal_all(signal.SIGKILL)
            pause = min(pause * 2, _LONGEST_PAUSE)
        left = None if kill_at is None else pause if is_time else kill_at - time.monotonic()
        for ready, _ in waiting.poll(None if left is None else max(0.0, left * 1000)):
            if ready == woken:
                os.read(woken, 4096)
                continue
            if os.read(orders, 1):
                kill_at = time.monotonic()
            else:
                waiting.unregister(orders)
                if kill_at is None:
                    _signal_all(signal.SIGTERM)
                    _signal_all(signal.SIGCONT)
                    kill_at = time.monotonic() + GRACE


def _reap(shell: int, news: int) -> bool:
    """Whether any child is left when those that have ended are taken away; tells what there is to tell."""
    words = ""
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            _tell(news, f"{words}over\n")
            return False
        if pid == 0:
            if words:
                _tell(news, words)
            return True
        if pid == shell:
            words = f"exited {status}\n"


def _signal_all(number: int) -> None:
    """Parents before their children: who is dead forks no more."""
    children: dict[int, list[int]] = {}
    for entry in os.listdir("/proc"):  # noqa: PTH208 - no pathlib here
        if entry.isdecimal():
            children.setdefault(_parent(entry), []).append(int(entry))
    below = [os.getpid()]
    for parent in below:
        below += children.get(parent, [])
    for pid in below[1:]:
        try:
            os.kill(pid, number)
        except OSError:
            continue


def _parent(pid: str) -> int:
    """0 for a process that is gone."""
    try:
        stat = os.open(f"/proc/{pid}/stat", os.O_RDONLY)
    except OSError:
        return 0
    try:
        text = os.read(stat, 4096)
        return int(text[text.rindex(b")") + 2 :].split(None, 2)[1])
    except (OSError, ValueError):
        return 0
    finally:
        os.close(stat)


def _tell(news: int, words: str) -> bool:
    """False when nobody hears it any more: codeagent is dead, or has given up."""
    try:
        os.write(news, words.encode())
    except OSError:
        return False
    return True


if __name__ == "__main__":
    main()
    os._exit(0)  # no tidying up
