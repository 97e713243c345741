# SPDX-License-Identifier: BSD-2-Clause
"""Tests that make captures and look at what `roce-analyze summary` says first."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "..", "analysis"))

from roce_frames import write_pcap  # noqa: E402

MS = 10**6
START = 1_795_213_331 * 10**9
TRIES = 8
TIMEOUT = 67 * MS


class Summary(unittest.TestCase):
    tool = ""
    snap_length = None

    def setUp(self):
        # pylint: disable=consider-using-with
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def summary(self, frames, *words, check=True):
        """`frames`: pairs of time in ns after the start and bytes."""
        path = os.path.join(self.folder.name, "made.pcap")
        write_pcap(path, [(START + time, data) for time, data in sorted(frames, key=lambda frame: frame[0])],
                   self.snap_length)
        run = subprocess.run([self.tool, "summary", "--json", *words, path], check=check, capture_output=True, text=True)
        return json.loads(run.stdout)

    def causes(self, summary, name="never_worked"):
        return [statement for statement in summary["statements"] if statement.get("cause") == name]

    def first(self, frames, name="never_worked", *words):
        """The facts of the first statement, which is to name this cause, and its text."""
        summary = self.summary(frames, *words)
        statement = summary["statements"][0]
        self.assertEqual(statement.get("cause"), name, summary["statements"])
        self.assertEqual(summary["verdict"], statement["text"])
        self.assertFalse(summary["clean"])
        self.assertEqual(self.followed(len(frames), *words), summary, "what is followed does not say the same before its end")
        return statement["facts"], statement["text"]

    def followed(self, frames, *words):
        """What is said of the last capture when all its frames were read and it could still go on."""
        path = os.path.join(self.folder.name, "made.pcap")
        with subprocess.Popen([self.tool, "summary", "--follow", "--json", *words, path], stdout=subprocess.PIPE, text=True) as run:
            watch = threading.Timer(60, run.kill)
            watch.start()
            so_far = json.loads(run.stdout.readline())
            while so_far["capture"]["frames"] < frames:
                so_far = json.loads(run.stdout.readline())
            run.send_signal(signal.SIGINT)
            run.stdout.read()
            self.assertEqual(run.wait(), 0)
            watch.cancel()
        return so_far

    def assert_silent(self, frames, *names):
        summary = self.summary(frames)
        for name in names or ("never_worked", "undelivered"):
            self.assertEqual(self.causes(summary, name), [])
        return summary


def tries(host, other, qp, psn, begin=0, count=TRIES, **more):
    """A request that is sent again and again."""
    return [(begin + i * TIMEOUT, host.send(other, qp, psn, **more)) for i in range(count)]


def conversation(host, other, begin=0, count=20, qps=(0x21, 0x22), psn=1000, gap=MS):
    """Requests that are answered."""
    frames = []
    for i in range(count):
        frames.append((begin + i * gap, host.send(other, qps[1], psn + i)))
        frames.append((begin + i * gap + 20_000, other.answer(host, qps[0], psn + i, i + 1)))
    return frames
