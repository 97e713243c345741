# SPDX-License-Identifier: BSD-2-Clause
"""roce-gen through stream links, with a simulation that has a time of its own at the other end, and with hostile ones.

usage: stream_test.py ROCE_GEN [UNITTEST ARGUMENT...]
"""

import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import unittest

from live import enter_namespaces
from stream_simulator import FRAME, NEXT, TIME, WAIT, WAKE, Stream, Wire, hello, listener, message

SECOND = 10**9
BTH = 14 + 20 + 8  # behind Ethernet, IPv4 and UDP


def is_roce(frame):
    return frame[12:14] == b"\x08\x00" and frame[23] == 17 and frame[36:38] == (4791).to_bytes(2, "big")


class StreamTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="roce-gen-")
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def start(self, *arguments, **options):
        process = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", ROCE_GEN, *arguments, "--json"], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, **options)

        def end():
            if process.poll() is None:
                process.kill()
            process.communicate()

        self.addCleanup(end)
        return process

    def ended(self, process):
        """Exit code, lines and what it said on standard error."""
        out, err = process.communicate(timeout=WAIT)
        return process.returncode, [json.loads(line) for line in out.splitlines()], err

    def connected(self, command, *arguments, **about):
        """A program that connected to us, and our stream to it."""
        path = self.path("sim.sock")
        with listener(path) as listening:
            process = self.start(command, "--link", "stream", "-i", path, *arguments)
            connection, _ = listening.accept()
        self.addCleanup(connection.close)
        return process, Stream(connection, **about)


class SimulatedTest(StreamTest):
    """A peer and a client, with nothing but a simulated wire between them."""

    def simulate(self, client, *target, peer=(), **wire):
        """Runs both, until the client is gone and the peer too if it ends by itself: the wire and their reports."""
        peer_process, stream = self.connected("peer", "--ip", "192.0.2.7/24", "--seed", "1", *peer)
        client_process, other = self.connected(*client, "--ip", "192.0.2.1/24", "--seed", "2", *target)
        wire = Wire([stream, other], **wire)
        wire.run(lambda: "--once" not in peer and not wire.ends[1].is_there)
        ended = self.ended(client_process)
        if "--once" not in peer:
            peer_process.send_signal(signal.SIGTERM)
        return wire, self.ended(peer_process), ended

    def rping(self, count=20, **wire):
        """What a whole rping through the wire leaves: the wire and both reports."""
        wire, served, ended = self.simulate(["rping", "-C", str(count), "-S", "4096"], "192.0.2.7", peer=("--once",), **wire)
        for code, lines, err in (served, ended):
            self.assertEqual((code, err), (0, ""))
            self.assertEqual((lines[-1]["event"], lines[-1]["ok"], lines[-1]["messages"]), ("rping", True, count))
        return wire, served[1][-1], ended[1][-1]


class Simulated(SimulatedTest):
    def test_is_the_same_each_time(self):
        first, second = self.rping(), self.rping()
        # Behind the BTH are addresses of this machine's memory.
        logs = [[(time, end, len(frame), frame[:BTH + 12] if is_roce(frame) else frame) for time, end, frame in wire.log]
                for wire, _, _ in (first, second)]
        self.assertGreater(len(logs[0]), 20 * 5)
        self.assertEqual(logs[0], logs[1])
        self.assertEqual(first[1:], second[1:])

    def test_takes_as_long_as_the_wire(self):
        # Each message of rping is four times across at least: two SENDs, and a READ or WRITE with its answer.
        for delay in (20000, SECOND // 100):
            _, _, client = self.rping(count=4, delay=delay)
            self.assertGreaterEqual(client["seconds"], 4 * 4 * delay / 1e9)
            self.assertLess(client["seconds"], 4 * 16 * delay / 1e9 + 0.001)

    def test_sends_again_what_the_wire_loses(self):
        lost = []

        def lose(number, frame):
            is_data = is_roce(frame) and len(frame) > 1000
            if is_data:
                lost.append(number)
            return is_data and len(lost) % 10 == 3

        _, served, client = self.rping(count=60, lose=lose)
        self.assertGreater(len(lost), 100)
        self.assertGreaterEqual(served["counters"].get("retransmitted_packets", 0) + client["counters"].get("retransmitted_packets", 0), 10)

    def test_exchanges_that_are_begun_from_outside(self):
        control = self.path("control.sock")
        for client in (["send", "-s", "1-16k", "-n", "30"], ["write", "-s", "64k", "-n", "10", "-q", "2"],
                       ["read", "-s", "30000", "-n", "10"], ["atomic", "-n", "20"], ["ud", "-s", "1024", "-n", "20", "-t", "4"]):
            with self.subTest(client=client):
                _, served, (code, lines, err) = self.simulate(client, control, peer=("--control", control))
                self.assertEqual((code, err), (0, ""))
                self.assertEqual((lines[-1]["ok"], lines[-1]["lost"]), (True, 0))
                self.assertEqual(served[0], 0)

    def test_records_with_the_time_of_the_simulation(self):
        path = self.path("sim.pcap")
        wire, _, _ = self.simulate(["rping", "-C", "1", "--pcap", path], "192.0.2.7", peer=("--once",))
        with open(path, "rb") as file:
            file.read(24)
            recorded = []
            while header := file.read(16):
                seconds, fraction, captured, _ = struct.unpack("<IIII", header)
                recorded.append((seconds * SECOND + fraction, file.read(captured)))
        sent = [(time, frame) for time, end, frame in wire.log if end == 1]
        self.assertEqual([record for record in recorded if record[1][6:12] == b"\2\0\xc0\0\2\1"], sent)


class WithoutTime(StreamTest):
    """Two programs at the ends of one stream, in real time."""

    def run_both(self, one, other, descriptors=((), ())):
        peer = self.start("peer", "--link", "stream", "-i", one, "--ip", "192.0.2.7/24", "--once", pass_fds=descriptors[0])
        if one.startswith("listen:"):
            self.assertEqual(json.loads(peer.stdout.readline())["event"], "listening")
        client = self.start("rping", "--link", "stream", "-i", other, "--ip", "192.0.2.1/24", "-C", "50", "192.0.2.7",
                            pass_fds=descriptors[1])
        code, lines, err = self.ended(client)
        self.assertEqual((code, err, lines[-1]["messages"]), (0, "", 50))
        return self.ended(peer)

    def test_one_listens_and_the_other_connects(self):
        path = self.path("wire.sock")
        code, lines, err = self.run_both("listen:" + path, path)
        self.assertEqual(lines[-1]["messages"], 50)
        # It would have waited for a client that repeats its last message.
        self.assertEqual(code, 1)
        self.assertIn("wire.sock closed it", err)
        self.assertFalse(os.path.exists(path))

    def test_sockets_that_are_open(self):
        one, other = socket.socketpair()
        with one, other:
            code, lines, err = self.run_both(f"fd:{one.fileno()}", f"fd:{other.fileno()}", ([one.fileno()], [other.fileno()]))
        self.assertEqual((code, lines[-1]["messages"], err), (0, 50, ""))


class Wrong(StreamTest):
    def assert_refused(self, pattern, *arguments):
        code, _, err = self.ended(self.start(*arguments))
        self.assertEqual(code, 2, err)
        self.assertRegex(err, pattern)
        self.assertEqual(err.count("\n"), 1, err)

    def test_what_cannot_be_opened(self):
        stream = ("rping", "192.0.2.7", "--link", "stream")
        ip = ("--ip", "192.0.2.1/24")
        self.assert_refused("no simulation listens on .*nobody.sock: No such file", *stream, *ip, "-i", self.path("nobody.sock"))
        self.assert_refused("give the endpoint one of its own", *stream, "-i", self.path("nobody.sock"))
        self.assert_refused("there is no open file of that number", *stream, *ip, "-i", "fd:77")
        self.assert_refused("there is no open file of that number", *stream, *ip, "-i", "fd:x")
        self.assert_refused("neither a connected stream socket nor two pipes", *stream, *ip, "-i", "fd:0")
        self.assert_refused("a socket has at most 107 bytes", *stream, *ip, "-i", self.path("x" * 120))
        self.assert_refused("a seed is for the stream link", "rping", "192.0.2.7", "-i", "lo", "--link", "udp", "--seed", "1")
        with listener(self.path("used.sock")):
            self.assert_refused("cannot listen on the socket of the stream link .*: Address already in use", *stream, *ip,
                                "-i", "listen:" + self.path("used.sock"))

    def test_ends_that_speak_something_else(self):
        for first, pattern in ((hello(version=2), "speaks version 2 of the stream link's format, this is 1"),
                               (b"HTTP/1.1 200 OK", "sent a message of 1213486160 bytes, 1 to 9019 are possible"),
                               (message(FRAME, bytes(60)), "did not begin with a hello"),
                               (hello(longest=100), "takes frames of up to 100 bytes, 512 are needed"),
                               (hello()[:5], "closed it in the middle of a message, of which 5 bytes came")):
            with self.subTest(pattern=pattern):
                path = self.path("sim.sock")
                with listener(path) as listening:
                    process = self.start("peer", "--link", "stream", "-i", path, "--ip", "192.0.2.7/24")
                    connection, _ = listening.accept()
                with connection:
                    connection.sendall(first)
                    connection.shutdown(socket.SHUT_WR)
                    code, _, err = self.ended(process)
                self.assertEqual(code, 2, err)
                self.assertIn(pattern, err)
                self.assertEqual(err.count("\n"), 1, err)

    def test_ends_that_break_off(self):
        now = message(TIME, bytes(8))
        for last, pattern in ((b"", "closed it$"),
                              (message(FRAME, bytes(60))[:40], "closed it in the middle of a message, of which 40 bytes came$"),
                              (message(FRAME, bytes(9019)), "sent a message of 9020 bytes, 1 to 9019 are possible"),
                              (message(FRAME, bytes(13)), '"frame" with 13 bytes behind the type, 14 to 9018 are possible'),
                              (message(9), "sent a message of type 9"),
                              (message(TIME, bytes(7)), '"time" with 7 bytes'),
                              (message(NEXT, bytes(8)), "not for it to send"), (message(WAKE), "not for it to send"),
                              (message(6, "no, no".encode()), "says: no, no$")):
            with self.subTest(pattern=pattern):
                process, stream = self.connected("peer", "--ip", "192.0.2.7/24")
                stream.send(now, last)
                if not last or "middle" in pattern:
                    stream.connection.shutdown(socket.SHUT_WR)
                code, _, err = self.ended(process)
                self.assertEqual(code, 1, err)
                self.assertRegex(err.strip(), "the other end of the stream link .*sim.sock .*" + pattern)
                self.assertEqual(err.count("\n"), 1, err)

    def test_time_that_goes_back(self):
        process, stream = self.connected("peer", "--ip", "192.0.2.7/24")
        stream.send(message(TIME, struct.pack(">Q", 1000)), message(TIME, struct.pack(">Q", 999)))
        code, _, err = self.ended(process)
        self.assertEqual(code, 1)
        self.assertIn("sent the time 999 ns after 1000 ns", err)

    def test_an_address_that_another_end_has(self):
        process, stream = self.connected("peer", "--ip", "192.0.2.7/24", flags=0)
        while True:
            kind, frame = stream.read()
            if kind == FRAME and frame[12:14] == b"\x08\x06":
                break
        other = b"\2\0\0\0\0\x63"
        stream.send(message(FRAME, b"\xff" * 6 + other + frame[12:20] + b"\0\2" + other + frame[38:42] + frame[22:28] + bytes(4)))
        code, _, err = self.ended(process)
        self.assertEqual(code, 2)
        self.assertIn("the address 192.0.2.7 is in use by another host, 02:00:00:00:00:63", err)

    def test_a_signal_while_time_stands_still(self):
        process, stream = self.connected("peer", "--ip", "192.0.2.7/24", "--control", self.path("control.sock"))
        wire = Wire([stream, stream])
        while wire.ends[0].next < 3 * SECOND:
            wire.now = wire.ends[0].next
            wire.ends[0].ask(wire.now, [])
        self.assertEqual(json.loads(process.stdout.readline())["event"], "ready")
        process.send_signal(signal.SIGTERM)
        self.assertEqual(self.ended(process)[0], 0)


if __name__ == "__main__":
    enter_namespaces()
    ROCE_GEN = os.path.abspath(sys.argv.pop(1))
    unittest.main()
