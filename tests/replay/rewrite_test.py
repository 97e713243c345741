# SPDX-License-Identifier: BSD-2-Clause
"""What `roce-replay rewrite` makes of capture files.

usage: rewrite_test.py ROCE_REPLAY CAPTURES_FOLDER
"""

import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = ""
CAPTURES = pathlib.Path()


class Rewrite(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.out = self.folder / "out.pcapng"

    def rewrite(self, *arguments):
        return subprocess.run([PROGRAM, "rewrite", *map(str, arguments)], capture_output=True, text=True, check=False)

    def test_a_missing_file_is_named(self):
        done = self.rewrite(self.folder / "none.pcap", self.out)
        self.assertEqual(done.returncode, 1)
        self.assertIn("none.pcap", done.stderr)
        self.assertFalse(self.out.exists())

    def test_a_capture_is_written_again(self):
        done = self.rewrite(CAPTURES / "softroce" / "rc-mix-v4.tx.pcap", self.out)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreater(self.out.stat().st_size, 0)


if __name__ == "__main__":
    PROGRAM = sys.argv[1]
    CAPTURES = pathlib.Path(sys.argv[2])
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
