# SPDX-License-Identifier: BSD-2-Clause
"""A guest that dies at a random moment while roce-conform judges it, and comes back."""

import contextlib
import os
import random
import subprocess
import time

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
        hook = f'echo "$ROCE_DAMAGE: $ROCE_INSTANCES" >{asks}.new; mv {asks}.new {asks}; until [ -e {is_up} ]; do sleep 0.1; done; rm {is_up}'
        moment = time.monotonic() + random.uniform(3, 20)
        is_alive, told = True, []
        with open(os.path.join(self.folder, "output"), "w+", encoding="utf-8") as output:
            run = self.network.host.popen(self.command("--quick", "--recover-command", hook, "--recover-time", "120s", "--failures", "0"),
                                          stdout=output, stderr=subprocess.STDOUT)
            end = time.monotonic() + WAIT
            while run.poll() is None and time.monotonic() < end:
                if is_alive and time.monotonic() > moment:
                    self.guest.kill()
                    is_alive = False
                with contextlib.suppress(FileNotFoundError):
                    with open(asks, encoding="utf-8") as file:
                        told.append(file.read())
                    os.unlink(asks)
                    self.boot()
                    with open(is_up, "w", encoding="ascii"):
                        pass
                time.sleep(0.1)
            run.kill()
            run.wait()
            output.seek(0)
            said = output.read()
        self.assertEqual(len(told), 1, said)
        self.assertFalse(is_alive)
        verdicts = {one["result"] for one in self.results()["results"]}
        self.assertLessEqual(verdicts, {"pass", "skip", "xfail"}, said)
        self.assertEqual(run.returncode, 0, said)
        self.assertIn("the device died while these ran, and did not when each ran again alone: ", said)
        print(told[0].splitlines()[0], flush=True)
