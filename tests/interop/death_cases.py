# SPDX-License-Identifier: BSD-2-Clause
"""A guest that dies at a random moment while roce-conform judges it, and comes back."""

import os
import random
import select
import subprocess

from conformance_cases import Judged

WAIT = 600  # seconds, for a run with a boot in its middle


class DeathCases(Judged):
    def boot(self):
        # What ran in the old one is gone with it.
        self._processes.clear()
        self.guest.start_anew()
        type(self).setUpClass()
        self.make_ready()

    def test_what_was_found_is_kept_and_the_rest_runs(self):
        asks, is_up = (os.path.join(self.folder, name) for name in ("asks", "is_up"))
        for path in (asks, is_up):
            os.mkfifo(path)
        question = os.open(asks, os.O_RDWR | os.O_NONBLOCK)
        self.addCleanup(os.close, question)
        hook = f'echo "$ROCE_DAMAGE: $ROCE_INSTANCES" >{asks}; cat {is_up}'
        with open(os.path.join(self.folder, "output"), "w+", encoding="utf-8") as output:
            run = self.network.host.popen(self.command("--quick", "--recover-command", hook, "--recover-time", "120s", "--failures", "0"),
                                          stdout=output, stderr=subprocess.STDOUT)
            self.addCleanup(run.kill)
            end = os.pidfd_open(run.pid)
            self.addCleanup(os.close, end)
            self.assertEqual(select.select([question, end], [], [], random.uniform(3, 20))[0], [], "it asks for help, or ends, too early")
            self.guest.kill()
            self.assertEqual(select.select([question, end], [], [], WAIT)[0], [question], "it does not ask for help")
            damage = os.read(question, 1 << 16).decode()
            self.boot()
            os.close(os.open(is_up, os.O_WRONLY | os.O_NONBLOCK))
            run.wait(WAIT)
            output.seek(0)
            said = output.read()
        verdicts = {one["result"] for one in self.results()["results"]}
        self.assertLessEqual(verdicts, {"pass", "skip", "xfail"}, said)
        self.assertEqual(run.returncode, 0, said)
        self.assertIn("the device died while these ran, and did not when each ran again alone: ", said)
        print(damage.splitlines()[0], flush=True)
