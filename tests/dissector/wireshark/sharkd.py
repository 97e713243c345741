# SPDX-License-Identifier: BSD-2-Clause
"""sharkd, which dissects as tshark -2 does, and does not have to be started for each capture."""

import json
import os
import select
import subprocess

# A frame takes microseconds: this is a hang.
PATIENCE = 60
MALFORMED = "_ws.malformed"


def without_rpc_over_rdma(program):
    """Lets Wireshark's own bug (wireshark.KNOWN_BUG) rest, which strikes more often when one process opens several captures."""
    disabled = program.path(".config/wireshark/disabled_protos")
    disabled.parent.mkdir(parents=True)
    disabled.write_text("rpcordma\n", encoding="ascii")
    for path in (disabled, disabled.parent, disabled.parent.parent):
        path.chmod(0o777 if path.is_dir() else 0o644)


class Sharkd:
    """One sharkd, with or without the plugin."""

    def __init__(self, program, with_plugin):
        environment = dict(program.environment)
        if not with_plugin:
            environment["WIRESHARK_PLUGIN_DIR"] = environment["HOME"]
        self.errors = program.path(f"sharkd-{'plugin' if with_plugin else 'built-in'}-{id(self)}.log")
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

    def load(self, path):
        self.ask("load", file=str(path))

    def frames(self, wanted, *fields):
        """The numbers of the frames of the loaded capture that a filter wants, and of each a list of the values of each field."""
        # sharkd keeps what a filter found in the capture before: each time it has to be another one.
        answer = self.ask("frames", filter=f"({wanted}) && frame.number != {10**6 + self.number}",
                          **{f"column{i}": f"{field}:0" for i, field in enumerate(fields)})
        return {frame["num"]: [cell.split(",") if cell else [] for cell in frame["c"][:len(fields)]]
                for frame in answer.get("result", [])}

    def malformed(self, path):
        """The numbers of the frames that are said to be malformed."""
        self.load(path)
        return set(self.frames(MALFORMED))

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()
        self.log.close()
