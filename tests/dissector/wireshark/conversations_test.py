# SPDX-License-Identifier: BSD-2-Clause
"""What Wireshark offers for a conversation: its filters, and Follow with the messages of a stream.

    conversations_test.py PLUGIN ROCE_ANALYZE [unittest arguments]"""

import os
import re
import shutil

import wireshark

SOFTROCE = wireshark.TOP / "captures" / "softroce"


class Conversations(wireshark.PluginTest):
    def filters(self, path):
        """Of each frame {name: filter} that the menus offer."""
        helper = self.wireshark.plugins / "conversation_filters.so"
        shutil.copyfile(os.environ["ROCE_CONVERSATION_FILTERS"], helper)
        helper.chmod(0o755)
        done = self.wireshark.process("tshark", "-2", "-r", path)
        helper.unlink()
        self.assertEqual(0, done.returncode)
        offered = {}
        for line in done.stderr.decode().splitlines():
            if match := re.fullmatch(r"filter: (\d+) (.*?): (.*)", line):
                offered.setdefault(int(match[1]), {})[match[2]] = match[3]
        return offered

    def test_a_stream_and_a_message_are_offered_as_filters(self):
        path = SOFTROCE / "rc-drop-requests.tx.pcap"
        offered = self.filters(path)
        rows = self.wireshark.rows(["frame.number", "roce.stream", "roce.analysis.message_first"], "-2", "-r", path, "-Y", "roce.stream")
        self.assertGreater(len(rows), 50)
        expected = {int(number[0]): {"RoCE Stream": f"roce.stream == {stream[0]}"}
                    | ({"RoCE Message": f"roce.analysis.message_first == {first[0]}"} if first else {})
                    for number, stream, first in rows}
        self.assertEqual(expected, offered)

    def followed(self, path, stream):
        """The messages of a stream: (from the second end, bytes)."""
        text = self.wireshark.tshark("-q", "-2", "-r", path, "-z", f"follow,roce,raw,{stream}")
        lines = [line for line in text.splitlines() if re.fullmatch(r"\t?[0-9a-f]+", line)]
        return [(line.startswith("\t"), bytes.fromhex(line.strip())) for line in lines]

    def messages(self, path, stream):
        """The lengths of the messages with data."""
        return [message["bytes"] for message in self.analyze("messages", "--json", path)
                if message["stream"] == stream and message["bytes"] and message["type"].split("_")[0] in ("SEND", "WRITE", "READ")]

    def test_follow_shows_each_message_once_and_whole(self):
        for name in ("rc-drop-requests.rx.pcap", "rc-drop-read-middle.rx.pcap", "rc-mix-v6.tx.pcap"):
            path = SOFTROCE / name
            with self.subTest(name):
                expected = sorted(self.messages(path, 0))
                self.assertTrue(expected)
                self.assertEqual(expected, sorted(len(data) for _, data in self.followed(path, 0)))

    def test_follow_shows_the_bytes_of_the_packets(self):
        path = SOFTROCE / "rc-mix-v4.tx.pcap"
        rows = self.wireshark.rows(["roce.analysis.message_first", "roce.operation", "roce.payload"], "-2", "-r", path, "-Y",
                                   "roce.stream == 0 && roce.payload && roce.operation != 4")
        data = {}
        for first, _, payload in rows:
            data[first[0]] = data.get(first[0], "") + payload[0].replace(":", "")
        sent = [bytes.fromhex(text) for text in data.values()]
        followed = [data for _, data in self.followed(path, 0)]
        self.assertTrue(sent)
        self.assertFalse([message[:16] for message in sent if message not in followed])

    def test_follow_says_what_is_missing(self):
        path = SOFTROCE / "rc-drop-read-middle.rx.pcap"
        cut = self.wireshark.path("holes.pcap")
        self.wireshark.tshark("-2", "-r", path, "-Y", "!(roce.operation == 4 && roce.analysis.packet == 2)", "-w", cut, "-F", "pcap")
        cut.chmod(0o644)
        self.assertTrue(any(b"[missing in the capture]" in data for _, data in self.followed(cut, 0)))


if __name__ == "__main__":
    wireshark.main()
