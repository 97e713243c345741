#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Open MPI, as Debian has it, over our libibverbs by UCX: mpi.c compares what two and four ranks do with each other, at one address
and at an address for each. The wire is not judged: a rank may end before it has answered the last request. judge.py has the
usage."""

import os
import subprocess
import sys

from judge import HERE, judge
from live import ENVIRONMENT
from pairs import SERVER

PACKAGES = {"mpirun": "openmpi-bin", "mpicc": "libopenmpi-dev", "tcpdump": "tcpdump", "ethtool": "ethtool"}
TESTS = ("allreduce", "alltoall", "messages", "puts", "gets", "atomics")
UCX = {"UCX_TLS": "rc_verbs,ud_verbs,self", "UCX_NET_DEVICES": "roce_lo:1"}
# One-sided operations would otherwise go through memory that the ranks share, without the network.
MPIRUN = ["mpirun", "--oversubscribe", "--mca", "pml", "ucx", "--mca", "osc", "ucx", "--mca", "btl", "^openib,vader,tcp",
          "--mca", "mpi_yield_when_idle", "1", "--mca", "plm_rsh_agent", "false", "--mca", "oob_tcp_if_include", "lo"]


def one(test, ranks, is_apart):
    """The function that does a run."""

    def do(pairs):
        program = os.path.join(pairs.folder, "mpi")
        subprocess.run(["mpicc", "-O1", "-o", program, HERE / "mpi.c"], check=True)
        command = list(MPIRUN)
        for rank in range(ranks):
            # The address counts from that of the first.
            address = f"127.0.0.{2 + rank}" if is_apart else SERVER
            command += [*([":"] if rank else []), "-n", "1", pairs.roce_run, "--address", address, program, test]
        running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                   env={**ENVIRONMENT, **UCX, "TMPDIR": pairs.folder})
        pairs.addCleanup(running.stdout.close)
        pairs.addCleanup(running.wait, pairs.patience)
        # It ends its ranks when it is asked to end, and would leave them behind if it were killed.
        pairs.addCleanup(running.terminate)
        said, _ = running.communicate(timeout=pairs.patience)
        pairs.assertEqual(running.returncode, 0, said)
        pairs.assertIn(f"{ranks} ranks: {test} compared\n", said)
    return do


def main():
    runs = {}
    for test in TESTS:
        for ranks in (2, 4):
            for is_apart in (False, True):
                runs[f"{test}, {ranks} ranks, {'an address for each' if is_apart else 'one address'}"] = one(test, ranks, is_apart)
    return judge(__file__, PACKAGES, runs)


if __name__ == "__main__":
    sys.exit(main())
