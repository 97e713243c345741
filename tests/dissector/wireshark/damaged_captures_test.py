# SPDX-License-Identifier: BSD-2-Clause
"""Damaged captures: the plugin comes to their end, and calls nothing malformed that the built-in dissector does not, where
the headers are sound.

    damaged_captures_test.py PLUGIN ROCE_ANALYZE [unittest arguments]

With ROCE_DAMAGED_CAPTURES=5000 set, that many instead of a few; ROCE_DAMAGED_FIRST is the number of the first one (1).
sharkd opens one after the other: it dissects as tshark -2 does, and does not have to be started for each."""

import json
import os
import select
import subprocess

import damaged_captures
import wireshark

COUNT = int(os.environ.get("ROCE_DAMAGED_CAPTURES", "40"))
FIRST = int(os.environ.get("ROCE_DAMAGED_FIRST", "1"))
# A frame takes microseconds: this is a hang.
PATIENCE = 60
MALFORMED = "_ws.malformed"


class Sharkd:
    """One sharkd, with or without the plugin."""

    def __init__(self, program, with_plugin):
        environment = dict(program.environment)
        if not with_plugin:
            environment["WIRESHARK_PLUGIN_DIR"] = environment["HOME"]
        self.errors = program.path("sharkd-plugin.log" if with_plugin else "sharkd-built-in.log")
        self.log = self.errors.open("wb")
        self.process = subprocess.Popen([*program.drop, "sharkd", "-"], env=environment, cwd="/", stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=self.log)
        self.number = 0
        self.rest = b""

    def ask(self, method, **parameters):
        self.number += 1
        request = {"jsonrpc": "2.0", "id": self.number, "method": method, "params": parameters}
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        self.process.stdin.flush()
        while b"\n" not in self.rest:
            if not select.select([self.process.stdout], [], [], PATIENCE)[0]:
                self.process.kill()
                raise AssertionError(f"{method} {parameters}: no answer in {PATIENCE} s")
            part = os.read(self.process.stdout.fileno(), 1 << 20)
            if not part:
                raise AssertionError(f"{method} {parameters}: sharkd ended: {self.errors.read_bytes()[-2000:]}")
            self.rest += part
        line, _, self.rest = self.rest.partition(b"\n")
        return json.loads(line)

    def malformed(self, path):
        """The numbers of the frames that are said to be malformed."""
        self.ask("load", file=str(path))
        # sharkd keeps what a filter found in the capture before: each time it has to be another one.
        answer = self.ask("frames", filter=f"{MALFORMED} && frame.number != {10**6 + self.number}")
        return {frame["num"] for frame in answer.get("result", [])}

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()
        self.log.close()


class DamagedCaptures(wireshark.PluginTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        # Wireshark's own bug (wireshark.KNOWN_BUG), which strikes more often when one process opens several captures.
        disabled = cls.wireshark.path(".config/wireshark/disabled_protos")
        disabled.parent.mkdir(parents=True)
        disabled.write_text("rpcordma\n", encoding="ascii")
        for path in (disabled, disabled.parent, disabled.parent.parent):
            path.chmod(0o777 if path.is_dir() else 0o644)

    def setUp(self):
        self.plugin_sharkd, self.builtin_sharkd = (Sharkd(self.wireshark, with_plugin) for with_plugin in (True, False))
        self.addCleanup(self.plugin_sharkd.close)
        self.addCleanup(self.builtin_sharkd.close)

    def assert_tshark_ends(self, path, name):
        done = self.wireshark.process("tshark", "-2", "-r", path, "-V", timeout=PATIENCE)
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
