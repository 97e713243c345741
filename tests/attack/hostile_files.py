# SPDX-License-Identifier: BSD-2-Clause
"""Capture files made by hand to do harm: each is a function here, and small on the disk."""

import gzip
import io
import struct

import capture_file as cf
import damage
from capture_file import Record
from part import CAPTURES

MIB = 1 << 20
RLE = 1
MOST_OF_A_BLOCK = 128 * 1024
FILES = {}
BASE = "softroce/rc-mix-v4.tx.pcap"
CONVERSATION = "softroce/rc-send-inv.tx.pcap"  # from its beginning, so that it can be held again


def hostile(make):
    FILES[make.__name__.replace("_", "-")] = make
    return make


def records(name=BASE):
    return cf.read((CAPTURES / name).read_bytes())[1]


def start(order="<"):
    return cf.section(order) + cf.interface(order)


def some(order="<"):
    """Blocks with packets, for after what is wrong."""
    return b"".join(cf.packet(record.data, order=order) for record in records()[:20])


def zeros(count, before=b"", **frame):
    """zstd: `before`, and so many bytes 0."""
    blocks = [(0, before, len(before))] if before else []
    blocks += [(RLE, b"\0", MOST_OF_A_BLOCK)] * (count // MOST_OF_A_BLOCK)
    return cf.zstd_frame(blocks, **frame)


def gz_of_pieces(*pieces):
    """gzip of (bytes, times)."""
    out = io.BytesIO()
    with gzip.GzipFile(fileobj=out, mode="wb", compresslevel=1, mtime=0) as file:
        for piece, times in pieces:
            many = max(1, MIB // max(1, len(piece)))
            for _ in range(times // many):
                file.write(piece * many)
            file.write(piece * (times % many))
    return out.getvalue()


# What decompresses to far more.

@hostile
def bomb_of_zeros_zst():
    return zeros(64 << 30)


@hostile
def bomb_of_empty_records_zst():
    return zeros(32 * MIB, cf.pcap_header())


@hostile
def bomb_in_one_block_zst():
    return zeros(1 << 30, start() + struct.pack("<II", 0xBAD, 1 << 30))


@hostile
def bomb_in_one_packet_zst():
    return zeros(1 << 30, cf.pcap_header() + struct.pack("<IIII", 1, 1, 1 << 30, 1 << 30))


@hostile
def bomb_in_secrets_zst():
    return zeros(2 << 30, cf.section() + struct.pack("<IIII", 10, (2 << 30) & ~3, 0x544C534B, (2 << 30) - 64))


@hostile
def bomb_of_zeros_gz():
    return gz_of_pieces((bytes(MIB), 512))


@hostile
def bomb_of_interfaces_gz():
    return gz_of_pieces((cf.section(), 1), (cf.interface(), 4_000_000), (some(), 1))


@hostile
def bomb_of_sections_gz():
    return gz_of_pieces((cf.section(), 1_000_000), (start() + some(), 1))


@hostile
def bomb_in_bomb_gz():
    return cf.gz(bomb_of_zeros_gz())


# zstd and gzip that are not as they should be.

@hostile
def window_log_31_zst():
    return cf.zstd_frame([(0, cf.pcap(records()[:20]), len(cf.pcap(records()[:20])))], window_log=31)


@hostile
def window_log_41_zst():
    return cf.zstd_frame([(RLE, b"\0", MOST_OF_A_BLOCK)] * 8, window_log=41)


@hostile
def size_of_everything_zst():
    content = cf.pcap(records()[:20])
    return cf.zstd_frame([(0, content, len(content))], size=(1 << 64) - 1)


@hostile
def reserved_block_zst():
    return cf.zstd_frame([(0, cf.pcap_header(), 24), (3, b"\0" * 100, 100)])


@hostile
def skipped_frame_of_4_gib_zst():
    return struct.pack("<II", 0x184D2A50, cf.MAX) + cf.zstd(cf.pcap(records()[:20]))


@hostile
def frames_without_end_zst():
    return cf.zstd_frame([(0, b"", 0)]) * 100_000 + cf.zstd(cf.pcap(records()[:20]))


@hostile
def garbage_block_zst():
    return cf.zstd_frame([(0, cf.pcap_header(), 24), (2, bytes(range(256)), 256)])


@hostile
def members_without_end_gz():
    return gzip.compress(b"", mtime=0) * 100_000 + cf.gz(cf.pcap(records()[:20]))


@hostile
def name_without_end_gz():
    return b"\x1f\x8b\x08\x08" + bytes(6) + b"a" * MIB


@hostile
def wrong_check_gz():
    return cf.gz(cf.pcap(records()))[:-8] + bytes(8)


# pcapng.

@hostile
def block_of_4_gib_pcapng():
    return start() + cf.block(6, bytes(64), length=cf.MAX - 3) + some()


@hostile
def blocks_of_no_length_pcapng():
    return start() + struct.pack("<II", 6, 0) * 10_000 + some()


@hostile
def lengths_that_are_no_lengths_pcapng():
    return start() + b"".join(cf.block(5, bytes(8), length=length) for length in (1, 4, 8, 11, 13, 15)) + some()


@hostile
def lengths_that_differ_pcapng():
    return start() + cf.packet(records()[0].data, trailer=12) + some()


@hostile
def interface_of_2_to_the_32_pcapng():
    return start() + cf.packet(records()[0].data, interface_id=cf.MAX) + some()


@hostile
def no_interface_pcapng():
    return cf.section() + some() + cf.block(3, struct.pack("<I", 60) + records()[0].data[:60])


@hostile
def resolutions_pcapng():
    return cf.section() + b"".join(
        cf.interface(options=cf.option(9, bytes([resolution])) + cf.option(14, struct.pack("<q", offset)) + cf.END_OF_OPTIONS)
        + cf.packet(records()[i].data, ticks, interface_id=i)
        for i, (resolution, offset, ticks) in enumerate(
            (resolution, offset, ticks) for resolution in (0, 1, 20, 0x3F, 0x40, 0x7F, 0x80, 0x81, 0xBF, 0xC0, 0xFF)
            for offset in (0, -1, (1 << 63) - 1, -(1 << 63)) for ticks in (0, (1 << 64) - 1)))


@hostile
def options_without_end_pcapng():
    return (cf.section(options=cf.option(1, b"") * 10_000) + cf.interface(options=cf.option(2, b"x") * 10_000)
            + cf.packet(records()[0].data, options=cf.option(1, b"", length=0xFFFF)) + some())


@hostile
def long_comments_pcapng():
    comment = cf.option(1, b"\x1b]0;owned\x07\x1b[2J" + b"A" * 65_000)
    return start() + cf.packet(records()[0].data, options=comment * 100 + cf.END_OF_OPTIONS) * 5 + some()


@hostile
def sections_that_point_back_pcapng():
    return b"".join(cf.section(length=length) + cf.interface() + some() for length in (-2, 0, 1, 12, -(1 << 63), (1 << 63) - 1))


@hostile
def orders_mixed_pcapng():
    return b"".join(cf.section(order) + cf.interface(order) + some(order) + cf.interface(other) + some(other)
                    for order, other in (("<", "<"), (">", ">"), (">", "<"), ("<", ">")))


@hostile
def versions_pcapng():
    return b"".join(cf.section(version=version) + cf.interface() + some() for version in ((1, 2), (2, 0), (0xFFFF, 0xFFFF)))


@hostile
def names_pcapng():
    name = struct.pack("<HH", 1, 0xFFFF) + bytes(100)
    return start() + cf.block(4, name) * 1000 + cf.block(4, (struct.pack("<HH", 2, 16) + bytes(16)) * 10_000) + some()


@hostile
def secrets_of_4_gib_pcapng():
    return start() + cf.block(10, struct.pack("<II", 0x544C534B, cf.MAX) + bytes(100)) + some()


@hostile
def counters_of_2_to_the_64_pcapng():
    full = struct.pack("<Q", (1 << 64) - 1)
    counters = b"".join(cf.option(code, full) for code in (2, 3, 4, 5, 6, 7, 8))
    return (start() + cf.packet(records()[0].data, options=cf.option(4, full) + cf.END_OF_OPTIONS) * 3 + some()
            + cf.block(5, struct.pack("<III", 0, cf.MAX, cf.MAX) + counters + cf.END_OF_OPTIONS) * 10
            + cf.block(5, struct.pack("<III", cf.MAX, 0, 0) + counters))


@hostile
def captured_more_than_there_is_pcapng():
    return start() + b"".join(cf.packet(records()[0].data, captured=captured, original=original) for captured, original in
                              ((cf.MAX, cf.MAX), (0, cf.MAX), (60, 0), (0x7FFFFFFF, 1)))


@hostile
def snap_length_0_pcapng():
    return cf.section() + cf.interface(snap_length=0) + some() + cf.block(3, struct.pack("<I", cf.MAX) + bytes(60))


# pcap.

@hostile
def snap_length_0_pcap():
    return cf.pcap(records(), snap_length=0)


@hostile
def snap_length_of_4_gib_pcap():
    return cf.pcap_header(snap_length=cf.MAX) + b"".join(
        cf.pcap_record(record, captured=captured) for record, captured in zip(records(), (None, None, cf.MAX)))


@hostile
def negative_times_pcap():
    return cf.pcap([Record(-1 - i * 100, -1 - i, record.data, record.original) for i, record in enumerate(records())])


@hostile
def times_of_nanoseconds_beyond_pcap():
    return cf.pcap([Record(0xFFFFFFFF, 0xFFFFFFFF, record.data, record.original) for record in records()], magic=cf.NANOSECONDS)


@hostile
def original_lengths_pcap():
    return cf.pcap([Record(record.seconds, record.fraction, record.data, original)
                    for record, original in zip(records(), (0, 1, 14, cf.MAX, 0x7FFFFFFF, 0x80000000) * 50)])


@hostile
def header_alone_pcap():
    return cf.pcap_header()


@hostile
def half_a_header_pcap():
    return cf.pcap_header()[:11]


@hostile
def nothing_pcap():
    return b""


@hostile
def other_link_types_pcapng():
    return cf.section() + b"".join(cf.interface(link_type=kind) for kind in range(0, 300)) + b"".join(
        cf.packet(records()[i % 40].data, interface_id=i) for i in range(300))


# Frames.

def inside(before, frame_type):
    """RoCE frames with something between the Ethernet addresses and the IP header."""
    return cf.pcap([Record(1, i, record.data[:12] + frame_type + before + record.data[14:]) for i, record in enumerate(records()[:40])])


@hostile
def a_thousand_tags_pcap():
    return inside(b"\x00\x05\x81\x00" * 1000 + b"\x00\x05\x08\x00", b"\x81\x00")


@hostile
def labels_without_end_pcap():
    return inside(b"\x00\x01\x00\x40" * 10_000 + b"\x00\x01\x01\x40", b"\x88\x47")


@hostile
def tunnels_in_tunnels_pcap():
    def around(data):
        udp = struct.pack(">HHHH", 7777, 4789, len(data) + 16 & 0xFFFF, 0) + b"\x08\0\0\0\0\0\7\0"
        ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, len(data) + 36 & 0xFFFF, 0, 0, 64, 17, 0, b"\x0a\0\0\1", b"\x0a\0\0\2")
        return bytes(12) + b"\x08\0" + ip + udp + data
    data = records()[3].data
    for _ in range(1000):
        data = around(data)
    return cf.pcap([Record(1, i, data) for i in range(20)])


@hostile
def extension_headers_without_end_pcap():
    ip = struct.pack(">IHBB16s16s", 0x60000000, 60_000, 0, 64, bytes(16), bytes(16))
    return cf.pcap([Record(1, 1, bytes(12) + b"\x86\xdd" + ip + bytes(60_000))] * 20)


@hostile
def requests_of_2_gib_pcap():
    """Every READ and WRITE of a whole conversation asks for 2 GiB, and the memory lies at the end of all addresses."""
    made = []
    for i, record in enumerate(records(CONVERSATION)):
        packet = damage.Packet.find(record.data)
        if packet is not None and packet.data[packet.bth] in damage.RETH_OPCODES:
            packet.put(packet.bth + 12, 8, i * (1 << 31) if i % 2 else (1 << 64) - 4096)
            packet.put(packet.bth + 24, 4, 1 << 31 if packet.data[packet.bth] == 12 else 1 << 30)
            packet.repair()
            record = Record(record.seconds, record.fraction, packet.data, record.original)
        made.append(record)
    return cf.pcap(made)


@hostile
def payload_beyond_the_request_pcap():
    """Every WRITE has a kilobyte more than its RETH says."""
    made = []
    for record in records(CONVERSATION):
        packet = damage.Packet.find(record.data)
        if packet is not None and packet.data[packet.bth] in (10, 11):
            packet.data = packet.data[:packet.end] + bytes(1024 + 4)
            packet.repair_lengths()
            packet.repair()
            record = Record(record.seconds, record.fraction, packet.data)
        made.append(record)
    return cf.pcap(made)


@hostile
def scan_of_100000_queue_pairs_pcap():
    template = damage.Packet.find(next(record.data for record in records()
                                       if (packet := damage.Packet.find(record.data)) and packet.data[packet.bth] == 4))
    template.data = template.data[:template.bth + 12] + bytes(4)
    template.repair_lengths()
    content = [cf.pcap_header()]
    for i in range(100_000):
        template.put(template.bth + 5, 3, 100 + i)
        template.put(template.udp, 2, 49152 + i % 16384)
        template.repair()
        content.append(cf.pcap_record(Record(1, i, template.data)))
    return b"".join(content)
