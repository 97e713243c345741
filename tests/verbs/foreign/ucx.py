#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Every test of ucx_perftest, as Debian has it, over our libibverbs, by each transport of UCX and each layout of data that can do it.
ucx_perftest compares no data. UCX's own example of a client and a server, which connect by RDMA CM, shows what has come. judge.py has the
usage."""

import itertools
import os
import pathlib
import shutil
import string
import subprocess
import sys
import threading

from judge import SKIPPED, has_ucx_over_verbs, judge, needs_word
from pairs import CLIENT, PORT, SERVER

EXAMPLE = pathlib.Path("/usr/share/doc/libucx-dev/examples/ucp_client_server.c")
PACKAGES = {"ucx_perftest": "ucx-utils", str(EXAMPLE): "libucx-dev", "gcc": "gcc", "tcpdump": "tcpdump", "ethtool": "ethtool"}
UCP = {"UCX_TLS": "rc_verbs,ud_verbs,self", "UCX_NET_DEVICES": "roce_lo:1"}
SIZES = (8, 1024, 65536, 1 << 20)
# By size, how many messages, and how many before them: of large ones no more than the capture has room for, should tcpdump get no
# processor.
FEW = {"65536": ("20", "10"), "1048576": ("10", "2")}
MANY = ("200", "10")
MESSAGES = ("tag_lat", "tag_bw", "tag_sync_lat", "tag_sync_bw", "ucp_put_lat", "ucp_put_bw", "ucp_get", "stream_bw", "stream_lat",
            "ucp_am_lat", "ucp_am_bw")
ATOMICS = ("ucp_add", "ucp_fadd", "ucp_swap", "ucp_cswap")
# Of UCT: the test, and the layouts that it has.
UCT_RC = (("am_lat", "short", 8), ("am_lat", "bcopy", 1024), ("am_lat", "zcopy", 4096), ("am_bw", "short", 8), ("am_bw", "bcopy", 1024),
          ("am_bw", "zcopy", 4096), ("put_lat", "short", 8), ("put_lat", "bcopy", 1024), ("put_lat", "zcopy", 65536),
          ("put_bw", "short", 8), ("put_bw", "bcopy", 1024), ("put_bw", "zcopy", 1 << 20), ("get", "bcopy", 1024), ("get", "zcopy", 1 << 20),
          ("fadd", "short", 8), ("cswap", "short", 8), ("add_lat", "short", 8), ("add_mr", "short", 8), ("swap", "short", 8))
LATER = (("get_bw", "bcopy", 1024), ("get_bw", "zcopy", 1 << 20))
UCT_UD = (("am_lat", "short", 8), ("am_lat", "bcopy", 1024), ("am_lat", "zcopy", 1024), ("am_bw", "short", 8), ("am_bw", "bcopy", 1024),
          ("am_bw", "zcopy", 1024))
# UCX 1.18 has the first four.
CANNOT = {**{f"rc_verbs {test} short 8": "UCX offers no atomics of rc_verbs on this device" for test in ("fadd", "cswap", "add_lat", "add_mr")},
          "rc_verbs swap short 8": "verbs have no swap"}


def start_of():
    """The words that all begin with: where it is built with MPI, it takes part in that unless told not to."""
    shown = subprocess.run(["ucx_perftest", "-h"], capture_output=True, text=True, check=False).stdout
    return ["ucx_perftest", "-p", str(PORT), *(("-P", "0") if "MPI mode" in shown else ())]


def variants(test):
    """More options with which a test is run."""
    yield ()
    if test.startswith("tag"):
        yield from (("-C",), ("-U",))
    if test.startswith(("tag_lat", "stream")):
        yield ("-D", "iov,iov")
    if test.startswith("stream"):
        yield ("-r", "recv_data")
    if test in ("tag_lat", "stream_lat"):
        yield ("-E", "sleep")


def one(options, environment, of_server=()):
    """The function that does a run; the server takes its options from the client, but for these in later releases."""

    def do(pairs):
        needs_word("ucx_perftest", options[1])
        program = [*start_of(), *of_server]
        capture = pairs.capture()
        count, warm_up = next((few for size, few in FEW.items() if size in options), MANY)
        shown = pairs.run_ends(program, [*program, "127.0.0.1", "-n", count, "-w", warm_up, *options], **environment)
        pairs.assertRegex(shown, rf"Final: +{count} ")
        pairs.judge_wire(*capture)
    return do


def by_rdma_cm(kind, size):
    """The function that sends messages by UCX's example, and looks at the last of those that came."""

    def do(pairs):
        program = os.path.join(pairs.folder, "client_server")
        subprocess.run(["gcc", "-O1", "-I", EXAMPLE.parent, "-o", program, EXAMPLE, "-lucp", "-lucs"], check=True)
        capture = pairs.capture()
        # Unless a transport by sockets is left out, it connects by that.
        environment = {**UCP, "UCX_SOCKADDR_TLS_PRIORITY": "rdmacm"}
        options = ["-c", kind, "-s", str(size), "-i", "3", "-p", str(PORT)]
        server = pairs.start(SERVER, "stdbuf", "-oL", program, *options, **environment)
        pairs.until_said(server, "server is listening")
        client = pairs.start(CLIENT, program, "-a", SERVER, *options, **environment)
        # The last byte ends the text. The server prints more than a pipe holds, and the client waits for it.
        pairs.until_said(server, "".join(itertools.islice(itertools.cycle(string.ascii_uppercase), size - 1)))
        threading.Thread(target=server.stdout.read, daemon=True).start()
        shown, _ = client.communicate(timeout=pairs.patience)
        pairs.assertEqual(client.returncode, 0, shown)
        pairs.judge_wire(*capture)
    return do


def main():
    if shutil.which("ucx_perftest") and not has_ucx_over_verbs():
        print("skipped: this UCX has no transports over verbs")
        return SKIPPED
    runs = {f"client_server {kind} {size}": by_rdma_cm(kind, size) for kind in ("stream", "tag", "am") for size in (16, 5000, 100_000)}
    for transports in ("rc_verbs,ud_verbs,self", "ud_verbs,self"):
        for test in (*MESSAGES, *ATOMICS):
            for size in (8,) if test in ATOMICS else SIZES:
                for more in variants(test) if size == 1024 and transports.startswith("rc") else ((),):
                    options = ["-t", test, "-s", f"{size // 2},{size // 2}" if "-D" in more else str(size), *more]
                    runs[f"{transports} {' '.join(options[1:])}"] = one(options, {**UCP, "UCX_TLS": transports})
    for transport, tests in (("rc_verbs", (*UCT_RC, *LATER)), ("ud_verbs", UCT_UD)):
        for test, layout, size in tests:
            options = ["-t", test, "-D", layout, "-s", str(size)]
            runs[f"{transport} {test} {layout} {size}"] = one(options, {}, ["-d", "roce_lo:1", "-x", transport])
    return judge(__file__, PACKAGES, runs, CANNOT)


if __name__ == "__main__":
    sys.exit(main())
