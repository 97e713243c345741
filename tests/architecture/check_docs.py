# SPDX-License-Identifier: BSD-2-Clause
"""Checks the Markdown files of a tree: every relative link leads to a file, and to a heading if it names one; every row of a
table has as many cells as its head.

usage: check_docs.py FOLDER

Prints one line for each finding (file:line: text) and exits with 1 if there is any.
"""

import collections
import os
import re
import sys

import check_tree

LINK = re.compile(r"!?\[[^\]]*\]\(([^()\s]+)\)")
HEADING = re.compile(r"#{1,6} +(.*?)(?: +#+)?$")
CODE = re.compile(r"(`+)(?:(?!\1).)*\1")
FENCE = re.compile(r" *(```+|~~~+)")
DELIMITER = re.compile(r" *\|(?: *:?-+:? *\|)+ *$")


def anchors(lines):
    """The anchors that GitHub makes for the headings of a file."""
    seen = collections.Counter()
    found = set()
    for _, line in prose(lines):
        match = HEADING.match(line)
        if not match:
            continue
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", match.group(1)).replace("`", "")
        anchor = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
        found.add(f"{anchor}-{seen[anchor]}" if seen[anchor] else anchor)
        seen[anchor] += 1
    return found


def prose(lines):
    """(number, line) of each line outside blocks of code."""
    fence = None
    for number, line in enumerate(lines, 1):
        match = FENCE.match(line)
        if match and (fence is None or match.group(1).startswith(fence)):
            fence = match.group(1)[:3] if fence is None else None
        elif fence is None:
            yield number, line


def check_links(path, lines, files, folders):
    """Findings (line number, text): links to files or headings that do not exist.

    `files` are the lines of each file by its name.
    """
    kept = [""] * len(lines)
    for number, line in prose(lines):
        kept[number - 1] = line
    text = CODE.sub(lambda match: " " * len(match.group()), "\n".join(kept))
    for match in LINK.finditer(text):
        target = match.group(1)
        number = text.count("\n", 0, match.start(1)) + 1
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        where = os.path.normpath(os.path.join(os.path.dirname(path), name)) if name else path
        if where not in files and where not in folders:
            yield number, f"the link {target} leads nowhere"
        elif anchor and (where not in files or anchor not in anchors(files[where])):
            yield number, f"{where} has no heading #{anchor}"


def cells(row):
    """The number of cells of a row of a table: GitHub also divides at a | in code, unless it is escaped."""
    return len(re.split(r"(?<!\\)\|", row.strip().strip("|")))


def check_tables(lines):
    """Findings (line number, text): rows outside tables, and rows with other cells than the head of their table."""
    head = None
    rows = list(prose(lines))
    for (number, line), (_, below) in zip(rows, [*rows[1:], (0, "")]):
        if not line.startswith("|"):
            head = None
        elif head is None and not DELIMITER.match(below):
            yield number, "a row that belongs to no table"
        elif head is None:
            head = cells(line)
        elif cells(line) != head:
            yield number, f"a row of {cells(line)} cells in a table of {head} columns"


def check(top):
    """All findings of a tree, as lines for people."""
    top = os.path.realpath(top)
    names = check_tree.files_of(top)
    files = {}
    folders = {"."}
    for name in names:
        folder = os.path.dirname(name)
        while folder:
            folders.add(folder)
            folder = os.path.dirname(folder)
        files[name] = []
        if name.endswith(".md"):
            with open(os.path.join(top, name), encoding="utf-8") as file:
                files[name] = file.read().splitlines()
    findings = []
    for path in names:
        if path.endswith(".md"):
            found = [*check_links(path, files[path], files, folders), *check_tables(files[path])]
            findings += [f"{path}:{number}: {text}" for number, text in sorted(found)]
    return findings


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.strip())
    findings = check(sys.argv[1])
    print("\n".join(findings) if findings else "the links and tables of all pages are in order")
    sys.exit(1 if findings else 0)


if __name__ == "__main__":
    main()
