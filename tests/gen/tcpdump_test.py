# SPDX-License-Identifier: BSD-2-Clause
"""What tcpdump sees on the wire between roce-gen's peer and client is what both say that they sent, and tshark can read it.

usage: tcpdump_test.py ROCE_GEN ROCE_ANALYZE [UNITTEST ARGUMENT...]

Makes the namespaces itself, in a user namespace of its own, so that it needs no privilege; prints why and exits with 77 where
that is forbidden.
"""

import collections
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

from live import ETHERTYPE, WAIT, Program, Wire, enter_namespaces, frame

FILTER = f"udp port 4791 or ether proto 0x8915 or ether proto {ETHERTYPE}"
# Payloads of queue pairs that tshark does not know go to these, which take some for theirs.
GUESSERS = ("smc", "smb_direct", "rpcordma", "nvme-rdma", "lnet", "iser", "infiniband.eoib", "infiniband_sdp", "fcoib")
SEVERITY_ERROR = 0x800000  # PI_ERROR of Wireshark
LONGEST = 1 << 16  # of a frame

OPERATIONS = [
    ("send", "-s", "1-16k", "-q", "3", "-n", "60"),
    ("write", "-s", "1,4097,65536", "-n", "60"),
    ("read", "-s", "1,4096,30000", "-q", "2", "-n", "60"),
    ("atomic", "-n", "100", "-q", "2"),
    ("flush", "-s", "3000", "-n", "50"),
    ("ud", "-s", "1,255,1024", "-n", "50", "-t", "4"),
]


class Tcpdump:
    """tcpdump on interface v of a namespace; it listens when this returns."""

    def __init__(self, wire, name, path):
        self.path = path
        self.tail, self.grown = b"", threading.Condition()
        self.process = subprocess.Popen(
            wire.inside(name, "setpriv", "--pdeathsig", "KILL", "tcpdump", "-i", "v", "-n", "-U", "--immediate-mode", "-B",
                        "65536", "-w", "-", FILTER), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.copying = threading.Thread(target=self.copy)
        self.copying.start()
        said = []
        for line in self.process.stderr:
            said.append(line)
            if b"listening on" in line:
                return
        raise AssertionError(f"tcpdump did not start: {said}")

    def copy(self):
        """Puts what it writes into the file, and says that there is more."""
        with open(self.path, "wb", buffering=0) as file, self.process.stdout as pipe:
            while piece := pipe.read1(1 << 20):
                file.write(piece)
                with self.grown:
                    self.tail = (self.tail + piece)[-LONGEST:]
                    self.grown.notify()

    def stop_after(self, last):
        """Ends it once the file ends with this frame; what it then says."""
        with self.grown:
            if not self.grown.wait_for(lambda: self.tail.endswith(last), WAIT):
                raise AssertionError("tcpdump does not see the last frame")
        self.process.send_signal(signal.SIGINT)
        said = self.process.stderr.read().decode()
        self.process.wait(WAIT)
        self.copying.join()
        return said

    def end(self):
        self.process.kill()
        self.process.wait(WAIT)
        self.copying.join()
        self.process.stderr.close()


class OnTheWire(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "wire.pcap")
        self.socket = os.path.join(folder.name, "control.sock")
        self.wire = Wire(9000)
        self.addCleanup(self.wire.close)

    def start(self, name, *arguments):
        program = Program(ROCE_GEN, self.wire, name, *arguments)
        self.addCleanup(program.end)
        return program

    def record(self, operations, ours, theirs):
        """Exit code and last line of each operation, with tcpdump beside them."""
        tcpdump = Tcpdump(self.wire, "b", self.path)
        self.addCleanup(tcpdump.end)
        self.start("b", "peer", "-i", "v", "--control", self.socket, *theirs)
        results = [self.start("a", *operation, "-i", "v", *ours, self.socket).result() for operation in operations]
        last = frame(0)
        with self.wire.packet_socket("a", "v", ETHERTYPE) as link:
            link.send(last)
        said = tcpdump.stop_after(last)
        self.assertIn("\n0 packets dropped by kernel", said)
        return results

    def fields(self, *names):
        """tshark's fields of each packet, without the last frame."""
        # RoCE leaves it to the ICRC (InfiniBand Architecture Specification, Annex A17).
        arguments = ["-o", "udp.ignore_ipv6_zero_checksum:TRUE", "--disable-heuristic", "eth_over_ib"]
        arguments += [argument for guesser in GUESSERS for argument in ("--disable-protocol", guesser)]
        arguments += [argument for name in names for argument in ("-e", name)]
        run = subprocess.run(["tshark", "-n", "-r", self.path, "-T", "fields", *arguments], capture_output=True, text=True,
                             check=True)
        return [line.split("\t") for line in run.stdout.splitlines()[:-1]]

    def decoded(self):
        """roce-analyze's view of each packet."""
        run = subprocess.run([ROCE_ANALYZE, "decode", "--json", self.path], capture_output=True, text=True, check=True)
        return [packet for packet in map(json.loads, run.stdout.splitlines()) if packet["kind"] == "roce"]

    def bad_icrcs(self):
        run = subprocess.run([ROCE_ANALYZE, "decode", "--only-bad-icrc", self.path], capture_output=True, text=True, check=True)
        return run.stdout.splitlines()

    def mac(self, name):
        return json.loads(self.wire.ip(name, "-j", "link", "show", "v"))[0]["address"]

    def sent(self, ours, theirs):
        """How many packets each side says it sent, while all operations were recorded."""
        results = self.record(OPERATIONS, ours, theirs)
        sent = {"a": 0, "b": 0}
        for (name, *_), (code, result) in zip(OPERATIONS, results):
            self.assertEqual((code, result["ok"] if isinstance(result, dict) else result), (0, True), name)
            sent["a"] += result["counters"]["sent_packets"]
            # The peer's are those of its whole life.
            sent["b"] = result["peer_counters"]["sent_packets"]
        self.assertGreater(min(sent.values()), 300)
        return sent

    def check(self, *, ours, theirs):
        sent = self.sent(ours, theirs)
        packets = self.fields("eth.src", "infiniband.bth.opcode", "_ws.malformed", "_ws.expert.severity")
        seen = collections.Counter(source for source, *_ in packets)
        self.assertEqual(seen, {self.mac("a"): sent["a"], self.mac("b"): sent["b"]})
        for number, (_, opcode, malformed, severities) in enumerate(packets, 1):
            self.assertTrue(opcode.isdigit() and not malformed, f"frame {number}: opcode {opcode}, malformed {malformed}")
            self.assertTrue(all(int(severity) < SEVERITY_ERROR for severity in severities.split(",") if severity),
                            f"frame {number}: {severities}")
        self.assertEqual(self.bad_icrcs(), [])

    def check_cut(self, *, ours, theirs):
        """As `check`, the kernel cutting super-frames before they reach the wire."""
        for name in "ab":
            self.wire.cut_when_sending(name, "v")
        self.check(ours=ours, theirs=theirs)

    def check_super_frames(self, *link):
        """Of super-frames that pass uncut each packet is found, and good."""
        sent = self.sent(link, link)
        self.assertLess(len(self.fields("frame.number")), sum(sent.values()) * 3 // 4)
        self.assertEqual(len(self.decoded()), sum(sent.values()))
        self.assertEqual(self.bad_icrcs(), [])

    def test_raw_super_frames(self):
        self.check_super_frames("--link", "raw")

    def test_udp_super_frames(self):
        self.check_super_frames("--link", "udp")

    def test_raw_packet_by_packet(self):
        self.check(ours=("--link", "raw", "--no-segmentation"), theirs=("--link", "raw", "--no-segmentation"))

    def test_udp_packet_by_packet(self):
        self.check(ours=("--link", "udp", "--no-segmentation"), theirs=("--link", "udp", "--no-segmentation"))

    def test_raw_ipv4(self):
        self.check_cut(ours=("--link", "raw"), theirs=("--link", "raw"))

    def test_raw_ipv6(self):
        self.check_cut(ours=("--link", "raw", "--address", "fd09::1"), theirs=("--link", "raw", "--address", "fd09::2"))

    def test_raw_roce_v1(self):
        self.check_cut(ours=("--link", "raw", "--v1"), theirs=("--link", "raw", "--v1"))

    def test_udp_ipv4(self):
        self.check_cut(ours=("--link", "udp"), theirs=("--link", "udp"))

    def test_udp_ipv6(self):
        self.check_cut(ours=("--link", "udp", "--address", "fd09::1"), theirs=("--link", "udp", "--address", "fd09::2"))

    def test_wrong_icrcs_are_seen(self):
        [(code, _)] = self.record([("write", "--bad-icrc", "-n", "3", "--timeout", "8")], (), ("--profile", "strict"))
        self.assertEqual(code, 1)
        packets = self.fields("eth.src")
        self.assertGreater(len(packets), 0)
        self.assertEqual(len(self.bad_icrcs()), len(packets))


if __name__ == "__main__":
    # As root tcpdump would want to become another user, of which there is none here.
    enter_namespaces("--map-user=1000", "--map-group=1000", "--keep-caps")
    ROCE_GEN, ROCE_ANALYZE = (os.path.abspath(path) for path in sys.argv[1:3])
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
