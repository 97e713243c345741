# SPDX-License-Identifier: BSD-2-Clause
"""roce-agent where it does not get as far as a device: what it says about its command line, and what it needs to run.

usage: agent_test.py ROCE_AGENT [UNITTEST ARGUMENT...]
"""

import os
import subprocess
import sys
import tempfile
import unittest

DEVICE = ["--device", "no_such_device"]
ADDRESS = "192.0.2.1:4790"


def agent(*arguments):
    return subprocess.run([ROCE_AGENT, *arguments], capture_output=True, text=True, timeout=60, check=False)


class CommandLine(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def token(self, text, mode=0o600):
        path = os.path.join(self.folder, "token")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, mode)
        return path

    def refused(self, message, *arguments):
        done = agent(*arguments)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        self.assertIn(message, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def test_names_the_devices_that_there_are(self):
        self.refused("there is no RDMA device 'no_such_device'", *DEVICE)
        folder = "/sys/class/infiniband"
        there = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
        for name in there:
            self.refused(name, *DEVICE)
        if not there:
            self.refused("nor any other; load the driver of the RNIC", *DEVICE)

    def test_needs_a_device(self):
        self.assertEqual(agent().returncode, 2)
        self.assertIn("--device", agent().stderr)

    def test_needs_a_secret_on_tcp(self):
        self.refused("give them a secret with --token-file", *DEVICE, "--listen", ADDRESS)
        for text, mode, message in (("secret\n", 0o640, "others may read the token file"), ("\n", 0o600, "is empty"),
                                    (1025 * "x", 0o600, "a secret has at most 1024")):
            self.refused(message, *DEVICE, "--listen", ADDRESS, "--token-file", self.token(text, mode))
        self.refused("cannot read the token file", *DEVICE, "--listen", ADDRESS, "--token-file", os.path.join(self.folder, "none"))
        # A good one is followed by the device.
        self.refused("no RDMA device", *DEVICE, "--listen", ADDRESS, "--token-file", self.token("secret\n"))

    def test_listens_on_one_address(self):
        token = ["--token-file", self.token("secret\n")]
        for address in ("0.0.0.0:4790", "[::]:4790"):
            self.refused("takes clients on every network of this machine", *DEVICE, "--listen", address, *token)
            self.refused("no RDMA device", *DEVICE, "--listen", address, "--any-address", *token)
        for address in ("4790", "192.0.2.1", "192.0.2.1:", "192.0.2.1:0", "192.0.2.1:65536", "localhost:4790", "::1:4790",
                        "[192.0.2.1]:4790", "[::1]", ""):
            with self.subTest(address=address):
                self.assertEqual(agent(*DEVICE, "--listen", address, *token).returncode, 2)
        self.refused("--listen: expected ADDRESS:PORT", *DEVICE, "--listen", "localhost:4790", *token)
        self.refused("--peer: expected an IP address, found 'nobody'", *DEVICE, "--listen", ADDRESS, "--peer", "nobody", *token)

    def test_options_of_tcp_need_tcp(self):
        for words in (["--token-file", self.token("secret\n")], ["--peer", "192.0.2.1"], ["--any-address"]):
            self.refused("belong to TCP; give an address with --listen", *DEVICE, *words)
        self.assertEqual(agent(*DEVICE, "--listen", ADDRESS, "--control", "x").returncode, 2)

    def test_limits(self):
        for size in ("0", "1T", "-1", "2000G", "k"):
            self.refused("--memory-limit: expected a size from 1 to 1024G", *DEVICE, f"--memory-limit={size}")
        for words in (["--max-qp", "0"], ["--port", "0"], ["--port", "256"]):
            self.assertEqual(agent(*DEVICE, *words).returncode, 2)

    def test_help(self):
        done = agent("--help")
        self.assertEqual(done.returncode, 0)
        self.assertIn("Examples:", done.stdout)


class Libraries(unittest.TestCase):
    def test_are_few(self):
        """The machine with the device under test need not have what the links of libroce need."""
        done = subprocess.run(["readelf", "-d", ROCE_AGENT], capture_output=True, text=True, check=True)
        self.assertIn("libibverbs.so", done.stdout)
        for name in ("pcap", "xdp", "bpf", "isal", "libz", "microhttpd", "yaml"):
            self.assertNotIn(name, done.stdout)


if __name__ == "__main__":
    ROCE_AGENT = sys.argv.pop(1)
    unittest.main()
