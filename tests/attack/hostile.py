#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Capture files made by hand to do harm, and captures cut in all formats, through the commands of every program that reads them."""

import concurrent.futures
import os
import random
import sys

import bounded
import capture_file
import commands
import hostile_files
from part import CAPTURES, Part, main

# Of each file in the short form, besides those that all get; all of them in the long one.
COMMANDS_EACH = 2
ALWAYS = ("summary IN", "decode IN", "info IN", "converse --dry-run --details IN")
CUT_SHORT = 10  # commands on cut captures


def take_run(part, number, name, path, command):
    seconds = bounded.SANITIZED_SECONDS if part.sanitized else bounded.SECONDS
    folder = part.folder / f"{name}.{number}"
    folder.mkdir()
    line = command.line(part, path, CAPTURES / hostile_files.BASE, folder / "out")
    before = path.stat()
    if command.pipe:
        with open(path, "rb") as stdin:
            result = bounded.run(line, stdin=stdin, seconds=seconds)
    else:
        result = bounded.run(line, seconds=seconds)
    findings = bounded.judge(result, part.sanitized, commands.CODES, seconds)
    after = path.stat()
    if (before.st_mtime_ns, before.st_size, before.st_ino) != (after.st_mtime_ns, after.st_size, after.st_ino):
        findings.append(("input changed", ""))
    for left in folder.iterdir():
        if left.name != f"out{command.output}" and not result.stopped and result.code >= 0:
            findings.append(("left over", f"{left.name}, exit code {result.code}"))
        left.unlink()
    folder.rmdir()
    return name, path, command, line, result, findings


def take_files(part, workers, files):
    """The jobs of hostile files: futures."""
    chance = random.Random(f"hostile {part.options.seed}")
    jobs = []
    for name in files:
        content = hostile_files.FILES[name]()
        suffix = name.rsplit("-", 1)[1]
        variants = {f"{name}.{suffix}": content}
        if part.long and len(content) > 100:
            at = chance.randrange(1, len(content))
            variants[f"{name}.cut.{suffix}"] = content[:at]
        for file_name, bytes_of in variants.items():
            path = part.folder / file_name
            path.write_bytes(bytes_of)
            part.count("hostile files")
            chosen = list(commands.ALL)
            if not part.long:
                chosen = [command for command in commands.ALL if " ".join(command.words) in ALWAYS]
                chosen += chance.sample([command for command in commands.ALL if command not in chosen], COMMANDS_EACH)
            jobs += [workers.submit(take_run, part, number, file_name, path, command) for number, command in enumerate(chosen)]
    return jobs


def take_cut(part, command, files):
    codes = {}
    for path in files:
        _, _, _, line, result, findings = take_run(part, commands.ALL.index(command), path.name, path, command)
        codes[path.name] = (result, line, findings)
    return command, codes


def cut_captures(part, workers):
    """The same capture, cut in its middle, in all formats: one exit code for each command, and not that of success."""
    _, records = capture_file.read((CAPTURES / hostile_files.BASE).read_bytes())
    whole = {"pcap": capture_file.pcap(records), "pcapng": capture_file.pcapng(records)}
    whole |= {f"{suffix}.{pack.__name__[:3]}": pack(content) for suffix, content in tuple(whole.items())
              for pack in (capture_file.gz, capture_file.zstd)}
    folder = part.folder / "cut"
    folder.mkdir()
    files = []
    for suffix, content in whole.items():
        path = folder / f"cut.{suffix.replace('zstd', 'zst')}"
        # In the middle of a packet's data.
        path.write_bytes(content[:len(content) // 2 - (len(content) // 2) % 4 + 2])
        files.append(path)
    chosen = commands.ALL if part.long else random.Random(f"cut {part.options.seed}").sample(commands.ALL, CUT_SHORT)
    jobs = [workers.submit(take_cut, part, command, files) for command in chosen]
    for job in jobs:
        command, codes = job.result()
        part.count("commands on cut captures")
        said = {name: result.code for name, (result, _, _) in codes.items()}
        for name, (result, line, findings) in codes.items():
            for kind, sentence in findings:
                part.find(kind, f"cut capture, {command.name}: {sentence}", line, [folder / name])
        if len(set(said.values())) != 1 or 0 in said.values():
            part.find("exit code", f"cut captures, {command.name}: {said}", next(iter(codes.values()))[1], files)


def run(part):
    bounded.limit_this_process(part.sanitized)
    names = sorted(hostile_files.FILES)
    if part.options.count:
        names = random.Random(part.options.seed).sample(names, min(part.options.count, len(names)))
    slowest, largest = 0.0, 0
    with concurrent.futures.ThreadPoolExecutor(max_workers=min(3, os.cpu_count() or 1)) as workers:
        for job in take_files(part, workers, names):
            name, path, command, line, result, findings = job.result()
            part.count("runs")
            slowest, largest = max(slowest, result.seconds), max(largest, result.rss)
            for kind, sentence in findings:
                if kind == "output" and command.prints_each_packet:
                    part.count("outputs of a line and more for each packet that were cut off")
                    continue
                part.find(kind, f"{name}: {command.name}: {sentence}" + (" (on standard input)" if command.pipe else ""), line, [path])
        cut_captures(part, workers)
    part.facts["slowest_seconds"] = round(slowest, 2)
    part.facts["most_memory_mib"] = largest // bounded.MIB


if __name__ == "__main__":
    sys.exit(main(Part("hostile", __doc__), run))
