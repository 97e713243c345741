# SPDX-License-Identifier: BSD-2-Clause
"""Two programs of others at two loopback addresses, over our libibverbs and librdmacm, and their traffic captured and judged: what
the tests of this folder have in common. It wants the namespaces of `enter_namespaces_of_a_user`."""

import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

TESTS = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
sys.path[:0] = [os.path.join(TESTS, "gen"), os.path.join(TESTS, "analysis")]

from live import ENVIRONMENT, WAIT, enter_namespaces
from roce_frames import read_pcap

SERVER, CLIENT = "127.0.0.2", "127.0.0.3"
PORT = 18515
ROCE_PORT = 4791
PORTD_SOCKETS = 256
DISCARD = 9
LISTENING = "0A"
# Programs print one of these when nobody listens to an RDMA port; cmtime of rdma-core 56 prints nothing.
REFUSED = re.compile(r"^$|REJECTED|UNREACHABLE[,;] error: 1\.?\n|Connection refused|Unable to perform rdma_client|Unexpected CM event")


def enter_namespaces_of_a_user():
    """User and network namespaces of one's own, as a user who is not root there: tcpdump would want to become another user, of which
    there is none."""
    enter_namespaces("--map-user=1000", "--map-group=1000", "--keep-caps")


def is_listening(port):
    """Whether a program waits for connections to this TCP port."""
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        with open(table, encoding="ascii") as lines:
            for line in list(lines)[1:]:
                local, state = line.split()[1], line.split()[3]
                if local.endswith(f":{port:04X}") and state == LISTENING:
                    return True
    return False


def receives_roce(address):
    """Whether a roce-portd receives the RoCE that comes to this IPv4 address, by all of its sockets."""
    local = f"{int.from_bytes(socket.inet_aton(address), sys.byteorder):08X}:{ROCE_PORT:04X}"
    with open("/proc/net/udp", encoding="ascii") as lines:
        return sum(line.split()[1] == local for line in lines) >= PORTD_SOCKETS


class Pairs(unittest.TestCase):
    roce_run = roce_analyze = None  # their files
    patience = WAIT  # in seconds, with the programs

    @classmethod
    def setUpClass(cls):
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        # So that the packets of a super-frame are captured one by one.
        subprocess.run(["ethtool", "-K", "lo", "tx-udp-segmentation", "off"], check=True, capture_output=True)

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="roce-verbs-")
        self.addCleanup(shutil.rmtree, self.folder)

    def start(self, address, *program, **environment):
        process = subprocess.Popen([self.roce_run, "--address", address, *program], stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True, errors="replace", env={**ENVIRONMENT, **environment})
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait, WAIT)
        self.addCleanup(process.kill)
        return process

    def capture(self, longest=8000):
        """A running capture of the RoCE on this machine, of which no packet is longer, and its file."""
        path = os.path.join(self.folder, "wire.pcap")
        with open(path, "wb") as file:
            # With slots of this size, of which one fits into a block of 8 KiB, the buffer has room for all that a test sends,
            # however late tcpdump looks.
            tcpdump = subprocess.Popen(["tcpdump", "-i", "lo", "-n", "-U", "--immediate-mode", "-s", str(longest), "-B", "131072",
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
        """Ends a capture once all that was sent before is in it. More may follow: portd ends connections whose programs are gone."""
        last = os.urandom(16)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            sender.sendto(last, (SERVER, DISCARD))
        end = time.monotonic() + WAIT
        with open(path, "rb") as file:
            while last not in file.read():
                self.assertLess(time.monotonic(), end, "tcpdump does not see the last frame")
                file.seek(max(file.tell() - 1000, 0))
                time.sleep(0.005)
        tcpdump.terminate()
        self.assertIn("\n0 packets dropped by kernel", tcpdump.stderr.read())
        tcpdump.wait(WAIT)

    def wait_for(self, port, server):
        """Returns once a server waits for connections to a TCP port."""
        self.wait_until(lambda: is_listening(port), server, "the server does not listen")

    def wait_until(self, is_there, server, otherwise):
        """Returns once `is_there` says so; fails if it does not, or the server ends before."""
        end = time.monotonic() + self.patience
        while not is_there():
            self.assertIsNone(server.poll(), "the server ended")
            self.assertLess(time.monotonic(), end, otherwise)
            time.sleep(0.005)

    def until_said(self, process, text):
        """Reads what a program prints until there is `text` in it; fails if it ends before, or says nothing for too long."""
        said = []
        late = threading.Timer(self.patience, process.kill)
        late.start()
        self.addCleanup(late.cancel)
        for line in process.stdout:
            said.append(line)
            if text in line:
                late.cancel()
                return
        self.fail(f"{process.args} ended, and did not say {text!r}: {''.join(said)}")

    def run_ends(self, server_command, client_command, client_address=CLIENT, **environment):
        """Runs a server, and once that listens a client, to their ends; returns what the client printed."""
        server = self.start(SERVER, *server_command, **environment)
        self.wait_for(PORT, server)
        return self.ends(server, self.start(client_address, *client_command, **environment))[0]

    def ends(self, server, client):
        """Waits until both have ended, as they should; returns what the client printed, and the server."""
        try:
            shown, _ = client.communicate(timeout=self.patience)
            answer, _ = server.communicate(timeout=self.patience)
        except subprocess.TimeoutExpired:
            states = client.poll(), server.poll()
            client.kill()
            server.kill()
            self.fail(f"client and server have not ended (codes {states}): {client.communicate()[0]} {server.communicate()[0]}")
        self.assertEqual((client.returncode, server.returncode), (0, 0), f"{client.args} {shown} {answer}")
        return shown, answer

    def ask_until_served(self, server, command, address=CLIENT):
        """Runs a client until the server listens, which cannot be seen from outside; returns what it printed."""
        end = time.monotonic() + self.patience
        while True:
            client = self.start(address, *command)
            shown, _ = client.communicate(timeout=self.patience)
            if client.returncode == 0:
                return shown
            self.assertGreater(client.returncode, 0, "a signal has ended the client")
            self.assertRegex(shown, REFUSED)
            self.assertIsNone(server.poll(), shown)
            self.assertLess(time.monotonic(), end, shown)

    def connect_ends(self, server_command, client_command, client_address=CLIENT):
        """Runs a server and a client that connect by RDMA CM to their ends; returns what they printed."""
        server = self.start(SERVER, *server_command)
        # Requests that come before its roce-portd are lost, and sent again after four seconds.
        self.wait_until(lambda: receives_roce(SERVER), server, "the server does not receive RoCE")
        shown = self.ask_until_served(server, client_command, client_address)
        answer, _ = server.communicate(timeout=self.patience)
        self.assertEqual(server.returncode, 0, shown + answer)
        return shown, answer

    def run_pair(self, *program, client_address=CLIENT):
        """Runs a program as server and as client to the end; returns what the client printed."""
        return self.run_ends(program, [*program, SERVER], client_address)

    def judge(self, *program, client_address=CLIENT):
        """Runs a pair, and lets roce-analyze judge what was on the wire."""
        capture = self.capture()
        shown = self.run_pair(*program, client_address=client_address)
        self.judge_wire(*capture)
        return shown

    def judge_wire(self, tcpdump, path):
        """Ends a capture, and lets roce-analyze judge it, and a reader of its own every ICRC."""
        self.end(tcpdump, path)
        packets = [frame for frame in read_pcap(path) if frame.is_roce]
        self.assertGreater(len(packets), 0)
        self.assertEqual([frame.data.hex() for frame in packets if not frame.icrc_good][:3], [], "wrong ICRCs")
        summary = subprocess.run([self.roce_analyze, "summary", path], capture_output=True, text=True, check=False)
        self.assertEqual(summary.returncode, 0, summary.stdout + summary.stderr)
        self.assertIn("\nnothing wrong seen\n", summary.stdout)
