# SPDX-License-Identifier: BSD-2-Clause
"""roce-gen end to end: peer and client in two network namespaces joined by a veth pair.

usage: exchange_test.py ROCE_GEN ROCE_ANALYZE [UNITTEST ARGUMENT...]

Makes the namespaces itself, in a user namespace of its own, so that it needs no privilege; prints why and exits with 77 where
that is forbidden.
"""

import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import unittest

from live import WAIT, Wire, enter_namespaces


class Peer:
    """roce-gen peer in namespace b."""

    def __init__(self, test, *arguments):
        self.socket = os.path.join(test.folder, "control.sock")
        self.process = subprocess.Popen(
            test.wire.inside("b", ROCE_GEN, "peer", "-i", "v", "--json", "--control", self.socket, *arguments),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        if not line:
            raise AssertionError(f"peer did not start: {self.process.communicate()[1]}")
        self.ready = json.loads(line)

    def stop(self, number=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(number)
        out, err = self.process.communicate(timeout=WAIT)
        return self.process.returncode, [json.loads(line) for line in out.splitlines()], err


class LiveTest(unittest.TestCase):
    mtu = 9000

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="roce-gen-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.wire = Wire(self.mtu)
        self.addCleanup(self.wire.close)

    @contextlib.contextmanager
    def peer(self, *arguments):
        peer = Peer(self, *arguments)
        try:
            yield peer
        finally:
            peer.stop(signal.SIGKILL)

    def client(self, *arguments, timeout=WAIT):
        done = subprocess.run(self.wire.inside("a", ROCE_GEN, *arguments), capture_output=True, text=True, check=False,
                              timeout=timeout)
        return done.returncode, done.stdout, done.stderr

    def exchange(self, peer, *arguments):
        code, out, err = self.client(arguments[0], "-i", "v", "--json", *arguments[1:], peer.socket)
        self.assertEqual((code, err), (0, ""))
        return json.loads(out.splitlines()[-1])


OPERATIONS = [
    ("send", "-s", "1-16k", "-q", "3", "-n", "60"),
    ("write", "-s", "1,4097,65536", "-n", "60"),
    ("read", "-s", "1,4096,30000", "-q", "2", "-n", "60"),
    ("atomic", "-n", "100", "-q", "2"),
    ("atomic", "--operation", "compare_swap", "-n", "100"),
    ("flush", "-s", "3000", "-n", "50"),
    ("ud", "-s", "1,255,1024", "-n", "50", "-t", "4"),
]


class Congestion(LiveTest):
    def test_marks_slow_a_queue_pair_down(self):
        """--tos 3: every packet is marked CE already, so the peer answers with CNPs."""
        with self.peer("--link", "raw") as peer:
            for tos, limited in (("2", False), ("3", True)):
                result = self.exchange(peer, "write", "-s", "65536", "-n", "20", "--link", "raw", "--tos", tos, "--congestion",
                                       "dcqcn,g=0.01")
                self.assertEqual(result["counters"]["cnps_handled"] > 0, limited)
                (state,) = result["congestion"]
                self.assertEqual((state["limited"], state["alpha"] > 0), (limited, limited))
                self.assertLessEqual(state["rate_bps"], state["target_bps"])
            code, out, err = self.client("write", "-i", "v", "--congestion", "dcqcn,g=2", peer.socket)
            self.assertEqual((code, out), (2, ""))
            self.assertIn("congestion: dcqcn: g: expected a number above 0 and up to 1, found '2'", err)


class OperationsTest(LiveTest):
    """Both sides' memories are compared by the tool itself; SpoiledIcrc and WrongData show that it notices."""

    def run_all(self, *, ours, theirs):
        with self.peer(*theirs) as peer:
            for operation in OPERATIONS:
                with self.subTest(operation=operation):
                    result = self.exchange(peer, *operation, *ours)
                    qps = int(operation[operation.index("-q") + 1]) if "-q" in operation else 1
                    self.assertEqual(result["messages"], int(operation[operation.index("-n") + 1]) * qps)
                    self.assertTrue(result["ok"])
                    self.assertEqual(result["lost"], 0)
            self.assertEqual(peer.stop()[0], 0)


class EveryOperation(OperationsTest):
    def test_raw_ipv4(self):
        self.run_all(ours=("--link", "raw"), theirs=("--link", "raw"))

    def test_raw_ipv6(self):
        self.run_all(ours=("--link", "raw", "--address", "fd09::1"), theirs=("--link", "raw", "--address", "fd09::2"))

    def test_raw_roce_v1(self):
        self.run_all(ours=("--link", "raw", "--v1"), theirs=("--link", "raw", "--v1"))

    def test_udp_ipv4(self):
        self.run_all(ours=("--link", "udp"), theirs=("--link", "udp"))

    def test_udp_ipv6(self):
        self.run_all(ours=("--link", "udp", "--address", "fd09::1"), theirs=("--link", "udp", "--address", "fd09::2"))

    def test_raw_rdma_cm(self):
        self.run_all(ours=("--link", "raw", "--cm", "7999"), theirs=("--link", "raw"))

    def test_udp_rdma_cm_ipv6(self):
        self.run_all(ours=("--link", "udp", "--address", "fd09::1", "--cm", "7999"),
                     theirs=("--link", "udp", "--address", "fd09::2"))

    def test_raw_packet_by_packet(self):
        self.run_all(ours=("--link", "raw", "--no-segmentation"), theirs=("--link", "raw", "--no-segmentation"))

    def test_udp_packet_by_packet(self):
        self.run_all(ours=("--link", "udp", "--no-segmentation"), theirs=("--link", "udp", "--no-segmentation"))

    def test_super_frames_one_way(self):
        self.run_all(ours=("--link", "raw"), theirs=("--link", "udp", "--no-segmentation"))

    def test_raw_with_udp(self):
        self.run_all(ours=("--link", "raw"), theirs=("--link", "udp"))


class SmallMtu(EveryOperation):
    mtu = 1500


class CutBeforeTheWire(EveryOperation):
    """The kernel cuts super-frames before they reach the other side."""

    def setUp(self):
        super().setUp()
        for name in "ab":
            self.wire.cut_when_sending(name, "v")


class Segmentation(LiveTest):
    def notes(self, peer, *arguments):
        """What the client says of segmentation, while its exchange goes well."""
        code, out, err = self.client("write", "-i", "v", "--json", "-s", "64k", "-n", "20", *arguments, peer.socket)
        self.assertEqual((code, err), (0, ""))
        return [line["text"] for line in map(json.loads, out.splitlines()) if line["event"] == "segmentation"]

    def test_is_told_when_asked(self):
        with self.peer() as peer:
            self.assertEqual(self.notes(peer), [])
            self.assertRegex(self.notes(peer, "--verbose")[0], "cuts super-frames of up to 64 packets")
            self.assertRegex(self.notes(peer, "--verbose", "--link", "udp")[0], "cuts super-frames of up to 64 packets")
            for link in ("raw", "udp"):
                self.assertEqual(self.notes(peer, "--verbose", "--no-segmentation", "--link", link),
                                 ["packets go out one by one: segmentation is switched off"])
        with self.peer("--v1") as peer:
            self.assertEqual(self.notes(peer, "--verbose", "--v1"), ["packets go out one by one: the kernel cuts no RoCE v1"])

    def test_paces_each_packet(self):
        with self.peer() as peer:
            for link in ("raw", "udp"):
                result = self.exchange(peer, "write", "-s", "64k", "-n", "10", "--rate", "1000pps", "--link", link)
                # 16 packets a message, the first of all at once.
                self.assertGreater(result["seconds"], 0.155)


class Pingpong(LiveTest):
    def test_every_kind(self):
        for kind in (("rc",), ("uc",), ("srq",), ("ud", "-s", "1024")):
            with self.subTest(kind=kind), self.peer("--once", "-k", *kind) as peer:
                code, out, err = self.client("pingpong", "-i", "v", "--json", "-n", "200", "-k", *kind, "10.9.0.2")
                self.assertEqual((code, err), (0, ""))
                self.assertGreaterEqual(json.loads(out.splitlines()[-1])["messages_received"], 200)
                del peer


class Wrong(LiveTest):
    """What must fail does, with a sentence and the right exit code."""

    def assert_refused(self, code, pattern, *arguments):
        got, _, err = self.client(*arguments)
        self.assertEqual(got, code, err)
        self.assertRegex(err, pattern)
        self.assertEqual(err.count("\n"), 1, err)

    def test_spoiled_icrc_is_never_accepted(self):
        with self.peer("--profile", "strict") as peer:
            self.assert_refused(1, "retry counter exceeded", "write", "-i", "v", "--bad-icrc", "--timeout", "8", "--json",
                                "-n", "3", peer.socket)

    def test_environment(self):
        self.assert_refused(2, "no network interface 'nope'.*v", "write", "-i", "nope", "/x.sock")
        self.assert_refused(2, "1.2.3.4 is not an address of interface v", "write", "-i", "v", "--address", "1.2.3.4", "/x.sock")
        self.assert_refused(2, "has GIDs 0 to .*, and no 99", "write", "-i", "v", "--gid-index", "99", "/x.sock")
        self.assert_refused(2, "no peer listens", "write", "-i", "v", "/x.sock")
        self.assert_refused(2, "token", "write", "-i", "v", "10.9.0.2:9")
        self.assert_refused(2, "RoCE v2 only", "write", "-i", "v", "--link", "udp", "--v1", "/x.sock")
        self.wire.ip("a", "link", "set", "v", "mtu", "1500")
        with self.peer() as peer:
            self.assert_refused(2, "path MTU of 4096 does not fit", "write", "-i", "v", "-m", "4096", "--json", peer.socket)
        self.wire.ip("a", "link", "set", "v", "down")
        self.assert_refused(2, "is down", "write", "-i", "v", "/x.sock")

    def test_gid_index(self):
        table = json.loads(subprocess.run(self.wire.inside("a", ROCE_GEN, "gids", "-i", "v", "--json"), check=True,
                                          capture_output=True, text=True).stdout)
        rows = {row["type"]: str(row["index"]) for row in table if row["ipv4"]}
        self.assertEqual(len(rows), 2)
        for version, index in rows.items():
            with self.peer("--link", "raw", *(["--v1"] if version == "v1" else [])) as peer:
                self.exchange(peer, "write", "-n", "5", "--link", "raw", "--gid-index", index)
        self.assert_refused(2, "RoCE v2 only", "write", "-i", "v", "--link", "udp", "--gid-index", rows["v1"], "/x.sock")

    def test_config_file(self):
        path = os.path.join(self.folder, "config")
        with open(path, "w") as file:
            file.write("[write]\ninterface = v\niters = 7\nsize = 64\n")
        with self.peer() as peer:
            done = subprocess.run(self.wire.inside("a", ROCE_GEN, "--config", path, "write", "--json", peer.socket), check=False,
                                  capture_output=True, text=True, timeout=WAIT)
            self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
            self.assertEqual(json.loads(done.stdout.splitlines()[-1])["messages"], 7)
        code, _, err = self.client("--config", "/nowhere", "write", "-i", "v", "/x.sock")
        self.assertEqual(code, 2)
        self.assertRegex(err, "/nowhere was not readable")

    def test_token(self):
        token, other = (os.path.join(self.folder, name) for name in ("token", "other"))
        for path, text in ((token, "right\n"), (other, "wrong\n")):
            with open(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600), "w") as file:
                file.write(text)
        with self.peer("--control-port", "7000", "--token-file", token):
            code, out, err = self.client("write", "-i", "v", "--json", "-n", "5", "--token-file", token, "10.9.0.2:7000")
            self.assertEqual((code, err), (0, ""), out)
            self.assert_refused(2, "the token is wrong", "write", "-i", "v", "--token-file", other, "10.9.0.2:7000")
        os.chmod(token, 0o644)
        self.assert_refused(2, "chmod 600", "write", "-i", "v", "--token-file", token, "10.9.0.2:7000")

    def test_garbage_on_the_control_socket(self):
        with self.peer() as peer:
            self.assertEqual(os.stat(peer.socket).st_mode & 0o777, 0o600)
            for rubbish in (b"\0\xff" * 5000 + b"\n", b"[" * 100000 + b"\n", b"{}\n", b'{"op":"read_memory"}\n', b"x" * (5 << 20)):
                with socket.socket(socket.AF_UNIX) as client:
                    client.connect(peer.socket)
                    client.settimeout(WAIT)
                    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                        client.sendall(rubbish)
                        client.shutdown(socket.SHUT_WR)
                        while client.recv(65536):
                            pass
            self.exchange(peer, "write", "-n", "5")

    def test_garbage_on_the_pingpong_port(self):
        with self.peer() as peer:
            for rubbish in (b"GET / HTTP/1.1\r\n\r\n" * 4, b"", b"\0" * 52):
                script = f"import socket; s = socket.create_connection(('10.9.0.2', 18515)); s.sendall({rubbish!r}); s.shutdown(1); s.recv(100)"
                subprocess.run(self.wire.inside("a", sys.executable, "-c", script), check=False, timeout=WAIT)
            self.exchange(peer, "write", "-n", "5")
            _, events, _ = peer.stop()
            self.assertEqual([event["ok"] for event in events if event["event"] == "pingpong"], [False] * 3)


class Killed(LiveTest):
    def test_a_killed_peer_hinders_nobody(self):
        for _ in range(2):
            with self.peer() as peer:
                self.exchange(peer, "write", "-n", "5")
                running = subprocess.Popen(self.wire.inside("a", ROCE_GEN, "write", "-i", "v", "--json", "-D", "60", "--timeout",
                                                            "10", peer.socket), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                           text=True)
                self.assertIn("ready", running.stdout.readline())
                peer.stop(signal.SIGKILL)
                _, err = running.communicate(timeout=WAIT)
                self.assertEqual(running.returncode, 1)
                self.assertRegex(err, "retry counter exceeded|closed the control connection|peer is gone")

    def test_a_killed_client_hinders_nobody(self):
        with self.peer() as peer:
            running = subprocess.Popen(self.wire.inside("a", ROCE_GEN, "write", "-i", "v", "--json", "-D", "60", peer.socket),
                                       stdout=subprocess.PIPE)
            self.assertIn(b"ready", running.stdout.readline())
            running.kill()
            running.communicate()
            self.exchange(peer, "write", "-n", "5")

    def test_ctrl_c_ends_with_totals(self):
        with self.peer() as peer:
            running = subprocess.Popen(self.wire.inside("a", ROCE_GEN, "write", "-i", "v", "--json", "-D", "60", peer.socket),
                                       stdout=subprocess.PIPE, text=True)
            self.assertIn("ready", running.stdout.readline())
            running.send_signal(signal.SIGINT)
            out, _ = running.communicate(timeout=WAIT)
            self.assertFalse(json.loads(out.splitlines()[-1])["ok"])
            self.assertEqual(peer.stop(signal.SIGINT)[0], 0)


class RecordedTest(LiveTest):
    """What the capture file has is what went over the wire: as many frames as the counters say, each with a good ICRC."""

    def check(self, *link):
        path = os.path.join(self.folder, "exchange.pcapng")
        with self.peer(*link) as peer:
            result = self.exchange(peer, "write", "-s", "5000", "-n", "20", "--pcap", path, *link)
        counters = result["counters"]
        decoded = subprocess.run([ROCE_ANALYZE, "decode", "--json", path], capture_output=True, text=True, check=True)
        packets = [json.loads(line) for line in decoded.stdout.splitlines()]
        self.assertEqual(len(packets), counters["sent_packets"] + counters["received_packets"])
        bad = subprocess.run([ROCE_ANALYZE, "decode", "--only-bad-icrc", path], capture_output=True, text=True, check=False)
        self.assertEqual(bad.stdout, "")
        fields = subprocess.run(["tshark", "-r", path, "-T", "fields", "-e", "infiniband.bth.opcode", "-e", "_ws.malformed"],
                                capture_output=True, text=True, check=True).stdout.splitlines()
        self.assertEqual(len(fields), len(packets))
        for line in fields:
            self.assertTrue(re.fullmatch(r"\d+\t", line), line)


class Recorded(RecordedTest):
    def test_raw(self):
        self.check("--link", "raw")

    def test_udp(self):
        self.check("--link", "udp")


if __name__ == "__main__":
    enter_namespaces()
    ROCE_GEN, ROCE_ANALYZE = (os.path.abspath(path) for path in sys.argv[1:3])
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
