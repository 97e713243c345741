# SPDX-License-Identifier: BSD-2-Clause
"""A machine with Linux's Soft-RoCE: starts it, runs commands in it, stops it.

    with Network() as network, Guest(network) as guest:
        print(guest.run("ibv_devinfo -v").stdout)

Whatever is waited for has a time limit, and what goes wrong is a GuestError that ends with the last lines of the guest's
console. QEMU dies with this process, however that ends.
"""

import base64
import collections
import ctypes
import json
import os
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.realpath(__file__))
QEMU = "qemu-system-x86_64"
COUNTERS = "/sys/class/infiniband/rxe0/ports/1/hw_counters"

# Real checksums and no frames larger than the MTU: what leaves the guest is what would be on a cable.
NO_OFFLOADS = "".join(f",{name}=off" for name in (
    "csum", "guest_csum", "gso", "guest_tso4", "guest_tso6", "guest_ufo", "guest_ecn", "host_tso4", "host_tso6", "host_ufo",
    "host_ecn"))

_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True)


class GuestError(Exception):
    pass


Result = collections.namedtuple("Result", "code stdout stderr")


def die_with_parent():
    """For a child before exec: it is killed when the thread that started it ends."""
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def built_guest():
    """The folder with the kernel and the initramfs; builds them where that has not happened yet. They are of Debian's suite
    $ROCE_INTEROP_SUITE, or of this machine's."""
    suite = [os.environ["ROCE_INTEROP_SUITE"]] if os.environ.get("ROCE_INTEROP_SUITE") else []
    done = subprocess.run([os.path.join(HERE, "build_guest"), *suite], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise GuestError(f"build_guest ended with exit code {done.returncode}.")
    return done.stdout.strip()


class Console:
    """The last lines of what QEMU prints: its own errors and the guest's serial console."""

    def __init__(self, pipe):
        self._lines = collections.deque(maxlen=60)
        self._changed = threading.Condition()
        self._ended = False
        threading.Thread(target=self._read, args=(pipe,), daemon=True).start()

    def _read(self, pipe):
        for line in pipe:
            with self._changed:
                self._lines.append(line.decode(errors="replace").rstrip())
                self._changed.notify_all()
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def tail(self):
        with self._changed:
            return "\n".join(self._lines) or "(nothing)"

    def wait_for(self, text, timeout):
        """Whether a line with `text` was there within `timeout` seconds and before the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._ended or any(text in line for line in self._lines), timeout)
            return any(text in line for line in self._lines)

    def join(self, timeout):
        with self._changed:
            self._changed.wait_for(lambda: self._ended, timeout)


def accelerator(folder):
    """`kvm` where a kernel has been seen to boot with it, else `tcg`. /dev/kvm alone says little: inside some virtual
    machines it is there and an ordinary kernel hangs. The answer is kept, for this kernel of the host, in the cache."""
    forced = os.environ.get("ROCE_INTEROP_ACCEL")
    if forced:
        return forced
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return "tcg"
    answer = os.path.join(os.path.dirname(folder), f"accelerator-{os.uname().release}")
    try:
        with open(answer, encoding="ascii") as file:
            return file.read().strip()
    except FileNotFoundError:
        pass
    command = [QEMU, "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-m", "512", "-serial", "stdio",
               "-accel", "kvm", "-cpu", "host", "-kernel", os.path.join(folder, "vmlinux"), "-append", "console=ttyS0 panic=-1"]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          preexec_fn=die_with_parent) as qemu:
        # Without a root file system a kernel that works gets as far as this.
        works = Console(qemu.stdout).wait_for("Unable to mount root fs", 15)
        qemu.kill()
    with tempfile.NamedTemporaryFile("w", dir=os.path.dirname(answer), delete=False, encoding="ascii") as file:
        file.write("kvm" if works else "tcg")
    os.rename(file.name, answer)
    return "kvm" if works else "tcg"


class Process:
    """A command that runs, or ran, in the guest."""

    def __init__(self, guest, number, command):
        self.command = command
        self.pid = None
        self._guest, self._number = guest, number
        self._text = {"stdout": bytearray(), "stderr": bytearray()}
        self._code = None

    def _on_message(self, message):
        for name, collected in self._text.items():
            if name in message:
                collected += base64.b64decode(message[name])
        self.pid = message.get("pid", self.pid)
        self._code = message.get("exit", self._code)

    def running(self):
        return self._code is None

    def output(self):
        """What it has said so far, stdout and then stderr."""
        return b"\n".join(bytes(text) for text in self._text.values() if text).decode(errors="replace")

    def wait(self, timeout=30, raw=False):
        """Its Result, once it has ended. After `timeout` seconds it is killed, and that is an error."""
        if not self._guest._wait(lambda: self._code is not None, timeout):
            self.kill()
            raise GuestError(self._guest.explain(
                f"`{self.command}` did not end within {timeout} s. It said:\n{self.output()}"))
        if raw:
            return Result(self._code, *(bytes(text) for text in self._text.values()))
        return Result(self._code, *(text.decode(errors="replace") for text in self._text.values()))

    def wait_lines(self, count, timeout=30):
        """The lines of its standard output, once there are so many; an error when it ends before that."""
        def lines():
            return bytes(self._text["stdout"]).decode(errors="replace").split("\n")[:-1]
        self._guest._wait(lambda: len(lines()) >= count or self._code is not None, timeout)
        if len(lines()) < count:
            raise GuestError(self._guest.explain(f"`{self.command}` did not say {count} lines. It said:\n{self.output()}"))
        return lines()

    def wait_said(self, text, timeout=30):
        """Until it has said so, on either of its outputs; an error when it ends or the time is over before that."""
        self._guest._wait(lambda: text in self.output() or self._code is not None, timeout)
        if text not in self.output():
            raise GuestError(self._guest.explain(f"`{self.command}` did not say \"{text}\". It said:\n{self.output()}"))

    def ends_within(self, seconds):
        """Whether it has ended by then."""
        return self._guest._wait(lambda: self._code is not None, seconds)

    def wait_listening(self, port, timeout=20):
        """Until somebody in the guest listens on a TCP port; an error when the process ends before that."""
        self._guest._wait(lambda: self.pid is not None, 10)
        entry = f":{port:04X} [0-9A-F]*:0000 0A "
        waiter = self._guest.run(
            f"until grep -q '{entry}' /proc/net/tcp /proc/net/tcp6; do [ -d /proc/{self.pid} ] || exit 1; usleep 20000; done",
            timeout)
        if waiter.code:
            raise GuestError(self._guest.explain(
                f"`{self.command}` ended before it listened on TCP port {port}. It said:\n{self.output()}"))

    def kill(self, number=signal.SIGKILL):
        """Sends a signal to the command and to all that it started; nothing when it has ended."""
        if self.running():
            self._guest._send({"kill": self._number, "signal": int(number)})


class Guest:
    """One machine, from `with` to its end. Its eth0 is on the tap of the Network, rxe0 is on eth0.

    mtu: of eth0, at most 9000; `memory` in MiB; `initramfs` instead of the one that is built. `seconds` is how long it took
    until rxe0 was ACTIVE."""

    def __init__(self, network, mtu=1500, memory=512, boot_timeout=120, initramfs=None):
        self.network, self.mtu = network, mtu
        self._memory, self._boot_timeout, self._initramfs = memory, boot_timeout, initramfs
        self._qemu = None
        self._processes = {}
        self._changed = threading.Condition()
        self._sending = threading.Lock()
        self._ready = self._gone = False
        self._number = 0

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_):
        self.stop()

    def start(self):
        folder = built_guest()
        self.accelerator = accelerator(folder)
        begin = time.monotonic()
        self._channel, theirs = socket.socketpair()
        with theirs:
            self._qemu = subprocess.Popen(
                self.network.command_at_tap(self._command(folder, theirs.fileno())), stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, pass_fds=[theirs.fileno()], start_new_session=True,
                preexec_fn=die_with_parent)
        self.console = Console(self._qemu.stdout)
        self._receiver = threading.Thread(target=self._receive, daemon=True)
        self._receiver.start()
        if not self._wait(lambda: self._ready, self._boot_timeout):
            raise GuestError(self.explain(f"The guest was not ready within {self._boot_timeout} s."))
        self.seconds = time.monotonic() - begin
        self._gids = self.gids()

    def _command(self, folder, channel):
        network = self.network
        words = ["console=ttyS0", "quiet", "panic=-1", "mitigations=off", "nokaslr", "audit=0", "net.ifnames=0", "no_timer_check",
                 "tsc=reliable", "random.trust_cpu=1", "rdinit=/init", f"interop.mtu={self.mtu}",
                 f"interop.ip4={network.guest4}/{network.length4}", f"interop.ip6={network.guest6}/{network.length6}"]
        accel = ["-accel", "kvm", "-cpu", "host"] if self.accelerator == "kvm" else [
            "-accel", "tcg,thread=multi,tb-size=256", "-cpu", "max"]
        # No option ROM: nothing boots from the network, and Debian has it in a package of its own.
        nic = f"virtio-net-pci,netdev=cable,mac={network.guest_mac},host_mtu=9000,romfile={NO_OFFLOADS}"
        return [QEMU, "-name", "roce-interop", "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", *accel,
                "-m", str(self._memory), "-kernel", os.path.join(folder, "vmlinux"),
                "-initrd", self._initramfs or os.path.join(folder, "initramfs"), "-append", " ".join(words), "-serial", "stdio",
                "-netdev", f"tap,id=cable,ifname={network.tap},script=no,downscript=no,vhost=off", "-device", nic,
                "-device", "virtio-rng-pci", "-device", "virtio-serial-pci",
                "-chardev", f"socket,id=agent,fd={channel}", "-device", "virtserialport,chardev=agent,name=agent"]

    def stop(self):
        """Ends QEMU. May be called at any time and more than once."""
        if self._qemu is None:
            return
        self._qemu.kill()
        self._qemu.wait()
        self.console.join(5)
        self._qemu.stdout.close()
        self._channel.close()
        self._receiver.join(5)
        self._qemu = None

    def kill(self):
        """The machine stands still, from this moment on."""
        self._qemu.kill()

    def start_anew(self):
        """Boots the machine again; all that was in it is gone."""
        self.stop()
        self._ready = self._gone = False
        self._processes = {}
        self.start()

    def explain(self, text):
        """The text, and with it what the guest's console said last."""
        return f"{text}\nThe end of the guest's console:\n{self.console.tail()}"

    # The channel to the agent.

    def _receive(self):
        with self._channel.makefile("rb") as lines:
            try:
                for line in lines:
                    message = json.loads(line)
                    with self._changed:
                        if "ready" in message:
                            self._ready = True
                        elif message["id"] in self._processes:
                            self._processes[message["id"]]._on_message(message)
                            if "exit" in message:
                                del self._processes[message["id"]]
                        self._changed.notify_all()
            except (OSError, ValueError):
                pass
        with self._changed:
            self._gone = True
            self._changed.notify_all()

    def _wait(self, condition, timeout):
        with self._changed:
            self._changed.wait_for(lambda: condition() or self._gone, timeout)
            if condition():
                return True
            gone = self._gone
        if gone:
            self.console.join(5)
            raise GuestError(self.explain("The guest is gone."))
        return False

    def _send(self, message):
        with self._sending:
            try:
                self._channel.sendall(json.dumps(message).encode() + b"\n")
            except OSError as error:
                raise GuestError(self.explain(f"The guest takes no commands: {error}.")) from None

    # Commands.

    def popen(self, command, stdin=b""):
        """Starts a command: text for a shell, or a list of words. Returns its Process at once."""
        if not isinstance(command, str):
            command = shlex.join(command)
        with self._changed:
            self._number += 1
            process = self._processes[self._number] = Process(self, self._number, command)
        self._send({"id": process._number, "run": command, "stdin": base64.b64encode(stdin).decode()})
        return process

    def run(self, command, timeout=30, stdin=b""):
        """Runs a command to its end; its Result. Its exit code is the caller's to look at."""
        return self.popen(command, stdin).wait(timeout)

    def check(self, command, timeout=30):
        """Runs a command that has to succeed; returns its stdout."""
        result = self.run(command, timeout)
        if result.code:
            raise GuestError(self.explain(
                f"`{command}` ended with exit code {result.code}. It said:\n{result.stdout}{result.stderr}"))
        return result.stdout

    def put(self, data, path, mode=0o755):
        """Writes bytes to a file in the guest."""
        target = shlex.quote(path)
        result = self.run(f"cat >{target} && chmod {mode:o} {target}", 60, data)
        if result.code:
            raise GuestError(self.explain(f"{path} cannot be written in the guest: {result.stderr}"))

    def get(self, path):
        """The bytes of a file in the guest."""
        result = self.popen(["cat", path]).wait(60, raw=True)
        if result.code:
            raise GuestError(self.explain(f"{path} cannot be read in the guest: {result.stderr.decode(errors='replace')}"))
        return result.stdout

    # What Soft-RoCE says of itself.

    def hw_counters(self):
        """rxe0's counters by their names in sysfs."""
        lines = self.check(f"grep -H . {COUNTERS}/*").splitlines()
        return {os.path.basename(path): int(value) for path, value in (line.rsplit(":", 1) for line in lines)}

    def gids(self):
        """rxe0's GIDs, in the order of their indices, without the empty ones at the end."""
        text = self.check("i=0; while read -r gid </sys/class/infiniband/rxe0/ports/1/gids/$i; do echo $gid; "
                          "i=$((i + 1)); [ $i -lt 16 ] || break; done")
        gids = [socket.inet_pton(socket.AF_INET6, line) for line in text.split()]
        while gids and not any(gids[-1]):
            gids.pop()
        return gids

    def gid_index(self, address):
        """The index of the GID of one of the two addresses that the guest has had from its start."""
        text = address if ":" in address else f"::ffff:{address}"
        return self._gids.index(socket.inet_pton(socket.AF_INET6, text))

    def dmesg(self):
        return self.check("dmesg")

    def set_mtu(self, mtu):
        """Changes the MTU of eth0, and with it the path MTU that rxe0 offers: 1024 below 2200 bytes, 4096 with 9000."""
        self.check(["ip", "link", "set", "eth0", "mtu", str(mtu)])
        self.mtu = mtu


class Ended(KeyboardInterrupt):
    """SIGTERM or SIGHUP came; its argument is the exit code for that. unittest lets no other kind through, not even SystemExit."""


def on_signals_exit():
    """From now on SIGTERM and SIGHUP raise Ended, so that what is open is closed."""
    def leave(number, _):
        # Not a second time while closing.
        for again in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(again, signal.SIG_IGN)
        raise Ended(128 + number)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, leave)
