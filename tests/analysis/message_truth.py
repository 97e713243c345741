#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Judges `roce-analyze messages` and the totals of `roce-analyze summary` by what the applications of a capture posted,
by the completions that they got, and by the packets that were lost.

  message_truth.py ROCE_ANALYZE [NAME…]

Prints a row for each view, and succeeds when every message, length and end is right and no total is too large."""

import argparse
import collections
import json
import os
import subprocess
import sys
import tempfile

from determinable import Evidence
from fault_truth import VIEWS, Capture, names
from ground_truth import FOLDER
from roce_frames import UC, UD
from verdict_kinds import LOSSES

# What the application posts, and the row that it becomes.
TYPES = {"send": "SEND", "send_imm": "SEND_IMM", "send_inv": "SEND_INV", "write": "WRITE", "write_mw": "WRITE", "write_imm": "WRITE_IMM",
         "read": "READ", "cas": "ATOMIC", "faa": "ATOMIC"}
# The status of its completion, and how the message ends on the wire: refused by a NAK for an error, or never answered.
ENDS = {0: "acknowledged", 9: "refused", 10: "refused", 11: "refused", 12: "open", 13: "open"}
FIRST = (0, 6)  # operations that begin a message of several packets
ONWARD = (1, 2, 3, 7, 8, 9, 22)  # those that go on with it


class TrueMessage:
    """A message of a requester: its packets, whatever became of them, and what its application was told."""

    def __init__(self, psns, posted, status):
        self.psns = psns
        self.type = TYPES[posted["t"]]
        self.bytes = 0 if self.type == "ATOMIC" else posted["len"]  # an atomic has no payload
        self.status = status


def scripted(capture, flow):
    """-> what the requester of `flow` posted and the statuses of its completions; nothing if no script made it."""
    cases = (capture.truth or {}).get("server" if flow.sent[0].side == "a" else "client") or []
    for case in cases:
        if isinstance(case, dict) and case.get("peer", {}).get("qpn") == flow.key[2] and case["qp"] in ("RC", "UC"):
            done = {each["id"]: each["st"] for each in case["wc"] if each["op"] < 128}
            return [(posted, done.get(number)) for number, posted in enumerate(case["posted"])]
    return []


def true_messages(capture, flow):
    """The messages of a flow in the order of posting, as far as anything of them was sent."""
    ranges = []
    for sent in flow.sent:
        if sent.transmission:
            continue
        if sent.frame.operation in ONWARD:
            ranges[-1] = range(ranges[-1][0], sent.psns[-1] + 1)
        else:
            ranges.append(sent.psns)
    return [TrueMessage(psns, posted, status) for psns, (posted, status) in zip(ranges, scripted(capture, flow))]


class View:
    """What one view must say."""

    def __init__(self, capture, name):
        self.capture, self.entries = capture, capture.view(name)
        self.sound = {}  # by flow: the PSNs of requests that came by
        for entry in self.entries:
            if entry.is_sound and entry.frame.is_request and entry.sent.flow:
                self.sound.setdefault(entry.sent.flow, set()).update(entry.sent.psns)

    def rows_of_flows(self, rows):
        """The rows by flow and first PSN; rows without a flow are of UD or of connections that no script made."""
        found = collections.defaultdict(dict)
        for row in rows:
            number = row["first_frame"] or row["last_frame"]
            flow = self.entries[number - 1].sent.flow
            if flow:
                found[flow][flow.unwrap(row["first_psn"], self.entries[number - 1].sent.psn)] = row
        return found

    def judge_messages(self, rows):
        """-> messages judged, complaints."""
        judged, complaints = 0, []
        rows_of = self.rows_of_flows(rows)
        for flow in self.capture.flows:
            rows = dict(rows_of.get(flow, {}))
            if flow.key[3] == UD or not scripted(self.capture, flow):
                continue
            for message in true_messages(self.capture, flow):
                seen = self.sound.get(flow, set()) & set(message.psns)
                row = rows.pop(message.psns[0], None)
                if row is None and flow.key[3] == UC and len(seen) < len(message.psns):
                    continue  # a torn message of UC is no message
                if not seen and row is None:
                    continue
                judged += 1
                complaints += [f"PSN {message.psns[0] % (1 << 24)} {message.type} of {message.bytes} bytes: {why}"
                               for why in self._why_wrong(flow, message, seen, row)]
            complaints += [f"PSN {psn % (1 << 24)}: a row for what is no message: {row['type']}, {row['end']}"
                           for psn, row in rows.items() if not (flow.key[3] == UC and row["end"] == "incomplete")]
        return judged, complaints

    def _why_wrong(self, flow, message, seen, row):
        if row is None:
            yield "it has no row"
            return
        is_whole = len(seen) == len(message.psns)
        if is_whole and (row["type"], row["bytes"]) != (message.type, message.bytes):
            yield f"the row says {row['type']} of {row['bytes']} bytes"
        if flow.key[3] == UC:
            if row["end"] != ("sent" if is_whole else "incomplete"):
                yield f"the row says {row['end']}, and {len(seen)} of {len(message.psns)} packets came by"
            return
        answer = self.entries[row["answer_frame"] - 1].sent if row["answer_frame"] else None
        if row["end"] == "acknowledged":
            if answer is None or not answer.frame.is_response:
                yield f"frame {row['answer_frame']}, said to be its answer, is no response"
            elif answer.is_lost and self._is_sent_again(flow, message, answer):
                yield f"frame {row['answer_frame']}, said to be its answer, did not arrive"
            elif answer.is_lost and message.status:
                return  # behind the fault, nothing shows that the answer was lost
        end = ENDS.get(message.status)
        if end and row["end"] != end:
            yield f"the row says {row['end']}, and its application got status {message.status}"

    def _is_sent_again(self, flow, message, answer):
        """Whether the view shows that the answer did not reach its requester. Without that, a later answer may have
        acknowledged the message as well."""
        return any(entry.is_sound and entry.sent.flow is flow and entry.frame.is_request
                   and entry.sent.position > answer.position and set(entry.sent.psns) & set(message.psns)
                   for entry in self.entries)

    def losses(self):
        """-> how many packets of connections were lost, and how many of these losses the view shows."""
        lost = sum(sent.is_lost for sent in self.capture.sent if sent.flow)
        units = [unit for unit in Evidence(self.entries).units if unit.kind in LOSSES]
        shown = len({(unit.kind, unit.frame, tuple(unit.psns or ())) for unit in units})
        return lost, shown


def run(program, command, path):
    done = subprocess.run([program, command, "--json", path], capture_output=True, text=True, timeout=60, check=False)
    if done.returncode not in (0, 1) or done.stderr:
        sys.exit(f"{program} {command} failed on {os.path.basename(path)}: {done.stderr.strip()[:300]}")
    return [json.loads(line) for line in done.stdout.splitlines() if line.strip()]


def judge_capture(program, captures, name, folder):
    """-> for each view its row of the table, and complaints."""
    capture = Capture(captures, name)
    for view_name in VIEWS:
        view = View(capture, view_name)
        path = capture.write(view_name, folder)
        messages, complaints = view.judge_messages(run(program, "messages", path))
        lost, shown = view.losses()
        said = sum(run(program, "summary", path)[0]["lost"].values())
        if said > lost:
            complaints.append(f"the summary says that {said} packets were lost, and {lost} were")
        row = (name, view_name, messages, len(complaints), lost, said, shown)
        yield row, [f"{name} {view_name}: {why}" for why in complaints]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", metavar="ROCE_ANALYZE")
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--captures", default=FOLDER, metavar="FOLDER", help="where the captures are")
    options = parser.parse_args()
    columns = "{:<22}{:<11}{:>9}{:>7}{:>10}{:>7}{:>7}"
    print(columns.format("capture", "view", "messages", "wrong", "lost there", "said", "shown"))
    judged, wrong = 0, []
    with tempfile.TemporaryDirectory() as folder:
        for name in options.names or names(options.captures):
            for row, complaints in judge_capture(options.program, options.captures, name, folder):
                print(columns.format(*row))
                judged += row[2]
                wrong += complaints
    print(f"{judged} messages judged, {len(wrong)} statements wrong")
    print(*wrong, sep="\n", end="\n" if wrong else "")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
