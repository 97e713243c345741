# SPDX-License-Identifier: BSD-2-Clause
"""RoCE v2 frames with upper protocols in them, made by hand.

A `Connection` has a client and a server with a QP each; its methods add frames to a list, which `write_pcap` writes.
"""
import struct
import zlib

SEND_FIRST, SEND_MIDDLE, SEND_LAST, SEND_ONLY = 0x00, 0x01, 0x02, 0x04
WRITE_FIRST, WRITE_MIDDLE, WRITE_LAST, WRITE_ONLY = 0x06, 0x07, 0x08, 0x0A
READ_REQUEST, READ_RESPONSE_ONLY, ACKNOWLEDGE = 0x0C, 0x10, 0x11
UD_SEND_ONLY = 0x64

CLIENT, SERVER = (10, 0, 0, 1), (10, 0, 0, 2)
TCP_SERVICE = 0x0000000001060000
NVME_PORT, ISER_PORT = 4420, 3260


def icrc(ip, udp, transport):
    """The invariant CRC of a packet over IPv4: what a router may change counts as ones (IBTA annex A17)."""
    ip, udp, transport = bytearray(ip), bytearray(udp), bytearray(transport)
    ip[1] = ip[8] = ip[10] = ip[11] = udp[6] = udp[7] = transport[4] = 0xFF
    return struct.pack("<I", zlib.crc32(b"\xff" * 8 + ip + udp + transport))


def frame(source, destination, transport):
    """An Ethernet frame of a packet from its BTH to its pad; the ICRC is added."""
    length = len(transport) + 4
    udp = struct.pack(">HHHH", 49152 + source[3], 4791, 8 + length, 0)
    ip = struct.pack(">BBHHHBBH", 0x45, 2, 28 + length, 0, 0x4000, 64, 17, 0) + bytes(source) + bytes(destination)
    total = sum(struct.unpack(">10H", ip))
    total = (total & 0xFFFF) + (total >> 16)
    ip = ip[:10] + struct.pack(">H", ~(total + (total >> 16)) & 0xFFFF) + ip[12:]
    ethernet = b"\x02\0\0\0\0" + bytes(destination[3:]) + b"\x02\0\0\0\0" + bytes(source[3:]) + b"\x08\x00"
    return ethernet + ip + udp + transport + icrc(ip, udp, transport)


def unrelated():
    """An acknowledge between other hosts."""
    bth = struct.pack(">BBHII", ACKNOWLEDGE, 0x40, 0xFFFF, 0x999, 1)
    return frame((10, 0, 0, 8), (10, 0, 0, 9), bth + struct.pack(">I", 0x1F000000))


def write_pcap(path, frames, snap_length=65535):
    with open(path, "wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for number, data in enumerate(frames):
            cut = data[:snap_length]
            file.write(struct.pack("<IIII", 1_700_000_000, 10 * number, len(cut), len(data)) + cut)


class Connection:
    """An RC connection between `CLIENT` and `SERVER`."""

    def __init__(self, client_qp=0x111, server_qp=0x222, client_psn=100, server_psn=5000):
        self.frames = []
        self.qp = {CLIENT: client_qp, SERVER: server_qp}
        self.psn = {CLIENT: client_psn, SERVER: server_psn}

    def packet(self, source, opcode, psn, headers=b"", payload=b""):
        destination = SERVER if source == CLIENT else CLIENT
        pad = -len(payload) % 4
        bth = struct.pack(">BBHII", opcode, 0x40 | pad << 4, 0xFFFF, self.qp[destination], psn)
        self.frames.append(frame(source, destination, bth + headers + payload + b"\xee" * pad))

    def request(self, source, opcode, headers=b"", payload=b""):
        """A packet with the next PSN of its requester, which it returns."""
        psn = self.psn[source]
        self.psn[source] += 1
        self.packet(source, opcode, psn, headers, payload)
        return psn

    def send(self, source, payload):
        psn = self.request(source, SEND_ONLY, payload=payload)
        self.acknowledge(source, psn)

    def acknowledge(self, requester, psn):
        responder = SERVER if requester == CLIENT else CLIENT
        self.packet(responder, ACKNOWLEDGE, psn, headers=struct.pack(">I", 0x1F000000))

    def write(self, source, address, key, payload):
        psn = self.request(source, WRITE_ONLY, struct.pack(">QII", address, key, len(payload)), payload)
        self.acknowledge(source, psn)

    def read(self, source, address, key, payload):
        responder = SERVER if source == CLIENT else CLIENT
        psn = self.request(source, READ_REQUEST, struct.pack(">QII", address, key, len(payload)))
        self.packet(responder, READ_RESPONSE_ONLY, psn, struct.pack(">I", 0x1F000000), payload)

    def management(self, source, attribute, message):
        destination = SERVER if source == CLIENT else CLIENT
        mad = struct.pack(">BBBBHHQHHI", 1, 7, 2, 3, 0, 0, 0x1234, attribute, 0, 0) + message.ljust(232, b"\0")
        bth = struct.pack(">BBHII", UD_SEND_ONLY, 0x40, 0xFFFF, 1, 7)
        deth = struct.pack(">II", 0x80010000, 1)
        self.frames.append(frame(source, destination, bth + deth + mad))

    def cm(self, service_id, request_data=b"", reply_data=b"", reply=True):
        """REQ, REP and RTU of the connection manager."""
        mapped = lambda address: b"\0" * 10 + b"\xff\xff" + bytes(address)
        ip_cm = b"\x00\x40" + struct.pack(">H", 51000) + b"\0" * 12 + bytes(CLIENT) + b"\0" * 12 + bytes(SERVER)
        request = struct.pack(">IIQQII", 0xA1, 0, service_id, 0, 0, 0)
        request += (self.qp[CLIENT] << 8 | 16).to_bytes(4, "big") + b"\0" * 3 + b"\x10" + b"\0" * 3 + b"\xa0"
        request += (self.psn[SERVER] << 8 | 0xF7).to_bytes(4, "big") + b"\xff\xff\x57\xf0" + b"\0" * 4
        request += mapped(CLIENT) + mapped(SERVER)
        request = request.ljust(140, b"\0") + ip_cm + request_data
        self.management(CLIENT, 0x10, request)
        if not reply:
            return
        answer = struct.pack(">III", 0xB2, 0xA1, 0) + (self.qp[SERVER] << 8).to_bytes(4, "big") + b"\0" * 4
        answer += (self.psn[CLIENT] << 8).to_bytes(4, "big") + b"\x10\x10\x00\x00" + b"\0" * 8
        self.management(SERVER, 0x13, answer + reply_data)
        self.management(CLIENT, 0x14, struct.pack(">II", 0xA1, 0xB2))

    def reject(self, data):
        self.management(SERVER, 0x12, struct.pack(">IIBBH", 0xB2, 0xA1, 0, 0, 28) + b"\0" * 72 + data)


def nvme_request_data(queue):
    return struct.pack("<HHHHH", 0, queue, 32, 31, 1)


def nvme_command(opcode, identifier, address, key, length):
    sgl = struct.pack("<Q", address) + length.to_bytes(3, "little") + struct.pack("<I", key) + b"\x40"
    return struct.pack("<BBHI", opcode, 0x40, identifier, 1) + b"\0" * 16 + sgl + b"\0" * 24


def nvme_completion(identifier):
    return struct.pack("<QHHHH", 0, 1, 1, identifier, 0)


def nvme_traffic(connection):
    """A read of 512 bytes through an I/O queue, and a write of as many."""
    connection.send(CLIENT, nvme_command(0x02, 5, 0x10000, 0xABCD, 512))
    connection.write(SERVER, 0x10000, 0xABCD, bytes(range(256)) * 2)
    connection.send(SERVER, nvme_completion(5))
    connection.send(CLIENT, nvme_command(0x01, 6, 0x20000, 0xABCE, 512))
    connection.read(SERVER, 0x20000, 0xABCE, b"\x5a" * 512)
    connection.send(SERVER, nvme_completion(6))


def iser_login():
    iscsi = bytes([0x43, 0x87]) + b"\0" * 46
    return struct.pack(">BBHIQIQ", 0x10, 0, 0, 0, 0, 0, 0) + iscsi


def rpc_header(xid, read_chunk=None):
    header = struct.pack(">IIII", xid, 1, 32, 0)
    header += struct.pack(">I", 0) if read_chunk is None else struct.pack(">IIIIQI", 1, *read_chunk, 0)
    return header + struct.pack(">II", 0, 0)


def nfs_call(xid, procedure):
    return struct.pack(">IIIIIIIIII", xid, 0, 2, 100003, 3, procedure, 0, 0, 0, 0)


def nfs_write(connection, data, xid=0x78):
    """WRITE of NFS version 3; its data are fetched by RDMA READ."""
    call = nfs_call(xid, 7) + struct.pack(">I", 32) + b"\x11" * 32 + struct.pack(">QIII", 0, len(data), 2, len(data))
    connection.send(CLIENT, rpc_header(xid, read_chunk=(len(call), 0xBEEF, len(data), 0x8000)) + call)
    connection.read(SERVER, 0x8000, 0xBEEF, data)
    connection.send(SERVER, rpc_header(xid) + struct.pack(">IIIIII", xid, 1, 0, 0, 0, 0) + b"\0" * 28)


def smb_direct_negotiate():
    return struct.pack("<HHHHIII", 0x0100, 0x0100, 0, 255, 1364, 1364, 1048576)


def smc_confirm_link():
    return bytes([0x01, 44]) + b"\0" * 42
