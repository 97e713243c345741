# SPDX-License-Identifier: BSD-2-Clause
"""roce-gen as the client of roce-gen peer, connected by RDMA CM: rping, ucmatose and udaddy over every link; mckey; queue pairs of
the control protocol.

usage: rdma_cm_test.py ROCE_GEN ROCE_ANALYZE [UNITTEST ARGUMENT...]

What the programs of librdmacm themselves make of it is shown in tests/interop.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import unittest

from control import Control
from live import WAIT, Program, Wire, enter_namespaces

PEER = {"ipv4": "10.9.0.2", "ipv6": "fd09::2"}
OURS = {"ipv4": "10.9.0.1", "ipv6": "fd09::1"}


class RdmaCm(unittest.TestCase):
    GROUP = "239.1.2.3"

    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory(prefix="roce-gen-"))
        self.wire = Wire(9000)
        self.addCleanup(self.wire.close)

    def start(self, name, *arguments):
        program = Program(ROCE_GEN, self.wire, name, *arguments)
        self.addCleanup(program.end)
        return program

    def peer(self, ip="ipv4", *more):
        return self.start("b", "peer", "-i", "v", "--address", PEER[ip], "--control", os.path.join(self.folder, "sock"), *more)

    def client(self, program, ip="ipv4", *more):
        return self.start("a", program, "-i", "v", "--address", OURS[ip], *more, PEER[ip])

    def good(self, program, ip="ipv4", *more):
        code, report = self.client(program, ip, *more).result()
        self.assertEqual((code, report["ok"]), (0, True), report)
        return report

    def decoded(self, path):
        said = subprocess.run([ROCE_ANALYZE, "decode", "--json", path], capture_output=True, text=True, check=True)
        return [json.loads(line) for line in said.stdout.splitlines()]

    def all_of_them(self, ip, theirs=(), ours=()):
        peer = self.peer(ip, *theirs)
        self.assertEqual(self.good("rping", ip, "-C", "20", "-S", "5000", *ours)["bytes"], 20 * 5000)
        self.assertEqual(self.good("ucmatose", ip, *ours)["messages"], 10)
        self.assertEqual(self.good("udaddy", ip, *ours)["messages"], 10)
        code, last = peer.result(signal.SIGTERM)
        self.assertEqual((code, last["event"], last["ok"], last["messages"]), (0, "udaddy", True, 10))

    def reaches(self, group, ours, theirs):
        receiver = self.start("b", "mckey", "-i", "v", *theirs, "-C", "20", "-S", "300", group)
        path = os.path.join(self.folder, "group.pcapng")
        code, report = self.start("a", "mckey", "-i", "v", "-s", *ours, "-C", "20", "-S", "300", "--pcap", path, group).result()
        self.assertEqual((code, report["ok"], report["messages"]), (0, True, 20), report)
        code, report = receiver.result()
        self.assertEqual((code, report["ok"], report["bytes"]), (0, True, 20 * 300), report)
        return self.decoded(path)


class Programs(RdmaCm):
    def test_raw_ipv4(self):
        self.all_of_them("ipv4", ("--link", "raw"), ("--link", "raw"))

    def test_raw_ipv6(self):
        self.all_of_them("ipv6", ("--link", "raw"), ("--link", "raw"))

    def test_udp(self):
        self.all_of_them("ipv4", ("--link", "udp"), ("--link", "udp"))

    def test_udp_ipv6_to_raw(self):
        self.all_of_them("ipv6", ("--link", "raw"), ("--link", "udp"))

    def test_roce_v1(self):
        # Addresses choose no version, so that --v1 is given without.
        peer = self.start("b", "peer", "-i", "v", "--v1", "--control", os.path.join(self.folder, "sock"))
        path = os.path.join(self.folder, "v1.pcapng")
        for program in ("rping", "ucmatose", "udaddy"):
            code, report = self.start("a", program, "-i", "v", "--v1", "--pcap", path, PEER["ipv4"]).result()
            self.assertEqual((code, report["ok"]), (0, True), report)
            self.assertEqual({packet["roce"]["version"] for packet in self.decoded(path)}, {"RoCEv1"})
        self.assertEqual(peer.result(signal.SIGTERM)[0], 0)

    def test_other_sizes_and_counts(self):
        peer = self.peer("ipv4", "--cm-count", "300", "--cm-size", "3000")
        for program in ("ucmatose", "udaddy"):
            self.assertEqual(self.good(program, "ipv4", "-C", "300", "-S", "3000")["bytes"], 300 * 3000)
        self.assertEqual(self.good("rping", "ipv4", "-C", "3", "-S", "65536")["bytes"], 3 * 65536)
        self.assertEqual(self.good("rping", "ipv4", "-C", "3", "-S", "16")["bytes"], 3 * 16)
        self.assertEqual(peer.result(signal.SIGTERM)[0], 0)

    def test_many_at_the_same_time(self):
        peer = self.peer()
        # Each on its own address: two of them on one would take each other's packets.
        for number in range(10, 20):
            self.wire.ip("a", "address", "add", f"10.9.0.{number}/24", "dev", "v")
        clients = [self.start("a", "rping", "-i", "v", "--address", f"10.9.0.{number}", "-C", "50", PEER["ipv4"])
                   for number in range(10, 20)]
        for client in clients:
            code, report = client.result()
            self.assertEqual((code, report["messages"]), (0, 50), report)
        self.assertEqual(peer.result(signal.SIGTERM)[0], 0)

    def test_once(self):
        peer = self.peer("ipv4", "--once")
        self.good("rping")
        self.assertEqual(peer.result()[0], 0)


class Multicast(RdmaCm):
    def test_ipv4(self):
        packets = self.reaches(self.GROUP, ("--address", OURS["ipv4"], "--tos", "104"), ("--address", PEER["ipv4"]))
        self.assertEqual({(packet["eth"]["dst"], packet["ip"]["dst"], packet["ip"]["ttl"], packet["ip"]["dscp"],
                           packet["bth"]["dest_qp"], packet["deth"]["q_key"]) for packet in packets},
                         {("01:00:5e:01:02:03", self.GROUP, 64, 26, 0xFFFFFF, 0x01234567)})

    def test_ipv6(self):
        packets = self.reaches("ff12::1:77", ("--address", OURS["ipv6"]), ("--address", PEER["ipv6"]))
        self.assertEqual({(packet["eth"]["dst"], packet["ipv6"]["dst"]) for packet in packets},
                         {("33:33:00:01:00:77", "ff12::1:77")})

    def test_roce_v1(self):
        packets = self.reaches(self.GROUP, ("--v1",), ("--v1",))
        self.assertEqual({(packet["eth"]["dst"], packet["grh"]["dgid"]) for packet in packets},
                         {("33:33:ef:01:02:03", "ff0e::ffff:ef01:203")})

    def test_an_address_of_its_own(self):
        self.reaches(self.GROUP, ("--address", OURS["ipv4"]), ("--ip", "10.9.0.77/24"))

    def test_the_host_says_that_it_is_a_member(self):
        receiver = self.start("b", "mckey", "-i", "v", "--address", PEER["ipv4"], self.GROUP)
        self.assertIn(self.GROUP, self.wire.ip("b", "maddress", "show", "dev", "v"))
        receiver.result(signal.SIGTERM)
        self.assertNotIn(self.GROUP, self.wire.ip("b", "maddress", "show", "dev", "v"))

    def test_who_is_no_member_gets_nothing(self):
        receiver = self.start("b", "mckey", "-i", "v", "--address", PEER["ipv4"], "239.1.2.4")
        code, report = self.start("a", "mckey", "-i", "v", "-s", "--address", OURS["ipv4"], self.GROUP).result()
        self.assertEqual((code, report["ok"]), (0, True), report)
        code, report = receiver.result(signal.SIGTERM)
        self.assertEqual((code, report["messages"]), (1, 0), report)

    def test_what_is_no_group(self):
        for arguments, said in ((("10.9.0.7",), "no multicast address"), (("--link", "udp", self.GROUP), "--link udp"),
                                (("--address", OURS["ipv4"], "ff12::1"), "of another kind")):
            done = subprocess.run(self.wire.inside("a", ROCE_GEN, "mckey", "-i", "v", *arguments), capture_output=True, text=True,
                                  check=False, timeout=WAIT)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(said, done.stderr)


class ByControl(RdmaCm):
    """Queue pairs that the control protocol made wait for a connection, here from ucmatose: each side sends ten messages of 100
    bytes, the server first."""

    PORT, MESSAGES, SIZE = 7999, 10, 100

    def setUp(self):
        super().setUp()
        self.process = self.peer()
        self.control = Control(os.path.join(self.folder, "sock"))
        self.addCleanup(self.control.close)
        self.memory = self.control.call("create_memory", length=4096)["memory"]

    def waiting(self, receives, **more):
        """A queue pair that waits, with so many receives."""
        qp = self.control.call("create_qp", type="rc")["qp"]
        for _ in range(receives):
            self.control.call("post_receive", qp=qp, memory=self.memory, length=self.SIZE)
        self.control.call("accept_qp", qp=qp, cm_port=self.PORT, **more)
        return qp

    def ucmatose(self):
        return self.client("ucmatose", "ipv4", "-p", str(self.PORT))

    def until(self, qp, connection):
        while (status := self.control.call("qp_status", qp=qp))["connection"] != connection:
            self.assertIsNone(self.process.process.poll())
        return status

    def send(self, qp):
        for _ in range(self.MESSAGES):
            self.control.call("post_send", qp=qp, opcode="send", memory=self.memory, length=self.SIZE)

    def test_a_client_is_served(self):
        qp = self.waiting(self.MESSAGES)
        self.assertEqual(self.control.call("qp_status", qp=qp)["connection"], "waiting")
        client = self.ucmatose()
        self.assertEqual(self.until(qp, "connected")["state"], "RTS")
        self.send(qp)
        done = self.control.completions(2 * self.MESSAGES)
        self.assertEqual({(one["status"], one["byte_length"]) for one in done}, {("success", self.SIZE)})
        self.control.call("destroy_qp", qp=qp)
        code, report = client.result()
        self.assertEqual((code, report["ok"], report["messages"]), (0, True, self.MESSAGES), report)

    def test_a_client_without_receives_here(self):
        qp = self.waiting(0, rnr_retry=0)
        client = self.ucmatose()
        self.until(qp, "connected")
        self.send(qp)
        code, report = client.result()
        self.assertEqual(code, 1)
        self.assertIn("RNR retry counter exceeded", report["error"])

    def test_a_client_is_rejected(self):
        self.control.call("reject_next", cm_port=self.PORT)
        code, report = self.ucmatose().result()
        self.assertEqual(code, 1)
        self.assertIn("rejected the connection: consumer", report["error"])
        # That was the next one; now nobody listens.
        self.assertIn("invalid service ID", self.ucmatose().result()[1]["error"])

    def test_a_client_of_another_type_is_rejected(self):
        qp = self.control.call("create_qp", type="uc")["qp"]
        self.control.call("accept_qp", qp=qp, cm_port=self.PORT)
        code, report = self.ucmatose().result()
        self.assertEqual(code, 1)
        self.assertIn("rejected the connection: invalid transport service type", report["error"])
        self.assertEqual(self.control.call("qp_status", qp=qp)["state"], "INIT")

    def test_one_after_the_other(self):
        qps = [self.waiting(0), self.waiting(0)]
        self.ucmatose()
        self.until(qps[0], "connected")
        self.assertEqual(self.control.call("qp_status", qp=qps[1])["connection"], "waiting")
        self.ucmatose()
        self.until(qps[1], "connected")

    def test_what_cannot_be(self):
        qp = self.waiting(0)
        for pattern, op, members in (
                ("connected, or waits", "accept_qp", {"qp": qp, "cm_port": 8000}),
                ("RDMA port 7174: .* needs nobody listening", "reject_next", {"cm_port": 7174}),
                ('"cm_port" is 0, needs a whole number from 1', "reject_next", {"cm_port": 0}),
                ('"qp" was not made', "qp_status", {"qp": 1})):
            with self.subTest(op):
                answer = self.control.ask(op, **members)
                self.assertFalse(answer["ok"])
                self.assertRegex(answer["error"], pattern)

    def test_it_goes_with_its_maker(self):
        self.waiting(0)
        self.control.close()
        other = Control(os.path.join(self.folder, "sock"))
        self.addCleanup(other.close)
        other.call("reject_next", cm_port=self.PORT)
        self.assertIn("consumer", self.ucmatose().result()[1]["error"])

    def test_a_port_of_another_program(self):
        code, said = self.start("a", "send", "-i", "v", "--cm", "7174", os.path.join(self.folder, "sock")).result()
        self.assertEqual(code, 1)
        self.assertIn("cannot listen on RDMA port 7174", said)


class OnTheWire(RdmaCm):
    def test_traffic_class_and_flow(self):
        path = os.path.join(self.folder, "cm.pcapng")
        peer = self.peer()
        self.good("rping", "ipv4", "--tos", "104", "--pcap", path)
        self.assertEqual(peer.result(signal.SIGTERM)[0], 0)
        packets = self.decoded(path)
        data = [packet for packet in packets if packet["bth"]["dest_qp"] != 1]
        # Its answers too, which know it from the REQ.
        self.assertEqual({packet["ip"]["dscp"] for packet in data}, {104 >> 2})
        self.assertEqual({packet["ip"]["src"] for packet in data}, {OURS["ipv4"], PEER["ipv4"]})
        label, = {packet["cm_req"]["primary_flow_label"] for packet in packets if "cm_req" in packet}
        self.assertEqual({packet["udp"]["srcport"] for packet in data}, {0xC000 | (label & 0x3FFF) ^ (label >> 14)})

    def test_what_is_sent_is_well_formed(self):
        path = os.path.join(self.folder, "cm.pcapng")
        peer = self.peer()
        for program in ("rping", "ucmatose", "udaddy"):
            self.good(program, "ipv4", "--pcap", path)
            said = subprocess.run([ROCE_ANALYZE, "events", "--json", path], capture_output=True, text=True, check=True)
            broken = [event for event in map(json.loads, said.stdout.splitlines()) if event["rule"]]
            self.assertEqual(broken, [])
        self.assertEqual(peer.result(signal.SIGTERM)[0], 0)


class Wrong(RdmaCm):
    def refused(self, pattern, *arguments):
        code, report = self.client(*arguments).result()
        self.assertEqual((code, report["ok"]), (1, False), report)
        self.assertRegex(report["error"], pattern)

    def test_nobody_listens(self):
        peer = self.peer()
        self.refused("rejected the connection: invalid service ID", "rping", "ipv4", "-p", "7175")
        self.refused("no queue pair for RDMA port 7175: service ID not supported", "udaddy", "ipv4", "-p", "7175")
        self.assertEqual(peer.result(signal.SIGTERM)[0], 0)

    def test_the_other_program(self):
        # Of ucmatose the server sends first, and what it sends is no message of rping.
        peer = self.peer()
        self.refused("a message of 100 bytes came|ended with", "rping", "ipv4", "-p", "7471")
        self.assertEqual(peer.result(signal.SIGTERM)[0], 1)

    def test_sizes_differ(self):
        peer = self.peer("ipv4", "--cm-size", "200")
        self.refused("ended with: local length error", "ucmatose")
        self.assertEqual(peer.result(signal.SIGTERM)[0], 1)

    def test_spoiled_icrc(self):
        peer = self.peer("ipv4", "--bad-icrc")
        client = self.client("rping")
        # Nothing that the peer says is heard.
        with self.assertRaises(subprocess.TimeoutExpired):
            client.process.wait(1)
        code, report = client.result(signal.SIGTERM)
        self.assertEqual((code, report["error"]), (1, "interrupted"))
        # It hears that the client has given up.
        code, last = peer.result(signal.SIGTERM)
        self.assertEqual((code, last["ok"]), (1, False), last)

    def connected(self):
        """A client that pings without end."""
        client = self.client("rping", "ipv4", "-C", "1000000000")
        self.assertEqual(json.loads(client.process.stdout.readline())["event"], "connected")
        return client

    def test_the_client_is_stopped(self):
        peer = self.peer("ipv4", "--once")
        code, report = self.connected().result(signal.SIGTERM)
        self.assertEqual((code, report["error"]), (1, "interrupted"))
        # It was told, or it would wait for ever.
        code, last = peer.result()
        self.assertEqual(last["event"], "rping")
        self.assertEqual(last["counters"].get("retransmitted_packets", 0), 0)

    def test_the_peer_is_stopped(self):
        peer = self.peer()
        client = self.connected()
        self.assertEqual(peer.result(signal.SIGTERM)[0], 0)
        code, report = client.result()
        self.assertEqual((code, report["ok"]), (1, False), report)
        self.assertRegex(report["error"], "the (peer|server) (ended|rejected) the connection")

    def test_the_client_gives_up_at_once(self):
        # The peer finds its REQ and its REJ at the same time, which no other test does.
        peer = self.peer()
        for program in ("rping", "ucmatose", "udaddy"):
            peer.process.send_signal(signal.SIGSTOP)
            client = self.client(program)
            with self.assertRaises(subprocess.TimeoutExpired):
                client.process.wait(0.3)
            client.result(signal.SIGTERM)
            peer.process.send_signal(signal.SIGCONT)
            self.good("rping")
        self.assertIn(peer.result(signal.SIGTERM)[0], (0, 1))

    def test_other_kinds_of_address(self):
        done = subprocess.run(self.wire.inside("a", ROCE_GEN, "rping", "-i", "v", "--address", OURS["ipv4"], PEER["ipv6"]),
                              capture_output=True, text=True, check=False, timeout=WAIT)
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, "fd09::2 cannot be reached from 10.9.0.1: .*--address")


if __name__ == "__main__":
    enter_namespaces()
    ROCE_GEN, ROCE_ANALYZE = (os.path.abspath(path) for path in sys.argv[1:3])
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
