# SPDX-License-Identifier: BSD-2-Clause
"""roce-conform without an agent: roce-gen as the server program in a namespace beside its own.

usage: server_test.py ROCE_CONFORM ROCE_GEN CASES [UNITTEST ARGUMENT...]

Makes the namespaces itself, in a user namespace of its own, so that it needs no privilege; prints why and exits with 77 where
that is forbidden.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "gen"))

from live import Program, Wire, enter_namespaces

HOST = "10.9.0.2"


class ServerTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="roce-server-")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.wire = Wire(4200)
        cls.addClassCleanup(cls.wire.close)

    def peer(self, *arguments):
        program = Program(ROCE_GEN, self.wire, "b", "peer", "-i", "v", "--control", os.path.join(self.folder, "control.sock"), *arguments)
        # It tells of each client, and would wait for a reader of a full pipe.
        reader = threading.Thread(target=lambda: [None for _ in program.process.stdout])
        reader.start()
        self.addCleanup(program.end)
        self.addCleanup(reader.join)
        self.addCleanup(program.process.kill)
        return program

    def conform(self, server, *arguments, host=HOST):
        """A run of roce-conform in namespace a, and the results that it wrote."""
        path = os.path.join(self.folder, "results.json")
        command = self.wire.inside("a", ROCE_CONFORM, "run", CASES, "-i", "v", "--server", server, "--host", host, "--json", path, *arguments)
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        if not os.path.exists(path):
            return run, []
        with open(path, encoding="utf-8") as file:
            results = json.load(file)["results"]
        os.remove(path)
        return run, results


class Verdicts(ServerTest):
    def check(self, server, *peer):
        self.peer(*peer)
        run, results = self.conform(server, "--only", "psn-gap")
        self.assertEqual(({one["result"] for one in results}, run.returncode, run.stderr), ({"pass"}, 0, ""), run.stdout[-3000:])

    def test_a_gap_at_a_pingpong_server(self):
        self.check("ibv_rc_pingpong", "--no-compare")

    def test_a_gap_at_perftest(self):
        self.check("ib_write_bw", "--perftest", "ib_write_bw")


if __name__ == "__main__":
    enter_namespaces()
    ROCE_CONFORM, ROCE_GEN, CASES = (os.path.abspath(argument) for argument in sys.argv[1:4])
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
