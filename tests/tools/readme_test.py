#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Runs the commands of README.md as they stand, between two hosts that are network namespaces of this test.

usage: readme_test.py BUILD SOURCE
"""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else ".").resolve()
sys.path.insert(0, str(SOURCE / "tests/gen"))

from live import WAIT, Namespaces, enter_namespaces  # noqa: E402

BUILD = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()


def commands():
    """The lines of all blocks of shell, without the comments at their ends."""
    blocks = re.findall(r"^```sh\n(.*?)^```", (SOURCE / "README.md").read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    return [re.sub(r"\s+#.*", "", line) for block in blocks for line in block.splitlines()]


class ReadmeTest(unittest.TestCase):
    def setUp(self):
        self.commands = commands()
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="roce-readme-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.environment = {**os.environ, "PATH": f"{BUILD / 'bin'}:{os.environ['PATH']}", "NO_COLOR": "1"}
        # The server has the address that README names.
        self.space = Namespaces("ab")
        self.addCleanup(self.space.close)
        self.space.join("a", "eth0", "b", "eth0")
        for name, address in (("a", "192.0.2.1/24"), ("b", "192.0.2.7/24")):
            self.space.ip(name, "address", "add", address, "dev", "eth0")
            self.space.ip(name, "link", "set", "eth0", "up")
        for name in "ab":
            self.space.wait_until_usable(name, "eth0")

    def command(self, beginning):
        """The one command of README that begins so."""
        (found,) = [line for line in self.commands if line.startswith(beginning)]
        return found

    def start(self, host, beginning):
        process = subprocess.Popen(self.space.inside(host, "setpriv", "--pdeathsig", "KILL", "sh", "-c", self.command(beginning)), cwd=self.folder,
                                   env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
        self.addCleanup(self.end, process)
        return process

    @staticmethod
    def end(process):
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate(timeout=WAIT)

    def run_to_its_end(self, host, beginning):
        process = self.start(host, beginning)
        said, errors = process.communicate(timeout=WAIT)
        self.assertEqual(process.returncode, 0, errors)
        return said, errors

    def test_the_programs_are_in_one_folder(self):
        for program in ("roce-analyze", "roce-gen", "roce-replay"):
            done = subprocess.run([BUILD / "bin" / program, "--version"], capture_output=True, text=True, check=True)
            self.assertIn(program, done.stdout)

    def test_scripts_are_there(self):
        scripts = [word for line in self.commands for word in line.split() if word.startswith("scripts/")]
        self.assertEqual(scripts, ["scripts/demo", "scripts/test", "scripts/package"])
        for script in scripts:
            subprocess.run(["bash", "-n", SOURCE / script], check=True)

    def test_every_command_is_one_that_is_run_here(self):
        known = ("scripts/", "roce-analyze trace", "tcpdump ", "(umask ", "roce-gen peer", "roce-gen write")
        self.assertEqual([line for line in self.commands if not line.startswith(known)], [])

    def test_a_capture_is_judged(self):
        shutil.copy(SOURCE / "captures/softroce/rc-drop-random.tx.pcap", self.folder / "trace.pcapng")
        said, errors = self.run_to_its_end("a", "roce-analyze trace")
        self.assertIn("1 of 1 connection lost packets", said, errors)

    def test_two_hosts_exchange_and_a_third_program_watches(self):
        self.run_to_its_end("b", "(umask ")
        self.assertEqual((self.folder / "token").stat().st_mode & 0o777, 0o600)
        watching = self.start("a", "tcpdump ")
        while "listening on" not in (line := watching.stderr.readline()):
            self.assertTrue(line, "tcpdump did not start")
        peer = self.start("b", "roce-gen peer")
        self.assertIn("192.0.2.7", peer.stderr.readline(), "the peer did not start")
        said, errors = self.run_to_its_end("a", "roce-gen write")
        self.assertIn("all data compared and right", said, errors)
        subprocess.run(["pkill", "--signal", "INT", "--session", str(watching.pid), "--exact", "tcpdump"], check=True)
        said, errors = watching.communicate(timeout=WAIT)
        self.assertRegex(said, r"2 hosts, \d+ connection", errors)


if __name__ == "__main__":
    # As root tcpdump would become another user, which it may not in these namespaces.
    enter_namespaces("--map-user=1000", "--map-group=1000", "--keep-caps")
    del sys.argv[1:]
    unittest.main()
