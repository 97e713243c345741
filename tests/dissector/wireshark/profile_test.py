# SPDX-License-Identifier: BSD-2-Clause
"""The configuration profile: its columns and its colour rules."""

import collections
import shutil
import unittest

from wireshark import TOP, PluginTest, main

PROFILE = TOP / "dissector" / "wireshark" / "profile" / "RoCE"
SOFTROCE = TOP / "captures" / "softroce"


class ProfileTest(PluginTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        profiles = cls.wireshark.path(".config/wireshark/profiles")
        shutil.copytree(PROFILE, profiles / "RoCE")
        for path in [*profiles.parent.parent.rglob("*"), profiles.parent.parent]:
            path.chmod(0o777 if path.is_dir() else 0o666)

    def colours(self, path, *arguments):
        """How many frames each rule colours."""
        # With warnings: a rule that Wireshark does not understand is said on standard error, and fails the call.
        rows = self.wireshark.rows(["frame.coloring_rule.name"], "-C", "RoCE", "--color", "-r", path, *arguments)
        return collections.Counter(row[0][0] for row in rows if row[0])

    def test_columns(self):
        first = self.wireshark.tshark("-C", "RoCE", "-r", SOFTROCE / "rc-rnr.tx.pcap", "-Y", "roce.analysis.rnr_nak",
                                      "-T", "tabs").splitlines()[0].split("\t")
        # tshark puts an arrow between the addresses, as a column of its own.
        qp, psn, opcode, verdict = [cell.strip() for cell in first if cell.strip() != "\N{RIGHTWARDS ARROW}"][4:8]
        expected = self.wireshark.rows(["roce.bth.dest_qp", "roce.bth.psn"], "-r", SOFTROCE / "rc-rnr.tx.pcap", "-Y",
                                       "roce.analysis.rnr_nak")[0]
        self.assertEqual([int(qp, 0), psn], [int(expected[0][0], 0), expected[1][0]])
        self.assertIn("ACK", opcode)
        self.assertEqual(verdict, "rnr_nak")

    def test_colours_follow_the_verdicts(self):
        path = SOFTROCE / "rc-rnr.tx.pcap"
        colours = self.colours(path)
        kinds = collections.Counter(event["verdict"] for event in self.analyze("events", "--json", path))
        self.assertEqual(colours["RoCE RNR NAK"], kinds["rnr_nak"])
        self.assertEqual(colours["RoCE NAK for a PSN sequence error"], kinds["nak_sequence_error"])
        self.assertGreater(self.colours(path, "-2")["RoCE lost or never answered"], 0)

    def test_each_rule_has_its_own_colours(self):
        rules = [line for line in (PROFILE / "colorfilters").read_text().splitlines() if line.startswith("@")]
        colours = [rule.rpartition("@")[2] for rule in rules]
        self.assertEqual(len(set(colours)), len(rules))

    def test_each_rule_colours_something(self):
        captures = [SOFTROCE / name for name in ("rc-corrupt.rx.pcap", "rc-errors.tx.pcap", "rc-drop-requests.tx.pcap",
                                                 "rc-rnr.tx.pcap", "rc-ecn-ce.rx.pcap", "cm-rping.tx.pcap")]
        captures.append(TOP / "captures" / "made" / "link-control.pcapng")
        used = collections.Counter()
        for path in captures:
            used += self.colours(path, "-2")
        # In two passes the packet after a gap has the colour of the loss.
        used += self.colours(SOFTROCE / "rc-drop-requests.rx.pcap")
        rules = [line.split("@")[1] for line in (PROFILE / "colorfilters").read_text().splitlines()
                 if line.startswith("@")]
        self.assertEqual([rule for rule in rules if not used[rule]], [])


if __name__ == "__main__":
    main()
