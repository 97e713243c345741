# SPDX-License-Identifier: BSD-2-Clause
"""The headline of `roce-analyze` counts the packets that were lost on the wire, each once.

    headline_truth_test.py ROCE_ANALYZE [unittest arguments]

The oracle is tests/analysis/fault_truth.py, which has nothing of libroce and is held against the truth files by its own
test. A headline may count less than the truth, since not every loss shows, but not more."""

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
# The side whose packets are lost after the capture point; those of the others are lost before it.
VIEWS = {"tx": "ab", "rx": "", "hostA": "a", "hostB": "b"}


class HeadlineTruth(unittest.TestCase):
    tool = None

    def setUp(self):
        # pylint: disable=consider-using-with
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def said(self, capture, view):
        path = os.path.join(self.folder.name, f"{capture.name}.{view}.pcap")
        write_pcap(path, [(entry.time, entry.frame.data) for entry in capture.view(view)])
        run = subprocess.run([self.tool, "--json", path], check=True, capture_output=True, text=True)
        return json.loads(run.stdout)

    def test_no_packet_counts_twice(self):
        captures = [capture for capture in (Capture(FOLDER, name) for name in names(FOLDER)) if capture.has_rx]
        self.assertGreaterEqual(len(captures), 13)
        for capture in captures:
            lost = [sent for sent in capture.sent if sent.frame.is_roce
                    and not any(arrival.frame.icrc_good for arrival in sent.arrivals)]
            for view, after_sides in VIEWS.items():
                with self.subTest(capture.name, view=view):
                    after = sum(sent.side in after_sides for sent in lost)
                    summary = self.said(capture, view)
                    said = summary["lost"]
                    self.assertLessEqual(said["after"], after)
                    self.assertLessEqual(said["before"], len(lost) - after)
                    self.assertLessEqual(sum(said.values()), len(lost))
                    listed = sum(stream["lost_packets"] for stream in summary["worst_streams"])
                    self.assertEqual(listed, sum(said.values()))

    def test_a_message_and_its_answer_are_one_lost_packet(self):
        # Four of the lost packets are the last of a message of three packets, or its ACK.
        capture = Capture(FOLDER, "pp-rc-drop")
        self.assertEqual(self.said(capture, "tx")["lost"], {"before": 0, "after": 11, "beyond": 4})

    def test_a_read_request_is_one_lost_packet(self):
        # READ requests of 2, 4 and 2 PSNs were damaged.
        capture = Capture(FOLDER, "rc-corrupt")
        self.assertEqual(self.said(capture, "rx")["lost"], {"before": 15, "after": 0, "beyond": 0})


if __name__ == "__main__":
    HeadlineTruth.tool = os.path.abspath(sys.argv.pop(1))
    unittest.main()
