#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""fi_pingpong, qperf, fio, librpma, and the programs of ibverbs-utils and rdmacm-utils, as Debian has them, over our libibverbs and
librdmacm. judge.py has the usage."""

import os
import subprocess
import sys
from unittest import SkipTest

from judge import FABRIC_ADDRESSES, HERE, judge, make_fabric, needs_word
from pairs import CLIENT, PORT, SERVER

PACKAGES = {"ibv_rc_pingpong": "ibverbs-utils", "rping": "rdmacm-utils", "fi_pingpong": "libfabric-bin", "qperf": "qperf", "fio": "fio",
            "gcc": "gcc", "valgrind": "valgrind", "tcpdump": "tcpdump", "ethtool": "ethtool"}
QPERF_PORT = 19765
FABRIC_PORT = 47592
RSOCKETS = "it wants sockets over RDMA (rsocket), which are not there"
CANNOT = {
    "rdma_xserver -c x": "it connects XRC by InfiniBand's own port space (RDMA_PS_IB)",
    **{f"qperf xrc_{what}": "Debian builds qperf without it" for what in ("lat", "bw", "bi_bw")},
    "rstream": RSOCKETS, "riostream": RSOCKETS, "rcopy": RSOCKETS, "udpong": RSOCKETS,
    **{f"qperf {test}": "qperf does not connect it by RDMA CM, and gives no GID otherwise"
       for test in ("uc_lat", "uc_bw", "uc_bi_bw", "ud_lat", "ud_bw", "ud_bi_bw", "uc_rdma_write_lat", "uc_rdma_write_bw",
                    "uc_rdma_write_poll_lat")},
}


def judged(run):
    """A run whose traffic roce-analyze judges as well."""

    def do(pairs):
        capture = pairs.capture()
        run(pairs)
        pairs.judge_wire(*capture)
    return do


def pingpong(kind, *options):
    """A program of ibverbs-utils with two ends. Only later releases have -U."""

    def do(pairs):
        if "-U" in options:
            needs_word(f"ibv_{kind}_pingpong", "-U")
        pairs.assertIn("100 iters", pairs.run_pair(f"ibv_{kind}_pingpong", "-g", "0", "-n", "100", *options))
    return judged(do)


def shows(command, text):
    """A program that shows something of the device."""

    def do(pairs):
        process = pairs.start(SERVER, *command)
        shown, _ = process.communicate(timeout=pairs.patience)
        pairs.assertEqual(process.returncode, 0, shown)
        pairs.assertIn(text, shown)
    return do


def connected(server, client, text):
    """Two ends that connect by RDMA CM; the client then prints this text."""
    return judged(lambda pairs: pairs.assertIn(text, pairs.connect_ends(server, client)[0]))


def watched(pairs):
    """ibv_asyncwatch opens the device, and waits."""
    process = pairs.start(SERVER, "stdbuf", "-oL", "ibv_asyncwatch")
    pairs.assertIn("async event FD", process.stdout.readline())


def fabric(kind, mode):
    """fi_pingpong, with all sizes (too much for a capture, but for datagrams) and a look at the data."""

    def do(pairs):
        make_fabric()
        program = ["fi_pingpong", "-p", "verbs", "-e", kind, "-m", mode, "-I", "20", "-S", "all", "-c"]
        capture = pairs.capture() if kind == "dgram" else None
        server = pairs.start(FABRIC_ADDRESSES[0], *program)
        pairs.wait_for(FABRIC_PORT, server)
        shown, _ = pairs.ends(server, pairs.start(FABRIC_ADDRESSES[1], *program, FABRIC_ADDRESSES[0]))
        pairs.assertRegex(shown, rf"\n{'1k' if kind == 'dgram' else '1m'} +20 +=20 ")
        if capture:
            pairs.judge_wire(*capture)
    return do


def qperf(test):
    """A test of qperf. Its datagrams and those of UC go as fast as they can, and are lost where the other end has no processor."""

    def do(pairs):
        server = pairs.start(SERVER, "qperf")
        pairs.wait_for(QPERF_PORT, server)
        client = pairs.start(CLIENT, "qperf", "-cm", "1", "-t", "1", "-to", "5", SERVER, test)
        shown, _ = client.communicate(timeout=pairs.patience)
        pairs.assertEqual(client.returncode, 0, shown)
        pairs.assertRegex(shown, rf"\b{test}:\n +\w+ +=")
        server.kill()
        server.wait(pairs.patience)
    return do


def fio(verb):
    """fio between two processes, of which the client says by which verb the data go. They make no file, and so compare nothing. With
    `send` fio asks for no retries, and its server is often not ready: that passes now and then only."""

    def do(pairs):
        common = ["--ioengine=rdma", f"--port={PORT}", "--bs=64k", "--size=8m", "--iodepth=4"]
        server = pairs.start(SERVER, "fio", "--name=server", *common, "--rw=read")
        pairs.ask_until_served(server, ["fio", "--name=client", *common, f"--hostname={SERVER}", f"--verb={verb}", "--rw=write"])
        answer, _ = server.communicate(timeout=pairs.patience)
        pairs.assertEqual(server.returncode, 0, answer)
    return do


def rpma(pairs):
    """Our own two ends of librpma, which compare all data."""
    if not os.path.exists("/usr/include/librpma.h"):
        raise SkipTest("librpma-dev is not installed; Debian has it until 13")
    program = os.path.join(pairs.folder, "rpma")
    subprocess.run(["gcc", "-O1", "-o", program, HERE / "rpma.c", "-lrpma", "-libverbs"], check=True)
    capture = pairs.capture()
    server = pairs.start(SERVER, program, "server", SERVER, "7204")
    pairs.assertEqual(server.stdout.readline(), "listening\n")
    shown, _ = pairs.ends(server, pairs.start(CLIENT, program, "client", SERVER, "7204"))
    pairs.assertIn("all compared", shown)
    pairs.judge_wire(*capture)


def cmtime(pairs):
    """cmtime, whose server goes on for ever; of later releases the two meet at a TCP port first, and both end."""
    usage = subprocess.run(["cmtime", "-h"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False).stdout
    if "controller" in usage:
        both = ["-C", SERVER, "-p", str(PORT), "-c", "20"]
        shown = pairs.run_ends(["cmtime", "-b", SERVER, "-L", *both], ["cmtime", "-b", CLIENT, *both])
        pairs.assertIn("disconnect", shown)
        return
    server = pairs.start(SERVER, "cmtime", "-b", SERVER, "-c", "20")
    pairs.assertIn("disconnect", pairs.ask_until_served(server, ["cmtime", "-s", SERVER, "-b", CLIENT, "-c", "20"]))
    server.kill()
    server.wait(pairs.patience)


def mckey(group, receivers, sender):
    """mckey, with receivers at several addresses."""

    def do(pairs):
        capture = pairs.capture()
        members = [pairs.start(address, "stdbuf", "-oL", "mckey", "-m", group, "-b", address) for address in receivers]
        for member in members:
            pairs.until_said(member, "joined dgid")
        shown, _ = pairs.start(sender, "mckey", "-m", group, "-b", sender, "-s").communicate(timeout=pairs.patience)
        pairs.assertIn("return status 0", shown)
        for member in members:
            shown, _ = member.communicate(timeout=pairs.patience)
            pairs.assertEqual(member.returncode, 0, shown)
        pairs.judge_wire(*capture)
    return do


def runs():
    named = {"ibv_devices": shows(["ibv_devices"], "roce_lo"), "ibv_devinfo": shows(["ibv_devinfo", "-v"], f"::ffff:{SERVER}"),
             "ibv_devinfo -l": shows(["ibv_devinfo", "-l"], "roce_lo"), "ibv_asyncwatch": watched}
    for kind in ("rc", "uc", "ud", "srq"):
        named[f"ibv_{kind}_pingpong"] = pingpong(kind)
        named[f"ibv_{kind}_pingpong -e"] = pingpong(kind, "-e")
        if kind != "ud":
            named[f"ibv_{kind}_pingpong -m 256"] = pingpong(kind, "-m", "256")
    for options in (("-N",), ("-c",), ("-o",), ("-o", "-P"), ("-O",), ("-t",), ("-s", "100000"), ("-j", "-N"), ("-j",), ("-U",), ("-U", "-c", "-N")):
        named[f"ibv_rc_pingpong {' '.join(options)}"] = pingpong("rc", *options)
    # Its server sends before the client's target is ready, and so once more: what is on the wire is not judged.
    for options in ((), ("-e",), ("-s", "100000"), ("-m", "256")):
        command = ["ibv_xsrq_pingpong", "-g", "0", "-n", "100", *options]
        named[" ".join([command[0], *options])] = lambda pairs, words=command: pairs.assertIn("success", pairs.run_pair(*words))
    watched_memory = ["valgrind", "-q", "--leak-check=full", "--errors-for-leak-kinds=definite,indirect", "--error-exitcode=99"]
    for kind, *options in (("rc",), ("rc", "-e"), ("uc",), ("ud",), ("srq",), ("xsrq",)):
        command = [f"ibv_{kind}_pingpong", "-g", "0", "-n", "50", *options]
        named[f"valgrind ibv_{kind}_pingpong {' '.join(options)}".strip()] = lambda pairs, words=command: pairs.run_pair(*watched_memory, *words)
    for size in (23, 6000, 65535):
        both = ["-a", SERVER, "-C", "20", "-V", "-S", str(size)]
        named[f"rping -S {size}"] = connected(["rping", "-s", *both], ["rping", "-c", "-v", *both], "ping data: rdma-ping-19")
    both = ["-C", "20", "-S", "3000"]
    named["ucmatose"] = connected(["ucmatose", "-b", SERVER, *both], ["ucmatose", "-s", SERVER, "-b", CLIENT, *both], "return status 0")
    named["ucmatose -m"] = connected(["ucmatose", "-b", SERVER, "-m", *both], ["ucmatose", "-s", SERVER, "-b", CLIENT, "-m", *both],
                                     "return status 0")
    named["udaddy"] = connected(["udaddy", "-b", SERVER], ["udaddy", "-s", SERVER, "-b", CLIENT], "return status 0")
    named["cmtime"] = judged(cmtime)
    named["rdma_server"] = connected(["rdma_server"], ["rdma_client", "-s", SERVER], "rdma_client: end 0")
    named["rdma_xserver"] = connected(["rdma_xserver"], ["rdma_xclient", "-s", SERVER], "end 0")
    named["rdma_xserver -c x"] = connected(["rdma_xserver", "-c", "x"], ["rdma_xclient", "-s", SERVER, "-c", "x"], "end 0")
    named["rstream"] = connected(["rstream", "-b", SERVER], ["rstream", "-s", SERVER, "-C", "5", "-S", "1024"], "1k")
    named["riostream"] = connected(["riostream", "-b", SERVER], ["riostream", "-s", SERVER, "-C", "5", "-S", "1024"], "1k")
    named["rcopy"] = connected(["rcopy"], ["rcopy", "/etc/hostname", SERVER], "Gb/sec")
    named["udpong"] = connected(["udpong", "-b", SERVER], ["udpong", "-s", SERVER, "-C", "5"], "64")
    named["mckey"] = mckey("239.1.1.1", (SERVER, CLIENT), "127.0.0.4")
    named |= {f"fi_pingpong {kind} {mode}": fabric(kind, mode) for kind in ("msg", "rdm", "dgram") for mode in ("msg", "tagged")
              if kind == "rdm" or mode == "msg"}
    sends = [f"{kind}_{what}" for kind in ("rc", "uc", "ud", "xrc") for what in ("lat", "bw", "bi_bw")]
    rdma = [f"{kind}_rdma_write_{what}" for kind in ("rc", "uc") for what in ("lat", "bw", "poll_lat")]
    named |= {f"qperf {test}": qperf(test) for test in (*sends, *rdma, "rc_rdma_read_lat", "rc_rdma_read_bw", "rc_compare_swap_mr",
                                                       "rc_fetch_add_mr", "ver_rc_compare_swap", "ver_rc_fetch_add")}
    named |= {f"fio {verb}": fio(verb) for verb in ("write", "read")}
    named["librpma"] = rpma
    return named


if __name__ == "__main__":
    sys.exit(judge(__file__, PACKAGES, runs(), CANNOT))
