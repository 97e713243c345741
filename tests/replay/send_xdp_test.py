# SPDX-License-Identifier: BSD-2-Clause
"""`roce-replay send --link xdp`: what arrives is what the file holds.

usage: send_xdp_test.py ROCE_REPLAY CAPTURES_FOLDER [UNITTEST ARGUMENT...]

Needs root of the host, since BPF programs are not for user namespaces; prints why and exits with 77 where it is not.
"""

import os
import pathlib
import sys
import unittest

import send_test
from send_test import read_pcap

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "gen"))
from live import enter_network_of_the_host  # noqa: E402


class Xdp(send_test.Interfaces):
    def test_what_arrives_is_what_the_file_holds(self):
        given = [record.bytes for record in read_pcap(self.capture)]
        for mode in ("native", "generic"):
            with self.subTest(mode):
                listener = self.listener()
                said = self.live(self.capture, "-i", "v", "--pps", 5000, "--link", "xdp", "--xdp-mode", mode)
                self.assertEqual(listener.wait_for(len(given)), given)
                self.assertEqual((said["frames"], said["refused"]), (len(given), 0))

    def test_loops_arrive_as_they_are_written(self):
        expected = [record.bytes for record in self.write(self.capture, "--loops", 3)]
        listener = self.listener()
        self.live(self.capture, "-i", "v", "--loops", 3, "--topspeed", "--stream", "--link", "xdp")
        self.assertEqual(listener.wait_for(len(expected)), expected)

    def test_a_link_that_goes_down_ends_it_with_what_was_sent(self):
        listener = self.listener()
        program = self.start(self.capture, "-i", "v", "--loops", 0, "--pps", 500, "--link", "xdp")
        listener.wait_for(20)
        self.space.ip("a", "link", "set", "v", "down")
        self.assertEqual(program.process.wait(send_test.WAIT), 1)
        self.assertIn("v went down", program.process.stderr.read())


if __name__ == "__main__":
    send_test.PROGRAM = os.path.abspath(sys.argv[1])
    send_test.CAPTURES = pathlib.Path(sys.argv[2]).resolve()
    enter_network_of_the_host()
    del sys.argv[1:3]
    unittest.main()
