# SPDX-License-Identifier: BSD-2-Clause
"""Which packets the plugin gets: low source ports, other ports, what the user decides, changed preferences.

    ports_test.py PLUGIN ROCE_ANALYZE [unittest arguments]"""

import json
import os
import shutil
import struct

import wireshark

CAPTURE = wireshark.TOP / "captures/softroce/rc-mix-v4.tx.pcap"
V1 = wireshark.TOP / "captures/made/opcodes-v1.pcapng"
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

    def test_off_stays_off_with_a_saved_choice(self):
        # What "Decode As" wrote with earlier versions of the plugin, and what the user may choose for another port.
        folder = self.wireshark.path("profiles") / "saved"
        folder.mkdir(parents=True)
        (folder / "decode_as_entries").write_text(
            "decode_as_entry: ethertype,34824,MAC Control,PFC and PAUSE\n"
            "decode_as_entry: ethertype,35093,InfiniBand,RoCE v1\n"
            "decode_as_entry: udp.port,4791,InfiniBand,RoCE v2\n"
            "decode_as_entry: udp.port,5000,(none),RoCE v2\n")
        for path in [folder.parent, folder, *folder.iterdir()]:
            path.chmod(0o755)
        environment = dict(self.wireshark.environment)
        self.addCleanup(self.wireshark.environment.update, environment)
        self.wireshark.environment["WIRESHARK_CONFIG_DIR"] = str(folder.parent.parent)
        options = ["-C", "saved", "-r"]
        other, frames = self.changed("saved5000.pcap", DESTINATION, 5000)
        self.assertEqual(frames, self.count("roce.bth", *options, other))
        self.assertEqual(0, self.count("roce", *options, CAPTURE, preferences={"roce.mode": "off"}))
        self.assertEqual(frames, self.count("infiniband.bth", *options, CAPTURE, preferences={"roce.mode": "off"}))
        self.assertEqual(0, self.count("roce", *options, other, preferences={"roce.mode": "off"}))
        self.assertEqual(0, self.count("roce", *options, V1, preferences={"roce.mode": "off"}))

    def changed_entries(self, *arguments, preferences=()):
        """The entries that "Decode As" would show as the user's, and save."""
        shutil.copyfile(os.environ["ROCE_CHANGED_ENTRIES"], self.wireshark.plugins / "changed_entries.so")
        (self.wireshark.plugins / "changed_entries.so").chmod(0o755)
        self.addCleanup((self.wireshark.plugins / "changed_entries.so").unlink, missing_ok=True)
        done = self.wireshark.process("tshark", "-r", CAPTURE, *arguments, preferences=preferences)
        self.assertEqual(0, done.returncode)
        return sorted({line.removeprefix("changed: ") for line in done.stderr.decode().splitlines() if line.startswith("changed: ")})

    def test_nothing_looks_as_if_the_user_had_decided_it(self):
        for mode in ("own", "wrap", "off"):
            with self.subTest(mode=mode):
                self.assertEqual([], self.changed_entries(preferences={"roce.mode": mode}))
                # What the user decides is there all the same, and with it nothing else.
                self.assertEqual(["udp.port 5000 roce.v2"], self.changed_entries("-d", "udp.port==5000,roce", preferences={"roce.mode": mode}))
                self.assertEqual(["udp.port 4791 data"], self.changed_entries("-d", "udp.port==4791,data", preferences={"roce.mode": mode}))

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
