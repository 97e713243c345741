# SPDX-License-Identifier: BSD-2-Clause
"""The cable between this machine and the guest: network namespaces that nothing else is in.

A Network has two namespaces. In `host` is what talks to the guest: there the interface `network.interface` has the addresses
`host4` and `host6`. At first that interface is the guest's tap itself. Within `network.bump()` the cable is cut:

    namespace host                 namespace wire                     guest
    endpoint (addresses) ========= towards-host    tap ============== eth0

and nothing goes across `wire` but what a program started there carries between `network.wire_interfaces`. The interface on the
host's side has the same MAC address both ways, so that the guest's neighbour table stays right.

The namespaces are named after this process and end with the `with` block. Those of processes that were killed are removed when
the next Network begins.
"""

import contextlib
import json
import ctypes
import os
import re
import socket
import subprocess
import threading

from guest import GuestError, die_with_parent

PREFIX = "roce-interop"
ROCE_PORT = 4791
_HOST_MAC = "52:54:00:77:00:01"
_CLONE_NEWNET = 0x40000000
_NAMESPACES = "/run/netns"
_libc = ctypes.CDLL(None, use_errno=True)


def _ip(*words):
    done = subprocess.run(["ip", *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode:
        raise GuestError(f"`ip {' '.join(words)}` failed: {done.stderr.strip()}")
    return done.stdout


def _started(pid):
    """When a process started, in ticks since boot; None when there is none. With the pid it names a process for good."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            return int(file.read().rpartition(")")[2].split()[19])
    except (FileNotFoundError, ProcessLookupError):
        return None


def remove_stale():
    """Removes the namespaces of processes that are gone, and with them their taps."""
    for name in os.listdir(_NAMESPACES) if os.path.isdir(_NAMESPACES) else []:
        found = re.fullmatch(rf"{PREFIX}-(\d+)-(\d+)-.*", name)
        if found and _started(found[1]) != int(found[2]):
            subprocess.run(["ip", "netns", "delete", name], stdin=subprocess.DEVNULL, capture_output=True, check=False)


class Namespace:
    """A network namespace and the programs that the test runs in it."""

    _count = 0

    def __init__(self, role):
        Namespace._count += 1
        self.name = f"{PREFIX}-{os.getpid()}-{_started(os.getpid())}-{Namespace._count}-{role}"
        self._programs = []

    def create(self):
        _ip("netns", "add", self.name)
        self.ip("link", "set", "lo", "up")

    def delete(self):
        for program in self._programs:
            # Its pipes stay the caller's.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(program.pid, 9)
            program.wait()
        with contextlib.suppress(GuestError):
            _ip("netns", "delete", self.name)

    def ip(self, *words):
        return _ip("-netns", self.name, *words)

    def command(self, words):
        """The command that runs `words` in here."""
        return ["ip", "netns", "exec", self.name, *words]

    def popen(self, words, **options):
        """Starts a program in here, as subprocess.Popen does; it ends with the namespace at the latest."""
        options = {"stdin": subprocess.DEVNULL, "text": True, **options}
        program = subprocess.Popen(self.command(words), start_new_session=True, preexec_fn=die_with_parent, **options)
        self._programs.append(program)
        return program

    def run(self, words, timeout=30):
        """Runs a program in here to its end; a subprocess.CompletedProcess with its output as text. After `timeout` seconds it
        is killed, and that is a GuestError."""
        program = self.popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            stdout, stderr = program.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            os.killpg(program.pid, 9)
            stdout, stderr = program.communicate()
            raise GuestError(f"`{' '.join(words)}` did not end within {timeout} s. It said:\n{stdout}{stderr}") from None
        finally:
            self._programs.remove(program)
        return subprocess.CompletedProcess(words, program.returncode, stdout, stderr)

    def call(self, function):
        """What function() returns when a thread that is in here calls it. Sockets it opens belong to this namespace."""
        result = []

        def enter():
            try:
                with open(os.path.join(_NAMESPACES, self.name), "rb") as entry:
                    if _libc.setns(entry.fileno(), _CLONE_NEWNET):
                        raise OSError(ctypes.get_errno(), f"cannot enter network namespace {self.name}")
                result.append((function(), None))
            except Exception as error:  # pylint: disable=broad-except
                result.append((None, error))
        thread = threading.Thread(target=enter)
        thread.start()
        thread.join()
        value, error = result[0]
        if error is not None:
            raise error
        return value

    def set(self, name, value):
        """Sets a value below /proc/sys/net of this namespace."""
        def write():
            # The thread's own view: /proc/net belongs to the process, /proc/thread-self to the caller.
            with open(f"/proc/sys/net/{name}", "w", encoding="ascii") as file:
                file.write(str(value))
        self.call(write)


class Network:
    """See above. `mtu` is that of all interfaces on the host's side; the guest has its own."""

    host4, guest4, length4 = "10.77.0.1", "10.77.0.2", 24
    host6, guest6, length6 = "fd77::1", "fd77::2", 64
    guest_mac = "52:54:00:77:00:02"
    tap = "tap"
    wire_interfaces = ("tap", "towards-host")

    def __init__(self, mtu=9000):
        self.mtu = mtu
        self.host, self.wire = Namespace("host"), Namespace("wire")
        self.interface = self.tap

    def __enter__(self):
        remove_stale()
        try:
            for namespace in (self.host, self.wire):
                namespace.create()
            # In `wire` nothing speaks for itself.
            self.wire.set("ipv6/conf/default/disable_ipv6", 1)
            # The host must not add to what the test sends: no router solicitations, no reports of multicast groups.
            self.host.set("ipv6/conf/default/router_solicitations", 0)
            self.host.set("ipv6/conf/default/accept_dad", 0)
            self.host.ip("tuntap", "add", "dev", self.tap, "mode", "tap")
            # What finds no room there is lost, where a packet socket would wait.
            self.host.ip("link", "set", self.tap, "address", _HOST_MAC, "txqueuelen", "10000")
            self._bring_up(self.host, self.tap, addresses=True)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for namespace in (self.host, self.wire):
            namespace.delete()

    def _bring_up(self, namespace, interface, addresses):
        namespace.ip("link", "set", interface, "mtu", str(self.mtu), "up")
        if addresses:
            namespace.ip("address", "add", f"{self.host4}/{self.length4}", "dev", interface)
            namespace.ip("address", "add", f"{self.host6}/{self.length6}", "dev", interface, "nodad")

    def drops(self):
        """How many frames for the guest found no room in the tap's queue."""
        namespace = self.host if self.interface == self.tap else self.wire
        shown, = json.loads(namespace.ip("-json", "-statistics", "link", "show", self.tap))
        return shown["stats64"]["tx"]["dropped"]

    def command_at_tap(self, words):
        """The command for a program that opens the tap. It is found where it is when a Guest starts: in `host`."""
        return self.host.command(words)

    @contextlib.contextmanager
    def bump(self):
        """The cable is cut within the block, as the picture above shows."""
        endpoint, inside = "endpoint", self.wire_interfaces[1]
        try:
            self.host.ip("link", "set", self.tap, "netns", self.wire.name)
            self._bring_up(self.wire, self.tap, addresses=False)
            self.host.ip("link", "add", endpoint, "address", _HOST_MAC, "type", "veth", "peer", "name", inside, "netns",
                         self.wire.name)
            # Frames carried on by a program have to be complete: checksums filled in, none larger than the MTU.
            for namespace, interface in ((self.host, endpoint), (self.wire, inside)):
                done = namespace.run(["ethtool", "-K", interface, "tx", "off", "rx", "off", "tso", "off", "gso", "off", "gro", "off"])
                if done.returncode:
                    raise GuestError(f"ethtool cannot turn off the offloads of {interface}: {done.stderr.strip()}")
            self._bring_up(self.wire, inside, addresses=False)
            self._bring_up(self.host, endpoint, addresses=True)
            self.interface = endpoint
            yield self
        finally:
            self.interface = self.tap
            with contextlib.suppress(GuestError):
                self.host.ip("link", "delete", endpoint)
            if self.tap not in self.host.ip("-brief", "link"):
                self.wire.ip("link", "set", self.tap, "netns", self.host.name)
                self._bring_up(self.host, self.tap, addresses=True)

    @contextlib.contextmanager
    def port_held(self):
        """Within the block a socket in `host` has UDP port 4791, so that the kernel does not answer RoCE with ICMP."""
        def open_socket():
            held = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
            # Nobody reads it: what does not fit is dropped in silence.
            held.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 0)
            held.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
            held.bind(("::", ROCE_PORT))
            return held
        with self.host.call(open_socket):
            yield self
