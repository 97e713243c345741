# SPDX-License-Identifier: BSD-2-Clause
"""roce-conform judges our libibverbs and librdmacm as it judges an RNIC: through roce-agent, a program of verbs, over roce-run.

usage: conformance_test.py ROCE_RUN ROCE_AGENT ROCE_CONFORM CASES PROFILE [UNITTEST ARGUMENT...]

A run has one instance of each case but those that wait for long timers; with ROCE_CONFORM_ALL=1 it has all instances.

Makes network namespaces, in a user namespace of its own, so that it needs no privilege; prints why and exits with 77 where that is
forbidden.
"""

import collections
import json
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "gen"))

from live import ENVIRONMENT, WAIT, Wire, enter_namespaces

DEVICE, ADDRESS = "roce_v", "10.9.0.2"
# The instance of a case that has found a fault, where it is not the first.
CHOSEN = {"inv-refused": "inv-refused[key=region,*]"}
SLOW = ("cm-req-again", "cm-flood", "cm-rep-again", "cm-mra", "pfc-storm")


class ConformanceTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.wire = Wire(4200)
        self.addCleanup(self.wire.close)
        self.socket = os.path.join(self.folder, "agent.sock")

    def agent(self):
        process = subprocess.Popen(self.wire.inside("b", ROCE_RUN, "--address", ADDRESS, ROCE_AGENT, "--device", DEVICE, "--control",
                                                    self.socket), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=ENVIRONMENT)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait, WAIT)
        self.addCleanup(process.terminate)
        # What it says of the limit of locked memory comes first, if that is small.
        said = next((line for line in process.stdout if "limit of locked memory" not in line), "")
        self.assertIn(f"{DEVICE} port 1", said)
        return process

    def chosen(self):
        if os.environ.get("ROCE_CONFORM_ALL"):
            return []
        listed = subprocess.run([ROCE_CONFORM, "list", "--json", CASES], capture_output=True, text=True, check=True).stdout
        names = [json.loads(line)["case"] for line in listed.splitlines()]
        return ["--quick", *(word for name in names if name not in SLOW for word in ("--only", CHOSEN.get(name, name)))]

    def check(self, passes, *arguments):
        """Runs cases, of which so many pass and none fails that a UDP socket can pass; the results of all."""
        path = os.path.join(self.folder, "results.json")
        run = subprocess.run(self.wire.inside("a", ROCE_CONFORM, "run", CASES, "-i", "v", "--device", PROFILE, "--json", path, "--failures", "0",
                                              *arguments), capture_output=True, text=True, check=False)
        self.assertEqual(run.stderr, "")
        with open(path, encoding="utf-8") as file:
            results = json.load(file)["results"]
        counts = collections.Counter(one["result"] for one in results)
        print(dict(counts), file=sys.stderr)
        # The profile names what a UDP socket cannot do.
        wrong = [one["case"] for one in results if one["result"] not in ("pass", "skip", "xfail", "inconclusive")]
        self.assertEqual(wrong, [], run.stdout)
        self.assertLessEqual(counts["inconclusive"], len(results) / 50, run.stdout)
        self.assertGreater(counts["pass"], passes, run.stdout)

    def test_the_library_is_an_rnic(self):
        self.agent()
        self.check(150, "--agent", self.socket, "--to-others", *self.chosen())

    def test_without_an_agent_through_a_program_of_librdmacm(self):
        ucmatose = shlex.join([ROCE_RUN, "--address", ADDRESS, "ucmatose", "-C", "100"])
        server = subprocess.Popen(self.wire.inside("b", "sh", "-c", f"while :; do {ucmatose}; done"), stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL, env=ENVIRONMENT, start_new_session=True)
        self.addCleanup(server.wait, WAIT)
        self.addCleanup(os.killpg, server.pid, signal.SIGKILL)
        everything = os.environ.get("ROCE_CONFORM_ALL")
        self.check(200 if everything else 20, "--server", "ucmatose", "--host", ADDRESS, *(() if everything else ("--quick",)))


if __name__ == "__main__":
    enter_namespaces("--map-user=1000", "--map-group=1000", "--keep-caps")
    ROCE_RUN, ROCE_AGENT, ROCE_CONFORM, CASES, PROFILE = (os.path.abspath(sys.argv.pop(1)) for _ in range(5))
    unittest.main()
