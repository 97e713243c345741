# SPDX-License-Identifier: BSD-2-Clause
"""Builds RoCE packets in Ethernet frames. Standard library only, and nothing of libroce, as roce_frames.py."""

import ipaddress
import struct
import zlib

SEND_FIRST, SEND_MIDDLE, SEND_LAST, SEND_ONLY, ACKNOWLEDGE = 0, 1, 2, 4, 17
ACK, RNR_NAK, SEQUENCE_NAK = 0x1F, 0x2C, 0x60
ROCE_PORT = 4791


def mac_bytes(mac):
    return bytes.fromhex(mac.replace(":", ""))


def checksum(data):
    """The Internet checksum (RFC 1071)."""
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def ethernet(source, destination, ether_type, vlan=None):
    tag = b"" if vlan is None else struct.pack("!HH", 0x8100, vlan)
    return mac_bytes(destination) + mac_bytes(source) + tag + struct.pack("!H", ether_type)


def bth(opcode, qp, psn, pad=0, ack_req=False):
    return struct.pack("!BBHII", opcode, 0x40 | pad << 4, 0xFFFF, qp, ack_req << 31 | psn)


def aeth(syndrome, msn):
    return struct.pack("!I", syndrome << 24 | msn)


class Host:
    """An end of connections: a MAC address and an IP address, to whose packets RoCE headers are added."""

    def __init__(self, mac, address, vlan=None):
        self.mac, self.address, self.vlan = mac, ipaddress.ip_address(address), vlan
        self.count = 0

    def packet(self, other, transport, payload=b"", port=0xC000, ttl=64, v1=False):
        """A frame of this host to another one: `transport` from the BTH on, `payload`, and a right ICRC."""
        body = transport + payload + b"\0" * (-len(payload) % 4)
        version = self.address.version
        if v1:
            network = struct.pack("!IHBB", 6 << 28, len(body) + 4, 0x1B, ttl) + _gid(self.address) + _gid(other.address)
            udp, ether_type = b"", 0x8915
        else:
            udp = struct.pack("!HHHH", port, ROCE_PORT, len(body) + 12, 0)
            if version == 4:
                self.count += 1
                network = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(udp) + len(body) + 4, self.count & 0xFFFF, 0x4000,
                                      ttl, 17, 0) + self.address.packed + other.address.packed
                network = network[:10] + struct.pack("!H", checksum(network)) + network[12:]
                ether_type = 0x0800
            else:
                network = (struct.pack("!IHBB", 6 << 28, len(udp) + len(body) + 4, 17, ttl) + self.address.packed
                           + other.address.packed)
                ether_type = 0x86DD
        covered = bytearray(network + udp + body)
        if covered[0] >> 4 == 4:
            covered[1] = covered[8] = 0xFF
            covered[10:12] = b"\xff\xff"
        else:
            covered[0] |= 0x0F
            covered[1:4] = b"\xff\xff\xff"
            covered[7] = 0xFF
        if udp:
            covered[len(network) + 6:len(network) + 8] = b"\xff\xff"
        covered[len(network) + len(udp) + 4] = 0xFF
        icrc = zlib.crc32(b"\xff" * 8 + covered)
        return (ethernet(self.mac, other.mac, ether_type, self.vlan) + network + udp + body + struct.pack("<I", icrc))

    def send(self, other, qp, psn, size=64, opcode=SEND_ONLY, ack_req=True, **more):
        """A SEND over a reliable connection."""
        return self.packet(other, bth(opcode, qp, psn, -size % 4, ack_req), bytes(size), **more)

    def answer(self, other, qp, psn, msn=0, syndrome=ACK, **more):
        """An ACK, or a NAK by its syndrome."""
        return self.packet(other, bth(ACKNOWLEDGE, qp, psn) + aeth(syndrome, msn), **more)

    def arp(self, other_address, operation=1, mac="ff:ff:ff:ff:ff:ff"):
        target = b"\0" * 6 if operation == 1 else mac_bytes(mac)
        return (ethernet(self.mac, mac, 0x0806, self.vlan) + struct.pack("!HHBBH", 1, 0x0800, 6, 4, operation)
                + mac_bytes(self.mac) + self.address.packed + target + ipaddress.ip_address(other_address).packed
                + b"\0" * 18)


def _gid(address):
    return address.packed if address.version == 6 else b"\0" * 10 + b"\xff\xff" + address.packed
