#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""roce-replay converse on a simulated wire with a time of its own: the same seeds, the same bytes at the same times.

usage: converse_stream_test.py ROCE-REPLAY CAPTURES
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "gen"))
# pylint: disable=wrong-import-position
from stream_simulator import WAIT, Stream, Wire, listener

REPLAY, CAPTURES = sys.argv[1:3] if len(sys.argv) > 2 else ("", "")
ADDRESSES = {"requester": "192.0.2.1", "responder": "192.0.2.7"}
OTHER = {"requester": "responder", "responder": "requester"}


class OnSimulatedWire(unittest.TestCase):
    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory())

    def start(self, side, name, *how):
        """A program that connected to us, and our stream to it."""
        path = os.path.join(self.folder, f"{side}.sock")
        with listener(path) as listening:
            process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", REPLAY, "converse", "--json", "--as", side, "--link", "stream", "-i", path, "--ip",
                 ADDRESSES[side] + "/24", "--seed", str(len(side)), *map(str, how), os.path.join(CAPTURES, "softroce", name)],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            self.addCleanup(lambda: (process.kill(), process.communicate()))
            connection, _ = listening.accept()
        self.addCleanup(connection.close)
        return process, Stream(connection)

    def converse(self, name, how):
        """Runs both sides: exit codes and lines of each, and what was on the wire."""
        started = {side: self.start(side, name, *how(side)) for side in ("responder", "requester")}
        wire = Wire([stream for _, stream in started.values()])
        wire.run()
        ended = {}
        for side, (process, _) in started.items():
            out, err = process.communicate(timeout=WAIT)
            ended[side] = (process.returncode, [json.loads(line) for line in out.splitlines()], err)
        return ended, wire.log

    def test_numbers_follow_from_the_seeds(self):
        def nowhere(side):
            return "--to", ADDRESSES[OTHER[side]], "--remote-qp", 0x999999, "--remote-psn", 0

        ended, _ = self.converse("pp-rc-drop.tx.pcap", nowhere)
        numbers = {side: next(line for line in lines if line["event"] == "queue_pair") for side, (_, lines, _) in ended.items()}

        def known(side):
            other = numbers[OTHER[side]]
            return "--to", other["gid"], "--remote-qp", other["qp"], "--remote-psn", other["psn"]

        first, second = self.converse("pp-rc-drop.tx.pcap", known), self.converse("pp-rc-drop.tx.pcap", known)
        for side, (code, lines, err) in first[0].items():
            self.assertEqual((code, lines[-1]["ok"], lines[-1]["difference_count"]), (0, True, 0), (side, lines, err))
        self.assertGreater(len(first[1]), 100)
        self.assertEqual(first, second)

    def test_connections_by_cm_follow_from_the_seeds(self):
        def by_cm(side):
            return ("--cm", 7471, "--to", ADDRESSES["responder"]) if side == "requester" else ("--cm", 7471)

        first, second = self.converse("cm-ucmatose.tx.pcap", by_cm), self.converse("cm-ucmatose.tx.pcap", by_cm)
        for side, (code, lines, err) in first[0].items():
            self.assertEqual((code, lines[-1]["ok"]), (0, True), (side, lines, err))
        self.assertEqual(first, second)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
