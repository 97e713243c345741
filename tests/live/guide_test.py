#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The programs that docs/libroce.md shows are those that are compiled here, and the live peer is one: roce-gen writes to it.

usage: guide_test.py GUIDE LIVE_PEER ROCE_GEN
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
GUIDE, LIVE_PEER, ROCE_GEN = sys.argv[1:4]
# Two packet sockets on the loopback interface would share its Ethernet address: both take UDP sockets without this privilege.
PLAIN = ["setpriv", "--bounding-set=-net_raw"] if os.geteuid() == 0 else []


def shown(name):
    return re.search(r"^// --- .*?\n(.*?)^// --- end\n", (HERE / name).read_text(encoding="utf-8"), re.S | re.M).group(1).strip()


class Guide(unittest.TestCase):
    def test_shows_what_is_compiled(self):
        blocks = [block.strip() for block in re.findall(r"^```cpp\n(.*?)^```", pathlib.Path(GUIDE).read_text(encoding="utf-8"), re.S | re.M)]
        for name in ("live_peer.cc", "two_endpoints.h"):
            self.assertIn(shown(name), blocks, name)
        self.assertLess(len(shown("live_peer.cc").splitlines()), 30)

    def test_the_live_peer_is_written_to(self):
        with tempfile.TemporaryDirectory() as folder:
            socket = f"{folder}/peer.sock"
            with subprocess.Popen([*PLAIN, LIVE_PEER, "lo", socket], stdout=subprocess.PIPE, text=True) as peer:
                try:
                    self.assertRegex(peer.stdout.readline(), "^ready: .*127.0.0.1")
                    done = subprocess.run([*PLAIN, ROCE_GEN, "write", "-i", "lo", "--address", "127.0.0.2", "-n", "100", socket],
                                          capture_output=True, text=True, check=False, timeout=60)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertIn("all data compared and right", done.stdout)
                finally:
                    peer.kill()


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
