# SPDX-License-Identifier: BSD-2-Clause
"""Network namespaces with roce-gen in them: what the tests beside have in common.

Everything happens inside a user namespace of the test's own, so that no privilege is needed.
"""

import ctypes
import json
import os
import socket
import subprocess
import sys
import tempfile
import time

SKIPPED = 77
INSIDE = "ROCE_TEST_INSIDE"
WAIT = 60  # seconds for anything
ETHERTYPE = 0x88B5  # for experiments

# The control sockets of peers that name none, and the trees of roce-run: two tests that run at the same time may call an interface
# the same, and a user of a namespace may be root outside. What starts itself again has to remove it before.
RUNTIME_FOLDER = tempfile.TemporaryDirectory(prefix="roce-runtime-")
ENVIRONMENT = {**os.environ, "XDG_RUNTIME_DIR": RUNTIME_FOLDER.name}


def enter_namespaces(*identity):
    """Starts this program again in user and network namespaces of its own in which it may do everything, as root or whom else
    these options of `unshare` name; returns once it is there. Prints why and exits with SKIPPED where that is forbidden."""
    if INSIDE in os.environ:
        return
    command = ["unshare", "--user", "--net", *(identity or ["--map-root-user"])]
    trial = subprocess.run([*command, "true"], capture_output=True, text=True, check=False)
    if trial.returncode != 0:
        print("skipped: this system allows no user and network namespaces of one's own:", trial.stderr.strip())
        sys.exit(SKIPPED)
    RUNTIME_FOLDER.cleanup()
    os.execvpe("unshare", [*command, sys.executable, "-B", *sys.argv], {**os.environ, INSIDE: "1"})


def enter_network_of_the_host():
    """Likewise, but as root of the host in a network namespace only: BPF programs are not for user namespaces. Prints why and
    exits with SKIPPED where this is no such root."""
    if INSIDE in os.environ:
        return
    needed = {"CAP_NET_ADMIN": 12, "CAP_NET_RAW": 13, "CAP_SYS_ADMIN": 21, "CAP_BPF": 39}
    with open("/proc/self/status") as status, open("/proc/self/uid_map") as uids:
        has = int(next(line for line in status if line.startswith("CapEff:")).split()[1], 16)
        is_host = int(uids.read().split()[2]) == 2**32 - 1
    missing = [name for name, bit in needed.items() if not has >> bit & 1]
    if missing or not is_host:
        print("skipped: XDP programs need root of the host;", f"missing: {' '.join(missing)}" if missing else "this is a user namespace")
        sys.exit(SKIPPED)
    RUNTIME_FOLDER.cleanup()
    os.execvpe("unshare", ["unshare", "--net", sys.executable, "-B", *sys.argv], {**os.environ, INSIDE: "1"})


def enter_network(namespace):
    """Moves this program into the network namespace of a file descriptor."""
    if ctypes.CDLL(None, use_errno=True).setns(namespace, 0) != 0:
        raise OSError(ctypes.get_errno(), "setns")


def frame(number, size=100):
    """A broadcast frame of ETHERTYPE, which is not RoCE."""
    return b"\xff" * 6 + b"\x02\0\0\0\0\1" + ETHERTYPE.to_bytes(2, "big") + number.to_bytes(4, "big") + bytes(size - 18)


class Namespaces:
    """Network namespaces, one for each letter of `names`, that last until `close` or the end of this program."""

    def __init__(self, names):
        self.holders = {}
        for name in names:
            # Says a word once it is in its namespace, and keeps it as long as its input is open.
            holder = subprocess.Popen(["unshare", "--net", "sh", "-c", "echo in; cat"], stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE)
            holder.stdout.readline()
            self.holders[name] = holder

    def inside(self, name, *command):
        """The words that run a command in a namespace."""
        return ["nsenter", "--net", "--target", str(self.holders[name].pid), *command]

    def ip(self, name, *arguments):
        return subprocess.run(self.inside(name, "ip", *arguments), check=True, capture_output=True, text=True).stdout

    def cut_when_sending(self, name, interface):
        """From now on the kernel cuts super-frames in front of this interface, as for a NIC that does not."""
        subprocess.run(self.inside(name, "ethtool", "-K", interface, "tx-udp-segmentation", "off"), check=True,
                       capture_output=True)

    def join(self, name, interface, other, other_interface):
        """A veth pair between two namespaces; its ends are down and have no addresses."""
        self.ip(name, "link", "add", interface, "type", "veth", "peer", "name", other_interface, "netns",
                str(self.holders[other].pid))

    def wait_until_usable(self, name, interface):
        """Until the interface is up and the kernel lets its addresses be used: also those without a search for duplicates
        take a moment."""
        deadline = time.monotonic() + WAIT
        while ('"operstate":"UP"' not in self.ip(name, "-j", "link", "show", interface)
               or self.ip(name, "-6", "address", "show", "dev", interface, "tentative")):
            if time.monotonic() > deadline:
                raise AssertionError(f"{interface} does not come up")

    def packet_socket(self, name, interface, ethertype):
        """A socket for all frames of this type."""
        own = os.open("/proc/self/ns/net", os.O_RDONLY)
        there = os.open(f"/proc/{self.holders[name].pid}/ns/net", os.O_RDONLY)
        try:
            enter_network(there)
            link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ethertype))
            link.bind((interface, ethertype))
        finally:
            enter_network(own)
            os.close(own)
            os.close(there)
        link.settimeout(WAIT)
        return link

    def close(self):
        for holder in self.holders.values():
            holder.stdin.close()
            holder.wait(WAIT)
            holder.stdout.close()


class Wire(Namespaces):
    """Namespaces a and b joined by a veth pair: interface "v" in both, 10.9.0.1 and .2, fd09::1 and ::2."""

    def __init__(self, mtu):
        super().__init__("ab")
        for name in "ab":
            # Addresses that are still looked for elsewhere, and a link that is not up yet, would lose the first packets.
            subprocess.run(self.inside(name, "sh", "-c", "echo 0 > /proc/sys/net/ipv6/conf/default/accept_dad"), check=True)
        self.join("a", "v", "b", "v")
        for name, number in (("a", 1), ("b", 2)):
            self.ip(name, "address", "add", f"10.9.0.{number}/24", "dev", "v")
            self.ip(name, "address", "add", f"fd09::{number}/64", "dev", "v", "nodad")
            self.ip(name, "link", "set", "lo", "up")
            self.ip(name, "link", "set", "v", "up", "mtu", str(mtu))
        for name in "ab":
            self.wait_until_usable(name, "v")


class RelayedWire(Namespaces):
    """va in namespace a - ra in namespace m, rb in namespace m - vb in namespace b: 10.9.0.1 and .2, and nothing between yet."""

    def __init__(self):
        super().__init__("amb")
        for end, number in (("a", 1), ("b", 2)):
            self.join("m", f"r{end}", end, f"v{end}")
            for name, interface in (("m", f"r{end}"), (end, f"v{end}")):
                self.ip(name, "link", "set", interface, "addrgenmode", "none")
                self.ip(name, "link", "set", interface, "up")
            self.ip(end, "address", "add", f"10.9.0.{number}/24", "dev", f"v{end}")


class Program:
    """roce-gen in a namespace, with --json; it is ready when this returns. `notes` has what it printed before."""

    def __init__(self, program, namespaces, name, *arguments, environment=None):
        # Should this program be killed, it goes too.
        self.process = subprocess.Popen(namespaces.inside(name, "setpriv", "--pdeathsig", "KILL", program, *arguments, "--json"),
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment or ENVIRONMENT)
        self.notes = []
        for line in self.process.stdout:
            note = json.loads(line)
            if note["event"] == "ready":
                return
            self.notes.append(note)
        self.process.wait(WAIT)
        raise AssertionError(f"roce-gen {arguments} did not start: {self.process.stderr.read()}")

    def result(self, stop=None):
        """Waits for the end, after a signal if one is named: exit code and last line."""
        if stop is not None:
            self.process.send_signal(stop)
        # Not `communicate`, which knows nothing of what the lines before left in the buffer.
        lines = self.process.stdout.read().splitlines()
        error = self.process.stderr.read()
        return self.process.wait(WAIT), json.loads(lines[-1]) if lines else error

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(WAIT)
        self.process.stdout.close()
        self.process.stderr.close()
