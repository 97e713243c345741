# SPDX-License-Identifier: BSD-2-Clause
"""What a snap length leaves of a capture: the plugin says of it what roce-analyze says, and calls nothing malformed for it.

    cut_captures_test.py PLUGIN ROCE_ANALYZE [unittest arguments]

`analyze.cut_captures` shows that this is nothing that is not said of the whole capture. With ROCE_CUT_ALL set, for every
capture and many snap lengths instead of a few."""

import concurrent.futures
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "analysis"))
import cut_captures
import wireshark

FEW_CAPTURES = ("rc-mix-v4.tx.pcap", "rc-drop-requests.tx.pcap", "rc-drop-read-middle.rx.pcap", "opcodes-v2-ipv4.pcapng")
MANY_SNAP_LENGTHS = (*range(54, 112, 2), 57, 61, 69, 73, 120, 128, 160, 200)
IS_LONG = bool(os.environ.get("ROCE_CUT_ALL"))
SNAP_LENGTHS = MANY_SNAP_LENGTHS if IS_LONG else cut_captures.FEW_SNAP_LENGTHS
CAPTURES = [path for path in cut_captures.CAPTURES if IS_LONG or path.name in FEW_CAPTURES]


class CutCaptures(wireshark.PluginTest):
    def psns_in_tshark(self, path):
        """As `cut_captures.psns_of`, with the numbers of verdicts and without segments, and the malformed frames."""
        found, malformed = set(), set()
        fields = ["frame.number", "_ws.malformed"] + [f"roce.analysis.{name}" for name in ("verdict", "first_psn", "psn_count")]
        for number, problem, verdicts, first_psns, counts in self.wireshark.rows(fields, "-2", "-r", path):
            if problem:
                malformed.add(int(number[0]))
            for verdict, first, count in zip(verdicts, first_psns, counts, strict=True):
                found |= {(int(number[0]), self.names[int(verdict, 0)], (int(first, 0) + i) % (1 << 24))
                          for i in range(max(int(count, 0), 1))}
        return found, malformed

    def setUp(self):
        rows = [line.split("\t") for line in self.wireshark.tshark("-G", "values").splitlines()]
        self.names = {wireshark.number(row[2]): row[3] for row in rows if row[:2] == ["V", "roce.analysis.verdict"]}

    def look_at(self, path, length):
        data = path.read_bytes()
        cut = self.wireshark.write(f"{path.parent.name}-{length}-{path.name}", cut_captures.cut(data, length))
        expected = {(frame, verdict, psn) for frame, _, verdict, psn in
                    cut_captures.psns_of(self.analyze("events", "--json", cut))}
        shown, malformed = self.psns_in_tshark(cut)
        builtin = {int(number[0]) for number, problem in
                   self.wireshark.rows(["frame.number", "_ws.malformed"], "-r", cut, with_plugin=False) if problem}
        cut.unlink()
        return expected, shown, malformed - builtin

    def test_the_plugin_says_what_roce_analyze_says_and_nothing_is_malformed(self):
        said = 0
        cases = [(path, length) for path in CAPTURES for length in SNAP_LENGTHS]
        malformed_whole = {path: self.psns_in_tshark(path)[1] for path in CAPTURES}
        with concurrent.futures.ThreadPoolExecutor(2) as workers:
            for (path, length), (expected, shown, malformed) in zip(cases, workers.map(lambda case: self.look_at(*case), cases)):
                name = f"{path.name} cut after {length} bytes"
                self.assertEqual(expected, shown, name)
                self.assertFalse(malformed - malformed_whole[path], name)
                said += len(shown)
        self.assertGreater(said, 500)


if __name__ == "__main__":
    wireshark.main()
