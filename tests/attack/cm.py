#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Attacks the communication manager of a roce-gen peer with messages that are wrong in one thing, or come at the wrong time.

usage: cm.py --build FOLDER [--seed N] [--scale short|long] [--count N]

Everything happens in network namespaces of its own: the peer, the attacker and clean clients beside (rping, ucmatose, udaddy,
write by RDMA CM), at one bridge. Exit code 0 only when nothing crashed, hung or grew and every clean client succeeded.
"""

import os
import sys
import tempfile

from network import (ATTACKER, PEER, Beside, Peer, Switch, address, attack, conclude, enter_namespaces, grew, now,
                     parse_arguments, resident_kib)

SCALES = {"short": 3_000, "long": 50_000}
HALF_OPEN = {"short": 1_000, "long": 5_000}
SECONDS = {"short": 60, "long": 600}  # at most


def main():
    arguments = parse_arguments(__doc__, SCALES)
    gen = os.path.join(arguments.build, "gen", "roce-gen")
    begun = now()
    network = Switch()
    findings = []
    with tempfile.TemporaryDirectory() as folder:
        socket = os.path.join(folder, "control.sock")
        # Clients that are attacked away count as failed ones: the exit code of the peer says so.
        peer = Peer(gen, network, "b", "peer", "-i", "v", "--address", address(PEER, 4), "--control", socket)
        beside = Beside(gen, network, peer, [["rping", "-i", "v", "-C", "20", "-S", "1000", address(PEER, 4)],
                                             ["ucmatose", "-i", "v", address(PEER, 4)],
                                             ["udaddy", "-i", "v", address(PEER, 4)],
                                             ["write", "-i", "v", "--cm", "7999", "-D", "1", "--rate", "300pps", socket]])
        try:
            report = attack(network, os.path.join(arguments.build, "tests", "attack", "attack_cm"), {
                "interface": "v", "own_mac": network.mac("a"), "peer_mac": network.mac("b"), "own": address(ATTACKER, 4),
                "peer": address(PEER, 4), "seed": arguments.seed, "count": arguments.count,
                "half_open": HALF_OPEN[arguments.scale], "seconds": SECONDS[arguments.scale]}, beside)
            end = resident_kib(peer.process.pid)
            if beside.full and end and not arguments.sanitized and grew(beside.full, end):
                findings.append(f"the peer's memory grew from {beside.full} to {end} KiB with REQs left half open")
            # Connections that are half open may not keep others out.
            for command in beside.commands:
                beside.run(command)
        finally:
            beside.stop()
            end = peer.stop(allowed=(0, 1))
            peer.end()
            network.close()
        if end:
            report["crashes"] = max(1, report["crashes"])
            report["findings"].append(end)
    print(f"{report['messages']} attacking and {report['legal_messages']} legal messages in {now() - begun:.1f} s, "
          f"{report['half_open']} REQs left half open, {report['established']} connections that came about, {report['probes']} "
          f"probes (the slowest {report['slowest_probe_ms']:.1f} ms); beside, {beside.verified} clean clients; memory "
          f"{beside.fifth(1)} to {beside.fifth(4)} KiB")
    print("  answers heard: " + ", ".join(f"{name} {count}" for name, count in report["heard"].items()))
    print(f"  {'':30}{'messages':>9}{'answers':>9}")
    for kind, counts in report["kinds"].items():
        print(f"  {kind:30}" + "".join(f"{count:9}" for count in counts))
    done = {name: report[name] for name in ("messages", "legal_messages", "half_open", "established", "probes")}
    done["seconds"] = round(now() - begun)
    # The short form is over before everything that the peer keeps a number of has been there once.
    is_memory_unjudged = arguments.sanitized or arguments.scale == "short"
    sys.exit(conclude("cm", arguments.seed, done, [report], [beside], is_memory_unjudged, findings))


if __name__ == "__main__":
    enter_namespaces()
    main()
