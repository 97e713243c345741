# SPDX-License-Identifier: BSD-2-Clause
"""The JSON summary of roce-conform fuzz.

usage: fuzz_summary_test.py ROCE_CONFORM SOURCE [UNITTEST ARGUMENT...]
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import jsonschema

CONFORM, SOURCE = sys.argv.pop(1), pathlib.Path(sys.argv.pop(1))


class Summary(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.file = self.folder / "summary.json"
        self.schema = json.loads((SOURCE / "conform/fuzz.schema.json").read_text(encoding="utf-8"))

    def fuzz(self, *options):
        return subprocess.run([CONFORM, "fuzz", *options], capture_output=True, text=True, check=False)

    def load(self):
        summary = json.loads(self.file.read_text(encoding="utf-8"))
        jsonschema.validate(summary, self.schema)
        return summary

    def test_has_the_numbers_that_the_fuzzer_prints(self):
        done = self.fuzz("--programs", "200", "--seed", "7", "--json", str(self.file))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        summary = self.load()
        counts = summary["counts"]
        self.assertEqual((summary["seed"], summary["ended"], summary["findings"], counts["programs"]), (7, "", [], 200))
        self.assertEqual(set(summary["oracles"].values()), {0})
        self.assertIn(f"{summary['device']}, seed 7: ", done.stdout)
        self.assertIn(f"200 programs, ", done.stdout)
        self.assertIn(f"{counts['states']} of {counts['possible_states']} states, {counts['signatures']} signatures", done.stdout)

    def test_counts_what_a_resumed_fuzzer_did_before(self):
        corpus = ["--corpus", str(self.folder / "corpus"), "--json", str(self.file)]
        self.fuzz("--programs", "100", *corpus)
        frames = self.load()["counts"]["frames"]
        self.fuzz("--programs", "150", "--resume", *corpus)
        counts = self.load()["counts"]
        self.assertEqual(counts["programs"], 150)
        self.assertGreater(counts["frames"], frames)

    def test_does_not_overwrite_a_capture_that_is_read(self):
        capture = self.folder / "asked.pcap"
        capture.write_bytes((SOURCE / "captures/softroce/rc-drop-requests.tx.pcap").read_bytes())
        before = capture.read_bytes()
        done = self.fuzz("--programs", "1", "--capture", str(capture), "--json", str(capture))
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertEqual(capture.read_bytes(), before)
        done = self.fuzz("--programs", "20", "--capture", str(capture), "--json", str(self.file))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(self.load()["counts"]["programs"], 20)

    def test_that_cannot_be_written_is_said(self):
        done = self.fuzz("--programs", "1", "--json", str(self.folder / "nowhere" / "summary.json"))
        # Before there is work that would be lost.
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertIn("nowhere", done.stderr)


if __name__ == "__main__":
    unittest.main()
