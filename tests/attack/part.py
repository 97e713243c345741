# SPDX-License-Identifier: BSD-2-Clause
"""What each part of the attack is as a program: its options, its findings, and the report at its end."""

import argparse
import json
import os
import pathlib
import shlex
import shutil
import sys
import tempfile
import time

HERE = pathlib.Path(os.path.realpath(__file__)).parent
ROOT = HERE.parent.parent
CAPTURES = ROOT / "captures"
MOST_PRINTED = 8  # findings of a kind; all of them are counted
MOST_KEPT = 100  # inputs

sys.path.insert(0, str(HERE.parent / "gen"))


class Part:
    """One run of a part: options, a temporary folder, and what was found. `main` makes it and ends it."""

    def __init__(self, name, description, argv=None):
        parser = argparse.ArgumentParser(prog=f"tests/attack/{name}.py", description=description)
        parser.add_argument("--build", required=True, help="folder of the build whose programs are attacked (build/dev)")
        parser.add_argument("--seed", type=int, default=1, help="of all random choices (1)")
        parser.add_argument("--scale", choices=["short", "long"], default="short", help="how much is done (short)")
        parser.add_argument("--count", type=int, help="how much is done, in place of what the scale says")
        parser.add_argument("--keep", type=pathlib.Path, default=pathlib.Path(tempfile.gettempdir()) / f"roce-attack-{os.getuid()}",
                            help="folder for the inputs that found something (%(default)s)")
        self.options = parser.parse_args(argv)
        if self.options.count is not None and self.options.count < 1:
            parser.error(f"--count {self.options.count}: needs 1 at least")
        self.name = name
        build = pathlib.Path(self.options.build).resolve()
        self.analyze = str(build / "dissector/analyze/roce-analyze")
        self.replay = str(build / "replay/roce-replay")
        self.gen = str(build / "gen/roce-gen")
        for program in (self.analyze, self.replay, self.gen):
            if not os.access(program, os.X_OK):
                parser.error(f"there is no {program}; build it, or name another folder with --build")
        with open(self.analyze, "rb") as file:
            self.sanitized = b"__asan_init" in file.read()
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix=f"roce-attack-{name}-"))
        self.begun = time.monotonic()
        self.done = {}
        self.findings = []
        self.crashes = 0
        self.hangs = 0
        self.facts = {}  # members of the last line that not every part has

    @property
    def long(self):
        return self.options.scale == "long"

    def count(self, what, number=1):
        self.done[what] = self.done.get(what, 0) + number

    def find(self, kind, what, command=None, inputs=()):
        """A promise that did not hold. `kind` is "crash", "hang" or a word of the part's own; inputs are copied to --keep."""
        self.crashes += kind == "crash"
        self.hangs += kind == "hang"
        finding = {"kind": kind, "what": what}
        if len(self.findings) < MOST_KEPT:
            kept = self._keep(inputs)
            if command:
                words = [str(kept.get(str(word), word)) for word in command]
                finding["repeat"] = shlex.join(words)
            if kept:
                finding["inputs"] = [str(path) for path in kept.values()]
        self.findings.append(finding)
        if sum(one["kind"] == kind for one in self.findings) <= MOST_PRINTED:
            print(f"FOUND {kind}: {what}", flush=True)
            for word in ("inputs", "repeat"):
                if word in finding:
                    print(f"      {word}: {finding[word] if word == 'repeat' else ' '.join(finding[word])}", flush=True)

    def _keep(self, inputs):
        kept = {}
        for path in inputs:
            folder = self.options.keep / f"{self.name}-seed{self.options.seed}-{len(self.findings)}"
            folder.mkdir(parents=True, exist_ok=True)
            kept[str(path)] = pathlib.Path(shutil.copy(path, folder))
        return kept

    def report(self):
        """Prints the table and the last line; the exit code."""
        kinds = {}
        for finding in self.findings:
            kinds[finding["kind"]] = kinds.get(finding["kind"], 0) + 1
        rows = [("seconds", f"{time.monotonic() - self.begun:.1f}"), *self.done.items(), *self.facts.items(),
                *((f"found: {kind}", number) for kind, number in kinds.items())]
        width = max(len(str(name)) for name, _ in rows)
        print(f"\n{self.name}, seed {self.options.seed}, {self.options.scale}" + (", sanitizers" if self.sanitized else ""))
        for name, value in rows:
            print(f"  {name:<{width}}  {value}")
        if self.findings:
            print(f"  again: tests/attack/{self.name}.py --build {self.options.build} --seed {self.options.seed}"
                  f" --scale {self.options.scale}" + (f" --count {self.options.count}" if self.options.count else ""))
        print(json.dumps({"part": self.name, "seed": self.options.seed, "done": self.done, "crashes": self.crashes,
                          "hangs": self.hangs, **self.facts, "findings": self.findings[:MOST_KEPT]}), flush=True)
        return 1 if self.findings else 0

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)


def main(part, run):
    """Runs a part to its end: the exit code."""
    try:
        run(part)
    finally:
        part.close()
    return part.report()
