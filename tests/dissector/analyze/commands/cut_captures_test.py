# SPDX-License-Identifier: BSD-2-Clause
"""A snap length costs what it cuts off, and makes up nothing: whatever is said of a cut capture is said of the whole one.

    cut_captures_test.py ROCE_ANALYZE [unittest arguments]

With ROCE_CUT_ALL set, for every snap length instead of a few."""

import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "analysis"))
import cut_captures

PROGRAM = sys.argv[1]
SNAP_LENGTHS = cut_captures.SNAP_LENGTHS if os.environ.get("ROCE_CUT_ALL") else cut_captures.FEW_SNAP_LENGTHS


def events_of(data, suffix):
    with tempfile.NamedTemporaryFile(suffix=suffix) as file:
        file.write(data)
        file.flush()
        done = subprocess.run([PROGRAM, "events", "--json", file.name], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise AssertionError(done.stderr)
    return cut_captures.psns_of(json.loads(line) for line in done.stdout.splitlines())


def look_at(path):
    """What is said of the whole capture, and for each snap length of the cut one, and of that more than of the whole one."""
    data = path.read_bytes()
    whole = events_of(data, path.suffix)
    said, made_up = {}, {}
    for length in SNAP_LENGTHS:
        said[length] = events_of(cut_captures.cut(data, length), path.suffix)
        made_up[length] = said[length] - whole
        if made_up[length]:
            made_up[length] -= events_of(cut_captures.without_hidden_damage(data, length), path.suffix)
    return whole, said, made_up


class CutCaptures(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with concurrent.futures.ThreadPoolExecutor(2) as workers:
            cls.captures = dict(zip(cut_captures.CAPTURES, workers.map(look_at, cut_captures.CAPTURES)))

    def test_nothing_is_made_up(self):
        for path, (_, _, made_up) in self.captures.items():
            for length, more in made_up.items():
                self.assertFalse(more, f"{path.name} cut after {length} bytes")

    def test_little_is_lost(self):
        """Of what is said of the whole captures, in percent. Behind 96 bytes are only payloads and ICRCs (and some
        headers of packets over IPv6), but most ICRCs of requests."""
        total = sum(len(whole) for whole, _, _ in self.captures.values())
        for length, least in ((54, 60), (58, 80), (68, 85), (96, 95), (128, 96)):
            kept = sum(len(whole & said[length]) for whole, said, _ in self.captures.values())
            self.assertGreaterEqual(100 * kept, least * total, f"cut after {length} bytes: {kept} of {total}")

    def test_losses_are_found_in_a_cut_capture(self):
        """As many as in the whole one, on either side."""
        for name, verdict in (("rc-drop-requests.tx.pcap", "request_lost_after"), ("rc-drop-requests.rx.pcap", "request_lost_before"),
                              ("pp-rc-drop.tx.pcap", "response_lost_after"), ("rc-drop-read-middle.rx.pcap", "response_lost_before")):
            path = cut_captures.TOP / "captures" / "softroce" / name
            whole, said, _ = self.captures[path]
            losses = {event for event in whole if event[2] == verdict}
            self.assertTrue(losses, name)
            for length in (68, 96, 128):
                self.assertLessEqual(losses, said[length], f"{name} cut after {length} bytes")


if __name__ == "__main__":
    unittest.main(argv=[pathlib.Path(__file__).name, *sys.argv[2:]])
