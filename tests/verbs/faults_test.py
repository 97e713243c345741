# SPDX-License-Identifier: BSD-2-Clause
"""Programs of others over our libibverbs and librdmacm, with a relay between them that loses, copies, damages and delays packets:
they end as well as without it, and those that look at their data find them whole.

usage: faults_test.py ROCE_RUN ROCE_GEN [UNITTEST ARGUMENT...]

Makes network namespaces, in a user namespace of its own, so that it needs no privilege; prints why and exits with 77 where that is
forbidden.
"""

import os
import re
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "gen"))

from live import ENVIRONMENT, WAIT, Program, RelayedWire, enter_namespaces

SERVER, CLIENT = "10.9.0.1", "10.9.0.2"
FAULTS = ("drop:probability=0.01", "duplicate:probability=0.05", "corrupt:probability=0.02", "delay:probability=0.02,by=1ms")
# How the end of a pair fails, with any RNIC, if the acknowledgement of its last message is lost and the other end has left.
OTHER_END_LEFT = "transport retry counter exceeded"
# A client prints one of these when its server does not listen yet.
REFUSED = re.compile(r"REJECTED|Connection refused|Couldn't connect|Unable to")
# Server and client; -V and -c look at the data. With one connection a client that is refused has left nothing at the server.
PROGRAMS = (
    (["rping", "-s", "-a", SERVER, "-C", "60", "-V", "-S", "6000"], ["rping", "-c", "-a", SERVER, "-C", "60", "-V", "-S", "6000"]),
    (["ucmatose", "-C", "100", "-S", "3000"], ["ucmatose", "-C", "100", "-S", "3000", "-s", SERVER]),
    (["ibv_rc_pingpong", "-g", "0", "-c", "-n", "200"], ["ibv_rc_pingpong", "-g", "0", "-c", "-n", "200", SERVER]),
    (["ibv_xsrq_pingpong", "-g", "0", "-n", "50"], ["ibv_xsrq_pingpong", "-g", "0", "-n", "50", SERVER]),
    (["ib_read_bw", "-n", "50"], ["ib_read_bw", "-n", "50", SERVER]),
)


class FaultsTest(unittest.TestCase):
    def setUp(self):
        self.network = RelayedWire()
        self.addCleanup(self.network.close)
        for end in "ab":
            # So that the relay chooses among packets, not among super-frames.
            self.network.cut_when_sending(end, f"v{end}")

    def start(self, end, address, command):
        process = subprocess.Popen(self.network.inside(end, ROCE_RUN, "--address", address, *command), stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True, env=ENVIRONMENT)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait, WAIT)
        self.addCleanup(process.kill)
        return process

    def run_pair(self, server_command, client_command, tries=3):
        server = self.start("a", SERVER, server_command)
        end = time.monotonic() + WAIT
        while True:
            client = self.start("b", CLIENT, client_command)
            shown = client.stdout.read()
            if client.wait(WAIT) == 0 or OTHER_END_LEFT in shown:
                break
            self.assertRegex(shown, REFUSED)
            self.assertLess(time.monotonic(), end, shown)
        answer = server.stdout.read()
        server.wait(WAIT)
        failed = [said for end, said in ((server, answer), (client, shown)) if end.returncode != 0]
        if len(failed) == 1 and tries > 1 and OTHER_END_LEFT in failed[0]:
            print(f"{server_command[0]} is run again: {failed[0].splitlines()[0]}", file=sys.stderr)
            self.run_pair(server_command, client_command, tries - 1)
        else:
            self.assertEqual(failed, [])

    def test_programs_end_well(self):
        for fault in FAULTS:
            relay = Program(ROCE_GEN, self.network, "m", "relay", "-i", "ra", "-o", "rb", "-e", fault)
            self.addCleanup(relay.end)
            for server, client in PROGRAMS:
                with self.subTest(fault=fault, program=server[0]):
                    self.run_pair(server, client)
            code, totals = relay.result(signal.SIGTERM)
            self.assertEqual(code, 0)
            done = totals["rules"][0]
            self.assertGreater(min(done["a_to_b"], done["b_to_a"]), 0, totals)


if __name__ == "__main__":
    enter_namespaces("--map-user=1000", "--map-group=1000", "--keep-caps")
    ROCE_RUN, ROCE_GEN = (os.path.abspath(sys.argv.pop(1)) for _ in range(2))
    unittest.main()
