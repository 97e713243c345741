# SPDX-License-Identifier: BSD-2-Clause
"""roce-gen with several threads behind one interface: peer and client in two network namespaces joined by a veth pair.

usage: shards_test.py ROCE_GEN [UNITTEST ARGUMENT...]

Makes the namespaces itself, in a user namespace of its own, so that it needs no privilege; prints why and exits with 77 where
that is forbidden.
"""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

from control import Control
from live import WAIT, Program, Wire, enter_namespaces

MAC_CONTROL = 0x8808
# Frames of a storm, each of which holds for as long as a few of them take.
SOME_PAUSES = 100

OPERATIONS = [
    ("send", "-s", "1-16k", "-q", "4", "-n", "40"),
    ("write", "-s", "1,4097,65536", "-q", "4", "-n", "40"),
    ("read", "-s", "1,4096,30000", "-q", "5", "-n", "40"),
    ("atomic", "-n", "60", "-q", "4"),
    ("flush", "-s", "3000", "-q", "4", "-n", "30"),
    ("ud", "-s", "1,255,1024", "-q", "4", "-n", "50", "-t", "4"),
]


class ShardsTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="roce-gen-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.socket = os.path.join(self.folder, "control.sock")
        self.wire = Wire(9000)
        self.addCleanup(self.wire.close)

    def start(self, name, *arguments):
        program = Program(ROCE_GEN, self.wire, name, *arguments)
        self.addCleanup(program.end)
        return program

    def peer(self, *arguments):
        return self.start("b", "peer", "-i", "v", "--link", "raw", "--control", self.socket, *arguments)

    def control(self, **greeting):
        control = Control(self.socket, **greeting)
        self.addCleanup(control.close)
        return control

    def exchange(self, *arguments):
        done = subprocess.run(self.wire.inside("a", ROCE_GEN, arguments[0], "-i", "v", "--link", "raw", "--json", *arguments[1:],
                                               self.socket), capture_output=True, text=True, check=False, timeout=WAIT)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        return json.loads(done.stdout.splitlines()[-1])

    def file(self, path):
        with open(path, encoding="utf-8") as file:
            return {sample["name"]: sample["value"] for sample in json.load(file)["samples"]}


class Exchanges(ShardsTest):
    """The tool compares the data itself. A packet that came to another shard would find no queue pair there."""

    def run_all(self, here, there, *, ours=(), theirs=()):
        peer = self.peer("--shards", str(there), *theirs)
        for operation in OPERATIONS:
            with self.subTest(operation=operation):
                result = self.exchange(*operation, "--shards", str(here), *ours)
                self.assertEqual(result["messages"],
                                 int(operation[operation.index("-n") + 1]) * int(operation[operation.index("-q") + 1]))
                self.assertTrue(result["ok"])
                self.assertEqual((result["lost"], result["peer_counters"]["unknown_qp"]), (0, 0))
        self.assertEqual(peer.result(signal.SIGINT)[0], 0)

    def test_two_with_two(self):
        self.run_all(2, 2)

    def test_four_with_two_over_ipv6(self):
        self.run_all(4, 2, ours=("--address", "fd09::1"), theirs=("--address", "fd09::2"))

    def test_two_with_sixteen_of_roce_v1(self):
        self.run_all(2, 16, ours=("--v1",), theirs=("--v1",))

    def test_two_with_one(self):
        self.run_all(2, 1)

    def test_one_with_two(self):
        self.run_all(1, 2)

    def test_packet_by_packet(self):
        self.run_all(2, 2, ours=("--no-segmentation",), theirs=("--no-segmentation",))

    def test_rdma_cm_is_with_the_first(self):
        self.peer("--shards", "2")
        for _ in range(3):
            self.assertEqual(self.exchange("write", "-n", "5", "--cm", "7999")["messages"], 5)


class Counters(ShardsTest):
    def test_are_added_up(self):
        theirs, ours = (os.path.join(self.folder, name) for name in ("theirs", "ours"))
        peer = self.peer("--shards", "2", "--metrics-file", theirs)
        sent = 0
        for arguments in (("--shards", "2", "-q", "5"), ("-q", "1"), ("-q", "1")):
            result = self.exchange("write", "-n", "50", "-s", "64", *arguments, "--metrics-file", ours)
            file = self.file(ours)
            self.assertEqual(file["roce_messages_total"], result["messages"])
            for name in ("sent_packets", "received_packets"):
                self.assertEqual(file[f"roce_{name}_total"], result["counters"][name])
            sent += result["counters"]["sent_packets"]
        of_shards = [self.control(shard=shard).call("counters")["counters"] for shard in (0, 1)]
        # Three queue pairs and two of the first; the others had no shard to choose, and so take turns.
        for counters, queue_pairs in zip(of_shards, (4, 3)):
            self.assertGreaterEqual(counters["received_packets"], queue_pairs * 50)
        self.assertEqual(peer.result(signal.SIGINT)[0], 0)
        file = self.file(theirs)
        for name in ("received_packets", "sent_packets"):
            self.assertEqual(file[f"roce_{name}_total"], sum(counters[name] for counters in of_shards))
        self.assertLessEqual(file["roce_received_packets_total"], sent)

    def test_are_served_while_they_count(self):
        peer = self.peer("--shards", "2", "--metrics", "0")
        url = next(note["text"] for note in peer.notes if note["event"] == "metrics").removeprefix("metrics at ")
        running = self.start("a", "write", "-i", "v", "--link", "raw", "-D", str(WAIT), "-q", "2", "--shards", "2", self.socket)
        program = f"import urllib.request; print(urllib.request.urlopen({url!r}, timeout={WAIT}).read().decode())"
        deadline = time.monotonic() + WAIT
        seen = []
        while len(seen) < 3:
            self.assertLess(time.monotonic(), deadline)
            text = subprocess.run(self.wire.inside("b", sys.executable, "-c", program), check=True, capture_output=True,
                                  text=True).stdout
            value = int(next(line.split()[1] for line in text.splitlines() if line.startswith("roce_received_packets_total{")))
            both = sum(self.control(shard=shard).call("counters")["counters"]["received_packets"] for shard in (0, 1))
            self.assertLessEqual(value, both)
            if not seen or value > seen[-1]:
                seen.append(value)
        code, result = running.result(signal.SIGINT)
        self.assertEqual((code, result["ok"]), (1, False))


class Connections(ShardsTest):
    def test_a_connection_has_the_shard_that_it_asks_for(self):
        self.peer("--shards", "4")
        for shard in range(4):
            control = self.control(shard=shard)
            self.assertEqual((control.hello["shard"], control.hello["shards"]), (shard, 4))
            for _ in range(3):
                self.assertEqual(control.call("create_qp", type="rc")["qp"] % 4, shard)
        self.assertEqual(self.control().hello["shard"], 0)
        self.assertEqual(sorted(self.control(shard="any").hello["shard"] for _ in range(4)), [0, 1, 2, 3])

    def test_what_is_not_possible_is_refused(self):
        self.peer("--shards", "2")
        for wrong in (2, -1, "some", 1.5, None):
            with self.assertRaisesRegex(AssertionError, "shard"):
                self.control(shard=wrong)
        control = self.control(shard=1)
        qp = control.call("create_qp", type="rc")["qp"]
        answer = control.ask("accept_qp", qp=qp, cm_port=7999)
        self.assertEqual((answer["ok"], answer["error"]),
                         (False, 'RDMA CM is with shard 0, and this is shard 1; leave "shard" out of hello'))
        self.assertEqual(control.call("qp_status", qp=qp)["connection"], "none")
        control.call("destroy_qp", qp=qp)

    def test_requests_may_be_sent_ahead(self):
        self.peer("--shards", "2")
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(WAIT)
            connection.connect(self.socket)
            connection.sendall(b'{"op": "hello", "version": 1, "shard": 1}\n{"op": "create_qp", "type": "rc"}\n{"op": "counters"}\n')
            with connection.makefile("r", encoding="utf-8") as lines:
                answers = [json.loads(lines.readline()) for _ in range(3)]
        self.assertTrue(all(answer["ok"] for answer in answers), answers)
        self.assertEqual(answers[1]["qp"] % 2, 1)


class Held(ShardsTest):
    def received(self, control):
        return control.call("counters")["counters"]["received_packets"]

    def wait_for_work(self, what, controls):
        """Until all of these shards have received something more."""
        deadline = time.monotonic() + WAIT
        before = after = [self.received(control) for control in controls]
        while any(new <= old for old, new in zip(before, after)):
            self.assertLess(time.monotonic(), deadline, f"{what}: {before} {after}")
            after = [self.received(control) for control in controls]

    def wait_for_silence(self, what, controls, pauses):
        """Until none of these shards receives anything while so many pauses come."""
        deadline = time.monotonic() + WAIT
        while True:
            before = [self.received(control) for control in controls]
            # Not those that came before.
            pauses.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                while pauses.recv(64):
                    pass
            pauses.settimeout(WAIT)
            for _ in range(SOME_PAUSES):
                pauses.recv(64)
            after = [self.received(control) for control in controls]
            if before == after:
                return
            self.assertLess(time.monotonic(), deadline, f"{what}: {before} {after}")

    def test_pfc_holds_every_shard(self):
        self.peer("--shards", "2")
        controls = [self.control(shard=shard) for shard in (0, 1)]
        running = self.start("a", "write", "-i", "v", "--link", "raw", "-D", str(10 * WAIT), "-q", "2", "-s", "64", "--shards", "2",
                             self.socket)
        self.wait_for_work("both have work", controls)
        pauses = self.wire.packet_socket("a", "v", MAC_CONTROL)
        self.addCleanup(pauses.close)
        storm = self.start("b", "pfc", "-i", "v", "-p", "all", "--storm")
        self.wait_for_silence("both are held", controls, pauses)
        self.assertEqual(storm.result(signal.SIGINT)[0], 0)
        self.wait_for_work("both go on", controls)
        code, result = running.result(signal.SIGINT)
        self.assertEqual((code, result["ok"]), (1, False))


class Ends(ShardsTest):
    def test_a_killed_peer_is_noticed_by_all(self):
        peer = self.peer("--shards", "2")
        running = self.start("a", "write", "-i", "v", "--link", "raw", "-D", str(10 * WAIT), "-q", "2", "--shards", "2", "--timeout",
                             "10", self.socket)
        peer.result(signal.SIGKILL)
        code, error = running.result()
        self.assertEqual(code, 1)
        self.assertRegex(error, "^roce-gen: .*(retry counter exceeded|closed the control connection|peer is gone).*\n$")

    def test_an_interface_that_goes_ends_all(self):
        peer = self.peer("--shards", "2")
        self.wire.ip("b", "link", "delete", "v")
        code, error = peer.result()
        self.assertEqual(code, 1)
        self.assertRegex(error, "^roce-gen: interface v is gone: .*\n$")

    def test_ctrl_c(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            peer = self.peer("--shards", "4")
            self.control(shard=3).call("create_qp", type="rc")
            self.assertEqual(peer.result(number)[0], 0)
            self.assertFalse(os.path.exists(self.socket))


class Wrong(ShardsTest):
    def assert_refused(self, pattern, *arguments, program=()):
        done = subprocess.run(self.wire.inside("a", *program, ROCE_GEN, *arguments), capture_output=True, text=True, check=False, timeout=WAIT)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertRegex(done.stderr, pattern)

    def test_options(self):
        for number in ("0", "3", "32", "-1", "two"):
            self.assert_refused("--shards", "peer", "-i", "v", "--shards", number)
        for link in ("udp", "xdp", "stream"):
            self.assert_refused("use the raw link, or one shard", "peer", "-i", "v", "--shards", "2", "--link", link)
        self.assert_refused(r"an own address \(ip\) has no shards", "peer", "-i", "v", "--shards", "2", "--ip", "10.9.0.9/24")
        self.assert_refused("pfc counts the receives of one device", "peer", "-i", "v", "--shards", "2", "--pfc", "3:16:64")
        self.assert_refused(r"a capture file \(pcap\) holds what one thread sees", "peer", "-i", "v", "--shards", "2", "--pcap", "/nowhere.pcap")
        self.assert_refused("--cm connects through QP1", "write", "-i", "v", "--shards", "2", "-q", "2", "--cm", "7999", self.socket)
        self.assert_refused("4 shards need a queue pair each, and there are 3; use -q 4", "write", "-i", "v", "--shards", "4", "-q",
                            "3", self.socket)
        self.assert_refused("no peer listens", "write", "-i", "v", "--shards", "2", "-q", "2", self.socket)

    def test_without_the_privilege(self):
        self.assert_refused("shards need the raw link, and that is not possible: .*CAP_NET_RAW", "peer", "-i", "v", "--shards", "2",
                            program=("setpriv", "--bounding-set", "-net_raw", "--inh-caps", "-net_raw"))


if __name__ == "__main__":
    enter_namespaces()
    ROCE_GEN = os.path.abspath(sys.argv[1])
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
