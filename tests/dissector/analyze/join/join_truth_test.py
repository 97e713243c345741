# SPDX-License-Identifier: BSD-2-Clause
"""What `roce-analyze join` says of the captures with ground truth is what happened to every frame of them.

    join_truth_test.py ROCE_ANALYZE [unittest arguments]

Two pairs of captures are joined: what was sent with what arrived (all packets pass A first), and what either host saw
(those of one host pass A first, those of the other B). The oracle is tests/analysis/fault_truth.py, which has nothing of
libroce and is held against the truth files by its own test."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "..", "analysis"))

from fault_truth import Capture, names  # noqa: E402
from roce_frames import write_pcap  # noqa: E402

FOLDER = os.path.join(HERE, "..", "..", "..", "..", "captures", "softroce")
FATES = {"drop": "lost", "corrupt": "damaged", "ce": "ce_marked"}
PAIRS = {"points": ("tx", "rx"), "hosts": ("hostA", "hostB")}


class Pair:
    """Two captures of a scenario and what is true of them."""

    def __init__(self, capture, kind, folder, clock=lambda time: time):
        self.capture, self.is_hosts = capture, kind == "hosts"
        views = [capture.view(view) for view in PAIRS[kind]]
        self.numbers = [{(id(entry.sent), entry.point, entry.copy): entry.number for entry in view} for view in views]
        self.paths = []
        for name, view in zip("ab", views):
            path = os.path.join(folder, f"{capture.name}.{kind}.{name}.pcap")
            times = [entry.time if name == "a" else clock(entry.time) for entry in view]
            write_pcap(path, list(zip(times, (entry.frame.data for entry in view))))
            self.paths.append(path)
        self.last = min(view[-1].time for view in views)
        self.sent = [sent for sent in capture.sent if sent.frame.is_roce]

    def frame(self, point, sent, copy):
        return self.numbers[point].get((id(sent), "tx" if copy is None else "rx", copy or 0))

    def row(self, fate, sent, copy=0, at_first=True, at_second=True):
        """(fate, frame at A, frame at B)"""
        first = 1 if self.is_hosts and sent.side == "b" else 0
        frames = [None, None]
        if at_first:
            frames[first] = self.frame(first, sent, None)
        if at_second:
            frames[1 - first] = self.frame(1 - first, sent, copy)
        return (fate, *frames)

    def fates(self):
        rows = []
        for sent in self.sent:
            if sent.fate in FATES:
                rows.append(self.row(FATES[sent.fate], sent, at_second=bool(sent.arrivals)))
            for copy in range(1, len(sent.arrivals)):
                rows.append(self.row("duplicated", sent, copy, at_first=False))
        latest = {}
        sound = [sent for sent in self.sent if sent.arrivals and sent.arrivals[0].frame.icrc_good]
        for sent in sorted(sound, key=lambda each: (each.arrivals[0].frame.time, each.arrivals[0].position)):
            flow = (sent.frame.source, sent.frame.destination, sent.frame.dest_qp)
            if sent.position < latest.get(flow, -1):
                rows.append(self.row("reordered", sent))
                assert sent.fate == "reorder", "nobody held it back"
            latest[flow] = max(latest.get(flow, -1), sent.position)
        return sorted(rows, key=str)

    def delays(self, side):
        return [sent.arrivals[0].frame.time - sent.frame.time for sent in self.sent
                if sent.side == side and sent.arrivals and sent.arrivals[0].frame.icrc_good]


class JoinTruth(unittest.TestCase):
    tool = None

    def setUp(self):
        # pylint: disable=consider-using-with
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def join(self, pair, *options):
        run = subprocess.run([self.tool, "join", *options, "--json", *pair.paths], check=True, capture_output=True,
                             text=True)
        return [json.loads(line) for line in run.stdout.splitlines()]

    def pairs(self, kind, **options):
        captures = [Capture(FOLDER, name) for name in names(FOLDER)]
        captures = [capture for capture in captures if capture.has_rx]
        self.assertGreaterEqual(len(captures), 13)
        for capture in captures:
            yield Pair(capture, kind, self.folder.name, **options)

    def check_fates(self, pair, *options):
        rows = self.join(pair, "--packets", *options)
        self.assertEqual(sorted(((row["fate"], row["frame_a"], row["frame_b"]) for row in rows), key=str), pair.fates())

    def check_counts(self, pair, summary):
        """The sums of both points come out, and the ways are those that the packets took."""
        for way, side in (("a_to_b", "a"), ("b_to_a", "b")):
            counts = summary["ways"][way]
            sent = [each for each in pair.sent if each.side == side] if pair.is_hosts else \
                pair.sent if way == "a_to_b" else []
            self.assertEqual(counts["first"], len(sent), way)
            self.assertEqual(counts["second"], sum(len(each.arrivals) for each in sent), way)
            self.assertEqual(counts["first"], counts["matched"] + counts["lost"] + counts["not_judged_first"])
            self.assertEqual(counts["second"], counts["matched"] + counts["duplicated"] + counts["missed"])
        self.assertEqual(summary["ways"]["unknown"]["first"] + summary["ways"]["unknown"]["second"], 0)

    def test_sent_and_delivered(self):
        for pair in self.pairs("points"):
            with self.subTest(pair.capture.name):
                self.check_fates(pair)
                self.check_counts(pair, self.join(pair)[0])

    def test_both_hosts(self):
        for pair in self.pairs("hosts"):
            with self.subTest(pair.capture.name):
                self.check_fates(pair, "--same-span")
                self.check_counts(pair, self.join(pair, "--same-span")[0])

    def test_with_one_clock_delays_are_those_of_the_bridge(self):
        for pair in self.pairs("points"):
            with self.subTest(pair.capture.name):
                delay = self.join(pair, "--offset", "0")[0]["ways"]["a_to_b"]["delay"]
                delays = sorted(pair.delays("a") + pair.delays("b"))
                self.assertEqual(delay["count"], len(delays))
                self.assertEqual((delay["min_ns"], delay["max_ns"]), (delays[0], delays[-1]))
                # Packets of one order tell no offset, so without being told it delays count from the smallest.
                relative = self.join(pair)[0]
                self.assertIsNone(relative["clock"]["offset_ns"])
                delay = relative["ways"]["a_to_b"]["delay"]
                self.assertEqual((delay["min_ns"], delay["max_ns"]), (0, delays[-1] - delays[0]))

    def test_offset_of_the_clocks(self):
        for offset in (0, 250_000, -3_600_000_000_000):
            for pair in self.pairs("hosts", clock=lambda time, by=offset: time + by):
                forth, back = pair.delays("a"), pair.delays("b")
                if not (forth and back):
                    continue
                with self.subTest(pair.capture.name, offset=offset):
                    clocks = self.join(pair, "--same-span")[0]["clock"]
                    self.assertLessEqual(abs(clocks["offset_ns"] - offset), clocks["uncertainty_ns"])
                    # The uncertainty is half of the smallest round trip of the bridge, no more and no less.
                    self.assertLessEqual(abs(clocks["uncertainty_ns"] - (min(forth) + min(back)) / 2), 1)
                    self.check_fates(pair, "--same-span")


if __name__ == "__main__":
    JoinTruth.tool = os.path.abspath(sys.argv.pop(1))
    unittest.main()
