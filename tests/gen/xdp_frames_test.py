# SPDX-License-Identifier: BSD-2-Clause
"""roce-gen relay, craft, cnp and pfc over AF_XDP, on veth pairs between network namespaces.

usage: xdp_frames_test.py ROCE_GEN [UNITTEST ARGUMENT...]

Has to be root of the host; prints why and exits with 77 where it is not.
"""

import json
import os
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest

import relay_test
from control import Control
from live import WAIT, Program, Wire, enter_network_of_the_host

XDP = ("--link", "xdp")
SO_RCVBUFFORCE = 33
GENERIC = ("--link", "xdp", "--xdp-mode", "generic")


class RelayNative(relay_test.Passes):
    link = XDP


class RelayGeneric(relay_test.RelayTest):
    link = GENERIC

    def setUp(self):
        super().setUp()
        # Super-frames do not reach a program in generic mode.
        for name in "ab":
            self.network.cut_when_sending(name, f"v{name}")

    def test_loses_and_copies(self):
        totals, actions = self.exchange("drop:probability=0.02", "duplicate:probability=0.02")
        self.assertGreater(len(actions), 10)
        self.assertEqual((totals["a_to_b"]["lost"], totals["b_to_a"]["lost"]), (0, 0))


class RelayTold(relay_test.RelayTest):
    def test_says_what_is_wrong(self):
        both = ("-i", "ra", "-o", "rb")
        self.assertIn("are for --link xdp", self.refused(*both, "--xdp-mode", "native"))
        self.assertIn("are both ra", self.refused("-i", "ra", "-o", "ra", *XDP))
        self.assertIn("cannot listen on 9 receive queues", self.refused(*both, *XDP, "--xdp-queues", "9"))
        # The first of the two is open by then.
        self.network.ip("m", "link", "set", "rb", "down")
        self.assertIn("interface rb is down", self.refused(*both, *XDP))
        self.assertNotIn("xdp", self.network.ip("m", "-d", "link", "show"))


def records(path):
    """The frames of a pcap file of this machine's byte order."""
    with open(path, "rb") as file:
        data = file.read()
    at, frames = 24, []
    while at < len(data):
        captured, = struct.unpack_from("=I", data, at + 8)
        frames.append(data[at + 16:at + 16 + captured])
        at += 16 + captured
    return frames


class Craft(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.wire = Wire(9000)
        self.addCleanup(self.wire.close)

    def run_gen(self, *arguments, code=0):
        done = subprocess.run(self.wire.inside("a", ROCE_GEN, *arguments), capture_output=True, text=True, timeout=WAIT,
                              check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def start(self, name, *arguments):
        program = Program(ROCE_GEN, self.wire, name, *arguments)
        self.addCleanup(program.end)
        return program

    def programs(self):
        return [name for name in "ab" if "xdp" in json.loads(self.wire.ip(name, "-j", "-d", "link", "show", "v"))[0]]

    def test_sends_what_it_would_write(self):
        link = self.wire.packet_socket("b", "v", 0x0800)
        self.addCleanup(link.close)
        link.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 16 << 20)
        path = os.path.join(self.folder, "written.pcap")
        for payload in ("100", "4000", "8000", "0..64+4"):
            words = ("-n", "200", "eth.dst=02:00:00:00:00:07", "eth.src=02:00:00:00:00:08", "ip.src=10.9.0.1", "ip.dst=10.9.0.2",
                     "bth.psn=+1", "bth.dest_qp=rand", f"payload_length={payload}", "icrc=auto/wrong")
            self.run_gen("craft", "-w", path, *words)
            totals = json.loads(self.run_gen("craft", "-i", "v", *XDP, *words, "--json").stdout.splitlines()[-1])
            self.assertEqual((totals["frames"], totals["refused"]), (200, 0))
            wanted = records(path)
            self.assertEqual(len(wanted), 200)
            self.assertEqual([link.recv(10000) for _ in wanted], wanted)

    def test_leaves_the_interface_to_others(self):
        control = os.path.join(self.folder, "control.sock")
        self.start("b", "peer", "-i", "v", *XDP, "--control", control)
        craft = self.start("a", "craft", "-i", "v", *XDP, "-n", "0", "--rate", "1kpps")
        self.assertEqual(self.programs(), ["b"])
        code, result = self.start("a", "write", "-i", "v", "--link", "raw", "-n", "200", control).result()
        self.assertEqual((code, result["ok"]), (0, True), result)
        self.assertEqual(craft.result(signal.SIGINT)[0], 0)

    def peer_with_qp(self, *arguments):
        """A peer in namespace b, and its queue pair: the program, its control connection, the number."""
        path = os.path.join(self.folder, "control.sock")
        peer = self.start("b", "peer", "-i", "v", "--control", path, *arguments)
        control = Control(path)
        self.addCleanup(control.close)
        made = control.call("create_qp", type="rc")
        control.call("connect_qp", qp=made["qp"], gid="10.9.0.1", remote_qp=0x123, psn=made["psn"])
        return peer, control, made["qp"]

    def send_cnps(self, control, number, count):
        """Until the peer has seen them, and so what was sent before."""
        self.run_gen("cnp", "-i", "v", *XDP, "--to", "10.9.0.2", "--qp", str(number), "-n", str(count))
        deadline = time.monotonic() + WAIT
        while (handled := control.call("counters", qp=number)["counters"]["cnps_handled"]) < count and time.monotonic() < deadline:
            pass
        self.assertEqual(handled, count)

    def test_cnps_reach_a_queue_pair_over_xdp(self):
        _, control, number = self.peer_with_qp(*GENERIC)
        self.send_cnps(control, number, 3)

    def test_pause_and_pfc_are_seen_over_xdp(self):
        for command in (("pause",), ("pfc", "-p", "3", "-q", "0")):
            seen, sent = (os.path.join(self.folder, name) for name in ("seen.pcap", "sent.pcap"))
            peer, control, number = self.peer_with_qp(*XDP, "--pcap", seen)
            self.run_gen(*command, "-w", sent, "-n", "5", "--source", "02:00:00:00:00:08")
            self.run_gen(*command, "-i", "v", *XDP, "-n", "5", "--source", "02:00:00:00:00:08")
            self.send_cnps(control, number, 1)
            self.assertEqual(peer.result(signal.SIGTERM)[0], 0)
            self.assertEqual(records(seen)[:5], records(sent))

    def test_killed_leaves_nothing(self):
        before = self.wire.ip("a", "-d", "link", "show")
        for _ in range(2):
            # The second finds the queue free, so that no socket is left.
            craft = self.start("a", "craft", "-i", "v", *XDP, "-n", "0")
            craft.result(signal.SIGKILL)
        self.assertEqual(self.wire.ip("a", "-d", "link", "show"), before)

    def wait_until_it_has_worked(self, process):
        """Until it has used more of a processor's time than it takes to send some frames."""
        def ticks():
            with open(f"/proc/{process.pid}/stat", encoding="ascii") as file:
                return sum(map(int, file.read().rpartition(")")[2].split()[11:13]))
        enough, deadline = ticks() + 3, time.monotonic() + WAIT
        while ticks() < enough:
            self.assertLess(time.monotonic(), deadline)

    def test_an_interface_that_is_down_for_a_while_loses_frames(self):
        craft = self.start("a", "craft", "-i", "v", *XDP, "-n", "0", "--rate", "10kpps")
        self.wire.ip("a", "link", "set", "v", "down")
        self.wait_until_it_has_worked(craft.process)
        self.wire.ip("a", "link", "set", "v", "up")
        code, totals = craft.result(signal.SIGINT)
        self.assertEqual(code, 1)
        self.assertGreater(totals["refused"], 0)

    def test_an_interface_that_is_deleted_ends_it(self):
        craft = self.start("a", "craft", "-i", "v", *XDP, "-n", "0", "--rate", "10kpps")
        self.wire.ip("a", "link", "del", "v")
        error = craft.process.stderr.read()
        self.assertEqual(craft.process.wait(WAIT), 1)
        self.assertIn("interface v is gone", error)

    def test_says_what_is_wrong(self):
        path = os.path.join(self.folder, "x.pcap")
        for words, said in ((("-w", path, *XDP), "add -i, or leave it out"),
                            (("-i", "v", *XDP, "--segmentation"), "needs -i and --link raw"),
                            (("-w", path, "--segmentation"), "needs -i and --link raw")):
            error = self.run_gen("craft", *words, code=2).stderr
            self.assertIn(said, error)
            self.assertEqual(error.count("\n"), 1, error)
        self.assertFalse(os.path.exists(path))
        self.start("a", "craft", "-i", "v", *XDP, "-n", "0", "--rate", "1kpps")
        self.assertIn("another program has one there; end it", self.run_gen("craft", "-i", "v", *XDP, code=2).stderr)

    def test_says_that_it_is_not_allowed(self):
        done = subprocess.run(self.wire.inside("a", "setpriv", "--bounding-set=-net_raw", "--inh-caps=-net_raw", ROCE_GEN, "craft",
                                               "-i", "v", *XDP), capture_output=True, text=True, timeout=WAIT, check=False)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("it needs CAP_NET_ADMIN, CAP_NET_RAW and CAP_BPF of the host", done.stderr)


if __name__ == "__main__":
    enter_network_of_the_host()
    ROCE_GEN = relay_test.ROCE_GEN = os.path.abspath(sys.argv.pop(1))
    unittest.main()
