# SPDX-License-Identifier: BSD-2-Clause
"""What a snap length leaves of a capture: the plugin says of it what roce-analyze says, and calls nothing malformed for it.

    cut_captures_test.py PLUGIN ROCE_ANALYZE [unittest arguments]

`analyze.cut_captures` shows that this is nothing that is not said of the whole capture. With ROCE_CUT_ALL set, for every
capture and every snap length instead of a few."""

import concurrent.futures
import contextlib
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "analysis"))
import cut_captures
import sharkd
import wireshark

FEW_CAPTURES = ("rc-mix-v4.tx.pcap", "rc-drop-requests.tx.pcap", "rc-drop-read-middle.rx.pcap", "opcodes-v2-ipv4.pcapng")
IS_LONG = bool(os.environ.get("ROCE_CUT_ALL"))
SNAP_LENGTHS = cut_captures.SNAP_LENGTHS if IS_LONG else cut_captures.FEW_SNAP_LENGTHS
CAPTURES = [path for path in cut_captures.CAPTURES if IS_LONG or path.name in FEW_CAPTURES]
VERDICT = "roce.analysis.verdict"


def what_is_shown(plugin):
    """What the plugin says of the loaded capture: as `cut_captures.psns_of`, without segments."""
    found = set()
    for number, columns in plugin.frames(VERDICT, VERDICT, "roce.analysis.first_psn", "roce.analysis.psn_count").items():
        for verdict, first, count in zip(*columns, strict=True):
            found |= {(number, verdict, (int(first, 0) + i) % (1 << 24)) for i in range(max(int(count, 0), 1))}
    return found


class CutCaptures(wireshark.PluginTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        sharkd.without_rpc_over_rdma(cls.wireshark)

    def look_at(self, path, lengths=SNAP_LENGTHS):
        """The number of things that are said of a capture, cut after each of the lengths."""
        said = 0
        with (contextlib.closing(sharkd.Sharkd(self.wireshark, True)) as plugin,
              contextlib.closing(sharkd.Sharkd(self.wireshark, False)) as builtin):
            data = path.read_bytes()
            whole = self.wireshark.write(f"{path.parent.name}-{path.name}", data)
            malformed_whole = plugin.malformed(whole)
            for length in lengths:
                name = f"{path.name} cut after {length} bytes"
                cut = self.wireshark.write(f"{path.parent.name}-{length}-{path.name}", cut_captures.cut(data, length))
                expected = {(frame, verdict, psn) for frame, _, verdict, psn in
                            cut_captures.psns_of(self.analyze("events", "--json", cut))}
                malformed = plugin.malformed(cut)
                shown = what_is_shown(plugin)
                self.assertEqual(expected, shown, name)
                self.assertFalse(malformed - builtin.malformed(cut) - malformed_whole, name)
                said += len(shown)
                cut.unlink()
        return said

    def test_the_plugin_says_what_roce_analyze_says_and_nothing_is_malformed(self):
        with concurrent.futures.ThreadPoolExecutor(2) as workers:
            said = sum(workers.map(self.look_at, CAPTURES))
        print(f"{len(CAPTURES)} captures, {len(SNAP_LENGTHS)} snap lengths: {said} verdicts")
        self.assertGreater(said, 500)

    def test_a_super_frame_may_end_in_any_of_its_packets(self):
        """Its first packet ends 158 bytes, and the BTHs of the next ones 170 and 286 bytes behind its beginning."""
        self.look_at(cut_captures.TOP / "captures" / "made" / "super-frames.pcapng", (157, 158, 164, 169, 170, 171, 273, 274, 285, 286, 287))


if __name__ == "__main__":
    wireshark.main()
