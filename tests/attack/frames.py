#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Attacks a roce-gen peer with frames inside live connections, each of them legal but for one thing.

usage: frames.py --build FOLDER [--seed N] [--scale short|long] [--count N] [--xdp | --self-check]

Everything happens in network namespaces of its own: the peer, the attacker and a clean exchange beside, at one bridge. One
peer after the other runs on the raw link with IPv4, IPv6 and RoCE v1 and on UDP sockets; with --xdp, which needs root of the
host, one on AF_XDP. Exit code 0 only
when nothing outside granted memory changed, nothing crashed, hung or grew, every clean exchange was verified, and at least
half of the frames were executed or refused by the check at which they were aimed. --self-check breaks each promise on purpose.
"""

import itertools
import json
import os
import signal
import socket
import sys
import tempfile
import threading

from network import (ATTACKER, CLEAN, PEER, Beside, Peer, Switch, address, attack, conclude, enter_namespaces,
                     enter_network_of_the_host, grew, now, parse_arguments)

SCALES = {"short": 30_000, "long": 1_000_000}
SECONDS = {"short": 60, "long": 900}  # at most, of one peer
# Name, share of the frames, IP family, options of the peer, options of the clean exchange.
PEERS = [
    ("raw", 0.55, 4, ["--link", "raw"], ["--link", "raw"]),
    ("raw, IPv6", 0.15, 6, ["--link", "raw"], ["--link", "raw"]),
    ("raw, RoCE v1", 0.1, 4, ["--link", "raw", "--v1"], ["--link", "raw", "--v1"]),
    ("udp", 0.2, 4, ["--link", "udp"], ["--link", "raw"]),
]
CLEAN_OPERATIONS = (
    ("write", "-q", "4", "-s", "1,1500,16384"),
    ("read", "-q", "4", "-s", "64,4096"),
    ("send", "-q", "4", "-s", "1-8k"),
    ("atomic", "-q", "4"),
    ("flush", "-q", "4", "-s", "3000"),
)
XDP = [("xdp", 1, 4, ["--link", "xdp", "--xdp-mode", "generic"], ["--link", "raw"])]


def run(arguments, name, share, family, options, beside_options, spoil=None):
    """One peer. `spoil` is called with it and its control socket when it is warm, what it returns at each sample of memory."""
    gen = os.path.join(arguments.build, "gen", "roce-gen")
    network = Switch()
    with tempfile.TemporaryDirectory() as folder:
        control = os.path.join(folder, "control.sock")
        peer = Peer(gen, network, "b", "peer", "-i", "v", "--address", address(PEER, family), "--control", control, *options)
        # Attacks fill the queues that this exchange shares: an acknowledgement may take long without being lost.
        common = ["-i", "v", "--address", address(CLEAN, family), "--timeout", "17", "-D", "3", "--rate", "300pps",
                  *beside_options, control]
        beside = Beside(gen, network, peer, [[*operation, *common] for operation in CLEAN_OPERATIONS])
        try:
            report = attack(network, os.path.join(arguments.build, "tests", "attack", "attack_frames"), {
                "interface": "v", "control": control, "own_mac": network.mac("a"), "peer_mac": network.mac("b"),
                "own": address(ATTACKER, family), "peer": address(PEER, family), "v1": "--v1" in options, "by_kernel": "udp" in options,
                "seed": arguments.seed, "count": max(1, round(share * arguments.count)), "seconds": SECONDS[arguments.scale],
                "self_check": arguments.self_check}, beside, spoil and (lambda: spoil(peer, control)))
        finally:
            beside.stop()
            end = peer.stop()
            network.close()
        if end:
            report["crashes"] = max(1, report["crashes"])
            report["findings"].append(end)
        report["findings"] = [f"{name}: {finding}" for finding in report["findings"]]
    return report, beside


def table(name, report, beside, seconds):
    print(f"{name}: {report['frames']} attacking and {report['legal_frames']} legal frames in {seconds:.1f} s on "
          f"{report['queue_pairs']} queue pairs, {report['requests']} control requests, {report['probes']} probes (the "
          f"slowest {report['slowest_probe_ms']:.1f} ms); {report['bytes_compared'] >> 20} MiB compared; beside, "
          f"{beside.verified} exchanges of {beside.messages} messages verified; memory {beside.fifth(1)} to {beside.fifth(4)} KiB")
    print(f"  {'':42}{'frames':>9}{'executed':>9}{'aimed at':>9}{'other':>9}{'silent':>9}")
    for kind, counts in report["kinds"].items():
        print(f"  {kind:42}" + "".join(f"{count:9}" for count in counts))
    print(flush=True)


class Leak:
    """Makes the peer larger and larger, as a leak would: by a megabyte at each call."""

    def __init__(self, _, path):
        self.control = socket.socket(socket.AF_UNIX)
        self.control.connect(path)
        self.lines = self.control.makefile("rw")
        self.ask(op="hello", version=1)
        self.memories = itertools.count(1)

    def ask(self, **request):
        self.lines.write(json.dumps(request) + "\n")
        self.lines.flush()
        answer = json.loads(self.lines.readline())
        assert answer["ok"], answer

    def __call__(self):
        self.ask(op="create_memory", length=1 << 20)
        self.ask(op="fill_memory", memory=next(self.memories), seed=1)


def freeze(peer, path):
    """Stops the peer for longer than anybody may wait."""
    peer.process.send_signal(signal.SIGSTOP)
    threading.Timer(8, lambda: peer.process.send_signal(signal.SIGCONT)).start()


def self_check(arguments):
    """Whether each broken promise is found."""
    expected = ["self-check: executed, to be dropped: a frame that has to be dropped was executed",
                "self-check: executed, to be refused: a frame that has to be refused was executed",
                "self-check: answered, to be refused: data, or an answer that stands for it, came back",
                "the granted memory differs", "the memory behind the granted one changed",
                "the memory without the right to write changed", "memory beside the posted buffers changed", "memory grew"]
    cases = [("leak and executions", Leak, [], expected),
             ("crash", lambda peer, _: peer.process.kill(), [], ["closed the control connection", "exit code -9"]),
             ("hang", freeze, [], ["in 5 s"]),
             ("clean exchange", None, ["--bad-icrc"], ["the clean write beside the attack failed"])]
    missing = []
    for name, spoil, beside_options, sentences in cases:
        report, beside = run(arguments, name, 1, 4, ["--link", "raw"], ["--link", "raw", *beside_options], spoil)
        found = [*report["findings"], *beside.wrong]
        if beside.fifth(1) and grew(beside.fifth(1), beside.fifth(4)):
            found.append("memory grew")
        missing += [f"{name}: {sentence}" for sentence in sentences if not any(sentence in each for each in found)]
        print(f"{name}: {len(found)} findings", *(each[:150] for each in found), sep="\n  ")
    for sentence in missing:
        print("not found:", sentence)
    return 1 if missing else 0


def main():
    arguments = parse_arguments(__doc__, SCALES, xdp=True)
    if arguments.self_check:
        sys.exit(self_check(arguments))
    peers = [peer for peer in (XDP if arguments.xdp else PEERS) if arguments.peer in (None, peer[0])]
    reports, besides, findings = [], [], []
    begun = now()
    for peer in peers:
        started = now()
        report, beside = run(arguments, *peer)
        table(peer[0], report, beside, now() - started)
        reports.append(report)
        besides.append(beside)
        if arguments.memory:
            with open(arguments.memory, "a", encoding="ascii") as file:
                file.write(f"{peer[0]}: {beside.samples}\n")
    sums = [sum(counts[column] for report in reports for counts in report["kinds"].values()) for column in range(5)]
    frames, executed, aimed, other, silent = sums
    print(f"{frames} frames in {now() - begun:.0f} s: {executed} executed, {aimed} refused by the check aimed at, {other} by another, "
          f"{silent} dropped in silence")
    if 2 * (executed + aimed) < frames:
        findings.append(f"only {executed + aimed} of {frames} frames were executed or refused by the check aimed at")
    done = {"frames": frames, "executed": executed, "refused_by_the_check_aimed_at": aimed, "refused_by_another": other,
            "dropped_in_silence": silent, "legal_frames": sum(report["legal_frames"] for report in reports),
            "queue_pairs": sum(report["queue_pairs"] for report in reports), "seconds": round(now() - begun)}
    sys.exit(conclude("frames", arguments.seed, done, reports, besides, arguments.sanitized, findings))


if __name__ == "__main__":
    if "--xdp" in sys.argv:
        enter_network_of_the_host()
    else:
        enter_namespaces()
    main()
