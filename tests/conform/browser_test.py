# SPDX-License-Identifier: BSD-2-Clause
"""The page of roce-conform --html in a browser that opens it as a file.

usage: browser_test.py CHROMIUM ROCE_CONFORM [UNITTEST ARGUMENT...]
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

CASE = """case: psn-x
title: A title
rule: [RC-RESP-02]
level: must
steps:
  - inject: {WRITE_ONLY: , bth.psn: $E + 1}
  - expect: {NAK: [0x61, $E]}
"""
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync")


class Browser(unittest.TestCase):
    def test_shows_failures_and_runs_nothing_of_theirs(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "psn-x.yaml").write_text(CASE, encoding="utf-8")
            subprocess.run([ROCE_CONFORM, "run", folder / "psn-x.yaml", "--json", folder / "result.json"], capture_output=True, timeout=60,
                           check=False)
            result = json.loads((folder / "result.json").read_text(encoding="utf-8"))
            result["device"] = "<script>document.body.append('it ran')</script>"
            (folder / "result.json").write_text(json.dumps(result), encoding="utf-8")
            subprocess.run([ROCE_CONFORM, "report", folder / "result.json", "--html", folder / "page.html"], capture_output=True, timeout=60,
                           check=True)
            shown = subprocess.run([CHROMIUM, *FLAGS, f"--user-data-dir={folder}/profile", "--dump-dom", (folder / "page.html").as_uri()],
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=120, check=True).stdout
        self.assertIn("0 of 1 passed; 1 deviates.", shown)
        self.assertIn('<h3 id="failure-1"><span class="verdict bad">FAIL</span> psn-x', shown)
        self.assertIn('<td class="bad">96</td><td><strong>wrong</strong></td>', shown)
        self.assertIn("NAK PSN sequence error", shown)
        self.assertIn("&lt;script&gt;document.body.append('it ran')&lt;/script&gt;</h1>", shown)
        self.assertEqual(shown.count("it ran"), shown.count("append('it ran')"))
        self.assertIn('href="data:application/octet-stream;base64,', shown)


if __name__ == "__main__":
    CHROMIUM, ROCE_CONFORM = sys.argv[1:3]
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
