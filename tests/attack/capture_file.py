# SPDX-License-Identifier: BSD-2-Clause
"""Capture files as the attack makes them, byte by byte and with no library's idea of what is allowed: pcap, pcapng, gzip, zstd."""

import gzip
import struct

ETHERNET = 1
NANOSECONDS = 0xA1B23C4D
MICROSECONDS = 0xA1B2C3D4
MAX = 0xFFFFFFFF


class Record:
    """A packet of a file: its time, its bytes, and how long it was on the wire."""

    def __init__(self, seconds, fraction, data, original=None):
        self.seconds = seconds
        self.fraction = fraction
        self.data = bytes(data)
        self.original = len(self.data) if original is None else original


def _u32(value):
    return value & MAX


def pcap_header(order="<", magic=MICROSECONDS, version=(2, 4), snap_length=262144, link_type=ETHERNET):
    return struct.pack(order + "IHHiIII", magic, *version, 0, 0, _u32(snap_length), _u32(link_type))


def pcap_record(record, order="<", captured=None):
    return struct.pack(order + "IIII", _u32(record.seconds), _u32(record.fraction),
                       _u32(len(record.data) if captured is None else captured), _u32(record.original)) + record.data


def pcap(records, order="<", **header):
    return pcap_header(order, **header) + b"".join(pcap_record(record, order) for record in records)


def block(kind, body, order="<", length=None, trailer=None):
    """A pcapng block; lengths other than the right ones if they are given."""
    body += bytes(-len(body) % 4)
    right = len(body) + 12
    length = right if length is None else length
    return (struct.pack(order + "II", _u32(kind), _u32(length)) + body
            + struct.pack(order + "I", _u32(length if trailer is None else trailer)))


def option(code, value, order="<", length=None):
    return struct.pack(order + "HH", code, len(value) if length is None else length) + value + bytes(-len(value) % 4)


END_OF_OPTIONS = bytes(4)


def section(order="<", version=(1, 0), length=-1, options=b"", magic=0x1A2B3C4D, **more):
    return block(0x0A0D0D0A, struct.pack(order + "IHHq", magic, *version, length) + options, order, **more)


def interface(order="<", link_type=ETHERNET, snap_length=262144, options=b"", **more):
    return block(1, struct.pack(order + "HHI", link_type, 0, _u32(snap_length)) + options, order, **more)


def packet(data, ticks=0, interface_id=0, order="<", captured=None, original=None, options=b"", **more):
    data = bytes(data)
    captured = len(data) if captured is None else captured
    return block(6, struct.pack(order + "IIIII", _u32(interface_id), _u32(ticks >> 32), _u32(ticks), _u32(captured),
                                _u32(captured if original is None else original)) + data + bytes(-len(data) % 4) + options,
                 order, **more)


def pcapng(records, order="<"):
    """Times in microseconds."""
    return section(order) + interface(order) + b"".join(
        packet(record.data, _u32(record.seconds) * 1000000 + record.fraction, order=order, original=record.original)
        for record in records)


def zstd_frame(blocks, window_log=20, checksum=False, size=None):
    """A frame of (kind, bytes, size) blocks: kind 0 raw, 1 one byte `size` times, 2 compressed, 3 reserved."""
    descriptor = (0xC0 if size is not None else 0) | (4 if checksum else 0)
    header = struct.pack("<IBB", 0xFD2FB528, descriptor, (window_log - 10) << 3)
    if size is not None:
        header += struct.pack("<Q", size)
    body = b"".join(struct.pack("<I", (len_of << 3 | kind << 1 | (index == len(blocks) - 1)))[:3] + data
                    for index, (kind, data, len_of) in enumerate(blocks))
    return header + body + (bytes(4) if checksum else b"")


def zstd(content):
    """As blocks that are not compressed, of 64 KiB."""
    pieces = [content[i:i + 65536] for i in range(0, len(content), 65536)] or [b""]
    return zstd_frame([(0, piece, len(piece)) for piece in pieces])


def gz(content):
    return gzip.compress(content, 1, mtime=0)


def read(content):
    """(link type, records) of a whole pcap or pcapng file, little endian, with the times as microseconds; only what the
    captures of this tree have."""
    records = []
    magic = struct.unpack_from("<I", content)[0]
    if magic in (NANOSECONDS, MICROSECONDS):
        divide = 1000 if magic == NANOSECONDS else 1
        offset = 24
        while offset + 16 <= len(content):
            seconds, fraction, captured, original = struct.unpack_from("<IIII", content, offset)
            records.append(Record(seconds, fraction // divide, content[offset + 16:offset + 16 + captured], original))
            offset += 16 + captured
        return struct.unpack_from("<I", content, 20)[0], records
    offset, link_type = 0, ETHERNET
    while offset + 12 <= len(content):
        kind, length = struct.unpack_from("<II", content, offset)
        if kind == 1:
            link_type = struct.unpack_from("<H", content, offset + 8)[0]
        elif kind == 6:
            _, high, low, captured, original = struct.unpack_from("<IIIII", content, offset + 8)
            ticks = high << 32 | low
            records.append(Record(ticks // 1000000 & MAX, ticks % 1000000, content[offset + 28:offset + 28 + captured], original))
        offset += length
    return link_type, records
