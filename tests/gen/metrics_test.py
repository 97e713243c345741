# SPDX-License-Identifier: BSD-2-Clause
"""The counters that roce-gen serves by HTTP and writes at its end: read by an HTTP client while traffic runs, parsed by
Prometheus' own client library, and equal to the reports.

usage: metrics_test.py ROCE_GEN GUIDE GUIDE [UNITTEST ARGUMENT...]

The guides are docs/endpoint.md and docs/roce-gen.md, whose tables the metrics are compared with.

Makes network namespaces itself, in a user namespace of its own, so that it needs no privilege; prints why and exits with 77
where that is forbidden, or where there is no prometheus_client.
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
import urllib.error
import urllib.request

from live import SKIPPED, WAIT, Program, RelayedWire, Wire, enter_namespaces, enter_network

try:
    from prometheus_client import parser as text_parser
    from prometheus_client.openmetrics import parser as openmetrics_parser
except ImportError as missing:
    print(f"no prometheus_client: {missing}")
    sys.exit(1 if os.environ.get("CI") else SKIPPED)

OPENMETRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"
TEXT = "text/plain; version=0.0.4; charset=utf-8"
ETHERTYPE_IPV4 = 0x0800


def values_of(families):
    """Samples by name and labels, as a metrics file has them too."""
    return {(sample.name, tuple(sorted(sample.labels.items()))): sample.value for family in families
            for sample in family.samples}


class MetricsTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="roce-gen-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.network = self.make_network()
        self.addCleanup(self.network.close)

    def make_network(self):
        return Wire(9000)

    def path(self, name):
        return os.path.join(self.folder, name)

    def start(self, name, *arguments):
        program = Program(ROCE_GEN, self.network, name, *arguments)
        self.addCleanup(program.end)
        return program

    def url(self, program):
        return next(note["text"] for note in program.notes if note["event"] == "metrics").removeprefix("metrics at ")

    @contextlib.contextmanager
    def inside(self, name):
        """This program's new sockets are in a namespace."""
        own = os.open("/proc/self/ns/net", os.O_RDONLY)
        there = os.open(f"/proc/{self.network.holders[name].pid}/ns/net", os.O_RDONLY)
        try:
            enter_network(there)
            yield
        finally:
            enter_network(own)
            os.close(own)
            os.close(there)

    def get(self, name, url, accept=None, method="GET"):
        request = urllib.request.Request(url, method=method)
        if accept is not None:
            request.add_header("Accept", accept)
        with self.inside(name), urllib.request.urlopen(request, timeout=WAIT) as answer:
            return answer.headers["Content-Type"], answer.read().decode()

    def families(self, name, program):
        kind, text = self.get(name, self.url(program))
        self.assertEqual(kind, OPENMETRICS)
        return list(openmetrics_parser.text_string_to_metric_families(text))

    def values(self, name, program):
        return values_of(self.families(name, program))

    def file(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            samples = json.load(file)["samples"]
        return {(sample["name"], tuple(sorted(sample["labels"].items()))): sample["value"] for sample in samples}

    def check_documented(self, families):
        """Each metric is in the guides, with the same words."""
        rows = {}
        for path in GUIDES:
            with open(path, encoding="utf-8") as file:
                for line in file:
                    cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
                    if line.startswith("| `") and len(cells) in (2, 4):
                        rows[cells[0].strip("`")] = cells[1:]
        for family in families:
            with self.subTest(name=family.name):
                name = family.name.removeprefix("roce_")
                counts, *vendors = rows[name] if name in rows else rows[family.name]
                expected = counts + "".join(f" {vendor}: {cell.strip('`')}." for vendor, cell in zip(("rxe", "mlx5"), vendors)
                                            if cell)
                self.assertEqual(family.documentation, expected)
                self.assertEqual(family.unit, "bytes" if name.endswith("_bytes") else "")

    def refused(self, name, *arguments):
        """What a program that cannot start says."""
        done = subprocess.run(self.network.inside(name, ROCE_GEN, *arguments), capture_output=True, text=True, timeout=WAIT,
                              check=False)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        return done.stderr


def of_device(name):
    return f"roce_{name}_total", (("device", "v"),)


class Endpoints(MetricsTest):
    def peer(self, *arguments):
        return self.start("b", "peer", "-i", "v", "--control", self.path("control.sock"), "--metrics", "0", *arguments)

    def test_while_traffic_runs(self):
        peer = self.peer()
        client = self.start("a", "write", "-i", "v", "-D", "1000", "--metrics", "0", self.path("control.sock"))
        ends = [("b", peer, "received_packets"), ("a", client, "messages")]
        before = [self.values(name, program) for name, program, _ in ends]
        growing = True
        while growing:
            after = [self.values(name, program) for name, program, _ in ends]
            for earlier, later in zip(before, after):
                self.assertTrue(all(later[key] >= value for key, value in earlier.items()))
            growing = any(later[of_device(end[2])] == earlier[of_device(end[2])] for end, earlier, later in zip(ends, before, after))
        # It was stopped.
        self.assertEqual(client.result(signal.SIGINT)[0], 1)

    def test_equals_the_reports(self):
        peer = self.peer("--metrics-file", self.path("peer.json"))
        client = self.start("a", "write", "-i", "v", "-n", "500", "--metrics-file", self.path("client.json"), self.path("control.sock"))
        code, report = client.result()
        self.assertEqual((code, report["ok"]), (0, True))
        last = self.values("b", peer)
        self.assertEqual({name: last[of_device(name)] for name in report["peer_counters"]}, report["peer_counters"])
        self.assertEqual(peer.result(signal.SIGTERM)[0], 0)
        self.assertEqual(self.file("peer.json"), last)
        ours = self.file("client.json")
        self.assertEqual((ours[of_device("messages")], ours[of_device("message_bytes")]), (report["messages"], report["bytes"]))
        self.assertEqual({name: ours[of_device(name)] for name in report["counters"]}, report["counters"])
        self.assertGreaterEqual(ours[of_device("link_sent_bytes")], report["bytes"])

    def test_reaches_loopback_only_unless_told(self):
        self.assertRegex(self.url(self.peer()), r"^http://127\.0\.0\.1:\d+/metrics$")
        for number, host in enumerate(("10.9.0.2", "fd09::2")):
            place = f"[{host}]" if ":" in host else host
            peer = self.start("b", "peer", "-i", "v", "--address", host, "--control", self.path(f"{number}.sock"),
                              "-p", str(18600 + number), "--metrics", f"{place}:0")
            self.assertRegex(self.url(peer), "^http://" + re.escape(place) + r":\d+/metrics$")
            self.assertEqual(self.get("a", self.url(peer))[0], OPENMETRICS)

    def test_both_formats(self):
        url = self.url(self.peer())
        for accept, expected in ((None, OPENMETRICS), ("*/*", OPENMETRICS), ("text/html, */*;q=0.1", OPENMETRICS),
                                 ("text/plain", TEXT), ("text/plain;version=0.0.4;q=1,*/*;q=0.1", TEXT),
                                 ("application/openmetrics-text; version=1.0.0; q=0.8, text/plain;q=0.5", OPENMETRICS),
                                 ("application/openmetrics-text;q=0.3,text/plain;q=0.4", TEXT)):
            with self.subTest(accept=accept):
                kind, text = self.get("b", url, accept)
                self.assertEqual(kind, expected)
                if kind == TEXT:
                    families = list(text_parser.text_string_to_metric_families(text))
                else:
                    families = list(openmetrics_parser.text_string_to_metric_families(text))
                self.assertEqual(values_of(families)[of_device("sent_packets")], 0)
        self.assertEqual(self.get("b", url, method="HEAD"), (OPENMETRICS, ""))

    def test_other_requests(self):
        url = self.url(self.peer())
        for address, method, code, says in ((url + "2", "GET", 404, "there is only /metrics"),
                                            (url, "DELETE", 405, "only GET and HEAD"), (url, "POST", 405, "only GET and HEAD")):
            with self.assertRaises(urllib.error.HTTPError) as raised:
                self.get("b", address, method=method)
            self.assertEqual(raised.exception.code, code)
            self.assertIn(says, raised.exception.read().decode())
            raised.exception.close()

    def test_a_client_that_does_not_end_its_request_holds_nothing_up(self):
        peer = self.peer()
        host, port = re.match(r"http://(.*):(\d+)/", self.url(peer)).groups()
        with self.inside("b"):
            slow = [socket.create_connection((host, int(port)), WAIT) for _ in range(10)]
        for connection in slow:
            self.addCleanup(connection.close)
            connection.sendall(b"GET /metrics HTTP/1.1\r\nHost: ")
        client = self.start("a", "write", "-i", "v", "-n", "200", self.path("control.sock"))
        self.assertEqual(client.result()[0], 0)
        self.assertGreater(self.values("b", peer)[of_device("write_requests")], 0)

    def test_pfc_frames_are_in_the_reports(self):
        peer = self.peer("--link", "raw", "--pfc", "0:4090:4095")
        client = self.start("a", "send", "-i", "v", "--link", "raw", "-n", "20", self.path("control.sock"))
        code, report = client.result()
        self.assertEqual(code, 0)
        self.assertGreater(report["peer_counters"]["pfc_sent"], 0)
        self.assertGreaterEqual(self.values("b", peer)[of_device("pfc_sent")], report["peer_counters"]["pfc_sent"])

    def test_is_documented(self):
        self.check_documented(self.families("b", self.peer()))


class Frames(MetricsTest):
    def test_while_frames_go(self):
        sender = self.start("a", "craft", "-i", "v", "--to", "10.9.0.2", "-n", "0", "--rate", "2kpps", "--metrics", "0",
                            "--metrics-file", self.path("craft.json"), "payload_length=100")
        self.check_documented(self.families("a", sender))
        first = self.values("a", sender)[of_device("link_sent_frames")]
        while self.values("a", sender)[of_device("link_sent_frames")] == first:
            pass
        code, report = sender.result(signal.SIGINT)
        self.assertEqual(code, 0)
        file = self.file("craft.json")
        self.assertEqual((file[of_device("link_sent_frames")], file[of_device("link_sent_bytes")]),
                         (report["frames"], report["bytes"]))

    def test_needs_something_to_tell_of(self):
        for where in (("--dry-run",), ("-w", self.path("x.pcap"))):
            self.assertIn("tell of what is sent: add -i", self.refused("a", "craft", *where, "--metrics", "0"))
            self.assertIn("tell of what is sent: add -i", self.refused("a", "pfc", "-p", "1", *where, "--metrics-file", "x"))


class Relayed(MetricsTest):
    def make_network(self):
        return RelayedWire()

    def test_while_frames_pass(self):
        self.network.ip("m", "link", "set", "lo", "up")
        relay = self.start("m", "relay", "-i", "ra", "-o", "rb", "-e", "drop:probability=0.05,name=lost ones", "--metrics", "0",
                           "--metrics-file", self.path("relay.json"))
        peer = self.start("b", "peer", "-i", "vb", "--control", self.path("control.sock"))
        client = self.start("a", "write", "-i", "va", "-s", "64k", "-n", "100", self.path("control.sock"))
        while client.process.poll() is None:
            self.values("m", relay)
        self.assertEqual(client.result()[0], 0)
        peer.result(signal.SIGTERM)
        self.check_documented(self.families("m", relay))
        last = self.values("m", relay)
        code, totals = relay.result(signal.SIGTERM)
        self.assertEqual(code, 0)
        file = self.file("relay.json")
        self.assertEqual(set(file), set(last))
        for way, labels in (("a_to_b", (("from", "ra"), ("to", "rb"))), ("b_to_a", (("from", "rb"), ("to", "ra")))):
            metrics = {"received": "received_frames_total", "received_bytes": "received_bytes_total",
                       "passed": "passed_frames_total", "passed_bytes": "passed_bytes_total", "dropped": "dropped_frames_total",
                       "duplicates": "duplicated_frames_total", "held": "held_frames", "missed": "missed_frames_total",
                       "unsendable": "unsendable_frames_total", "refused": "refused_frames_total"}
            self.assertEqual({name: file["roce_relay_" + metric, labels] for name, metric in metrics.items()},
                             {name: totals[way][name] for name in metrics})
            rule = (("action", "drop"), *labels[:1], ("name", "lost ones"), ("rule", "1"), *labels[1:])
            self.assertEqual(file["roce_relay_rule_actions_total", rule], totals["rules"][0][way])
        self.assertGreater(totals["rules"][0]["a_to_b"], 0)


class Wrong(MetricsTest):
    COMMANDS = (("write", "-i", "v", "/x.sock"), ("peer", "-i", "v", "--ip", "10.9.0.77/24"),
                ("craft", "-i", "v", "--to", "10.9.0.2", "-n", "5"), ("rping", "-i", "v", "10.9.0.2"))

    def test_what_cannot_be_served_is_said_before_anything_is_sent(self):
        seen = self.network.packet_socket("b", "v", ETHERTYPE_IPV4)
        self.addCleanup(seen.close)
        with self.inside("a"), socket.create_server(("127.0.0.1", 0)) as taken:
            port = str(taken.getsockname()[1])
            for command in self.COMMANDS:
                with self.subTest(command=command):
                    self.assertRegex(self.refused("a", *command, "--metrics", port),
                                     f"cannot serve metrics at {port}: Address already in use; choose another")
                    self.assertIn("cannot serve metrics at 192.0.2.1:9400: Cannot assign requested address",
                                  self.refused("a", *command, "--metrics", "192.0.2.1:9400"))
                    for text in ("65536", "-1", "x", "localhost:80", "1.2.3:80", "[::1]", "::1:80", "80x", "127.0.0.1:"):
                        self.assertIn("expected PORT, ADDRESS:PORT or [ADDRESS]:PORT",
                                      self.refused("a", *command, "--metrics=" + text))
                    self.assertRegex(self.refused("a", *command, "--metrics-file", self.path("none/x")),
                                     "cannot write the metrics to .*/none/x: cannot create: No such file or directory; give another path")
        seen.setblocking(False)
        with self.assertRaises(BlockingIOError):
            while True:
                frame = seen.recv(10000)
                self.assertNotEqual(frame[36:38], (4791).to_bytes(2, "big"))

    def test_a_full_disk(self):
        sender = self.start("a", "craft", "-i", "v", "--to", "10.9.0.2", "-n", "5", "--metrics-file", "/dev/full")
        sender.process.wait(WAIT)
        self.assertIn("/dev/full: cannot write: No space left on device; the output is not whole", sender.process.stderr.read())
        self.assertEqual(sender.process.returncode, 1)

    def test_an_exchange_that_fails_leaves_its_metrics(self):
        self.start("b", "peer", "-i", "v", "--control", self.path("control.sock"))
        write = self.start("a", "write", "-i", "v", "--bad-icrc", "--timeout", "8", "-n", "3", "--metrics-file", self.path("x.json"),
                           self.path("control.sock"))
        self.assertEqual(write.result()[0], 1)
        self.assertEqual(self.file("x.json")[of_device("retries_exceeded")], 1)


if __name__ == "__main__":
    enter_namespaces()
    ROCE_GEN, *GUIDES = (os.path.abspath(path) for path in sys.argv[1:4])
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
