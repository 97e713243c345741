#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The ICRC of each vector of RoCE v2 over IPv4, computed once more by scapy (2.5 knows no other network header).

usage: icrc_scapy_test.py VECTORS.H
Exits with 77 (skipped) where there is no scapy, except under continuous integration (CI is set).
"""
import os
import re
import sys

try:
    from scapy.contrib.roce import BTH
    from scapy.layers.inet import IP
    from scapy.layers.l2 import Ether
except ImportError as error:
    print(f"no scapy: {error}")
    sys.exit(1 if os.environ.get("CI") else 77)


def vectors(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for name, digits in re.findall(r'Vector k\w+\{\s*"(\w+)",\s*((?:"[0-9a-f]+"\s*)+)\}', text):
        yield name, bytes.fromhex("".join(re.findall("[0-9a-f]+", digits)))


def icrc_by_scapy(frame):
    packet = Ether(frame)
    if IP not in packet or BTH not in packet:
        return None
    packet[BTH].icrc = None
    return bytes(packet)[-4:]


def main():
    compared = failed = 0
    for name, frame in vectors(sys.argv[1]):
        icrc = icrc_by_scapy(frame)
        if icrc is None:
            continue
        compared += 1
        if icrc != frame[-4:]:
            failed += 1
            print(f"{name}: the vector ends with {frame[-4:].hex()}, scapy computes {icrc.hex()}")
    print(f"{compared} vectors compared, {failed} different")
    return 1 if failed or compared < 8 else 0


if __name__ == "__main__":
    sys.exit(main())
