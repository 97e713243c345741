# SPDX-License-Identifier: BSD-2-Clause
"""`roce-analyze summary` of connections that never worked: it names why, first.

usage: reach_test.py ROCE_ANALYZE [UNITTEST ARGUMENT...]

Errors and questions are Linux's own: frames go to hosts and routers in network namespaces, and their answers are what is
captured. Times are made, so that nobody waits for ACK timeouts.
"""

import json
import os
import select
import socket
import subprocess
import sys
import unittest

from made_captures import MS, START, TIMEOUT, TRIES, Summary, conversation, tries
from roce_frames import write_pcap
from roce_packets import SEND_LAST, Host, bth

NAMESPACE = "ROCE_REACH_NAMESPACE"


class MadeCaptures(Summary):
    def setUp(self):
        super().setUp()
        self.a = Host("02:00:00:00:00:01", "10.0.0.1")
        self.b = Host("02:00:00:00:00:02", "10.0.0.2")
        self.c = Host("02:00:00:00:00:03", "10.0.0.3")

    def test_silence_of_one_of_several_connections(self):
        frames = conversation(self.a, self.b) + tries(self.a, self.b, 0x99, 7, begin=5 * MS)
        facts, text = self.first(frames)
        self.assertEqual((facts["from"], facts["to"], facts["connections"], facts["requests"], facts["why"]),
                         ("10.0.0.1", "10.0.0.2", 1, TRIES, "unknown"))
        self.assertEqual(facts["since_ns"], 5 * MS)
        self.assertIn("other connections of these two are answered", text)

    def test_one_direction_alone_is_no_sign(self):
        requests = tries(self.a, self.b, 0x99, 7)
        self.assert_silent(requests)
        self.assert_silent(requests + [frame for frame in conversation(self.a, self.b) if frame[1][11] == 1])

    def test_a_connection_that_had_begun_before(self):
        middle = [(0, self.a.send(self.b, 0x99, 6, opcode=SEND_LAST))]
        self.assert_silent(middle + conversation(self.a, self.b) + tries(self.a, self.b, 0x99, 7, begin=5 * MS))

    def test_a_connection_that_worked_and_died(self):
        frames = conversation(self.a, self.b) + tries(self.a, self.b, 0x22, 1020, begin=50 * MS)
        frames += conversation(self.a, self.c, begin=3000 * MS, qps=(0x41, 0x42))
        summary = self.assert_silent(frames)
        self.assertIn("died of silence", summary["verdict"])

    def test_answers_of_the_other_version(self):
        frames = tries(self.a, self.b, 0x99, 7) + tries(self.b, self.a, 0x98, 7, begin=MS, v1=True)
        facts, text = self.first(frames)
        self.assertEqual(facts["why"], "roce_version")
        self.assertIn("sends RoCE v2 and 10.0.0.2 RoCE v1", text)

    def test_both_versions_that_work(self):
        self.assert_silent(conversation(self.a, self.b) + tries(self.b, self.a, 0x98, 7, v1=True, count=1))

    def test_a_link_local_gid(self):
        a = Host(self.a.mac, "fe80::1")
        b = Host(self.b.mac, "2001:db8::2")
        facts, text = self.first(tries(a, b, 0x99, 7) + [(MS, b.packet(a, bth(0x64, 1, 1) + bytes(8), bytes(64)))])
        self.assertEqual(facts["why"], "link_local")
        self.assertIn("fe80::1 holds on its own link only", text)

    def test_questions_that_nobody_answers(self):
        questions = [(-MS + i * 1000 * MS, self.a.arp("10.0.0.2")) for i in range(3)]
        frames = tries(self.a, self.b, 0x99, 7, begin=10 * MS)
        facts, text = self.first(frames + questions)
        self.assertEqual(facts["why"], "no_neighbour")
        self.assertIn("10.0.0.1 asked 3 times in a row for the Ethernet address of 10.0.0.2 (ARP), and nobody answered", text)
        # A host that was answered does not ask again: two questions, or a late answer, are no sign.
        self.assert_silent(frames + questions[:2])
        self.assert_silent(frames + questions + [(2500 * MS, self.b.arp("10.0.0.1", 2, self.a.mac))])
        # So are questions that several hosts ask.
        self.assert_silent(frames + questions[:2] + [(2500 * MS, self.c.arp("10.0.0.2"))])

    def test_questions_about_a_host_that_is_there(self):
        questions = [(-MS + i * 1000 * MS, self.a.arp("10.0.0.2")) for i in range(3)]
        frames = tries(self.a, self.b, 0x99, 7, begin=10 * MS)
        # It sends to somebody else, or asks for another address itself.
        self.assert_silent(frames + questions + conversation(self.b, self.c, begin=500 * MS))
        self.assert_silent(frames + questions + [(2500 * MS, self.b.arp("10.0.0.3"))])
        # Before they began, it may have been there.
        before = conversation(self.b, self.c, begin=-500 * MS)
        self.assertEqual(self.first(frames + questions + before)[0]["why"], "no_neighbour")

    def test_questions_of_another_time(self):
        frames = tries(self.a, self.b, 0x99, 7, begin=60_000 * MS)
        questions = [(i * 1000 * MS, self.a.arp("10.0.0.2")) for i in range(3)]
        last = [(61_000 * MS, self.a.arp("10.0.0.2"))]
        self.assert_silent(frames + questions + last)

    def test_what_to_capture_is_not_said_of_later_pieces(self):
        cm = [(MS, self.b.packet(self.a, bth(0x64, 1, 1) + bytes(8), bytes(64)))]
        frames = tries(self.a, self.b, 0x99, 7, begin=5 * MS)
        self.assertIn("if they are captured too", self.first(frames + cm)[1])
        state = os.path.join(self.folder.name, "state")
        self.summary(cm, "--carry", state)
        later = self.summary(frames, "--after", state)
        self.assertEqual(self.causes(later)[0]["facts"]["why"], "unknown")
        self.assertNotIn("captured too", self.causes(later)[0]["text"])

    def test_an_hour_of_clean_traffic(self):
        frames = conversation(self.a, self.b, count=3600, gap=1000 * MS)
        frames += conversation(self.c, self.a, count=1200, gap=3000 * MS, qps=(0x31, 0x32))
        for minute in range(60):
            # A mirror port that lacks the answers to questions, and one question that is repeated.
            at = minute * 60_000 * MS + 7
            frames += [(at, self.a.arp("10.0.0.2")), (at + 1000 * MS, self.a.arp("10.0.0.2"))]
            frames += [(at + 5, self.b.arp("10.0.0.1")), (at + 9, self.a.arp("10.0.0.2", 2, self.b.mac))]
        summary = self.assert_silent(frames)
        self.assertEqual(summary["verdict"], "nothing wrong seen")


@unittest.skipUnless(os.environ.get(NAMESPACE), "no network namespaces here")
class LinuxSays(Summary):
    """This process is host A. R routes between it and B; R's link to B has the MTU of Ethernet."""

    children = []

    @classmethod
    def setUpClass(cls):
        ip = cls.ip
        router, host = cls.space(), cls.space()
        ip("link add a0 mtu 9000 type veth peer name r0 mtu 9000")
        ip(f"link set r0 netns {router}")
        ip("link add r1 mtu 1500 type veth peer name b0 mtu 1500")
        ip(f"link set r1 netns {router}")
        ip(f"link set b0 netns {host}")
        for pid, name, addresses in ((None, "a0", ("10.1.0.2/24", "2001:db8:1::2/64")),
                                     (router, "r0", ("10.1.0.1/24", "2001:db8:1::1/64")),
                                     (router, "r1", ("10.2.0.1/24", "2001:db8:2::1/64")),
                                     (host, "b0", ("10.2.0.2/24", "2001:db8:2::2/64"))):
            for address in addresses:
                ip(f"address add {address} dev {name} {'nodad' if ':' in address else ''}", pid)
            ip(f"link set {name} up", pid)
        ip("route add default via 10.2.0.1", host)
        ip("-6 route add default via 2001:db8:2::1", host)
        ip("route add prohibit 10.3.0.0/24", router)
        for pid in (router, host):
            cls.inside(pid, "sysctl -qw net.ipv4.icmp_ratelimit=0 net.ipv6.icmp.ratelimit=0 net.ipv4.ip_forward=1 "
                            "net.ipv6.conf.all.forwarding=1")
        cls.inside(router, "sysctl -qw net.ipv4.neigh.r1.retrans_time_ms=50 net.ipv6.neigh.r1.retrans_time_ms=50")
        cls.inside(None, "sysctl -qw net.ipv4.neigh.a0.retrans_time_ms=50 net.ipv6.neigh.a0.retrans_time_ms=50")
        cls.router_mac = json.loads(cls.inside(router, "ip -j link show dev r0"))[0]["address"]
        cls.mac = json.loads(cls.inside(None, "ip -j link show dev a0"))[0]["address"]

    @classmethod
    def tearDownClass(cls):
        for child in cls.children:
            child.kill()
            child.wait()

    @classmethod
    def space(cls):
        """Another namespace: the number of a process in it."""
        # pylint: disable=consider-using-with
        child = subprocess.Popen(["unshare", "-n", "sh", "-c", "echo; exec cat"], stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE)
        child.stdout.readline()
        cls.children.append(child)
        return child.pid

    @classmethod
    def inside(cls, pid, command):
        words = ["sh", "-c", command] if pid is None else ["nsenter", "-t", str(pid), "-n", "sh", "-c", command]
        return subprocess.run(words, check=True, capture_output=True, text=True).stdout

    @classmethod
    def ip(cls, words, pid=None):
        return cls.inside(pid, "ip " + words)

    def setUp(self):
        super().setUp()
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        self.addCleanup(self.socket.close)
        self.socket.bind(("a0", 0))

    def heard(self, wanted, seconds=10):
        """What comes until a frame is wanted; nothing if none comes in time."""
        frames = []
        while select.select([self.socket], [], [], seconds)[0]:
            data, address = self.socket.recvfrom(65536)
            if address[2] == socket.PACKET_OUTGOING and data[:6] == bytes.fromhex(self.router_mac.replace(":", "")):
                continue
            frames.append(data)
            if wanted(data):
                return frames
        return []

    def answered(self, to, hop=None, source="10.1.0.2", count=TRIES, **more):
        """Sends a request again and again; what was sent and what Linux said to each."""
        a = Host(self.mac, source)
        b = Host(hop or self.router_mac, to)
        frames = []
        is_error = (lambda data: data[12:14] == b"\x08\x00" and data[23] == 1) if b.address.version == 4 else (
            lambda data: data[12:14] == b"\x86\xdd" and data[20] == 58 and data[54] < 128)
        for i in range(count):
            frame = a.send(b, 0x99, 7, **more)
            frames.append((i * TIMEOUT, frame))
            # The kernel sends a burst of five or six errors about routes, and then one each second, whatever the settings.
            for _ in range(10):
                self.socket.send(frame)
                if heard := self.heard(is_error, seconds=1.5):
                    break
            self.assertTrue(heard, "nothing came")
            frames += [(i * TIMEOUT + 1000 * (k + 1), data) for k, data in enumerate(heard)]
        return frames

    def test_port_unreachable(self):
        facts, text = self.first(self.answered("10.2.0.2"))
        self.assertEqual(facts["why"], "port unreachable")
        self.assertEqual(facts["requests"], TRIES)
        self.assertIn(f"ICMP port unreachable from 10.2.0.2, {TRIES} times: nothing takes RoCE v2 at 10.2.0.2", text)
        self.assertIn("that no filter there rejects UDP port 4791", text)

    def test_port_unreachable_in_a_vlan(self):
        tagged = [(time, data[:12] + b"\x81\x00\x00\x07" + data[12:]) for time, data in self.answered("10.2.0.2")]
        self.assertEqual(self.first(tagged)[0]["why"], "port unreachable")

    def test_port_unreachable_though_it_is_answered(self):
        # The kernel below a program that takes packets from the interface says so too.
        frames = self.answered("10.2.0.2", count=1)
        a, b = Host(self.mac, "10.1.0.2"), Host(self.router_mac, "10.2.0.2")
        frames += [(10_000, b.answer(a, 0x98, 7, 1))] + conversation(a, b, begin=MS)
        summary = self.assert_silent(frames)
        self.assertEqual(summary["verdict"], "nothing wrong seen")
        self.assertIn("though requests are answered", summary["statements"][1]["text"])

    def test_cnps_answer_nothing(self):
        frames = self.answered("10.2.0.2")
        a, b = Host(self.mac, "10.1.0.2"), Host(self.router_mac, "10.2.0.2")
        frames += tries(b, a, 0x21, 50, count=1)
        frames += [(i * MS, b.packet(a, bth(0x81, 0x21, 0), bytes(16))) for i in range(3)]
        self.assertEqual(self.first(frames)[0]["why"], "port unreachable")

    def test_packets_that_are_too_big(self):
        facts, text = self.first(self.answered("10.2.0.2", size=2048))
        self.assertEqual(facts["why"], "packet too big")
        self.assertIn("the MTU there 1500", text)
        self.assertIn("use a path MTU of 1024 bytes", text)

    def test_packets_that_are_too_big_over_ipv6(self):
        _, text = self.first(self.answered("2001:db8:2::2", source="2001:db8:1::2", size=2048))
        self.assertIn("ICMPv6 packet too big from 2001:db8:1::1", text)
        self.assertIn("the MTU there 1500", text)

    def test_smaller_packets_arrive(self):
        frames = self.answered("10.2.0.2", size=2048)
        a, b = Host(self.mac, "10.1.0.2"), Host(self.router_mac, "10.2.0.2")
        frames += conversation(a, b, count=100, gap=10 * MS)
        facts, text = self.first(frames, "path_mtu")
        self.assertEqual((facts["lost"], facts["smallest_lost"], facts["arrived"], facts["mtu"]), (TRIES, 2048, 100, 1500))
        self.assertIn("all 8 packets with more than 64 bytes of payload were lost", text)
        self.assertIn("use a path MTU of 1024 bytes", text)
        self.assertEqual(self.causes(self.summary(frames)), [])

    def test_a_network_without_a_route(self):
        self.assertEqual(self.first(self.answered("10.9.0.2", count=4))[0]["why"], "network unreachable")
        self.assertEqual(self.first(self.answered("2001:db8:9::2", source="2001:db8:1::2"))[0]["why"],
                         "network unreachable")

    def test_a_filter(self):
        facts, text = self.first(self.answered("10.3.0.2", count=4))
        self.assertEqual(facts["why"], "administratively prohibited")
        self.assertIn("let UDP port 4791 through", text)

    def test_a_host_that_the_router_does_not_find(self):
        self.assertEqual(self.first(self.answered("10.2.0.9", count=4))[0]["why"], "host unreachable")

    def test_a_hop_limit_that_is_too_small(self):
        self.assertEqual(self.first(self.answered("10.2.0.2", ttl=1))[0]["why"], "time exceeded")

    def test_questions_of_the_kernel_that_nobody_answers(self):
        for version, missing, own in ((4, "10.1.0.9", "10.1.0.2"), (6, "2001:db8:1::9", "2001:db8:1::2")):
            with socket.socket(socket.AF_INET if version == 4 else socket.AF_INET6, socket.SOCK_DGRAM) as asking:
                asking.sendto(b"?", (missing, 9))
                asked = []
                is_question = (lambda data: data[12:14] == b"\x08\x06") if version == 4 else (
                    lambda data: data[12:14] == b"\x86\xdd" and data[54] == 135)
                while sum(is_question(data) for data in asked) < 3:
                    asked += self.heard(is_question)
            frames = [(i * 50 * MS, data) for i, data in enumerate(asked)]
            frames += tries(Host(self.mac, own), Host("02:00:00:00:00:09", missing), 0x99, 7, begin=10 * MS)
            facts, text = self.first(frames)
            self.assertEqual(facts["why"], "no_neighbour")
            self.assertIn("ARP" if version == 4 else "neighbour discovery", text)

    def test_points_are_judged_alone(self):
        # Another point has the errors: that host asks with the same addresses, perhaps in another network.
        frames = self.answered("10.2.0.2")
        requests = [frame for frame in frames if frame[1][6:12] == bytes.fromhex(self.mac.replace(":", ""))]
        errors = [frame for frame in frames if frame not in requests]
        path = os.path.join(self.folder.name, "errors.pcap")
        write_pcap(path, [(START + time, data) for time, data in errors])
        self.assertEqual(self.causes(self.summary(requests, path)), [])

    def test_cut_frames(self):
        # tcpdump -s 96 leaves this: no checksum of ICMP can be checked.
        frames = self.answered("10.2.0.2")
        path = os.path.join(self.folder.name, "cut.pcap")
        write_pcap(path, [(START + time, data) for time, data in frames])
        cut = os.path.join(self.folder.name, "cut2.pcap")
        with open(path, "rb") as whole, open(cut, "wb") as short:
            short.write(whole.read(24))
            while header := whole.read(16):
                length = int.from_bytes(header[8:12], "little")
                data = whole.read(length)[:96]
                short.write(header[:8] + len(data).to_bytes(4, "little") + header[12:] + data)
        run = subprocess.run([self.tool, "summary", "--json", cut], check=True, capture_output=True, text=True)
        self.assertEqual(json.loads(run.stdout)["statements"][0]["facts"]["why"], "port unreachable")


if __name__ == "__main__":
    Summary.tool = sys.argv[1]
    if NAMESPACE not in os.environ:
        probe = subprocess.run(["unshare", "-rn", "true"], check=False, capture_output=True)
        if probe.returncode == 0:
            os.environ[NAMESPACE] = "1"
            os.execvp("unshare", ["unshare", "-rn", sys.executable, "-B", *sys.argv])
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
