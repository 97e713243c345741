#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Runs what the console blocks of a page show, and compares.

usage: console_test.py BUILD SOURCE PAGE...

In a block that begins with ```console a line with "$ " is a command, run in the source tree; the lines below it are what it prints.
A line "..." stands for any number of lines.
"""

import os
import pathlib
import re
import subprocess
import sys

PATIENCE = 60  # seconds


def blocks(page):
    """(command, the lines that it should print) of each command on a page."""
    for indent, block in re.findall(r"^( *)```console\n(.*?)^\1```", page, re.DOTALL | re.MULTILINE):
        text = re.sub(f"^{indent}", "", block, flags=re.MULTILINE)
        for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
            command, *lines = part.splitlines()
            yield command, lines


def is_as_shown(shown, printed):
    """Whether lines match, with "..." for any number of them."""
    pattern = "".join(r"(?:.*\n)*?" if line == "..." else re.escape(line.rstrip()) + r"\n" for line in shown)
    return re.fullmatch(pattern, "".join(line.rstrip() + "\n" for line in printed)) is not None


def main():
    build, source, *pages = sys.argv[1:]
    environment = {**os.environ, "PATH": f"{build}/bin:{os.environ['PATH']}", "NO_COLOR": "1", "TZ": "UTC"}
    wrong = commands = 0
    for page in pages:
        for command, shown in blocks(pathlib.Path(source, page).read_text(encoding="utf-8")):
            commands += 1
            done = subprocess.run(["sh", "-c", command], cwd=source, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False)
            if done.returncode != 0 or not is_as_shown(shown, done.stdout.splitlines()):
                wrong += 1
                print(f"{page}: $ {command}\nexit code {done.returncode}, and it prints\n{done.stdout}{done.stderr}")
    print(f"{commands} commands, {wrong} wrong")
    return 1 if wrong or not commands else 0


if __name__ == "__main__":
    sys.exit(main())
