# SPDX-License-Identifier: BSD-2-Clause
"""Captures of the tree, damaged: the same number gives the same one.

Each is a piece of a capture with some of its bits flipped, bytes set, frames cut, left out, doubled or swapped, or the
file itself damaged."""

import functools
import random
import struct

import wireshark

PCAP_HEADER = struct.Struct("<IHHiIII")
RECORD = struct.Struct("<IIII")
MAGIC = (0xA1B2C3D4, 0xA1B23C4D)
MOST_FRAMES = 40
# Ethernet, IPv6, UDP, BTH and the longest extension header: what is behind them is payload.
HEADERS_END = 14 + 40 + 8 + 12 + 28


@functools.cache
def records(path):
    """The link type, and of each frame (seconds, fraction, length on the wire, bytes)."""
    data = path.read_bytes()
    magic, *_, link_type = PCAP_HEADER.unpack_from(data)
    if magic not in MAGIC:
        return magic, link_type, []
    found = []
    offset = PCAP_HEADER.size
    while offset + RECORD.size <= len(data):
        seconds, fraction, captured, length = RECORD.unpack_from(data, offset)
        offset += RECORD.size
        found.append((seconds, fraction, length, data[offset:offset + captured]))
        offset += captured
    return magic, link_type, found


def damage_frame(chance, frame):
    """The damaged frame, and whether everything up to its payload is as it was."""
    place = chance.randrange(len(frame))
    kind = chance.choice(("flip", "flip", "set", "cut"))
    if kind == "cut":
        return frame[:place], False
    value = frame[place] ^ 1 << chance.randrange(8) if kind == "flip" else chance.choice((0, 0xFF, chance.randrange(256)))
    return frame[:place] + bytes([value]) + frame[place + 1:], place >= HEADERS_END


def damaged(number):
    """(name, bytes of a capture file, numbers of the frames whose headers are as they were: None if the file is damaged)."""
    chance = random.Random(number)
    path = chance.choice([path for path in wireshark.CAPTURES if path.suffix == ".pcap"])
    magic, link_type, all_frames = records(path)
    begin = chance.randrange(max(1, len(all_frames) - MOST_FRAMES + 1))
    frames = [(record, True) for record in all_frames[begin:begin + chance.randrange(2, MOST_FRAMES)]]
    for _ in range(chance.randrange(1, 13)):
        index = chance.randrange(len(frames))
        what = chance.random()
        if what < 0.85:
            (seconds, fraction, length, data), was_sound = frames[index]
            if data:
                data, is_sound = damage_frame(chance, data)
                frames[index] = ((seconds, fraction, length, data), was_sound and is_sound)
        elif what < 0.9 and len(frames) > 1:
            del frames[index]
        elif what < 0.95:
            frames.insert(index, frames[chance.randrange(len(frames))])
        else:
            other = chance.randrange(len(frames))
            frames[index], frames[other] = frames[other], frames[index]
    data = bytearray(PCAP_HEADER.pack(magic, 2, 4, 0, 0, 262144, link_type))
    for (seconds, fraction, length, frame), _ in frames:
        data += RECORD.pack(seconds, fraction, len(frame), length) + frame
    sound = {number for number, (_, is_sound) in enumerate(frames, 1) if is_sound}
    if chance.random() < 0.1:
        sound = None
        place = chance.randrange(PCAP_HEADER.size, len(data))
        if chance.random() < 0.5:
            del data[place:]
        else:
            data[place] ^= 1 << chance.randrange(8)
    return f"damaged-{number}-{path.name}", bytes(data), sound
