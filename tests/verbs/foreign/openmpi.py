#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Open MPI, as Debian has it, over our libibverbs by UCX and by libfabric: mpi.c compares what two and four ranks do with each other, at
one address and at an address for each. The wire is not judged: a rank may end before it has answered the last request. judge.py has
the usage."""

import os
import subprocess
import sys
from unittest import SkipTest

from judge import FABRIC, FABRIC_ADDRESSES, HERE, has_ucx_over_verbs, judge, make_fabric
from live import ENVIRONMENT

PACKAGES = {"mpirun": "openmpi-bin", "mpicc": "libopenmpi-dev", "tcpdump": "tcpdump", "ethtool": "ethtool"}
LOOPBACK_ADDRESSES = ["127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5"]
UCX_TESTS = ("allreduce", "alltoall", "messages", "puts", "gets", "atomics")
UCX = {"UCX_TLS": "rc_verbs,ud_verbs,self", "UCX_NET_DEVICES": "roce_lo:1"}
# One-sided operations would otherwise go through memory that the ranks share, without the network.
BY_UCX = ["--mca", "pml", "ucx", "--mca", "osc", "ucx", "--mca", "btl", "^openib,vader,tcp", "--mca", "oob_tcp_if_include", "lo"]
LIBFABRIC_TESTS = ("allreduce", "alltoall", "messages")
BY_LIBFABRIC = ["--mca", "pml", "cm", "--mca", "mtl", "ofi", "--mca", "mtl_ofi_provider_include", "verbs;ofi_rxm",
                "--mca", "btl", "^openib,vader,tcp,uct,ofi", "--mca", "oob_tcp_if_include", FABRIC]
MPIRUN = ["mpirun", "--oversubscribe", "--mca", "mpi_yield_when_idle", "1", "--mca", "plm_rsh_agent", "false"]


def one(test, options, environment, addresses):
    """The function that does a run, with a rank at each of these addresses."""

    def do(pairs):
        if options is BY_LIBFABRIC:
            make_fabric()
        elif not has_ucx_over_verbs():
            raise SkipTest("this UCX has no transports over verbs")
        program = os.path.join(pairs.folder, "mpi")
        subprocess.run(["mpicc", "-O1", "-o", program, HERE / "mpi.c"], check=True)
        # Each rank begins with the same command: the mpirun of Open MPI 5.0 crashes otherwise.
        begin = 'address() { shift "$OMPI_COMM_WORLD_RANK"; echo "$1"; }; ' \
                f'exec {pairs.roce_run} --address "$(address {" ".join(addresses)})" {program} {test}'
        running = subprocess.Popen([*MPIRUN, *options, "-n", str(len(addresses)), "sh", "-c", begin], stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True, env={**ENVIRONMENT, **environment, "TMPDIR": pairs.folder})
        pairs.addCleanup(running.stdout.close)
        pairs.addCleanup(running.wait, pairs.patience)
        # It ends its ranks when it is asked to end, and would leave them behind if it were killed.
        pairs.addCleanup(running.terminate)
        said, _ = running.communicate(timeout=pairs.patience)
        pairs.assertEqual(running.returncode, 0, said)
        pairs.assertIn(f"{len(addresses)} ranks: {test} compared\n", said)
    return do


def main():
    runs = {}
    for what, tests, options, environment, addresses in (("", UCX_TESTS, BY_UCX, UCX, LOOPBACK_ADDRESSES),
                                                         (", libfabric", LIBFABRIC_TESTS, BY_LIBFABRIC, {}, FABRIC_ADDRESSES)):
        for test in tests:
            for ranks in (2, 4):
                runs[f"{test}, {ranks} ranks, one address{what}"] = one(test, options, environment, addresses[:1] * ranks)
                runs[f"{test}, {ranks} ranks, an address for each{what}"] = one(test, options, environment, addresses[:ranks])
    return judge(__file__, PACKAGES, runs)


if __name__ == "__main__":
    sys.exit(main())
