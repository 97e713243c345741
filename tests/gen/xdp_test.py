# SPDX-License-Identifier: BSD-2-Clause
"""roce-gen over AF_XDP, end to end: peer and client in two network namespaces joined by a veth pair.

usage: xdp_test.py ROCE_GEN ROCE_ANALYZE [UNITTEST ARGUMENT...]

Has to be root of the host; prints why and exits with 77 where it is not.
"""

import json
import os
import signal
import subprocess
import sys
import time
import unittest

import exchange_test
import rdma_cm_test
from exchange_test import LiveTest, OperationsTest, RecordedTest
from live import WAIT, Program, enter_network_of_the_host

XDP = ("--link", "xdp")
GENERIC = ("--link", "xdp", "--xdp-mode", "generic")


class OverXdp(OperationsTest):
    def test_ipv4(self):
        self.run_all(ours=XDP, theirs=XDP)

    def test_ipv6(self):
        self.run_all(ours=(*XDP, "--address", "fd09::1"), theirs=(*XDP, "--address", "fd09::2"))

    def test_roce_v1(self):
        self.run_all(ours=(*XDP, "--v1"), theirs=(*XDP, "--v1"))

    def test_generic(self):
        self.run_all(ours=GENERIC, theirs=GENERIC)

    def test_with_raw(self):
        self.run_all(ours=XDP, theirs=("--link", "raw"))
        # Super-frames do not reach a program in generic mode.
        self.run_all(ours=("--link", "raw", "--no-segmentation"), theirs=GENERIC)

    def test_with_udp(self):
        self.run_all(ours=XDP, theirs=("--link", "udp"))

    def test_own_address(self):
        self.run_all(ours=(*XDP, "--ip", "10.9.0.77/24"), theirs=XDP)
        self.run_all(ours=(*XDP, "--ip", "fd09::77/64"), theirs=(*XDP, "--ip", "fd09::78/64"))
        self.run_all(ours=(*XDP, "--ip", "10.9.5.1/24", "--vlan", "5"), theirs=(*XDP, "--ip", "10.9.5.2/24", "--vlan", "5"))


class SmallMtu(OverXdp):
    mtu = 1500


class Recorded(RecordedTest):
    def test_xdp(self):
        self.check(*XDP)


class RdmaCm(rdma_cm_test.RdmaCm):
    def test_programs(self):
        self.all_of_them("ipv4", XDP, GENERIC)
        self.all_of_them("ipv6", GENERIC, XDP)

    def test_multicast(self):
        self.reaches(self.GROUP, (*GENERIC, "--address", "10.9.0.1"), (*GENERIC, "--address", "10.9.0.2"))
        self.reaches(self.GROUP, (*XDP, "--address", "10.9.0.1"), (*XDP, "--ip", "10.9.0.77/24"))


class BesideTheKernel(LiveTest):
    """What the program does not take goes on to the kernel, and what it takes does not."""

    def test_tcp_goes_on(self):
        for kind in (("rc",), ("ud", "-s", "1024")):
            with self.subTest(kind=kind), self.peer("--once", "-k", *kind, *XDP):
                code, out, err = self.client("pingpong", "-i", "v", "--json", "-n", "200", "-k", *kind, *XDP, "10.9.0.2")
                self.assertEqual((code, err), (0, ""))
                self.assertGreaterEqual(json.loads(out.splitlines()[-1])["messages_received"], 200)

    def test_no_port_unreachable(self):
        with self.peer(*XDP) as peer:
            self.exchange(peer, "write", "-n", "100", *XDP)
        for name in "ab":
            lines = subprocess.run(self.wire.inside(name, "cat", "/proc/net/snmp"), check=True, capture_output=True,
                                   text=True).stdout.splitlines()
            names, values = (line.split() for line in lines if line.startswith("Icmp:"))
            self.assertEqual(values[names.index("OutDestUnreachs")], "0", name)


class Wrong(LiveTest):
    def assert_refused(self, pattern, *arguments):
        code, _, err = self.client("write", "-i", "v", *arguments, "/x.sock")
        self.assertEqual(code, 2, err)
        self.assertRegex(err, pattern)
        self.assertEqual(err.count("\n"), 1, err)

    def test_options(self):
        self.assert_refused("are for the XDP link", "--xdp-mode", "native")
        self.assert_refused("are for the XDP link", "--link", "raw", "--xdp-queues", "1")
        self.assert_refused("cannot listen on 9 receive queues of v: it has 1", *XDP, "--xdp-queues", "9")

    def test_a_driver_without_xdp(self):
        code, _, err = self.client("write", "-i", "lo", "--address", "127.0.0.1", *XDP, "--xdp-mode", "native", "/x.sock")
        self.assertEqual(code, 2, err)
        self.assertRegex(err, "lo in native mode .*Operation not supported; .*generic mode, or --link raw")

    def test_too_little_locked_memory(self):
        words = ("setpriv", "--bounding-set=-ipc_lock", "--inh-caps=-ipc_lock", "prlimit", "--memlock=65536")
        for command in (("peer", "-i", "v", "--control", os.path.join(self.folder, "sock")), ("craft", "-i", "v")):
            code, _, err = subprocess_result(self.wire.inside("b", *words, exchange_test.ROCE_GEN, *command, *XDP))
            self.assertEqual(code, 2, err)
            self.assertRegex(err, r"cannot lock \d+ bytes for queue 0 of v: .*ulimit -l")
        self.assertNotIn("xdp", self.wire.ip("b", "-d", "link", "show", "v"), "nothing half-done")

    def test_one_program_an_interface(self):
        with self.peer(*XDP) as peer:
            code, _, err = subprocess_result(self.wire.inside("b", exchange_test.ROCE_GEN, "peer", "-i", "v", *XDP, "--control",
                                                              peer.socket + "2", "-p", "18600"))
            self.assertEqual(code, 2, err)
            self.assertRegex(err, "there is another one")
            self.exchange(peer, "write", "-n", "5", *XDP)


def subprocess_result(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=WAIT)
    return done.returncode, done.stdout, done.stderr


class Ends(LiveTest):
    def has_program(self):
        return "xdp" in json.loads(self.wire.ip("b", "-j", "-d", "link", "show", "v"))[0]

    def test_a_killed_peer_leaves_no_program(self):
        with self.peer(*XDP) as peer:
            self.exchange(peer, "write", "-n", "5", *XDP)
            self.assertTrue(self.has_program())
            peer.stop(signal.SIGKILL)
            # The kernel takes a process apart after it was waited for.
            deadline = time.monotonic() + WAIT
            while self.has_program() and time.monotonic() < deadline:
                pass
            self.assertFalse(self.has_program())
        with self.peer(*XDP) as peer:
            self.exchange(peer, "write", "-n", "5", *XDP)

    def test_the_interface_goes_down_for_a_while(self):
        with self.peer(*XDP) as peer:
            running = Program(exchange_test.ROCE_GEN, self.wire, "a", "write", "-i", "v", "-s", "4096", "-D", "2", *XDP, peer.socket)
            self.addCleanup(running.end)
            self.wire.ip("b", "link", "set", "v", "down")
            self.wire.ip("b", "link", "set", "v", "up")
            code, result = running.result()
            self.assertEqual((code, result["ok"]), (0, True), result)

    def test_the_interface_is_deleted(self):
        with self.peer(*XDP) as peer:
            self.exchange(peer, "write", "-n", "5", *XDP)
            self.wire.ip("b", "link", "del", "v")
            _, err = peer.process.communicate(timeout=WAIT)
            self.assertEqual(peer.process.returncode, 1)
            self.assertRegex(err, "interface v is gone")


if __name__ == "__main__":
    enter_network_of_the_host()
    for test in (exchange_test, rdma_cm_test):
        test.ROCE_GEN, test.ROCE_ANALYZE = (os.path.abspath(path) for path in sys.argv[1:3])
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
