# SPDX-License-Identifier: BSD-2-Clause
"""The pages of roce-gen --report in a browser that opens them as files: an exchange between two network namespaces, and simulated
networks.

usage: page_test.py CHROMIUM ROCE_GEN [UNITTEST ARGUMENT...]

Makes the namespaces itself, in a user namespace of its own, so that it needs no privilege; prints why and exits with 77 where
that is forbidden.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from chromium import Chromium  # noqa: E402
from live import WAIT, Wire, enter_namespaces  # noqa: E402

INCAST = """
duration: 5ms
topology: {name: star, hosts: 5, rate: 25G, delay: 1us}
hosts: {congestion: dcqcn}
switches: {buffer: 1MB, red: {kmin: 5KB, kmax: 100KB, pmax: 0.05}, pfc: {xoff: 60KB}}
workloads:
  - {kind: incast, name: "to <script>alert(1)</script>", senders: [h1, h2, h3, h4], to: h0, size: 200KB}
  - {kind: permutation, size: 50KB}
"""
# Three hosts without PFC, and a buffer that holds nearly nothing: packets die.
LOSSY = """
duration: 20ms
topology: {name: star, hosts: 3, rate: 25G, delay: 1us}
hosts: {timeout: 8}
switches: {buffer: 30KB}
workloads: [{kind: incast, senders: 2, size: 200KB}]
"""
TEXT = "document.querySelector('{}').textContent"


def data_of(page):
    """What the page holds for its script."""
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page.read_text(), re.DOTALL)[1])


def rows_of(data, table):
    """Each row of a table by the names of its columns."""
    found = next(each for each in data["tables"] if each["id"] == table)
    return [dict(zip(found["columns"], row)) for row in found["rows"]]


class PageTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="roce-page-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.page = self.folder / "page.html"

    def fabric(self, text, *options):
        file = self.folder / "net.yaml"
        file.write_text(text)
        return subprocess.run([ROCE_GEN, "fabric", "--json", *options, file], capture_output=True, text=True, timeout=WAIT, check=False)

    def show(self, browser, fragment=""):
        browser.open("about:blank")
        browser.open(self.page.as_uri() + fragment)
        self.assertEqual(browser.run("document.documentElement.dataset.ready"), "yes")

    def quiet(self, browser):
        """Nothing was written to the console, and nothing was asked for but the pages themselves."""
        self.assertEqual(browser.messages, [])
        self.assertEqual([each for each in browser.requests if not each.startswith("file:///")], [])


class Fabric(PageTest):
    def made(self, text):
        done = self.fabric(text, "--report", self.page)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout), data_of(self.page)

    def test_each_number_is_that_of_the_json(self):
        for text in (INCAST, LOSSY):
            with self.subTest(text):
                told, data = self.made(text)
                for row, one in zip(rows_of(data, "workloads"), told["workloads"], strict=True):
                    self.assertEqual((row["workload"], row["flows"], row["finished"], row["failed"], row["delivered_bytes"]),
                                     (one["name"], one["flows"], one["finished"], one["failed"], one["delivered_bytes"]))
                    self.assertEqual(row["goodput_bps"], round(one["goodput_bps"]))
                    self.assertEqual([row["p50_ns"], row["p99_ns"], row["max_ns"]], [one["completion_ns"][name] for name in ("p50", "p99", "max")])
                ports = {row.pop("port"): row for row in rows_of(data, "ports")}
                for port in told["ports"]:
                    if port["frames"]:
                        name, paused = port.pop("port"), sum(port.pop("paused_ns"))
                        self.assertEqual(ports[name], {**port, "paused_ns": paused})
                totals = {each["name"]: each["total"] for each in data["timeline"]["series"]}
                self.assertEqual(totals["goodput"], sum(one["delivered_bytes"] for one in told["workloads"]))
                self.assertEqual((totals["ce"], totals["cnp"], totals["resent"]), (told["marked"], told["cnps"], told["retransmitted"]))
                self.assertEqual(totals["dropped"], told["dropped"] + told["lost"] + told["watchdog_drops"])
                curves = {each["type"]: each["latency"] for each in data["times"]["curves"]}
                for one in told["workloads"]:
                    self.assertEqual(curves[one["name"]]["p99_ns"], one["completion_ns"]["p99"])
                    self.assertEqual(curves[one["name"]]["count"], one["finished"])

    def test_the_report_changes_nothing_and_is_the_same_each_time(self):
        told, _ = self.made(INCAST)
        first = self.page.read_bytes()
        self.assertEqual(json.loads(self.fabric(INCAST).stdout), told)
        self.made(INCAST)
        self.assertEqual(self.page.read_bytes(), first)

    def test_is_drawn_sorted_and_filtered(self):
        told, data = self.made(INCAST)
        with Chromium(CHROMIUM, self.folder) as browser:
            for scheme in ("light", "dark"):
                browser.media(scheme)
                self.show(browser)
                self.assertEqual(browser.run(TEXT.format("h1")).rstrip("."), data["verdict"])
                plots = browser.run("[...document.querySelectorAll('.plot')].map(each => each.dataset.series)")
                self.assertEqual(plots, ["goodput", "ce", "cnp", "queue", "ports_paused"])
                drawn = browser.run("[...document.querySelectorAll('.plot canvas')].map(each => { const {data} = each.getContext('2d')"
                                    ".getImageData(0, 0, each.width, each.height); return data.some(value => value !== 0); })")
                self.assertEqual(drawn, [True] * len(plots))
            # What users call their workloads stays text.
            self.assertEqual(browser.run("document.querySelectorAll('#workloads script, #times script').length"), 0)
            self.assertIn("to <script>alert(1)</script>", browser.run(TEXT.format("#workloads .rows")))
            self.show(browser, "#flows-filter=h0")
            wanted = sum("h0" in (row["from"], row["to"]) for row in rows_of(data, "flows"))
            self.assertEqual(browser.run(TEXT.format("#flows .counter")), f"{wanted} of {len(rows_of(data, 'flows'))} rows")
            self.assertEqual(browser.run(TEXT.format("#ports .counter")), f"{len(rows_of(data, 'ports'))} rows")
            browser.run("document.querySelector('#ports [title=\"Sort by frames\"]').click()")
            most = max(told["ports"], key=lambda port: port["frames"])
            self.assertEqual(browser.run("document.querySelector('#ports .rows .row').firstChild.textContent"), most["port"])
            self.assertTrue(browser.pdf().startswith(b"%PDF"))
            self.quiet(browser)

    def test_what_cannot_be_written_leaves_nothing(self):
        missing = self.folder / "missing" / "page.html"
        done = self.fabric(INCAST, "--report", missing)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("page.html", done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1)
        self.assertFalse(missing.exists())
        done = self.fabric(INCAST, "--report", "/dev/full")
        self.assertEqual(done.returncode, 1)
        self.assertIn("No space left on device", done.stderr)
        done = self.fabric(INCAST, "--report", "-")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        done = self.fabric(INCAST, "--report", self.page, "--csv", self.page)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertEqual(sorted(self.folder.iterdir()), [self.folder / "net.yaml"])


class Exchange(PageTest):
    def setUp(self):
        super().setUp()
        self.wire = Wire(9000)
        self.addCleanup(self.wire.close)
        socket = str(self.folder / "control.sock")
        self.peer = subprocess.Popen(self.wire.inside("b", ROCE_GEN, "peer", "-i", "v", "--json", "--control", socket), stdout=subprocess.PIPE,
                                     text=True)
        self.addCleanup(self.peer.communicate)
        self.addCleanup(self.peer.kill)
        self.assertTrue(self.peer.stdout.readline())
        self.socket = socket

    def run_exchange(self, *arguments):
        return subprocess.run(self.wire.inside("a", ROCE_GEN, *arguments, "-i", "v", "--json", "--report", self.page, self.socket),
                              capture_output=True, text=True, timeout=WAIT, check=False)

    def test_shows_what_was_asked_for_and_the_counters_of_both_ends(self):
        for arguments in (("write", "-n", "300", "-q", "3", "-s", "1,65536"), ("send", "-n", "100", "--shards", "2", "-q", "2"),
                          ("atomic", "-n", "50")):
            with self.subTest(arguments):
                done = self.run_exchange(*arguments)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                told = json.loads(done.stdout.splitlines()[-1])
                data = data_of(self.page)
                self.assertEqual(data["verdict"], "all data were compared and right")
                facts = dict(data["facts"])
                self.assertEqual(facts["Operation"], told["kind"])
                self.assertEqual(facts["Peer"], self.socket)
                counters = {row["counter"]: (row["here"], row["peer"]) for row in rows_of(data, "counters")}
                for name, value in told["counters"].items():
                    self.assertEqual(counters.get(name, (0, 0))[0] or 0, value, name)
                    self.assertEqual(counters.get(name, (0, 0))[1] or 0, told["peer_counters"].get(name, 0), name)
                (curve,) = data["times"]["curves"]
                self.assertEqual(curve["latency"]["count"], told["messages"])
                for name, share in (("min_ns", "min"), ("p50_ns", "p50"), ("p99_ns", "p99"), ("p999_ns", "p99.9"), ("max_ns", "max")):
                    self.assertAlmostEqual(curve["latency"][name] / 1000, told["latency_us"][share], delta=0.001)
        with Chromium(CHROMIUM, self.folder) as browser:
            self.show(browser)
            self.assertEqual(browser.run(TEXT.format("h1")), "All data were compared and right.")
            self.assertEqual(browser.run("document.querySelectorAll('#time').length"), 0)
            self.assertGreater(browser.run("document.querySelectorAll('#times polyline').length"), 0)
            self.quiet(browser)

    def test_an_exchange_that_fails_leaves_no_page(self):
        done = self.run_exchange("write", "-n", "10", "--token-file", str(self.folder / "missing"))
        self.assertNotEqual(done.returncode, 0)
        self.assertFalse(self.page.exists())


if __name__ == "__main__":
    enter_namespaces()
    CHROMIUM, ROCE_GEN = sys.argv[1], os.path.abspath(sys.argv[2])
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
