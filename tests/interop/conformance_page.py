#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes a page of what a kind of device deviates in, from a result of roce-conform and the profile that it was run with.

usage: conformance_page.py RESULT.json PROFILE.yaml PAGE.md [SYSTEM]       with ROCE_ANALYZE=FILE; SYSTEM: what the device runs on

Each deviation of the profile has a comment line above it, which is its heading.
"""

import collections
import dataclasses
import json
import os
import re
import struct
import subprocess
import sys
import tempfile
import textwrap

MOST_FRAMES = 12
JUDGED = """`roce-conform` judged `rdma_rxe` ({system}) on {day} by {judged} instances of {cases} cases, with the seed {seed}, on an
emulated machine ([tests/interop](../../tests/interop/README.md)). Of them {passed} passed. {known} fail in a way that is known and
explained below, each by the function of the kernel's source that does it. [The profile](../../conform/devices/{profile}) says
how each of them fails, so that another failure, and a pass, would be reported. {others}"""
REPEATED = """This repeats the run and writes this page:

```
ROCE_INTEROP_ALL=1 ROCE_CONFORMANCE_PAGE=docs/results/conformance-rxe.md tests/interop/interop_test.py -k Conformance
```

[conformance.md](../conformance.md) describes the program, [conformance-cases.md](../conformance-cases.md) the cases,
[rules.md](../rules.md) the rules.
"""


@dataclasses.dataclass(frozen=True)
class Deviation:
    """A deviation of a profile."""
    heading: str
    patterns: list
    because: str


def fits(pattern, name):
    """Whether a pattern of a profile fits a name: * and ? stand for others, and nothing else has a meaning."""
    literal = re.escape(pattern).replace(r"\*", ".*").replace(r"\?", ".")
    return re.fullmatch(literal, name) is not None


def read_deviations(path):
    """The deviations of a profile, in its order."""
    with open(path, encoding="utf-8") as file:
        text = file.read().partition("\ndeviations:\n")[2]
    deviations = []
    for entry in text.split("\n  # ")[0 if text.startswith("  # ") else 1:]:
        heading, _, rest = entry.removeprefix("  # ").partition("\n")
        for one in rest.split("  - instances: ")[1:]:
            patterns, _, more = one.partition("]\n    seen: ")
            because = " ".join(more.partition("\n    because: ")[2].split())
            deviations.append(Deviation(heading, re.findall(r"'([^']+)'", patterns), because))
    return deviations


def table(rows, texts=1):
    """A Markdown table whose columns line up; all but the first columns are numbers."""
    widths = [max(len(str(row[i])) for row in rows) for i in range(len(rows[0]))]
    lines = ["| " + " | ".join(str(cell).ljust(width) if i < texts else str(cell).rjust(width)
                               for i, (cell, width) in enumerate(zip(row, widths))) + " |" for row in rows]
    rule = "|" + "|".join("-" * (width + 2) if i < texts else "-" * (width + 1) + ":" for i, width in enumerate(widths)) + "|"
    return "\n".join([lines[0], rule, *lines[1:]])


def write_capture(path, frames):
    """A pcap file, in nanoseconds, of frames of a result."""
    with open(path, "wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 1))
        for frame in frames:
            data = bytes.fromhex(frame["bytes"])
            seconds, nanoseconds = divmod(frame["time"], 10**9)
            file.write(struct.pack("<IIII", seconds & 0xFFFFFFFF, nanoseconds, len(data), len(data)) + data)


def ladder(frames, analyze):
    """The last frames of an instance as lines: time, direction, and what roce-analyze says of the frame."""
    with tempfile.TemporaryDirectory() as folder:
        capture = os.path.join(folder, "frames.pcap")
        write_capture(capture, frames)
        said = subprocess.run([analyze, "decode", "--color", "never", capture], stdout=subprocess.PIPE, text=True, check=True).stdout
    words = {int(number): (opcode, psn, rest) for number, opcode, psn, rest in
             re.findall(r"^ *(\d+) .*?QP 0x[0-9a-f]+  (\S+) +PSN (\d+) +len \d+ +ICRC \S+ *(.*)$", said, re.MULTILINE)}
    lines = [f"  … {len(frames) - MOST_FRAMES} before"] if len(frames) > MOST_FRAMES else []
    for number, frame in list(enumerate(frames, 1))[-MOST_FRAMES:]:
        opcode, psn, rest = words[number]
        # Addresses and keys of memory are others in each run.
        rest = re.sub(r"(va|rkey) 0x[0-9a-f]+ ?", "", rest)
        after = (frame["time"] - frames[0]["time"]) / 1e6
        lines.append(f"{after:9.1f} ms  {'T → D' if frame['from'] == 'T' else 'T ← D'}  {opcode:24}  PSN {psn:>8}  {rest}".rstrip())
    return "\n".join(lines)


def in_code(text):
    """A sentence with the names of functions and members of the kernel's source as code."""
    return re.sub(r"\w+\(\)|\bwqe->\w+|\b(?:resp|req|comp)\.\w+|\b(?:[a-z]+|[A-Z]{2,})_\w+", r"`\g<0>`", text)


def what_differs(failure):
    """What was expected and what came."""
    lines = [f"{failure['message'][0].upper()}{failure['message'][1:]}"]
    lines += [f"{field['field']}: expected {field['expected']}, seen {field['seen']}" for field in failure["fields"] if not field["right"]]
    return "\n".join(lines)


def explained(deviation, instances, analyze):
    """Of a deviation: how many instances each of its patterns fits, what the tester sees, why, and the frames of the first instance."""
    first = instances[0]
    rows = [(f"`{pattern}`", sum(fits(pattern, one["name"]) for one in instances)) for pattern in deviation.patterns]
    out = [table([("instances", "number"), *rows]), f"In `{first['name']}` the tester sees:",
           f"```\n{what_differs(first['failure'])}\n```", f"Why: {in_code(deviation.because)}."]
    if first.get("frames"):
        out += ["Its frames:", f"```\n{ladder(first['frames'], analyze)}\n```"]
    return out


def section(heading, deviations, results, analyze):
    """The deviations below a heading of the profile; None if none of their instances was run."""
    found = [(deviation, [one for one in results if one["result"] == "xfail" and
                          any(fits(pattern, one["name"]) for pattern in deviation.patterns)]) for deviation in deviations]
    found = [(deviation, instances) for deviation, instances in found if instances]
    if not found:
        return None
    rules = dict.fromkeys(rule for _, instances in found for one in instances for rule in one["rules"])
    out = [f"### {heading}", f"Rules: {', '.join(rules)}."]
    for deviation, instances in found:
        out += explained(deviation, instances, analyze)
    return "\n\n".join(out)


def page(result, profile, analyze, system):
    """The text of the page."""
    results = result["results"]
    counts = collections.Counter(one["result"] for one in results)
    # An instance that may stop the device was not run, either.
    stops = [one for one in results if one["result"] == "skip" and one["lacks"].startswith("leave to stop")]
    judged = counts["pass"] + counts["xfail"] + counts["fail"] + counts["xpass"]
    unknown = counts["fail"] + counts["xpass"]
    judgement = JUDGED.format(system=system, profile=os.path.basename(profile), day=result["started"][:10], judged=f"{judged:,}",
                              cases=len({one["case"] for one in results}), seed=result["seed"], passed=f"{counts['pass']:,}",
                              known=counts["xfail"], others=f"There were {unknown or 'none'}.")
    out = ["# Conformance of Soft-RoCE", textwrap.fill(" ".join(judgement.split()), 120, break_on_hyphens=False, break_long_words=False),
           REPEATED]
    rows = [("group", "passed", "known deviation", "skipped", "not run")]
    groups = collections.defaultdict(list)
    for one in results:
        groups[one["case"].partition("-")[0]].append(one)
    for name, some in [*sorted(groups.items()), ("all", results)]:
        stopped = sum(one in stops for one in some)
        number = collections.Counter(one["result"] for one in some)
        rows.append((name, *(count or "-" for count in (number["pass"], number["xfail"], number["skip"] - stopped,
                                                        number["not_run"] + stopped))))
    out += ["## Groups", table(rows)]
    lacks = collections.Counter(one["lacks"] for one in results if one["result"] == "skip" and one not in stops)
    out += [f"Skipped, since the device or the network lacks it: {lack} ({count})." for lack, count in sorted(lacks.items())]
    out += ["## Deviations", "T is the tester, D the device. Times count from the first frame of the instance."]
    by_heading = {}
    for deviation in read_deviations(profile):
        by_heading.setdefault(deviation.heading, []).append(deviation)
    out += filter(None, (section(heading, some, results, analyze) for heading, some in by_heading.items()))
    out += ["## Not run: may stop the device", f"{len(stops)} instance{'s' if len(stops) != 1 else ''}."]
    return "\n\n".join(part.strip("\n") for part in out) + "\n"


def write_page(result_path, profile, path, analyze, system):
    """Writes the page; what it is made of are files, and `system` says in words what the device runs on."""
    with open(result_path, encoding="utf-8") as file:
        result = json.load(file)
    text = page(result, profile, analyze, system)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__)
    write_page(*sys.argv[1:4], os.environ["ROCE_ANALYZE"], sys.argv[4] if len(sys.argv) == 5 else "")
