# SPDX-License-Identifier: BSD-2-Clause
"""A guest that dies at a random moment while roce-conform judges it, and comes back."""

import os
import random
import select

from conformance_cases import Reviving

WAIT = 600  # seconds, for a run with a boot in its middle


class DeathCases(Reviving):
    def test_what_was_found_is_kept_and_the_rest_runs(self):
        question, hook = self.ask_here()
        with open(os.path.join(self.folder, "output"), "w+", encoding="utf-8") as output:
            run, end = self.started(self.command("--quick", "--recover-command", hook, "--recover-time", "120s", "--failures", "0"),
                                    stdout=output)
            self.assertEqual(select.select([question, end], [], [], random.uniform(3, 20))[0], [], "it asks for help, or ends, too early")
            self.guest.kill()
            self.assertEqual(select.select([question, end], [], [], WAIT)[0], [question], "it does not ask for help")
            damage = self.revive(question)
            run.wait(WAIT)
            output.seek(0)
            said = output.read()
        verdicts = {one["result"] for one in self.results()["results"]}
        self.assertLessEqual(verdicts, {"pass", "skip", "xfail"}, said)
        self.assertEqual(run.returncode, 0, said)
        self.assertIn("the device died while these ran, and did not when each ran again alone: ", said)
        print(damage.splitlines()[0], flush=True)
