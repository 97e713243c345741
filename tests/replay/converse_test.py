#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""roce-replay converse: captured connections once more, with roce-gen peer and with ping-pong programs.

usage: converse_test.py ROCE-REPLAY ROCE-GEN CAPTURES
"""

import json
import os
import struct
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "gen"))
# pylint: disable=wrong-import-position
from live import WAIT, Program, RelayedWire, Wire, enter_namespaces

REPLAY, GEN, CAPTURES = sys.argv[1:4] if len(sys.argv) > 3 else ("", "", "")
# Guest b of the captures, which sent the first request.
MIX = ("rc-mix-v4", "rc-mix-v6", "rc-mtu-sweep", "rc-psn-wrap", "rc-drop-random", "rc-duplicate", "rc-send-inv")


def capture(name):
    return os.path.join(CAPTURES, "softroce", f"{name}.tx.pcap")


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory())
        self.socket = os.path.join(self.folder, "peer.sock")

    def replay(self, namespaces, *words, interface="v", text=""):
        """Runs converse in namespace a: exit code, what it printed as JSON, and its errors."""
        run = subprocess.run(namespaces.inside("a", REPLAY, "converse", "-i", interface, "--json", *map(str, words)),
                             capture_output=True, text=True, input=text, timeout=WAIT, check=False)
        return run.returncode, [json.loads(line) for line in run.stdout.splitlines()], run.stderr

    def peer(self, namespaces, *words, interface="v"):
        peer = Program(GEN, namespaces, "b", "peer", "-i", interface, "--control", self.socket, *map(str, words))
        self.addCleanup(peer.end)
        return peer

    def assert_all_done(self, code, said, errors):
        """Each conversation came to its end, with the captured data. Returns their reports."""
        played = [report for report in said if report["event"] == "conversation"]
        self.assertEqual(code, 0, (played, errors))
        self.assertTrue(played, said)
        for report in played:
            self.assertTrue(report["ok"], report)
            self.assertEqual(report["requests_completed"] + report["messages_arrived"], report["all"], report)
            self.assertEqual(report["differences"], [])
        return played


class WithPeer(Case):
    """A roce-gen peer is told what the other side does."""

    @classmethod
    def setUpClass(cls):
        cls.wire = Wire(9000)
        cls.addClassCleanup(cls.wire.close)

    def test_each_capture_from_both_sides(self):
        self.peer(self.wire)
        for name in MIX:
            for side in ("requester", "responder"):
                with self.subTest(name, side=side):
                    played = self.assert_all_done(*self.replay(self.wire, "--as", side, "--control", self.socket, capture(name)))
                    self.assertGreater(sum(report["compared_bytes"] for report in played), 1000)

    def test_a_refused_request_is_refused_again(self):
        self.peer(self.wire)
        code, said, errors = self.replay(self.wire, "--control", self.socket, "--speed", 0, capture("rc-errors"))
        played = [report for report in said if report["event"] == "conversation"]
        self.assertEqual(len(played), 8, (code, said, errors))
        # In the last one the receiver had posted a receive with a wrong key, which nothing on the wire tells.
        self.assertEqual([report["ok"] for report in played], [True] * 7 + [False], played)
        self.assertEqual(code, 1)
        self.assertIn("in the capture it was refused", played[-1]["differences"][-1]["text"] + played[-1]["differences"][0]["text"])

    def test_a_missing_peer_is_told(self):
        code, _, errors = self.replay(self.wire, "--control", self.socket, capture("rc-mix-v4"))
        self.assertEqual(code, 2)
        self.assertIn("no peer listens on", errors)


class ThroughRelay(Case):
    def test_with_loss(self):
        wire = RelayedWire()
        self.addCleanup(wire.close)
        relay = Program(GEN, wire, "m", "relay", "-i", "ra", "-o", "rb", "-e", "drop:probability=0.05", "--seed", "1")
        self.addCleanup(relay.end)
        self.peer(wire, interface="vb")
        for side in ("requester", "responder"):
            with self.subTest(side):
                played = self.assert_all_done(*self.replay(wire, "--as", side, "--control", self.socket, "--mtu", 256,
                                                           capture("rc-mix-v4"), interface="va"))
                self.assertGreater(played[0]["retransmissions"]["live"], 0, "nothing was lost")


    def test_the_peer_misses_the_last_acknowledgement(self):
        wire = RelayedWire()
        self.addCleanup(wire.close)
        relay = Program(GEN, wire, "m", "relay", "-i", "ra", "-o", "rb", "-e", "drop:dir=a_to_b,op=ack,nth=20")
        self.addCleanup(relay.end)
        peer = self.peer(wire, "-k", "rc", "-n", 20, "-s", 3000, "-m", 1024, "--once", interface="vb")
        self.assert_all_done(*self.replay(wire, "--pingpong", 18515, "--to", "10.9.0.2", capture("pp-rc-drop"), interface="va"))
        code, last = peer.result()
        self.assertEqual((code, last["last_ack_missing"]), (0, False), last)


class BothEnds(Case):
    """Both sides are converse: each finds that the other does what it did in the capture."""

    @classmethod
    def setUpClass(cls):
        cls.wire = Wire(9000)
        cls.addClassCleanup(cls.wire.close)

    def assert_both_done(self, name, *how):
        responder = Program(REPLAY, self.wire, "b", "converse", "-i", "v", "--as", "responder", *how, capture(name))
        self.addCleanup(responder.end)
        while not any(note["event"] == "listening" for note in responder.notes):
            responder.notes.append(json.loads(responder.process.stdout.readline()))
        requester = self.assert_all_done(*self.replay(self.wire, *how, "--to", "10.9.0.2", capture(name)))
        code, last = responder.result()
        return requester + self.assert_all_done(code, [last], "")

    def test_by_pingpong(self):
        for played in self.assert_both_done("pp-rc-drop", "--pingpong", "18515"):
            self.assertEqual((played["requests_completed"], played["messages_arrived"]), (20, 20))

    def test_by_cm(self):
        for played in self.assert_both_done("cm-ucmatose", "--cm", "7471"):
            self.assertEqual((played["requests_completed"], played["messages_arrived"]), (3, 3))


class WithPingpong(Case):
    """A program that nobody tells what to do: its messages come as they were captured, or it is said."""

    @classmethod
    def setUpClass(cls):
        cls.wire = Wire(1500)
        cls.addClassCleanup(cls.wire.close)

    def test_as_requester(self):
        self.peer(self.wire, "-k", "rc", "-n", 20, "-s", 3000, "-m", 1024)
        played = self.assert_all_done(*self.replay(self.wire, "--pingpong", 18515, "--to", "10.9.0.2", capture("pp-rc-drop")))
        self.assertEqual(played[0]["messages_arrived"], 20)

    def test_other_data_are_differences(self):
        ours = Program(REPLAY, self.wire, "a", "converse", "-i", "v", "--as", "responder", "--pingpong", "18515", capture("pp-rc-drop"))
        self.addCleanup(ours.end)
        while json.loads(ours.process.stdout.readline())["event"] != "listening":
            pass
        # Each of its messages has data of its own.
        theirs = subprocess.run(self.wire.inside("b", GEN, "pingpong", "-i", "v", "--json", "-k", "rc", "-n", "20", "-s", "3000", "-m",
                                                 "1024", "10.9.0.1"), capture_output=True, text=True, timeout=WAIT, check=False)
        self.assertEqual(theirs.returncode, 0, theirs.stderr)
        code, report = ours.result()
        self.assertEqual((code, report["ok"], report["requests_completed"], report["difference_count"]), (1, False, 20, 20), report)
        self.assertIn("other data than in the capture came", report["differences"][0]["text"])

    def test_messages_of_other_lengths_are_differences(self):
        self.peer(self.wire, "-k", "rc", "-n", 20, "-s", 2000, "-m", 1024)
        code, said, _ = self.replay(self.wire, "--pingpong", 18515, "--to", "10.9.0.2", "--silence", 1, capture("pp-rc-drop"))
        self.assertEqual(code, 1)
        report = said[-1]
        self.assertFalse(report["ok"], report)
        # Its receives are too short.
        self.assertIn("remote invalid request error", report["differences"][0]["text"])

    def test_a_program_that_is_not_there(self):
        code, _, errors = self.replay(self.wire, "--pingpong", 18999, "--to", "10.9.0.2", capture("pp-rc-drop"))
        self.assertEqual(code, 1)
        self.assertIn("cannot connect", errors)


class NothingToDo(Case):
    @classmethod
    def setUpClass(cls):
        cls.wire = Wire(1500)
        cls.addClassCleanup(cls.wire.close)

    def test_no_roce_in_the_file(self):
        path = os.path.join(self.folder, "arp.pcap")
        arp = b"\xff" * 6 + bytes.fromhex("020000000001") + b"\x08\x06" + bytes(28)
        with open(path, "wb") as file:
            file.write(struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1) + struct.pack("<IIII", 1, 0, len(arp), len(arp)) + arp)
        code, _, errors = self.replay(self.wire, "--control", self.socket, path)
        self.assertEqual(code, 2)
        self.assertIn("there is no RoCE packet in it", errors)

    def test_no_reliable_connection_in_the_file(self):
        code, _, errors = self.replay(self.wire, "--control", self.socket, capture("ud-mix"))
        self.assertEqual(code, 2)
        self.assertIn("no RC connection in it can be done again", errors)

    def test_memory_of_a_program_is_asked_for(self):
        code, said, errors = self.replay(self.wire, "--pingpong", 18515, "--to", "10.9.0.2", capture("rc-mix-v4"))
        self.assertEqual(code, 2)
        self.assertIn("no RC connection in it can be done again", errors)
        self.assertIn("--remote-memory", said[-1]["why"][0])

    def test_numbers_of_the_peer_that_are_none(self):
        for text, why in (("0x1000000 5\n", "expected \"QPN PSN\" on standard input"), ("12 x\n", "got \"12 x\""),
                          ("12", "expected \"QPN PSN\" on standard input"), ("", "expected \"QPN PSN\" on standard input")):
            with self.subTest(text):
                code, _, errors = self.replay(self.wire, "--to", "10.9.0.2", capture("pp-rc-drop"), text=text)
                self.assertEqual(code, 1)
                self.assertIn(why, errors)

    def test_a_peer_that_does_not_answer(self):
        code, said, _ = self.replay(self.wire, "--to", "10.9.0.2", capture("pp-rc-drop"), text="100 5\n")
        self.assertEqual(code, 1)
        report = said[-1]
        self.assertEqual((report["ok"], report["requests_completed"]), (False, 0), report)
        self.assertIn("transport retry counter exceeded", report["error"])

    def test_only_a_dry_run_needs_no_interface(self):
        command = [REPLAY, "converse", "--control", self.socket, capture("pp-rc-drop")]
        live = subprocess.run(command, capture_output=True, text=True, timeout=60)
        self.assertEqual((live.returncode, live.stdout), (2, ""))
        self.assertIn("-i IFACE", live.stderr)
        self.assertEqual(subprocess.run([*command, "--dry-run"], stdout=subprocess.DEVNULL, timeout=60).returncode, 0)

    def test_where_to_connect_is_asked_for(self):
        code, _, errors = self.replay(self.wire, capture("rc-mix-v4"))
        self.assertEqual(code, 2)
        self.assertIn("say how to reach the peer", errors)

    def test_rubbish(self):
        rubbish = os.path.join(self.folder, "rubbish")
        with open(rubbish, "wb") as file:
            file.write(os.urandom(1000))
        code, _, errors = self.replay(self.wire, "--control", self.socket, rubbish)
        self.assertEqual(code, 1, errors)


if __name__ == "__main__":
    enter_namespaces()
    unittest.main(argv=sys.argv[:1], verbosity=2)
