# SPDX-License-Identifier: BSD-2-Clause
"""Writes docs/conformance-cases.md: all cases, as `roce-conform list` knows them.

usage: cases_page.py [--check] ROCE_CONFORM SOURCE

With --check it writes nothing, and exits with 1 if the page differs, if a case names a rule that docs/rules.md does not
have, or if one is not in the folder of its group.
"""

import json
import pathlib
import re
import subprocess
import sys

PAGE = "docs/conformance-cases.md"
HEAD = """# The cases of roce-conform

Written by `tests/conform/cases_page.py`. A case of level *must* fails a run, a deviation of level *should* is reported.
Each combination of its parameters is an instance. Rules such as NET-14 are those of [rules.md](rules.md); the others are
sections of the specifications. [conformance.md](conformance.md) is the guide.

"""
COLUMNS = ("group", "case", "level", "instances", "title", "rules")

RULE_ROW = re.compile(r"\| ([A-Z]+(?:-[A-Z]+)*-\d+) \|", re.MULTILINE)
# A section of a specification, or a compliance statement of the IBTA's.
SECTION = re.compile(r"(?:IBTA|RFC|IEEE) [\dA-Z.]+|C\d+-\d+")


def listed(program, cases):
    """The rows of `roce-conform list`, with the group and the list of rules of each."""
    done = subprocess.run([program, "list", "--json", cases], capture_output=True, text=True, check=True)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    return [{**row, "group": row["case"].split("-")[0], "rules": row["rules"].split(", ")} for row in rows]


def cell(value):
    """The text of a cell, without what Markdown takes for more than text."""
    return re.sub(r"([|<*\\])", r"\\\1", ", ".join(value) if isinstance(value, list) else str(value))


def page(rows):
    """The text of the page."""
    lines = [f"| {' | '.join(COLUMNS)} |", f"|{'---|' * len(COLUMNS)}"]
    lines += [f"| {' | '.join(cell(row[name]) for name in COLUMNS)} |" for row in rows]
    return f"{HEAD}{len(rows)} cases, {sum(row['instances'] for row in rows)} instances.\n\n" + "\n".join(lines) + "\n"


def findings(rows, rules, cases):
    """What is wrong with the cases, as lines for people."""
    for row in rows:
        for rule in row["rules"]:
            if rule not in rules and not SECTION.fullmatch(rule):
                yield f"{row['case']}: the rule {rule} is neither in docs/rules.md nor a section of a specification"
        if not (cases / row["group"] / f"{row['case']}.yaml").is_file():
            yield f"{row['case']}: expected in the folder {row['group']}"


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--check"]
    if len(arguments) != 2:
        sys.exit(__doc__.strip())
    source = pathlib.Path(arguments[1])
    cases = source / "conform/cases"
    rows = listed(arguments[0], cases)
    if "--check" not in sys.argv[1:]:
        (source / PAGE).write_text(page(rows), encoding="utf-8")
        return
    found = list(findings(rows, set(RULE_ROW.findall((source / "docs/rules.md").read_text(encoding="utf-8"))), cases))
    if (source / PAGE).read_text(encoding="utf-8") != page(rows):
        found.append(f"{PAGE} does not show the cases as they are: run tests/conform/cases_page.py build/dev/bin/roce-conform .")
    if found:
        sys.exit("\n".join(found))


if __name__ == "__main__":
    main()
