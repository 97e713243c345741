# SPDX-License-Identifier: BSD-2-Clause
"""The same program on Soft-RoCE in the guest and under `roce-run` here: ibverbs-utils, perftest and rdmacm-utils, unmodified.

Each program is client and server. Of perftest each two settings meet in one of the cases. A run has a tenth of all of them (turns.py), and
with ROCE_INTEROP_ALL all. At the relay, a is the guest's side.
"""

import collections
import contextlib
import itertools
import os
import re
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
import unittest

from covering import covering
from guest import GuestError
from pingpong_cases import HASTE, HASTY, TROUBLE
from relay_cases import Relayed
from stage import Case, Program
from turns import this_turn
from verbs_programs import FACTORS, ROLES, by_cm, perftest, pingpong, possible, rping

TURNS = 10
PATIENCE = 40  # seconds, with a program
DISCARD = 9
NOBODY = 65534
WITHOUT_PRIVILEGE = ("setpriv", "--bounding-set=-all", "--inh-caps=-all", "--no-new-privs")
AS_NOBODY = (*WITHOUT_PRIVILEGE, f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
# Programs print one of these when nobody listens.
REFUSED = re.compile(r"Couldn't connect|REJECTED|Unable to perform rdma_client|Unexpected CM event")
# What an end that is gone no longer counts, or is no longer there to send.
LATE = 8


class Verbs(Case):
    """Base of the cases with one program at both ends. It has none itself."""

    @classmethod
    def setUpClass(cls):
        missing = [name for name in ("tcpdump", "ibv_rc_pingpong", "ib_send_bw", "rping") if shutil.which(name) is None]
        if missing:
            raise unittest.SkipTest(f"{', '.join(missing)} missing (`scripts/setup interop` installs what is needed)")
        super().setUpClass()
        cls.addClassCleanup(cls.guest.set_mtu, cls.guest.mtu)
        cls.guest.set_mtu(9000)
        # Another user, if that may read what was built; else root without a privilege.
        may = cls.network.host.run([*AS_NOBODY, cls.roce_run, "--check", "--address", cls.network.host4])
        cls.runtime = cls.enterClassContext(tempfile.TemporaryDirectory())
        if may.returncode == 0:
            os.chown(cls.runtime, NOBODY, NOBODY)
        cls.without_privilege = AS_NOBODY if may.returncode == 0 else WITHOUT_PRIVILEGE
        # It has the UDP port, which other cases want, until two seconds after the last case.
        cls.addClassCleanup(cls.end_portd)

    @classmethod
    def end_portd(cls):
        inside = subprocess.run(["ip", "netns", "pids", cls.network.host.name], stdout=subprocess.PIPE, check=True)
        for pid in map(int, inside.stdout.split()):
            with contextlib.suppress(FileNotFoundError, ProcessLookupError), open(f"/proc/{pid}/comm", encoding="utf-8") as name:
                if name.read() == "roce-portd\n":
                    end = os.pidfd_open(pid)
                    signal.pidfd_send_signal(end, signal.SIGTERM)
                    select.select([end], [], [], PATIENCE)
                    os.close(end)

    def ours(self, address, *words):
        program = Program(self.network.host, ["env", f"XDG_RUNTIME_DIR={self.runtime}", *self.without_privilege,
                                              self.roce_run, "--address", address, *map(str, words)])
        self.addCleanup(program.end)
        return program

    @contextlib.contextmanager
    def captured(self):
        """What is on our wire within the block is in the file `self.capture` after it."""
        tcpdump = self.network.host.popen(
            ["tcpdump", "-i", self.network.interface, "-n", "-U", "--immediate-mode", "-s", "5000", "-B", "65536", "-w", "-",
             f"udp port 4791 or udp port {DISCARD}"], text=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(tcpdump.stderr.close)
        self.addCleanup(tcpdump.kill)
        if not any(b"listening on" in line for line in tcpdump.stderr):
            raise GuestError("tcpdump did not start")
        last, is_there = os.urandom(16), threading.Event()

        def copy():
            end = b""
            with tcpdump.stdout, open(self.capture, "wb", buffering=0) as file:
                while some := tcpdump.stdout.read1():
                    file.write(some)
                    end = (end + some)[-len(some) - len(last):]
                    if last in end:
                        is_there.set()
        copying = threading.Thread(target=copy, daemon=True)
        copying.start()
        yield
        with self.network.host.call(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as sender:
            sender.sendto(last, (self.network.guest4, DISCARD))
        self.assertTrue(is_there.wait(PATIENCE), "tcpdump does not see the last frame")
        tcpdump.terminate()
        copying.join()
        self.assertIn(b"\n0 packets dropped by kernel", tcpdump.stderr.read())

    def commands(self, role, run):
        """What to do in the guest, and the words here."""
        host, guest = (self.network.host6, self.network.guest6) if run.ip == "ipv6" else (self.network.host4, self.network.guest4)
        gid = ["-d", "rxe0", run.gid, self.guest.gid_index(guest)] if run.gid else []
        theirs, ours = [*run.words, *gid], [*run.words, *([run.gid, 0] if run.gid else [])]
        # Handshakes over TCP go over IPv4: the programs of rdma-core 44 take no IPv6 address for them.
        to_guest, to_host = (guest, host) if run.is_cm else (self.network.guest4, self.network.host4)
        if run.words[0] == "rdma_server":
            (ours if role == "server" else theirs)[0] = "rdma_client"
        if role == "client":
            theirs += [*run.client, to_host]
            ours += [*run.server, host] if run.server else []
        else:
            theirs += [*run.server, guest] if run.server else []
            ours += [*run.client, to_guest]
        return " ".join(map(str, theirs)), ours, host

    def guest_is_client(self, run, command, words, address):
        """Both to their ends. Returns our Program and the guest's Result."""
        # Once this has ended roce-portd is there: a request that came before would be lost, and sent again after six seconds.
        self.assertEqual(self.ours(address, "true").wait(), 0)
        ours = self.ours(address, *words)
        deadline = time.monotonic() + PATIENCE
        while True:
            result = self.in_guest(command).wait(PATIENCE)
            # Nothing shows from outside that our server listens: again while it does not.
            if result.code == 0 or not REFUSED.search(result.stdout + result.stderr) or time.monotonic() > deadline:
                return ours, result

    def guest_is_server(self, run, command, words, address):
        theirs = self.in_guest(command)
        if run.is_cm:
            self.listening(run.port)
        else:
            theirs.wait_listening(run.port)
        ours = self.ours(address, *words)
        if not run.ends:
            ours.wait(PATIENCE)
            theirs.kill()
        return ours, theirs.wait(PATIENCE)

    def end_well(self, role, run):
        """Runs both programs to their ends, which have to be good. Returns how many packets were captured from us and from the guest."""
        command, words, address = self.commands(role, run)
        with self.captured():
            ours, result = (self.guest_is_client if role == "client" else self.guest_is_server)(run, command, words, address)
            if not run.ends and role == "client":
                ours.stop()
            code = ours.wait(PATIENCE)
        said = ours.explain(f"`{command}` in the guest: {result}\nours ended with {code}")
        codes = [result.code, code]
        if not run.ends:
            del codes[0 if role == "server" else 1]
        self.assertFalse(any(codes), said)
        self.assertNotIn("invalid data", said)
        self.assert_keeps_the_rules(self.capture, address)
        packets = collections.Counter((packet["ipv6"] if "ipv6" in packet else packet["ip"])["src"] == address
                                      for packet in self.decoded(self.capture))
        return packets[True], packets[False]

    def good(self, role, run):
        drops = self.network.drops()
        with self.counted() as rose:
            sent, received = self.end_well(role, run)
        drops = self.network.drops() - drops
        # Nothing answers what goes over UC and UD.
        self.assertGreaterEqual(rose["rcvd_pkts"] + rose["sent_pkts"], run.packets)
        self.assertTrue(sent - drops - LATE <= rose["rcvd_pkts"] <= sent, (rose, sent, drops))
        self.assertTrue(rose["sent_pkts"] - LATE <= received <= rose["sent_pkts"], (rose, received))
        self.assertEqual({name: rose[name] for name in TROUBLE if rose[name]}, {})
        self.assertEqual({name: rose[name] for name in HASTE if rose[name] >= HASTY}, {})


class VerbsCases(Verbs):
    """Those that need no relay."""


class RelayedVerbsCases(Verbs, Relayed):
    # Not the first packets, nor many: an end that has left no longer answers what the other sends again because the answer was lost.
    LOSS = "drop:skip=10,probability=0.01,count=6"
    # With -R perftest's server listens for the connections of its QPs only after it has told the client to ask for them, and a client that
    # is refused uses identifiers that it has destroyed. An emulated guest is slower than our client, to whom routes are known at once.
    SLOW_CM = "delay:dir=b_to_a,qp=1,by=250ms"

    def survives(self, role, run):
        with self.counted() as rose, self.relay(self.LOSS) as totals:
            self.end_well(role, run)
        # Or nothing had to be sent again.
        self.assertGreater(totals["a_to_b"]["dropped"] + totals["b_to_a"]["dropped"], 0, totals)
        self.assertGreaterEqual(rose["rcvd_pkts"], run.packets)
        self.assertEqual(rose["retry_exceeded_err"], 0)

    def good_slowly(self, role, run):
        with self.relay(self.SLOW_CM):
            self.good(role, run)


def cases():
    """Tuples: the class, the name, what does the case, the guest's role and the program."""
    good, slow = (VerbsCases, Verbs.good), (RelayedVerbsCases, RelayedVerbsCases.good_slowly)
    lossy = RelayedVerbsCases, RelayedVerbsCases.survives
    for case in covering(FACTORS, possible):
        name = "{test}_guest_is_{role}{connect}_{ip}_mtu_{mtu}_size_{size}_qps_{qps}{wait}".format(**case).replace(" ", "_")
        yield slow if case["connect"] and case["role"] == "server" else good, name, case["role"], perftest(case)
    for number, (ip, kind, role) in enumerate(itertools.product(("ipv4", "ipv6"), ("rc", "uc", "ud", "srq"), ROLES)):
        # One of the two with each version of IP.
        wait = ("-e",) if number // 8 != number % 2 else ()
        yield good, f"{kind}_pingpong_guest_is_{role}_{ip}{''.join(wait)}", role, pingpong(kind, ip, wait)
    for ip, role in itertools.product(("ipv4", "ipv6"), ROLES):
        for name, run in by_cm(ip).items():
            yield good, f"{name}_guest_is_{role}_{ip}", role, run
    settings = {"connect": "", "ip": "ipv4", "mtu": 1024, "size": 4096, "wait": "", "qps": 1}
    runs = {"rc_pingpong": pingpong("rc", "ipv6", (), count=100), "srq_pingpong": pingpong("srq", "ipv4", ("-e",), count=100),
            "send_bw": perftest({**settings, "test": "send_bw RC"}), "read_bw": perftest({**settings, "test": "read_bw RC"}),
            "rping": rping("ipv4", 60)}
    for name, role in itertools.product(runs, ROLES):
        yield lossy, f"loss_{name}_guest_is_{role}", role, runs[name]


def add_cases():
    for (group, do), name, role, run in this_turn(cases(), TURNS):
        setattr(group, f"test_{name}", lambda self, do=do, case=(role, run): do(self, *case))


add_cases()
