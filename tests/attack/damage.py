# SPDX-License-Identifier: BSD-2-Clause
"""Captures with something wrong in them: in the bytes, in the file's structure, in the headers of packets that are valid again
afterwards, their ICRC included, so that it is the analysis that meets them and not the check before it."""

import struct
import zlib

import capture_file
from capture_file import Record

ROCE_V2 = 4791
EXTREME = (0, 1, 2, 3, 4, 7, 8, 15, 16, 0x7F, 0x80, 0xFF, 0x100, 0x7FFF, 0x8000, 0xFFFF, 0x10000, 0x7FFFFF, 0x800000, 0xFFFFFE,
           0xFFFFFF, 0x1000000, 0x3FFFFFFF, 0x40000000, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFC, 0xFFFFFFFE, 0xFFFFFFFF)
OPCODES = tuple(range(0x18)) + tuple(range(0x20, 0x2B)) + (0x1C, 0x1D, 0x64, 0x65, 0x81, 0xA0, 0xA3, 0xC0)
# Bytes of the headers behind the BTH, by opcode of RC: what comes first there.
RETH_OPCODES = (6, 10, 11, 12)
ATOMIC_OPCODES = (19, 20)
AETH_OPCODES = (13, 15, 16, 17, 18)


class Packet:
    """A RoCE v2 frame without tunnel: where its headers are. `find` gives None for anything else."""

    def __init__(self, data, ip, udp):
        self.data = bytearray(data)
        self.ip = ip
        self.udp = udp
        self.bth = udp + 8

    @staticmethod
    def find(data):
        if len(data) < 58:
            return None
        ip, kind = 14, data[12:14]
        while kind in (b"\x81\x00", b"\x88\xa8"):
            kind, ip = data[ip + 2:ip + 4], ip + 4
        if kind == b"\x08\x00" and data[ip] == 0x45 and data[ip + 9] == 17:
            udp = ip + 20
        elif kind == b"\x86\xdd" and data[ip + 6] == 17:
            udp = ip + 40
        else:
            return None
        if len(data) < udp + 24 or int.from_bytes(data[udp + 2:udp + 4], "big") != ROCE_V2:
            return None
        return Packet(data, ip, udp)

    @property
    def is_ipv4(self):
        return self.udp - self.ip == 20

    @property
    def end(self):
        """Where the ICRC begins, by the UDP length as far as there are bytes."""
        return min(self.udp + int.from_bytes(self.data[self.udp + 4:self.udp + 6], "big"), len(self.data)) - 4

    def repair_lengths(self):
        length = len(self.data) - self.udp
        self.data[self.udp + 4:self.udp + 6] = (length & 0xFFFF).to_bytes(2, "big")
        if self.is_ipv4:
            self.data[self.ip + 2:self.ip + 4] = (length + 20 & 0xFFFF).to_bytes(2, "big")
        else:
            self.data[self.ip + 4:self.ip + 6] = (length & 0xFFFF).to_bytes(2, "big")

    def repair(self):
        """Header checksum, no UDP checksum, and the ICRC."""
        data, end = self.data, self.end
        if end < self.bth + 12:
            return
        if self.is_ipv4:
            data[self.ip + 10:self.ip + 12] = bytes(2)
            total = sum(struct.unpack_from(">10H", data, self.ip))
            while total >> 16:
                total = (total & 0xFFFF) + (total >> 16)
            data[self.ip + 10:self.ip + 12] = (0xFFFF - total).to_bytes(2, "big")
        masked = bytearray(data[self.ip:end])
        if self.is_ipv4:
            masked[1] = masked[8] = masked[10] = masked[11] = 0xFF
        else:
            masked[0] |= 0x0F
            masked[1] = masked[2] = masked[3] = masked[7] = 0xFF
        udp = self.udp - self.ip
        masked[udp + 6] = masked[udp + 7] = masked[udp + 12] = 0xFF
        data[end:end + 4] = zlib.crc32(bytes([0xFF]) * 8 + masked).to_bytes(4, "little")

    def put(self, offset, size, value):
        if offset + size <= len(self.data):
            self.data[offset:offset + size] = (value & ((1 << 8 * size) - 1)).to_bytes(size, "big")


def says_where(record):
    """Whether it has an address and a length."""
    packet = Packet.find(record.data)
    return packet is not None and packet.data[packet.bth] in RETH_OPCODES + ATOMIC_OPCODES


def number(random, bits):
    """One at an edge, near one, or any."""
    if random.random() < 0.7:
        return (random.choice(EXTREME) + random.choice((0, 0, 0, 1, -1))) & ((1 << bits) - 1)
    return random.getrandbits(bits)


def address(random):
    return random.choice((0, 1, (1 << 64) - 1, (1 << 64) - random.randrange(1, 5000), 1 << 63, (1 << 47) - 8, random.getrandbits(64)))


def edit_headers(random, record, others):
    """One header of a packet, or its length, made otherwise; lengths and checks are right again, mostly."""
    packet = Packet.find(record.data)
    if packet is None:
        return flip_bits(random, record)
    data, bth = packet.data, packet.bth
    opcode, behind = data[bth], bth + 12
    choice = random.randrange(12)
    if choice == 0:
        data[bth] = random.choice(OPCODES) if random.random() < 0.9 else random.randrange(256)
    elif choice == 1:
        psn = int.from_bytes(data[bth + 9:bth + 12], "big")
        step = random.choice((1, -1, 2, 64, -64, 4096, 1 << 22, 1 << 23, (1 << 23) - 1, (1 << 23) + 1, random.getrandbits(24)))
        packet.put(bth + 9, 3, psn + step)
    elif choice == 2:
        other = Packet.find(random.choice(others).data)
        packet.put(bth + 5, 3, int.from_bytes(other.data[other.bth + 5:other.bth + 8], "big") if other else number(random, 24))
    elif choice in (3, 4) and opcode in RETH_OPCODES:
        field = random.randrange(3)
        if field == 0:
            packet.put(behind, 8, address(random))
        elif field == 1:
            packet.put(behind + 8, 4, number(random, 32))
        else:
            packet.put(behind + 12, 4, number(random, 32))
    elif choice in (3, 4) and opcode in ATOMIC_OPCODES:
        packet.put(behind, 8, address(random))
    elif choice in (3, 4) and opcode in AETH_OPCODES:
        packet.put(behind, 4, number(random, 32) if random.random() < 0.5 else random.choice((0x60, 0x61, 0x62, 0x20, 0x3F, 0x1F, 0x40)) << 24
                   | int.from_bytes(data[behind + 1:behind + 4], "big"))
    elif choice in (5, 6, 7):  # more or less payload than before
        cut = packet.end - random.choice((0, 4, 8, 64, random.randrange(0, 1500)))
        more = random.randbytes(random.choice((0, 0, 4, 8, 256, 1024, 4096, 9000)))
        packet.data = bytearray(data[:max(cut, behind)] + more + bytes(4))
        packet.repair_lengths()
    elif choice == 8:
        data[bth + 1] = random.randrange(256)  # solicited event, migration, pad count, version
    elif choice == 9:
        data[random.randrange(packet.ip, bth)] ^= 1 << random.randrange(8)
    elif choice == 10:
        data[bth + 8] ^= 0x80
    else:
        for _ in range(random.randrange(1, 5)):
            data[random.randrange(bth, len(data))] = random.choice((0, 0xFF, random.randrange(256)))
    if random.random() < 0.9:
        packet.repair()
    return Record(record.seconds, record.fraction, packet.data, max(len(packet.data), record.original))


def flip_bits(random, record):
    data = bytearray(record.data)
    for _ in range(random.randrange(1, 8)):
        if data:
            data[random.randrange(len(data))] ^= 1 << random.randrange(8)
    return Record(record.seconds, record.fraction, data, record.original)


def order_of_records(random, records, others):
    records = list(records)
    for _ in range(random.randrange(1, 8)):
        at, choice = random.randrange(len(records)), random.randrange(5)
        if choice == 0 and len(records) > 1:
            del records[at]
        elif choice == 1:
            records.insert(at, random.choice(records))
        elif choice == 2:
            records.insert(at, random.choice(others))
        elif choice == 3:
            records[at:at] = random.choices(records, k=random.randrange(1, 30))
        else:
            other = random.randrange(len(records))
            records[at], records[other] = records[other], records[at]
    return records


def wild_times(random, records):
    records = list(records)
    for _ in range(random.randrange(1, 10)):
        at = random.randrange(len(records))
        old = records[at]
        records[at] = Record(number(random, 32), random.choice((old.fraction, number(random, 32))), old.data, old.original)
    return records


def damaged_bytes(random, content):
    """Bits, bytes, numbers, or a length: anywhere, most of all at the beginning."""
    content = bytearray(content)
    for _ in range(random.choice((1, 1, 2, 5, 20))):
        at = random.randrange(min(len(content), random.choice((24, 64, 400, len(content)))))
        choice = random.randrange(4)
        if choice == 0:
            content[at] ^= 1 << random.randrange(8)
        elif choice == 1:
            content[at] = random.choice((0, 0xFF, 0x7F, 0x80, random.randrange(256)))
        elif choice == 2:
            at &= ~3
            content[at:at + 4] = number(random, 32).to_bytes(4, random.choice(("little", "big")))
        else:
            del content[at:at + random.choice((1, 4, 16, 100))]
    if random.random() < 0.2:
        del content[random.randrange(len(content)) if content else 0:]
    return bytes(content)


def odd_pcapng(random, records):
    """Sections, interfaces, options and blocks in all wrong ways."""
    order = random.choice("<>")
    out = [capture_file.section(order)]
    interfaces = random.choice((0, 1, 1, 2, 5))

    def options():
        some = random.choice((b"", capture_file.option(9, bytes([number(random, 8)]), order),
                              capture_file.option(1, b"a comment", order),
                              capture_file.option(number(random, 16), random.randbytes(random.randrange(20)), order, number(random, 16)),
                              capture_file.option(14, struct.pack(order + "q", random.choice((-1, -(1 << 63), (1 << 63) - 1))), order)))
        return some + random.choice((capture_file.END_OF_OPTIONS, b""))

    for _ in range(interfaces):
        out.append(capture_file.interface(order, random.choice((1, 1, 1, 113, 276, 127, 101, number(random, 16))),
                                          random.choice((262144, 0, 64, capture_file.MAX)), options()))
    for record in records:
        wrong = random.random() < 0.1
        out.append(capture_file.packet(
            record.data, number(random, 64) if wrong else record.seconds * 1000000 + record.fraction,
            number(random, 32) if wrong and random.random() < 0.3 else random.randrange(max(interfaces, 1)), order,
            number(random, 32) if wrong and random.random() < 0.1 else None, record.original, options() if wrong else b"",
            **({"length": number(random, 32)} if wrong and random.random() < 0.1 else {})))
        if random.random() < 0.05:
            kind = random.choice((3, 4, 5, 10, 0xBAD, 0x40000BAD, 2, number(random, 32)))
            out.append(capture_file.block(kind, random.randbytes(random.randrange(64)), order,
                                          None if random.random() < 0.8 else number(random, 32)))
        if random.random() < 0.02:
            order = random.choice("<>")
            out.append(capture_file.section(order))
            out.append(capture_file.interface(order))
            interfaces = 1
    return b"".join(out)


KINDS = ("bytes", "records", "headers", "headers", "headers", "headers", "times", "lengths", "pcapng", "pcapng bytes", "all")


def damaged(random, records, others):
    """(kind, suffix, content) of a damaged capture that was made of these records and, here and there, of others."""
    kind = random.choice(KINDS)
    order = random.choice("<<<>")
    if len(records) > 60 and random.random() < 0.25:
        begin = random.randrange(len(records) - 50)
        records = records[begin:begin + random.randrange(1, 200)]
    records = list(records)
    if kind in ("records", "all"):
        records = order_of_records(random, records, others)
    if kind in ("headers", "all"):
        # Where a packet says addresses and lengths, there is more that can go wrong.
        telling = [at for at, record in enumerate(records) if says_where(record)]
        for _ in range(random.choice((1, 2, 5, 20))):
            at = random.choice(telling) if telling and random.random() < 0.6 else random.randrange(len(records))
            records[at] = edit_headers(random, records[at], others)
    if kind in ("times", "all"):
        records = wild_times(random, records)
    if kind == "pcapng":
        content, suffix = odd_pcapng(random, records), "pcapng"
    elif kind == "pcapng bytes" or random.random() < 0.3:
        content, suffix = capture_file.pcapng(records, order), "pcapng"
    else:
        content, suffix = capture_file.pcap(records, order), "pcap"
    if kind == "lengths" and suffix == "pcap":
        at = random.randrange(len(records))
        wrong = Record(records[at].seconds, records[at].fraction, records[at].data, number(random, 32))
        content = (capture_file.pcap_header(order, random.choice((capture_file.MICROSECONDS, capture_file.NANOSECONDS, 0xA1B2CD34)),
                                            snap_length=number(random, 32) if random.random() < 0.5 else 262144)
                   + b"".join(capture_file.pcap_record(record, order) for record in records[:at])
                   + capture_file.pcap_record(wrong, order, number(random, 32) if random.random() < 0.7 else None)
                   + b"".join(capture_file.pcap_record(record, order) for record in records[at + 1:]))
    if kind in ("bytes", "pcapng bytes"):
        content = damaged_bytes(random, content)
    if random.random() < 0.2:
        pack = random.choice(("gz", "zst"))
        content = capture_file.gz(content) if pack == "gz" else capture_file.zstd(content)
        suffix += f".{pack}"
        if random.random() < 0.5:
            content, kind = damaged_bytes(random, content), f"{kind}, {pack}"
    return kind, suffix, content
