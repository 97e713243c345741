# SPDX-License-Identifier: BSD-2-Clause
"""Writes docs/results/conformance-rxe-versions.md: Soft-RoCE's deviations by version of the kernel, from conform/devices/soft-roce-*.yaml.

usage: conformance_versions.py [--check] ROCE_CONFORM SOURCE

With --check it writes nothing, and exits with 1 if the page differs.
"""

import itertools
import json
import pathlib
import re
import subprocess
import sys
import textwrap

sys.dont_write_bytecode = True

# pylint: disable=wrong-import-position
from conformance_page import in_code, read_deviations, table

PAGE = "docs/results/conformance-rxe-versions.md"
HEAD = """# Soft-RoCE's deviations by version

Written by `tests/interop/conformance_versions.py` from the profiles in [conform/devices](../../conform/devices), which were found by
`roce-conform` against {systems}.
[The page of 6.1](conformance-rxe.md) has the frames, and [tests/interop](../../tests/interop/README.md) describes how a guest
with another kernel is judged.

A number is how many instances of the cases deviate; `-` is none.

"""
CHANGED = """## What changed

The deviations whose instances or reasons are not the same in all versions, with the function of each version's source that makes them."""


def version_of(path):
    """The version that a profile is named after, as numbers."""
    return tuple(int(part) for part in path.stem.removeprefix("soft-roce-").split("."))


def by_heading(deviations):
    """The deviations of a profile, in its order, below their headings."""
    return {heading: list(some) for heading, some in itertools.groupby(deviations, lambda deviation: deviation.heading)}


def merged(orders):
    """The headings of all versions in one order: a new one comes behind the one that precedes it in its own version."""
    headings = []
    for order in orders:
        place = 0
        for heading in order:
            if heading not in headings:
                headings.insert(place, heading)
            place = headings.index(heading) + 1
    return headings


def cases_of(deviations):
    """The cases that deviations name."""
    return {pattern.partition("[")[0] for deviation in deviations for pattern in deviation.patterns}


def counted(program, cases, headings):
    """By heading, how many instances the deviations below it name."""
    # roce-conform counts by case, so headings that share no case are counted together.
    runs = []
    for heading, deviations in headings.items():
        run = next((run for run in runs if not any(cases_of(deviations) & cases_of(headings[other]) for other in run)), None)
        if run is None:
            runs.append(run := [])
        run.append(heading)
    numbers = {}
    for run in runs:
        only = [word for heading in run for deviation in headings[heading] for pattern in deviation.patterns
                for word in ("--only", pattern)]
        listed = subprocess.run([program, "list", "--json", cases, *only], capture_output=True, text=True, check=True)
        instances = {row["case"]: row["instances"] for row in map(json.loads, listed.stdout.splitlines())}
        numbers.update({heading: sum(instances[case] for case in cases_of(headings[heading])) for heading in run})
    return numbers


def reasons(heading, profiles, numbers):
    """Of a heading: by version how many instances deviate, and why."""
    versions_of = {}
    for version, profile in profiles.items():
        whys = dict.fromkeys(in_code(deviation.because) for deviation in profile.get(heading, []))
        number = numbers[version].get(heading, 0)
        said = f"{number} instance{'s' if number != 1 else ''}. Why: {'; '.join(whys)}." if whys else "none."
        versions_of.setdefault(said, []).append(version)
    lines = [textwrap.fill(f"- {', '.join(versions)}: {said}", 120, subsequent_indent="  ", break_on_hyphens=False,
                           break_long_words=False) for said, versions in versions_of.items()]
    return "\n".join([f"### {heading}", "", *lines])


def page(program, source):
    """The text of the page."""
    paths = sorted((source / "conform/devices").glob("soft-roce-*.yaml"), key=version_of)
    systems = [re.search(r"^# rdma_rxe of (Linux [\d.]+ \([^)]+\))", path.read_text(encoding="utf-8"), re.MULTILINE)[1]
               for path in paths]
    versions = [path.stem.removeprefix("soft-roce-") for path in paths]
    profiles = {version: by_heading(read_deviations(path)) for version, path in zip(versions, paths)}
    numbers = {version: counted(program, source / "conform/cases", profiles[version]) for version in versions}
    headings = merged(profiles.values())
    rows = [(heading, *(numbers[version].get(heading, "-") for version in versions)) for heading in headings]
    rows.append(("all", *(sum(numbers[version].values()) for version in versions)))
    changed = [heading for heading in headings if len({str(profiles[version].get(heading)) for version in versions}) > 1]
    return "\n\n".join([HEAD.format(systems=", ".join(systems[:-1]) + " and " + systems[-1]).strip("\n"),
                        table([("deviation", *versions), *rows]), CHANGED,
                        *(reasons(heading, profiles, numbers) for heading in changed)]) + "\n"


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--check"]
    if len(arguments) != 2:
        sys.exit(__doc__.strip())
    source = pathlib.Path(arguments[1])
    text = page(arguments[0], source)
    if "--check" not in sys.argv[1:]:
        (source / PAGE).write_text(text, encoding="utf-8")
    elif not (source / PAGE).is_file() or (source / PAGE).read_text(encoding="utf-8") != text:
        sys.exit(f"{PAGE} does not show the profiles as they are: run tests/interop/conformance_versions.py build/dev/bin/roce-conform .")


if __name__ == "__main__":
    main()
