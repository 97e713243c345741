# SPDX-License-Identifier: BSD-2-Clause
"""Damaged captures: the plugin comes to their end, and calls nothing malformed that the built-in dissector does not, where
the headers are sound.

    damaged_captures_test.py PLUGIN ROCE_ANALYZE [unittest arguments]

With ROCE_DAMAGED_CAPTURES=5000 set, that many instead of a few; ROCE_DAMAGED_FIRST is the number of the first one (1)."""

import os

import damaged_captures
import sharkd
import wireshark

COUNT = int(os.environ.get("ROCE_DAMAGED_CAPTURES", "40"))
FIRST = int(os.environ.get("ROCE_DAMAGED_FIRST", "1"))


class DamagedCaptures(wireshark.PluginTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        sharkd.without_rpc_over_rdma(cls.wireshark)

    def setUp(self):
        self.plugin_sharkd, self.builtin_sharkd = (sharkd.Sharkd(self.wireshark, with_plugin) for with_plugin in (True, False))
        self.addCleanup(self.plugin_sharkd.close)
        self.addCleanup(self.builtin_sharkd.close)

    def assert_tshark_ends(self, path, name):
        done = self.wireshark.process("tshark", "-2", "-r", path, "-V", timeout=sharkd.PATIENCE)
        # 2: the file is damaged.
        self.assertIn(done.returncode, (0, 2), f"{name}: {done.stderr[-2000:]}")
        bugs = [line for line in done.stdout.splitlines() + done.stderr.splitlines() if b"issector bug, protocol RoCE" in line]
        self.assertFalse(bugs, name)

    def test_tshark_comes_to_their_end_and_finds_sound_frames_well_formed(self):
        sound_frames = 0
        for number in range(FIRST, FIRST + COUNT):
            name, data, sound = damaged_captures.damaged(number)
            path = self.wireshark.write(name, data)
            if sound is None:
                # sharkd does not answer if a file ends too early.
                self.assert_tshark_ends(path, name)
                path.unlink()
                continue
            wrong = (self.plugin_sharkd.malformed(path) & sound) - self.builtin_sharkd.malformed(path)
            self.assertFalse(wrong, f"{name}: frames {sorted(wrong)}")
            sound_frames += len(sound)
            # The analysis shows this of every frame, too.
            if number % 10 == 0:
                self.plugin_sharkd.ask("frames", filter="roce.analysis || roce.problem")
                self.plugin_sharkd.ask("tap", tap0="expert", tap1="conv:roce", tap2="stat:roce,streams")
            path.unlink()
        self.assertGreater(sound_frames, 5 * COUNT)
        bugs = [line for line in self.plugin_sharkd.errors.read_bytes().splitlines()
                if b"bug" in line.lower() and wireshark.KNOWN_BUG.encode() not in line]
        self.assertFalse(bugs)


if __name__ == "__main__":
    wireshark.main()
