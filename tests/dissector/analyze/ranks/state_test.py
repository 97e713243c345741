# SPDX-License-Identifier: BSD-2-Clause
"""A job of `roce-analyze-mpi --state` that is killed goes on from its finished shares, with any number of ranks.

usage: state_test.py ROCE_ANALYZE_MPI ROCE_ANALYZE CAPTURES [UNITTEST ARGUMENT...]

ROCE_RANKS_KILLS is the number of jobs that are killed (4).
"""

import fcntl
import os
import random
import signal
import subprocess
import sys
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import ranks_test  # noqa: E402
from ranks_test import COMMANDS, MPIRUN, run, said  # noqa: E402

KILLS = int(os.environ.get("ROCE_RANKS_KILLS", "4"))
SHARES = 48


def ranks_of(mpirun):
    """The processes of the ranks, which are children of mpirun."""
    found = []
    for name in os.listdir("/proc"):
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8") as file:
                parent = file.read().rsplit(")", 1)[1].split()[1]
            if name.isdigit() and int(parent) == mpirun and os.readlink(f"/proc/{name}/exe") == os.path.realpath(ranks_test.PROGRAM):
                found.append(int(name))
        except OSError:
            pass
    return found


class State(ranks_test.Pieces):
    def setUp(self):
        super().setUp()
        self.state = os.path.join(self.folder, "state")

    def job(self, n, *words, shares=SHARES):
        return [*MPIRUN, "-n", str(n), ranks_test.PROGRAM, "--state", self.state, "--shares", str(shares), *words]

    def finished(self):
        """When each share that is whole was written."""
        try:
            with os.scandir(self.state) as entries:
                return {entry.name: entry.stat().st_mtime_ns for entry in entries
                        if entry.name.startswith("share-") and not entry.name.endswith(".partial")}
        except FileNotFoundError:
            return {}

    def killed(self, command, until, chance, whole):
        """Kills a rank once so many shares are finished. False if the job ended before. It shows `whole`, or nothing."""
        with subprocess.Popen(command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              env={**os.environ, "OMPI_MCA_mpi_yield_when_idle": "1"}) as job:
            while job.poll() is None:
                ranks = ranks_of(job.pid)
                if len(self.finished()) >= until and ranks:
                    try:
                        os.kill(chance.choice(ranks), signal.SIGKILL)
                    except ProcessLookupError:
                        break
                    break
                time.sleep(0.001)
            shown = job.communicate(timeout=120)[0]
            # A rank that is killed when it has nothing left to do takes nothing away.
            self.assertIn(shown, (b"", whole) if job.returncode != 0 else (whole,))
            return job.returncode != 0

    def test_a_job_that_is_killed_goes_on(self):
        killed = 0
        for seed in range(KILLS):
            with self.subTest(seed=seed):
                chance = random.Random(seed)
                command = chance.choice(COMMANDS)
                words = [*command, *self.pieces(seed)]
                self.state = os.path.join(self.folder, f"state-{seed}")
                before, after = chance.sample((1, 2, 3, 5), 2)
                one = run([ranks_test.ONE, *words], self.folder)
                killed += self.killed(self.job(before, *words), chance.randrange(SHARES - 1), chance, one.stdout)
                kept = self.finished()
                done = run(self.job(after, *words), self.folder)
                self.assertEqual((done.stdout, done.returncode), (one.stdout, one.returncode), done.stderr.decode())
                self.assertEqual(said(done.stderr), said(one.stderr))
                now = self.finished()
                self.assertEqual(len(now), SHARES - 1)
                self.assertEqual({name: now[name] for name in kept}, kept, "a finished share was made again")
        self.assertGreaterEqual(killed, KILLS // 2, "most jobs ended before they were killed")

    def refused(self, command, what):
        done = run(command, self.folder)
        lines = said(done.stderr)
        self.assertEqual((done.returncode, done.stdout, len(lines)), (1, b"", 1), done.stderr.decode())
        self.assertRegex(lines[0], what)

    def test_the_folder_of_another_job_is_refused(self):
        words = self.pieces(1)
        self.assertEqual(run(self.job(2, "streams", "--json", *words), self.folder).returncode, 0)
        self.refused(self.job(2, "events", "--json", *words), "is of another job: expected .*events.*, found .*streams.*; give another --state")
        self.refused(self.job(2, "streams", "--json", *words, shares=5), "expected 5 shares, found 48 shares")
        first = words[0].split("=")[2].split(",")[0]
        with open(os.path.join(self.folder, first), "r+b") as file:
            file.seek(50)
            file.write(b"?")
        self.refused(self.job(2, "streams", "--json", *words), f"is of another job: expected {first} ")

    def test_a_damaged_share_is_made_again(self):
        words = ["streams", "--json", *self.pieces(2)]
        one = run([ranks_test.ONE, *words], self.folder)
        self.assertEqual(run(self.job(2, *words), self.folder).stdout, one.stdout)
        before = self.finished()
        for share, size in ((3, 40), (7, 0)):
            os.truncate(os.path.join(self.state, f"share-{share}"), size)
        with open(os.path.join(self.state, "share-9"), "r+b") as file:
            file.seek(60)
            file.write(b"damaged")
        done = run(self.job(3, *words), self.folder)
        self.assertEqual((done.stdout, done.returncode), (one.stdout, 0), done.stderr.decode())
        after = self.finished()
        self.assertEqual({name for name in after if after[name] != before[name]}, {"share-3", "share-7", "share-9"})

    def test_a_folder_that_cannot_be_used(self):
        words = ["summary", *self.pieces(3)]
        self.write("state", b"")
        self.refused(self.job(2, *words), "state cannot be made|state/lock cannot be written")
        os.remove(self.state)
        os.mkdir(self.state)
        with open(os.path.join(self.state, "lock"), "w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.refused(self.job(2, *words), "another job works in .*: wait for it, or give another --state")
        self.assertEqual(run(self.job(2, *words), self.folder).returncode, 0)

    def test_a_full_disk(self):
        words = ["events", "--json", *self.pieces(4)]
        os.mkdir(self.state)
        inside = ["unshare", "--map-root-user", "--mount", "sh", "-c", 'mount -t tmpfs -o size=64k none "$0" && exec "$@"', self.state]
        if subprocess.run([*inside, "true"], stderr=subprocess.DEVNULL, check=False).returncode != 0:
            self.skipTest("no mounts of its own here")
        done = run([*inside, *self.job(2, *words)], self.folder)
        self.assertEqual((done.returncode, done.stdout), (1, b""), done.stderr.decode())
        self.assertIn("No space left on device", "".join(said(done.stderr)))

    def test_shares_without_a_folder_are_a_mistake(self):
        done = run([ranks_test.PROGRAM, "--shares", "3", "summary", self.pieces(5)[0]], self.folder)
        self.assertEqual((done.returncode, done.stdout, len(said(done.stderr))), (2, b"", 1), done.stderr.decode())


if __name__ == "__main__":
    ranks_test.PROGRAM, ranks_test.ONE, ranks_test.CAPTURES = (os.path.abspath(path) for path in sys.argv[1:4])
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
