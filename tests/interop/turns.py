# SPDX-License-Identifier: BSD-2-Clause
"""Which of many alike cases this run has."""

import os

TURNS = 3


def everything():
    return bool(os.environ.get("ROCE_INTEROP_ALL"))


def this_turn(cases, turns=TURNS):
    """A third of these cases, or less with more turns, by the number ROCE_INTEROP_TURN: as many numbers in a row as there are turns have
    all of them. With ROCE_INTEROP_ALL all."""
    cases = list(cases)
    return cases if everything() else cases[int(os.environ.get("ROCE_INTEROP_TURN") or 0) % turns::turns]
