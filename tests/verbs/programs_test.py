# SPDX-License-Identifier: BSD-2-Clause
"""Programs of others, as their packages have them, over our libibverbs: two processes at two loopback addresses.

usage: programs_test.py ROCE_RUN LIBRARY_FOLDER ROCE_ANALYZE [UNITTEST ARGUMENT...]

All happens in a network namespace of the test's own, in a user namespace, so that it needs no privilege; prints why and exits
with 77 where that is forbidden. The traffic of each pair of programs is captured and judged.
"""

import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "gen"))

from live import ENVIRONMENT, WAIT, enter_namespaces

SERVER, CLIENT = "127.0.0.2", "127.0.0.3"
PORT = 18515
DISCARD = 9
LISTENING = "0A"


def is_listening(port):
    """Whether a program waits for connections to this TCP port."""
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        with open(table, encoding="ascii") as lines:
            for line in list(lines)[1:]:
                local, state = line.split()[1], line.split()[3]
                if local.endswith(f":{port:04X}") and state == LISTENING:
                    return True
    return False


class ProgramsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        # So that the packets of a super-frame are captured one by one.
        subprocess.run(["ethtool", "-K", "lo", "tx-udp-segmentation", "off"], check=True, capture_output=True)

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="roce-verbs-")
        self.addCleanup(shutil.rmtree, self.folder)

    def start(self, address, *program, **environment):
        process = subprocess.Popen([ROCE_RUN, "--address", address, *program], stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True, env={**ENVIRONMENT, **environment})
        self.addCleanup(process.kill)
        return process

    def capture(self):
        """A running capture of the RoCE on this machine, and its file."""
        path = os.path.join(self.folder, "wire.pcap")
        with open(path, "wb") as file:
            # With slots of this size the buffer has room for all that a test sends, however late tcpdump looks.
            tcpdump = subprocess.Popen(["tcpdump", "-i", "lo", "-n", "-U", "--immediate-mode", "-s", "8192", "-B", "131072",
                                        "-w", "-", f"udp port 4791 or udp port {DISCARD}"], stdout=file,
                                       stderr=subprocess.PIPE, text=True)
        self.addCleanup(tcpdump.stderr.close)
        self.addCleanup(tcpdump.wait, WAIT)
        self.addCleanup(tcpdump.kill)
        said = []
        for line in tcpdump.stderr:
            said.append(line)
            if "listening on" in line:
                return tcpdump, path
        raise AssertionError(f"tcpdump did not start: {said}")

    def end(self, tcpdump, path):
        """Ends a capture once all that was sent before is in it."""
        last = os.urandom(16)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            sender.sendto(last, (SERVER, DISCARD))
        end = time.monotonic() + WAIT
        with open(path, "rb") as file:
            while not file.read().endswith(last):
                self.assertLess(time.monotonic(), end, "tcpdump does not see the last frame")
                file.seek(max(os.path.getsize(path) - 1000, 0))
                time.sleep(0.005)
        tcpdump.terminate()
        tcpdump.wait(WAIT)

    def run_ends(self, server_command, client_command, **environment):
        """Runs a server, and once that listens a client, to their ends; returns what the client printed."""
        server = self.start(SERVER, *server_command, **environment)
        end = time.monotonic() + WAIT
        while not is_listening(PORT):
            self.assertIsNone(server.poll(), "the server ended")
            self.assertLess(time.monotonic(), end, "the server does not listen")
            time.sleep(0.005)
        client = self.start(CLIENT, *client_command, **environment)
        shown, _ = client.communicate(timeout=WAIT)
        answer, _ = server.communicate(timeout=WAIT)
        self.assertEqual((client.returncode, server.returncode), (0, 0), f"{client_command} {shown} {answer}")
        return shown

    def run_pair(self, *program):
        """Runs a program as server and as client to the end; returns what the client printed."""
        return self.run_ends(program, [*program, SERVER])

    def judge(self, *program):
        """Runs a pair, and lets roce-analyze judge what was on the wire."""
        tcpdump, path = self.capture()
        shown = self.run_pair(*program)
        self.end(tcpdump, path)
        summary = subprocess.run([ROCE_ANALYZE, "summary", path], capture_output=True, text=True, check=False)
        self.assertEqual(summary.returncode, 0, summary.stdout + summary.stderr)
        self.assertIn("\nnothing wrong seen\n", summary.stdout)
        return shown

    def test_lists_the_device(self):
        process = self.start(SERVER, "ibv_devinfo", "-v")
        shown, _ = process.communicate(timeout=WAIT)
        self.assertEqual(process.returncode, 0, shown)
        self.assertIn("roce_lo", shown)
        self.assertIn("PORT_ACTIVE", shown)
        self.assertIn(f"::ffff:{SERVER}", shown)

    def test_shows_no_device_where_there_is_no_interface(self):
        run = subprocess.run(["unshare", "--net", ROCE_RUN, "ls", "/sys/class/infiniband"], capture_output=True, text=True, check=False,
                             env=ENVIRONMENT)
        self.assertEqual((run.returncode, run.stdout, run.stderr), (0, "", ""))

    def test_puts_the_library_before_others(self):
        process = self.start(SERVER, "env")
        shown, _ = process.communicate(timeout=WAIT)
        self.assertRegex(shown, rf"(?m)^LD_LIBRARY_PATH={re.escape(LIBRARY_FOLDER)}(:|$)")

    def test_says_why_there_is_no_device(self):
        process = self.start("127.0.0.9", "env", "ROCE_VERBS_ADDRESS=192.0.2.1", "ibv_devinfo")
        shown, _ = process.communicate(timeout=WAIT)
        self.assertIn("roce-verbs: ROCE_VERBS_ADDRESS: no interface of this machine that is up has the address 192.0.2.1", shown)

    def test_says_that_the_port_is_taken(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
            other.bind((SERVER, 4791))
            process = self.start("127.0.0.9", "env", f"ROCE_VERBS_ADDRESS={SERVER}", "ibv_rc_pingpong", "-g", "0")
            shown, _ = process.communicate(timeout=WAIT)
        self.assertEqual(process.returncode, 1, shown)
        self.assertIn(f"roce-verbs: cannot receive RoCE at {SERVER} (UDP port 4791): the port is taken", shown)

    def test_rc_pingpong(self):
        self.assertIn("200 iters", self.judge("ibv_rc_pingpong", "-g", "0", "-c", "-n", "200"))

    def test_rc_pingpong_with_events(self):
        self.assertIn("100 iters", self.run_pair("ibv_rc_pingpong", "-g", "0", "-e", "-n", "100"))

    def test_ud_pingpong(self):
        self.assertIn("100 iters", self.judge("ibv_ud_pingpong", "-g", "0", "-n", "100"))

    def test_uc_and_srq_pingpong(self):
        self.assertIn("100 iters", self.run_pair("ibv_uc_pingpong", "-g", "0", "-e", "-n", "100"))
        self.assertIn("100 iters", self.run_pair("ibv_srq_pingpong", "-g", "0", "-e", "-n", "100"))

    def test_perftest(self):
        self.assertRegex(self.judge("ib_write_bw", "-n", "200"), r"\n 65536 +200 ")
        self.assertRegex(self.judge("ib_read_bw", "-n", "100", "-q", "2"), r"\n 65536 +200 ")
        self.assertRegex(self.run_pair("ib_send_lat", "-n", "100", "-e"), r"\n 2 +100 ")
        self.assertRegex(self.run_pair("ib_atomic_lat", "-n", "100"), r"\n 8 +100 ")

    def test_ucx(self):
        ucx = {"UCX_TLS": "rc_verbs,ud_verbs,self", "UCX_NET_DEVICES": "roce_lo:1"}
        devices, _ = self.start(SERVER, "ucx_info", "-d", **ucx).communicate(timeout=WAIT)
        self.assertIn("Transport: rc_verbs", devices)
        self.assertIn("Transport: ud_verbs", devices)
        for name in ("tag_lat", "ucp_put_lat", "ucp_get", "ucp_fadd"):
            program = ["ucx_perftest", "-p", str(PORT)]
            shown = self.run_ends(program, [*program, "127.0.0.1", "-t", name, "-n", "300", "-w", "10"], **ucx)
            self.assertRegex(shown, r"Final: +300 ", name)


if __name__ == "__main__":
    # As root tcpdump would want to become another user, of which there is none here.
    enter_namespaces("--map-user=1000", "--map-group=1000", "--keep-caps")
    ROCE_RUN, LIBRARY_FOLDER, ROCE_ANALYZE = sys.argv.pop(1), sys.argv.pop(1), sys.argv.pop(1)
    unittest.main()
