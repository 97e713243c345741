#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The table of docs/results/fuzzing.md: how long roce-conform's fuzzer takes to find each of 49 planted faults.

usage: fuzz_faults.py [-h] [--seconds N] [--seeds N] [--classes abcd] TEST_CONFORM_FUZZ

The fuzzer runs in TEST_CONFORM_FUZZ, which has the faults, against the endpoint in memory, and ends with its first finding. The class says
how rare the conversation is that shows a fault, as it was guessed before anything was measured: a, a second; b, ten; c, a minute; d, five.
"""

import argparse
import os
import re
import statistics
import subprocess
import sys

FAULTS = {
    "a": ["service_ignored", "icrc_ignored", "address_ignored", "gap_nak_packets_psn", "psn_ahead_one_ok", "read_takes_one", "middle_starts",
          "pad_in_memory", "nak_no_err", "nak_61_for_62", "cm_long_ari_ignored"],
    "b": ["qpn_20_bits", "init_executes", "dup_send_runs", "dup_atomic_runs", "write_in_send", "write_sum_ignored", "zero_with_bytes",
          "variant_ignored", "pd_ignored", "receive_overrun", "rnr_moves_psn", "msn_counts_dup", "ack_future_ok", "ack_completes_read",
          "kind_ignored", "reserved_is_ack", "completes_twice", "uc_joins", "ud_short_kills"],
    "c": ["icrc_at_frame_end", "drop_latches", "dup_ack_ahead", "replay_one_short", "dup_read_long", "dup_read_no_key", "range_end_one",
          "range_wraps", "invalidate_any", "ack_passes_read", "go_back_skips", "ack_old_completes", "read_overrun"],
    "d": ["psn_window_2_22", "psn_no_wrap", "replay_any_kind", "dup_read_creeps", "key_at_first_only", "reset_keeps_store"],
}
LINE = re.compile(r"^(\w+) +seed (\d+) +([\d.]+) s +(\d+) frames  (?:(\d+) actions, its case (\w+) with the fault and (\w+)|not found)", re.MULTILINE)


def runs_of(program, faults, seconds, seeds):
    """Yields fault, seconds, and of a finding its actions and whether its case fails with the fault only."""
    environment = {**os.environ, "ROCE_FUZZ": str(seconds), "ROCE_FUZZ_SEEDS": str(seeds), "ROCE_FUZZ_FAULTS": ",".join(faults)}
    done = subprocess.run([program, "--gtest_filter=Measurement.*"], env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(done.stdout + done.stderr)
    for match in LINE.finditer(done.stdout):
        fault, _, spent, _, actions, with_fault, without = match.groups()
        yield fault, float(spent), actions and int(actions), (with_fault, without) == ("fails", "passes")


def row(letter, fault, runs):
    found = [run for run in runs if run[1]]
    if not found:
        return f"| `{fault}` | {letter} | 0 of {len(runs)} | | | | |"
    times = sorted(spent for spent, _, _ in found)
    worst = f"{times[-1]:.2f}" if len(found) == len(runs) else ""
    right = sum(is_right for _, _, is_right in found)
    actions = max(actions for _, actions, _ in found)
    return f"| `{fault}` | {letter} | {len(found)} of {len(runs)} | {statistics.median(times):.2f} | {worst} | {actions} | {right} of {len(found)} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=60, help="the most for each run")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--classes", default="abcd")
    parser.add_argument("program", metavar="TEST_CONFORM_FUZZ")
    arguments = parser.parse_args()
    print(f"Load {os.getloadavg()[0]:.1f} at the begin.\n")
    print("| fault | class | found | median s | worst s | most actions | cases that fail with the fault only |")
    print("|---|---|---|---|---|---|---|")
    found, wanted, always = 0, 0, 0
    for letter in arguments.classes:
        for fault in FAULTS[letter]:
            runs = [run[1:] for run in runs_of(arguments.program, [fault], arguments.seconds, arguments.seeds)]
            print(row(letter, fault, runs), flush=True)
            wanted += 1
            found += any(run[1] for run in runs)
            always += bool(runs) and all(run[1] for run in runs)
    print(f"\n{found} of {wanted} found, {always} with every seed; {arguments.seeds} seeds, at most {arguments.seconds} s each, load "
          f"{os.getloadavg()[0]:.1f} at the end.")


if __name__ == "__main__":
    main()
