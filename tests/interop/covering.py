# SPDX-License-Identifier: BSD-2-Clause
"""Few cases of a matrix in which all settings meet."""

import itertools
import random


def covering(factors, possible, strength=2):
    """A list of dicts, the same each time, that give each of `factors` (a dict of lists) one of its levels. Each `strength` levels that are
    together in some `possible` case are together in one of the list."""
    cases = [case for case in (dict(zip(factors, levels)) for levels in itertools.product(*factors.values())) if possible(case)]
    # So that of those which bring as much as another, not always the first levels are taken.
    random.Random(1).shuffle(cases)
    numbers = {}
    # Of each case the sets of levels that are in it, as bits.
    sets = [sum(1 << numbers.setdefault(one, len(numbers)) for one in itertools.combinations(case.items(), strength)) for case in cases]
    chosen, missing = [], (1 << len(numbers)) - 1
    while missing:
        best = max(range(len(cases)), key=lambda index: (sets[index] & missing).bit_count())
        chosen.append(cases[best])
        missing &= ~sets[best]
    return chosen
