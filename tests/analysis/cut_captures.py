# SPDX-License-Identifier: BSD-2-Clause
"""Captures as a snap length leaves them. Standard library only, and nothing of libroce."""

import pathlib
import struct

from roce_frames import Frame

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
SNAP_LENGTHS = range(54, 201)  # from the end of a BTH behind Ethernet, IPv4 and UDP
FEW_SNAP_LENGTHS = (54, 58, 62, 68, 96, 128)  # the BTH alone, with AETH, with an ACK's ICRC; what tcpdump and people use
# Not one wire, but one frame in twenty encapsulations, which a snap length cuts in different places.
CAPTURES = [path for path in sorted((TOP / "captures").glob("**/*.pcap*")) if path.suffix in (".pcap", ".pcapng") and path.name != "encapsulations.pcapng"]

PCAP_ORDERS = {b"\xd4\xc3\xb2\xa1": "<", b"\x4d\x3c\xb2\xa1": "<", b"\xa1\xb2\xc3\xd4": ">", b"\xa1\xb2\x3c\x4d": ">"}
ENHANCED_PACKET = 6


def _map_pcap(data, change):
    order = PCAP_ORDERS[data[:4]]
    parts, at = [data[:24]], 24
    while at + 16 <= len(data):
        seconds, fraction, captured, length = struct.unpack_from(order + "4I", data, at)
        frame = change(data[at + 16:at + 16 + captured])
        parts += [struct.pack(order + "4I", seconds, fraction, len(frame), length), frame]
        at += 16 + captured
    return b"".join(parts)


def _map_pcapng(data, change):
    order = "<" if data[8:12] == b"\x4d\x3c\x2b\x1a" else ">"
    parts, at = [], 0
    while at < len(data):
        kind, size = struct.unpack_from(order + "2I", data, at)
        block = data[at:at + size]
        at += size
        if kind == ENHANCED_PACKET:
            interface, high, low, captured, length = struct.unpack_from(order + "5I", block, 8)
            options = block[28 + (captured + 3) // 4 * 4:-4]
            frame = change(block[28:28 + captured])
            padded = frame + b"\0" * (-len(frame) % 4)
            size = 32 + len(padded) + len(options)
            block = (struct.pack(order + "7I", kind, size, interface, high, low, len(frame), length) + padded + options +
                     struct.pack(order + "I", size))
        parts.append(block)
    return b"".join(parts)


def map_frames(data, change):
    """A capture file, `data`, with `change` applied to the bytes of each frame; the lengths on the wire stay."""
    return (_map_pcap if data[:4] in PCAP_ORDERS else _map_pcapng)(data, change)


def cut(data, snap_length):
    return map_frames(data, lambda frame: frame[:snap_length])


def without_hidden_damage(data, snap_length):
    """The same capture, had the damaged packets whose ICRC is cut off not been damaged: they look as if they were sound."""

    def seal(frame):
        parsed = Frame(0, frame)
        if len(frame) <= snap_length or not parsed.is_roce or parsed.icrc_good:
            return frame
        return frame[:parsed.icrc_offset] + struct.pack("<I", parsed.icrc) + frame[parsed.icrc_offset + 4:]

    return map_frames(data, seal)


def psns_of(events):
    """What is said, as (frame, segment, verdict, PSN); `events` are objects of `roce-analyze events --json`."""
    return {(event["frame"], event["segment"], event["verdict"], (event["first_psn"] + i) % (1 << 24))
            for event in events for i in range(max(event["psn_count"], 1))}
