#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Damaged captures through every command of every program that reads them: no crash, no hang, no gigabyte, no file changed."""

import concurrent.futures
import os
import random
import sys

import bounded
import capture_file
import commands
import damage
from part import CAPTURES, Part, main

SHORT = 300
LONG = 5000
# Of a damaged capture, in the short form; all of them in the long one. One of each is a conversation: there the sizes come from the
# capture.
COMMANDS_EACH = 2
CONVERSATIONS = [command for command in commands.ALL if "converse" in command.words]
CHECKED_AGAIN = 0.1  # of the files that were written without complaint


def originals():
    """The records of every capture in the tree that has Ethernet frames."""
    found = []
    for path in sorted([*CAPTURES.rglob("*.pcap"), *CAPTURES.rglob("*.pcapng")]):
        link_type, records = capture_file.read(path.read_bytes())
        if link_type == capture_file.ETHERNET and records:
            found.append((path, records))
    return found


class Attempt:
    """What one damaged capture came to, in a worker: findings are (kind, sentence, command)."""

    def __init__(self, number, kind, path):
        self.number = number
        self.kind = kind
        self.path = path
        self.runs = 0
        self.codes = {}
        self.slowest = 0.0
        self.largest = 0
        self.findings = []


def take_run(part, attempt, command, folder, other, again):
    out = folder / "out"
    line = command.line(part, attempt.path, other, out)
    seconds = bounded.SANITIZED_SECONDS if part.sanitized else bounded.SECONDS
    if command.pipe:
        with open(attempt.path, "rb") as stdin:
            result = bounded.run(line, stdin=stdin, seconds=seconds)
    else:
        result = bounded.run(line, seconds=seconds)
    attempt.runs += 1
    attempt.codes[result.code] = attempt.codes.get(result.code, 0) + 1
    attempt.slowest = max(attempt.slowest, result.seconds)
    attempt.largest = max(attempt.largest, result.rss)
    for kind, sentence in bounded.judge(result, part.sanitized, commands.CODES, seconds):
        attempt.findings.append((kind, f"{command.name}: {sentence}", line, command.pipe))
    wanted = f"out{command.output}" if command.output else None
    for path in sorted(folder.glob("out*")):
        if path.name != wanted and not result.stopped and result.code >= 0:
            attempt.findings.append(("left over", f"{command.name}: {path.name} is left, exit code {result.code}", line, command.pipe))
        if path.stat().st_size > bounded.OUTPUT:
            attempt.findings.append(("output", f"{command.name}: {path.stat().st_size} bytes written", line, command.pipe))
        elif path.name == wanted and result.code == 0 and again:
            if path.suffix == ".state":
                check = [part.analyze, "events", "--after", path, other]
            else:
                check = [part.analyze, "summary", path]
            said = bounded.run(check, seconds=seconds)
            if said.code != 0:
                attempt.findings.append(("unreadable", f"{command.name} with exit code 0, and then {check[1]}: {said.code}, "
                                         f"{said.first_line}", line, command.pipe))
        path.unlink()


def attack(part, number, pool, each):
    chance = random.Random(f"captures {part.options.seed} {number}")
    source, records = chance.choice(pool)
    kind, suffix, content = damage.damaged(chance, records, chance.choice(pool)[1])
    folder = part.folder / str(number)
    folder.mkdir()
    path = folder / f"damaged.{suffix}"
    path.write_bytes(content)
    attempt = Attempt(number, kind, path)
    chosen = commands.ALL if each is None else [chance.choice(CONVERSATIONS), *chance.sample(commands.ALL, each - 1)]
    for command in chosen:
        take_run(part, attempt, command, folder, source, chance.random() < CHECKED_AGAIN)
        if path.read_bytes() != content:
            attempt.findings.append(("input changed", command.name, None, False))
            path.write_bytes(content)
    if not attempt.findings:
        path.unlink()
        folder.rmdir()
    return attempt


def run(part):
    bounded.limit_this_process(part.sanitized)
    pool = originals()
    number = part.options.count or (LONG if part.long else SHORT)
    slowest, largest = 0.0, 0
    codes = {}
    with concurrent.futures.ThreadPoolExecutor(max_workers=min(4, os.cpu_count() or 1)) as workers:
        for attempt in workers.map(lambda i: attack(part, i, pool, None if part.long else COMMANDS_EACH), range(number)):
            part.count("damaged captures")
            part.count("runs", attempt.runs)
            slowest, largest = max(slowest, attempt.slowest), max(largest, attempt.largest)
            for code, times in attempt.codes.items():
                codes[code] = codes.get(code, 0) + times
            for kind, sentence, line, pipe in attempt.findings:
                part.find(kind, f"capture {attempt.number} ({attempt.kind}): {sentence}" + (" (on standard input)" if pipe else ""),
                          line, [attempt.path])
    part.facts["exit codes"] = {str(code): codes[code] for code in sorted(codes)}
    part.facts["slowest_seconds"] = round(slowest, 2)
    part.facts["most_memory_mib"] = largest // bounded.MIB


if __name__ == "__main__":
    sys.exit(main(Part("captures", __doc__), run))
