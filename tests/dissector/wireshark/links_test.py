# SPDX-License-Identifier: BSD-2-Clause
"""The links between packets: messages, losses, connection set-up, congestion; and what is counted along them.

    links_test.py PLUGIN ROCE_ANALYZE [unittest arguments]

What is expected follows from PSNs and opcodes as the built-in dissector shows them, or from roce-analyze."""

import collections
import struct

import wireshark

SOFTROCE = wireshark.TOP / "captures" / "softroce"
# RC opcodes by what they are in their message, but for READ requests.
FIRST, MIDDLE, LAST, ONLY = {0, 6}, {1, 7}, {2, 3, 8, 9, 22}, {4, 5, 10, 11, 19, 20, 23}
REQUESTS = FIRST | MIDDLE | LAST | ONLY


def one(cell, default=None):
    return wireshark.number(cell[0]) if cell else default


def datagram(source, destination, qp, opcode, psn, rest, ecn=2):
    """A frame from host to host, numbered from 1; its ICRC is zeros."""
    bth = struct.pack(">BBHIBBH", opcode, 0x40, 0xFFFF, qp, 0x80 if opcode == 4 else 0, psn >> 16, psn & 0xFFFF)
    udp = bth + rest + bytes(4)
    udp = struct.pack(">HHHH", 0xC000 + source, 4791, 8 + len(udp), 0) + udp
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, ecn, 20 + len(udp), 0, 0x4000, 64, 17, 0, bytes((10, 0, 0, source)), bytes((10, 0, 0, destination)))
    return bytes((2, 0, 0, 0, 0, destination, 2, 0, 0, 0, 0, source, 8, 0)) + ip + udp


def pcap(frames):
    """A file of pairs of time in microseconds and frame."""
    header = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, 1)
    return header + b"".join(struct.pack("<IIII", 0, time, len(frame), len(frame)) + frame for time, frame in frames)


class Links(wireshark.PluginTest):
    def frames(self, path, *fields, filter_text="roce.bth", options=("-2",)):
        """{frame: {field: number or None}} with `roce.` left out of the names."""
        names = [f"roce.{field}" for field in fields]
        rows = self.wireshark.rows(["frame.number", *names], *options, "-r", path, "-Y", filter_text)
        return {int(number[0]): {field: one(cell) for field, cell in zip(fields, cells, strict=True)} for number, *cells in rows}

    def messages_by_psn(self, path):
        """{(destination, QP, PSN): (PSN of the message's first packet, its packets)} of the requests, from opcodes alone; and
        all frames with these requests."""
        rows = self.wireshark.rows(["frame.number", "ip.dst", "infiniband.bth.destqp", "infiniband.bth.psn", "infiniband.bth.opcode"],
                                   "-r", path, "-Y", "infiniband.bth", with_plugin=False)
        opcodes, frames = {}, collections.defaultdict(list)
        for number, address, qp, psn, opcode in rows:
            if one(opcode) in REQUESTS:
                place = (address[0], one(qp), one(psn))
                opcodes[place] = one(opcode)
                frames[place].append(int(number[0]))
        messages = {}
        for place, opcode in opcodes.items():
            if opcode in ONLY:
                messages[place] = (place[2], 1)
            if opcode not in FIRST:
                continue
            length = 1
            while (following := opcodes.get((*place[:2], (place[2] + length) % (1 << 24)))) in MIDDLE:
                length += 1
            if following in LAST:
                for i in range(length + 1):
                    messages[(*place[:2], (place[2] + i) % (1 << 24))] = (place[2], length + 1)
        return messages, frames

    def test_each_request_leads_to_its_message_sent_again_or_not(self):
        checked = 0
        for name in ("rc-drop-requests.rx.pcap", "rc-drop-requests.tx.pcap", "rc-drop-random.rx.pcap", "rc-psn-wrap.rx.pcap",
                     "rc-mix-v4.tx.pcap"):
            path = SOFTROCE / name
            messages, frames = self.messages_by_psn(path)
            shown = self.frames(path, "analysis.message_first", "analysis.packet", "analysis.packets", "bth.psn", "icrc.bad",
                                filter_text="roce.analysis.role == 1 && !roce.icrc.bad")
            for place, numbers in frames.items():
                if place not in messages:
                    continue
                first_psn, packets = messages[place]
                begun_by = frames[(*place[:2], first_psn)]
                for number in numbers:
                    if number not in shown:
                        continue
                    row = shown[number]
                    self.assertIn(row["analysis.message_first"], begun_by, f"{name} frame {number}")
                    expected = (None, None) if packets == 1 else ((place[2] - first_psn) % (1 << 24) + 1, packets)
                    self.assertEqual(expected, (row["analysis.packet"], row["analysis.packets"]), f"{name} frame {number}")
                    checked += 1
        self.assertGreater(checked, 500)

    def test_answers_lead_to_their_message(self):
        path = SOFTROCE / "rc-drop-read-middle.rx.pcap"
        rows = self.frames(path, "analysis.message_first", "analysis.packet", "analysis.packets", filter_text="roce.operation == 4")
        self.assertTrue(rows)
        firsts = {row["analysis.message_first"] for row in rows.values()}
        self.assertLessEqual({frame for frame in firsts if frame}, {int(frame) for frame in self.frames(path, "bth.psn", filter_text="roce.operation == 3")})
        self.assertFalse([frame for frame, row in rows.items() if row["analysis.message_first"] is None])
        for row in rows.values():
            self.assertLessEqual(row["analysis.packet"] or 1, row["analysis.packets"] or 1)

    def test_a_middle_without_its_first_is_not_put_to_the_message_before(self):
        path = SOFTROCE / "rc-drop-requests.rx.pcap"
        first = next(frame for frame, row in self.frames(path, "bth.opcode", filter_text="roce.analysis.role == 1").items()
                     if row["bth.opcode"] in FIRST and frame > 20)
        psn = self.frames(path, "bth.psn", "bth.dest_qp", filter_text=f"frame.number == {first}")[first]
        torn = self.wireshark.path("torn.pcap")
        same = f"roce.bth.psn == {psn['bth.psn']} && roce.bth.dest_qp == {psn['bth.dest_qp']} && roce.analysis.role == 1"
        self.wireshark.tshark("-2", "-r", path, "-Y", f"!({same})", "-w", torn, "-F", "pcap")
        torn.chmod(0o644)
        rows = self.frames(torn, "analysis.message_first", "analysis.message",
                           filter_text=f"roce.bth.psn == {psn['bth.psn'] + 1} && roce.bth.dest_qp == {psn['bth.dest_qp']} && roce.analysis.role == 1")
        self.assertTrue(rows)
        for row in rows.values():
            self.assertEqual({"analysis.message_first": None, "analysis.message": None}, row)

    def test_nak_gap_and_packets_sent_again_lead_to_each_other(self):
        path = SOFTROCE / "rc-drop-requests.rx.pcap"
        fields = ("analysis.nak_in", "analysis.gap_in", "analysis.gap_filled", "analysis.sent_again", "analysis.sent_before",
                  "bth.psn", "bth.dest_qp", "analysis.gap", "analysis.nak_sequence_error", "analysis.retransmission")
        rows = self.frames(path, *fields, filter_text="roce.stream")
        gaps = {frame for frame, row in rows.items() if row["analysis.gap"] is not None}
        naks = {frame for frame, row in rows.items() if row["analysis.nak_sequence_error"] is not None}
        again = {frame for frame, row in rows.items() if row["analysis.retransmission"] is not None}
        self.assertTrue(gaps and naks and again)
        linked = 0
        for frame in naks:
            gap, resent = rows[frame]["analysis.gap_in"], rows[frame]["analysis.sent_again"]
            if gap is not None:
                self.assertIn(gap, gaps)
                self.assertEqual(frame, rows[gap]["analysis.nak_in"])
                self.assertLess(gap, frame)
            if resent is not None:
                self.assertIn(resent, again)
                self.assertEqual(frame, rows[resent]["analysis.nak_in"])
                # It asks for that PSN, or for one that was lost again.
                self.assertLess((rows[resent]["bth.psn"] - rows[frame]["bth.psn"]) % (1 << 24), 32)
                linked += 1
        self.assertGreater(linked, 3)
        for frame in again:
            before, gap = rows[frame]["analysis.sent_before"], rows[frame]["analysis.gap_in"]
            self.assertTrue(before or gap, f"frame {frame}")
            if before:
                self.assertEqual(frame, rows[before]["analysis.sent_again"])
                self.assertEqual(rows[frame]["bth.psn"], rows[before]["bth.psn"])
        for frame in gaps:
            filled = rows[frame]["analysis.gap_filled"]
            if filled is not None:
                self.assertEqual(frame, rows[filled]["analysis.gap_in"])

    def test_psns_in_flight_are_those_sent_and_not_answered(self):
        path = SOFTROCE / "rc-mix-v4.tx.pcap"
        rows = self.wireshark.rows(["frame.number", "roce.stream", "roce.analysis.direction", "roce.analysis.role", "roce.analysis.relative_psn",
                                    "roce.analysis.packets", "roce.operation", "roce.analysis.in_flight"], "-2", "-r", path, "-Y", "roce.stream")
        sent, answered, checked = collections.Counter(), collections.Counter(), 0
        for number, stream, direction, role, psn, packets, operation, in_flight in rows:
            channel = (stream[0], one(direction) if one(role) == 1 else 1 - one(direction, 0))
            if one(role) == 1:
                count = one(packets) or 1 if one(operation) == 3 else 1
                sent[channel] = max(sent[channel], int(psn[0]) + count)
                if in_flight:
                    self.assertEqual(sent[channel] - answered[channel], one(in_flight), f"frame {number}")
                    checked += 1
            elif one(role) == 2:
                answered[channel] = max(answered[channel], int(psn[0]) + 1)
        self.assertGreater(checked, 20)

    def test_credits_left_are_those_granted_less_the_messages_begun(self):
        def send(psn):
            return datagram(1, 2, 0x22, 4, psn, b"data")

        def ack(psn, syndrome, msn):
            return datagram(2, 1, 0x11, 17, psn, bytes((syndrome,)) + msn.to_bytes(3, "big"))

        # Syndromes: 0x02 grants two messages, 0x01 one, 0x1F any number.
        frames = [send(100), ack(100, 0x02, 1), send(101), send(102), send(102), ack(101, 0x01, 2), ack(102, 0x01, 3),
                  ack(102, 0x1F, 3), send(103)]
        path = self.wireshark.write("credits.pcap", pcap((400 * number, frame) for number, frame in enumerate(frames)))
        rows = self.wireshark.rows(["roce.analysis.credits_left"], "-2", "-r", path, preferences={"roce.check_icrc": "false"})
        self.assertEqual([one(left) for left, in rows], [None, 2, 1, 0, 0, 0, 1, None, None])

    def test_the_base_round_trip_is_the_least_latency_of_a_requester(self):
        path = SOFTROCE / "rc-mix-v4.tx.pcap"
        rows = self.wireshark.rows(["roce.stream", "roce.analysis.direction", "roce.analysis.latency", "roce.analysis.base_round_trip"],
                                   "-2", "-r", path, "-Y", "roce.analysis.response && roce.analysis.role == 1")
        least = {}
        for stream, direction, latency, _ in rows:
            least.setdefault((stream[0], direction[0]), []).append(float(latency[0]))
        self.assertTrue(rows)
        for stream, direction, _, base in rows:
            self.assertLessEqual(float(base[0]), min(least[stream[0], direction[0]]))
            self.assertGreater(float(base[0]), 0)

    def test_cm_messages_of_a_connection_lead_to_each_other(self):
        for name in ("cm-rping.tx.pcap", "cm-rping-v6.tx.pcap"):
            path = SOFTROCE / name
            rows = self.frames(path, "cm.previous", "cm.next", "cm.request_in", "mad.attribute_id",
                               "cm_req.local_comm_id", "cm_rep.remote_comm_id", filter_text="roce.mad.mgmt_class == 7")
            self.assertGreater(len(rows), 3)
            for frame, row in rows.items():
                if row["cm.next"] is not None:
                    self.assertEqual(frame, rows[row["cm.next"]]["cm.previous"], name)
                if row["cm_rep.remote_comm_id"] is not None:
                    request = rows[row["cm.request_in"]]
                    self.assertEqual(row["cm_rep.remote_comm_id"], request["cm_req.local_comm_id"])
            # A REQ begins each connection.
            begins = [row for row in rows.values() if row["cm.previous"] is None and row["cm.next"] is not None]
            self.assertTrue(begins)
            self.assertFalse([row for row in begins if row["cm_req.local_comm_id"] is None])

    def test_addresses_in_private_data_are_ipv4(self):
        path = SOFTROCE / "cm-rping.tx.pcap"
        rows = self.wireshark.rows(["ip.src", "ip.dst", "roce.cma.source_ipv4", "roce.cma.destination_ipv4"], "-r", path, "-Y", "roce.cma")
        self.assertTrue(rows)
        for source, destination, claimed_source, claimed_destination in rows:
            self.assertEqual((source, destination), (claimed_source, claimed_destination))
        rows = self.wireshark.rows(["roce.cma.source_ipv4"], "-r", SOFTROCE / "cm-rping-v6.tx.pcap", "-Y", "roce.cma.source_ipv4")
        self.assertFalse(rows)

    def test_ce_marks_cnps_and_the_reaction(self):
        path, marked, cnp = self.congested()
        fields = [f"roce.analysis.{name}" for name in ("cnp_in", "first_mark", "marks", "mark_to_cnp", "rate_before", "rate_after")]
        rows = self.wireshark.rows(["frame.number", *fields], "-2", "-r", path, "-Y", "roce", preferences={"roce.check_icrc": "false"})
        shown = {int(number[0]): cells for number, *cells in rows}
        for frame in marked:
            self.assertEqual([str(cnp)], shown[frame][0])
        _, first_mark, marks, since, before, after = shown[cnp]
        self.assertEqual([str(marked[0])], first_mark)
        self.assertEqual(len(marked), one(marks))
        self.assertAlmostEqual(float(since[0]), 100e-6, places=6)
        # A frame of 1086 bytes each 10 us, then each 40 us.
        self.assertAlmostEqual(float(before[0]), 0.87, delta=0.02)
        self.assertAlmostEqual(float(after[0]), 0.22, delta=0.02)

    def congested(self):
        """A capture, the frames with CE marks and the frame of the CNP: after it the sender sends at a quarter of its rate."""
        frames, marked = [], []
        a, b = 1, 2
        for psn in range(400):
            time = 10 * psn if psn < 200 else 2000 + 40 * (psn - 200)
            if psn == 200:
                frames.append((time, datagram(b, a, 0x11, 0x81, 0, bytes(16))))
                cnp = len(frames)
            is_marked = psn in (190, 195)
            frames.append((time, datagram(a, b, 0x12, 4, psn, bytes(1024), ecn=3 if is_marked else 2)))
            if is_marked:
                marked.append(len(frames))
            if psn % 10 == 0:
                frames.append((time + 5, datagram(b, a, 0x11, 17, psn, struct.pack(">I", 0x1F000000 | psn + 1))))
        return self.wireshark.write("congested.pcap", pcap(frames)), marked, cnp

    def test_damaged_packets_are_of_no_message(self):
        for name in ("softroce/rc-corrupt.rx.pcap", "counters/corrupt.a.pcap"):
            damaged = self.frames(wireshark.TOP / "captures" / name, "analysis.relative_psn", "analysis.message_first", "bth.psn",
                                  filter_text="roce.icrc.bad")
            self.assertTrue(damaged)
            for shown in damaged.values():
                self.assertIsNotNone(shown["bth.psn"])
                self.assertEqual((shown["analysis.relative_psn"], shown["analysis.message_first"]), (None, None))

    def test_a_message_that_nobody_answers_says_so(self):
        path = SOFTROCE / "rc-blackhole.tx.pcap"
        events = {event["frame"] for event in self.analyze("events", "--json", "--verdict", "no_answer", path)}
        self.assertTrue(events)
        rows = self.wireshark.rows(["frame.number", "roce.analysis.tries", "roce.analysis.text"], "-2", "-r", path, "-Y", "roce.analysis.no_answer")
        self.assertEqual(events, {int(number[0]) for number, *_ in rows})
        for _, tries, texts in rows:
            self.assertTrue(any(f"nobody answered {tries[0]} tries" in text for text in texts), texts)

    def test_names_stand_beside_numbers_in_json(self):
        path = SOFTROCE / "rc-rnr.tx.pcap"
        text = self.wireshark.tshark("-2", "-r", path, "-Y", "roce.analysis.rnr_nak", "-T", "json", "-c", "200")
        for name, value in (("roce.bth.opcode_name", "RC_ACKNOWLEDGE"), ("roce.analysis.verdict_name", "rnr_nak")):
            self.assertIn(f'"{name}": "{value}"', text)
        self.assertIn('"roce.aeth.syndrome_name": "RNR NAK', text)


if __name__ == "__main__":
    wireshark.main()
