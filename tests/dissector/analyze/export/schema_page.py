#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes the tables of columns into docs/export.md, from roce-analyze export --schema.

usage: schema_page.py [--check] ROCE_ANALYZE SOURCE

With --check it writes nothing, and exits with 1 if the page differs."""

import json
import pathlib
import subprocess
import sys

PAGE = "docs/export.md"
BEGIN = "<!-- written by tests/dissector/analyze/export/schema_page.py -->\n"
END = "<!-- end of what is written -->\n"


def tables(program):
    done = subprocess.run([program, "export", "--schema", "--json"], check=True, capture_output=True, text=True)
    columns = [json.loads(line) for line in done.stdout.splitlines()]
    lines = [f"The version of the schema is {columns[0]['schema_version']}."]
    for table in dict.fromkeys(column["table"] for column in columns):
        lines += ["", f"### Columns of {table}", "", "| column | type | unit | meaning |", "|---|---|---|---|"]
        lines += [f"| `{each['column']}` | {each['type']}{'?' if each['nullable'] else ''} | {each['unit']} | {each['meaning']} |"
                  for each in columns if each["table"] == table]
    return "\n".join(lines) + "\n"


def main():
    arguments = [each for each in sys.argv[1:] if each != "--check"]
    if len(arguments) != 2:
        sys.exit(__doc__.strip())
    page = pathlib.Path(arguments[1], PAGE)
    text = page.read_text(encoding="utf-8")
    head, rest = text.split(BEGIN)
    wanted = head + BEGIN + "\n" + tables(arguments[0]) + "\n" + END + rest.split(END)[1]
    if text == wanted:
        print(f"{PAGE} has the columns of the program")
    elif "--check" in sys.argv:
        sys.exit(f"{PAGE} has other columns than the program: tests/dissector/analyze/export/schema_page.py writes it again")
    else:
        page.write_text(wanted, encoding="utf-8")


if __name__ == "__main__":
    main()
