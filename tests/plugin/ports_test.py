# SPDX-License-Identifier: BSD-2-Clause
"""Which packets the plugin gets: low source ports, other ports, what the user decides, changed preferences.

    ports_test.py PLUGIN ROCE_ANALYZE [unittest arguments]"""

import json
import struct

import wireshark

CAPTURE = wireshark.TOP / "captures/softroce/rc-mix-v4.tx.pcap"
SOURCE, DESTINATION = 34, 36  # of the UDP ports in an Ethernet frame with IPv4 without options


class Ports(wireshark.PluginTest):
    def frames(self):
        """The frames of the capture with RoCE, as bytearrays; all have the usual headers."""
        data = CAPTURE.read_bytes()
        offset, frames = 24, []
        while offset < len(data):
            length = struct.unpack_from("<I", data, offset + 8)[0]
            frame = data[offset + 16:offset + 16 + length]
            if frame[12:14] == b"\x08\x00" and frame[23] == 17 and frame[36:38] == struct.pack(">H", 4791):
                frames.append((data[offset:offset + 16], bytearray(frame)))
            offset += 16 + length
        self.assertGreater(len(frames), 100)
        return data[:24], frames

    def changed(self, name, place, port):
        """The capture with another port in each frame with RoCE."""
        header, frames = self.frames()
        for _, frame in frames:
            struct.pack_into(">H", frame, place, port)
        return self.wireshark.write(name, header + b"".join(record + bytes(frame) for record, frame in frames)), len(frames)

    def count(self, filter_text, *arguments, **options):
        return len(self.wireshark.rows(["frame.number"], "-Y", filter_text, *arguments, **options))

    def test_a_source_port_of_another_protocol_is_no_matter(self):
        for port in (69, 53, 4790):
            path, frames = self.changed(f"low{port}.pcap", SOURCE, port)
            self.assertEqual(frames, self.count("roce.bth", "-r", path), port)

    def test_what_comes_from_the_port_is_not_roce(self):
        header, frames = self.frames()
        for _, frame in frames:
            struct.pack_into(">HH", frame, SOURCE, 4791, 9)
        path = self.wireshark.write("from.pcap", header + b"".join(record + bytes(frame) for record, frame in frames))
        self.assertEqual(0, self.count("roce", "-r", path))

    def test_other_ports_by_preference_and_by_decode_as(self):
        path, frames = self.changed("other.pcap", DESTINATION, 5000)
        self.assertEqual(0, self.count("roce", "-r", path))
        self.assertEqual(frames, self.count("roce.bth", "-r", path, preferences={"roce.udp.ports": "4791,5000"}))
        self.assertEqual(frames, self.count("roce.bth", "-d", "udp.port==5000,roce", "-r", path))

    def test_the_users_choice_for_the_port_stays(self):
        self.assertEqual(0, self.count("roce", "-d", "udp.port==4791,data", "-r", CAPTURE))

    def test_preferences_of_the_built_in_dissector_do_not_take_the_port(self):
        frames = len(self.frames()[1])
        self.assertEqual(frames, self.count("roce.bth", "-r", CAPTURE, preferences={"infiniband.rroce.port": "4791"}))

    def test_off_gives_the_port_back(self):
        frames = len(self.frames()[1])
        self.assertEqual(frames, self.count("infiniband.bth", "-r", CAPTURE, preferences={"roce.mode": "off"}))
        self.assertEqual(0, self.count("roce", "-r", CAPTURE, preferences={"roce.mode": "off"}))

    def test_preferences_change_while_it_runs(self):
        frames = len(self.frames()[1])
        steps = [("roce.mode:own", "roce.bth", frames), ("roce.mode:off", "roce.bth", 0), ("roce.mode:off", "infiniband.bth", frames),
                 ("roce.mode:wrap", "roce.bth && infiniband.bth", frames), ("roce.mode:own", "infiniband.bth", 0),
                 ("infiniband.rroce.port:4791", "roce.bth", frames), ("roce.analysis:FALSE", "roce.stream", 0),
                 ("roce.analysis:TRUE", "roce.stream", frames)]
        requests = []
        for step, (preference, filter_text, _) in enumerate(steps):
            name, value = preference.split(":")
            # sharkd remembers what a filter found, also of another load.
            filter_text = f"({filter_text}) && frame.number != {100_000 + step}"
            requests += [("setconf", {"name": name, "value": value}), ("load", {"file": str(CAPTURE)}),
                         ("frames", {"filter": filter_text})]
        lines = [json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
                 for number, (method, params) in enumerate(requests, 1)]
        done = self.wireshark.process("sharkd", "-", data="\n".join(lines).encode() + b"\n")
        answers = {answer["id"]: answer for answer in map(json.loads, done.stdout.decode().splitlines())}
        for index, (preference, filter_text, expected) in enumerate(steps):
            answer = answers[3 * index + 3]
            self.assertEqual(expected, len(answer["result"]), f"{preference}, {filter_text}")


if __name__ == "__main__":
    wireshark.main()
