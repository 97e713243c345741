#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes docs/results/ground-truth.md: how the analyser does on the captures of which is known what happened.

usage: truth_page.py [--check] PRINT_VERDICTS ROCE_ANALYZE SOURCE

With --check it writes nothing, and exits with 1 if the page differs."""

import contextlib
import io
import pathlib
import sys
import tempfile

import message_truth
from fault_truth import VIEWS, Capture, names
from ground_truth import FOLDER, Case, report, run_tool

PAGE = "docs/results/ground-truth.md"
HEAD = """# The analyser on captures of which the truth is known

Written by `tests/analysis/truth_page.py` from [captures/softroce](../../captures/README.md), each as eight capture points see
it. [analysis.md](../analysis.md#ground-truth) has the rules of the judge, and figures for simulated traffic.
"""
VERDICTS = """
## Verdicts

*Events* happened, whether or not the view shows it; a verdict that only the view makes counts where it is *determinable*.
"""
MESSAGES = """
## Messages and losses

What `roce-analyze messages` says of type, length and end, held against what the applications posted and were told
(*judged*, *wrong*), and the packets that the summary counts as lost (*said*) against those that were (*lost*) and those
whose loss the view shows (*shown*).
"""


def table(header, rows):
    """A table of Markdown in which all columns but the first two are numbers."""
    lines = ["| " + " | ".join(header) + " |", "|---|---|" + "---:|" * (len(header) - 2)]
    return "\n".join(lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]) + "\n"


def verdicts_table(program):
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for name in names(FOLDER):
            capture = Capture(FOLDER, name)
            for view in VIEWS:
                results.append((Case(capture, view), run_tool(program, capture.write(view, folder))))
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        report(results)
    lines = printed.getvalue().split("\n\n", maxsplit=1)[0].splitlines()
    # A share of 100 % is two words, like every other.
    rows = [line.replace(" %", "%").split() for line in lines[1:]]
    return table(lines[0].split(), [[cell.replace("%", " %") for cell in row] for row in rows])


def messages_table(program):
    with tempfile.TemporaryDirectory() as folder:
        rows = [row for name in names(FOLDER) for row, _ in message_truth.judge_capture(program, FOLDER, name, folder)
                if any(row[2:])]
    return table(("capture", "view", "judged", "wrong", "lost", "said", "shown"), rows)


def main(arguments):
    is_check = arguments[:1] == ["--check"]
    verdicts, analyze, source = arguments[1:] if is_check else arguments
    text = HEAD + VERDICTS + "\n" + verdicts_table(verdicts) + MESSAGES + "\n" + messages_table(analyze)
    page = pathlib.Path(source) / PAGE
    if not is_check:
        page.write_text(text, encoding="utf-8")
        return 0
    if page.exists() and page.read_text(encoding="utf-8") == text:
        return 0
    print(f"{PAGE} is not what the analyser does now: tests/analysis/truth_page.py writes it again")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
