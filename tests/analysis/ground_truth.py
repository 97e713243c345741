#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Judges an analyser by captures of which is known what happened to every frame.

  ground_truth.py check                          whether truth files and captures agree, and no rule says what is false
  ground_truth.py views [NAME…] --write FOLDER   writes the views as nanosecond pcap files
  ground_truth.py list NAME VIEW                 the verdicts that the view calls for
  ground_truth.py judge NAME VIEW VERDICTS       compares verdicts (NDJSON) with the truth
  ground_truth.py table --tool PROGRAM           the same for what `PROGRAM FILE` prints about every view

`judge` and `table` succeed when precision and recall are 100 %. docs/analysis.md, "Ground truth", has the rules."""

import argparse
import collections
import json
import math
import os
import subprocess
import sys
import tempfile

from determinable import Evidence
from fault_truth import VIEWS, Capture, names
from verdict_kinds import KINDS, LOSSES, NAKS, NEVER, PSN_KINDS
from verdict_truth import Truth

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "captures", "softroce")
VIEW_FACTS = ("gap", "response_gap", "implied_nak")  # what they say is about the view itself
# What happens only as far as a view shows it: not counted apart from it.
OF_THE_VIEW = VIEW_FACTS + ("lost_beyond", "no_answer", "never_ready")


class Case:
    """One view of one capture: what it calls for, and what is true."""

    def __init__(self, capture, view_name):
        self.capture, self.view_name = capture, view_name
        self.view = capture.view(view_name)
        self.units = Evidence(self.view).units
        self.truth = Truth(capture, self.view)

    def contradictions(self):
        """Verdicts that the view calls for though they are false: a wrong rule."""
        for unit in self.units:
            why = self._why_false(unit.kind, unit.entry, unit.psns)
            if why:
                yield f"{self.capture.name} {self.view_name}: {unit.kind} of frame {unit.frame} ({unit.why}): {why}"

    def _why_false(self, kind, entry, psns):
        if kind in PSN_KINDS:
            return next((why for why in (self.truth.psn(kind, entry, psn) for psn in psns) if why), "")
        if kind in ("gap", "response_gap"):
            return self.truth.gap(kind, entry, psns)
        if kind == "lost_beyond" and psns:
            return self.truth.beyond(entry, psns)
        return self.truth.implied_nak(entry) if kind == "implied_nak" else self.truth.frame(kind, entry)

    def events(self, kind):
        """How often it happened, whether or not the view shows it."""
        flows = self.capture.flows
        if kind in OF_THE_VIEW:
            return sum(unit.kind == kind for unit in self.units)
        if kind == "request_lost_before":
            return sum(s.is_lost for f in flows for s in f.sent if self.truth.point(f, False) == "rx")
        if kind == "response_lost_before":
            return sum(s.is_lost for f in flows for s in f.answers if self.truth.point(f, True) == "rx")
        if kind in PSN_KINDS:
            return 0
        entries = [entry for entry in self.view if entry.frame.is_roce]
        return sum(not self.truth.frame(kind, entry) for entry in entries)

    def judge(self, verdicts):
        """-> found units, missed units, [(verdict, why false)], verdicts that are not judged by kind."""
        good, wrong, given = [], [], set()
        others = collections.Counter()
        for verdict in verdicts:
            kind = verdict["verdict"]
            if kind in NEVER:
                wrong.append((verdict, f"the ends of these captures keep {verdict.get('rule') or 'to that'}"))
                continue
            if kind not in KINDS:
                others[kind] += 1
                continue
            entry, psns, why = self._place(verdict)
            about = verdict.get("first_psn") if kind in PSN_KINDS + VIEW_FACTS else 0
            key = (kind, verdict["frame"], verdict.get("segment", 0), about)
            if not why and key in given:
                why = "said twice"
            given.add(key)
            why = why or self._why_false(kind, entry, psns)
            if not why and kind == "retransmission":
                why = self.truth.cause(entry.sent, verdict.get("cause"))
            if not why and kind == "duplicate" and verdict.get("cause") == "capture":
                why = "the network made this copy, not the capture"
            if why:
                wrong.append((verdict, why))
            else:
                good.append((kind, verdict["frame"], entry.sent.flow, set(psns or ())))
        found = [unit for unit in self.units if any(self._is_met(unit, each) for each in good)]
        missed = [unit for unit in self.units if unit not in found]
        return found, missed, wrong, others

    def _place(self, verdict):
        number = verdict["frame"]
        if not 1 <= number <= len(self.view):
            return None, None, "there is no such frame"
        entry = self.view[number - 1]
        if not entry.frame.is_roce:
            return entry, None, "it is no RoCE packet"
        if verdict["verdict"] not in PSN_KINDS + ("gap", "response_gap", "lost_beyond"):
            needs_flow = verdict["verdict"] not in NAKS.values() and verdict["verdict"] not in (
                "rnr_nak", "bad_icrc", "ce_mark", "duplicate")
            return entry, None, "" if entry.sent.flow or not needs_flow else "it is of no connection"
        if not entry.sent.flow:
            return entry, None, "it is of no connection"
        if "first_psn" not in verdict or verdict.get("psn_count", 0) < 1:
            return entry, None, "it names no PSNs"
        first = entry.sent.flow.unwrap(verdict["first_psn"], entry.sent.psn)
        return entry, range(first, first + verdict["psn_count"]), ""

    @staticmethod
    def _is_met(unit, verdict):
        kind, frame, flow, psns = verdict
        if unit.kind in PSN_KINDS:
            return kind == unit.kind and flow is unit.flow and set(unit.psns) <= psns
        if kind == unit.kind and frame == unit.frame:
            return unit.psns is None or set(unit.psns) <= psns
        if unit.kind == "lost_beyond" and kind in LOSSES:  # a tool that can say more has found it as well
            return frame == unit.frame or (flow is unit.entry.sent.flow and unit.entry.sent.psn in psns)
        return False


class Tally:
    def __init__(self):
        self.events = self.determinable = self.found = self.false = self.true = 0


def share(part, whole):
    return "-" if not whole else "100 %" if part == whole else f"{math.floor(10000 * part / whole) / 100:.2f} %"


def describe(case, number):
    frame = case.view[number - 1].frame if 1 <= number <= len(case.view) else None
    psn = f" PSN {frame.psn}" if frame and frame.is_roce else ""
    return f"{case.capture.name} {case.view_name} frame {number}{psn}"


def run_tool(program, path):
    done = subprocess.run([program, path], capture_output=True, text=True, timeout=60, check=False)
    if done.returncode:
        sys.exit(f"{program} failed on {os.path.basename(path)}: {done.stderr.strip()[:300]}")
    return [json.loads(line) for line in done.stdout.splitlines() if line.strip()]


def report(results):
    """`results`: pairs of a case and its verdicts. Prints the table; -> whether everything was right."""
    tallies = collections.defaultdict(Tally)
    misses, falses = [], []
    others = collections.Counter()
    for case, verdicts in results:
        found, missed, wrong, rest = case.judge(verdicts)
        others += rest
        for kind in KINDS:
            tally = tallies[kind, case.view_name]
            tally.events += case.events(kind)
            tally.determinable += sum(unit.kind == kind for unit in case.units)
            tally.found += sum(unit.kind == kind for unit in found)
            tally.false += sum(verdict["verdict"] == kind for verdict, _ in wrong)
            tally.true += sum(v["verdict"] == kind for v in verdicts) - sum(v["verdict"] == kind for v, _ in wrong)
        for unit in missed:
            psns = f", missing PSN {unit.psns[0] % (1 << 24)}" if unit.psns else ""
            misses.append(f"  {unit.kind}: {describe(case, unit.frame)}{psns}: {unit.why or 'it is plain to see'}")
        falses += [f"  {verdict['verdict']}: {describe(case, verdict['frame'])}, PSNs {verdict.get('first_psn')}+"
                   f"{verdict.get('psn_count')}, cause {verdict.get('cause')}: {why}" for verdict, why in wrong]
    columns = "{:<29}{:<11}{:>7}{:>14}{:>9}{:>7}{:>7}{:>7}{:>11}{:>9}"
    print(columns.format("class", "view", "events", "determinable", "share", "found", "right", "false", "precision",
                         "recall"))
    for kind in KINDS:
        for view in VIEWS:
            t = tallies[kind, view]
            if t.events or t.determinable or t.false or t.true:
                print(columns.format(kind, view, t.events, t.determinable, share(t.determinable, t.events), t.found,
                                     t.true, t.false, share(t.true, t.true + t.false),
                                     share(t.found, t.determinable)))
    total = Tally()
    for t in tallies.values():
        for field in vars(total):
            setattr(total, field, getattr(total, field) + getattr(t, field))
    print(columns.format("all", "all", total.events, total.determinable, share(total.determinable, total.events),
                         total.found, total.true, total.false, share(total.true, total.true + total.false),
                         share(total.found, total.determinable)))
    for title, lines in (("Missed", misses), ("False", falses)):
        if lines:
            print(f"\n{title}: {len(lines)}", *lines, sep="\n")
    if others:
        print("\nNot judged: " + ", ".join(f"{kind} {count}" for kind, count in sorted(others.items())))
    return not misses and not falses


def check(folder):
    """-> complaints."""
    for name in names(folder):
        capture = Capture(folder, name)
        if capture.truth:
            stated = [(event["n"], event["action"]) for event in capture.truth["events"]]
            if stated != capture.events():
                yield f"{name}: the truth file states {stated}, the captures show {capture.events()}"
            roce = [sent.frame for sent in capture.sent if sent.frame.is_roce]
            for event in capture.truth["events"]:
                frame = roce[event["n"] - 1]
                if (event["psn"], event["qpn"]) != (frame.psn, frame.dest_qp):
                    yield f"{name}: event {event} is about another packet"
        for view in VIEWS:
            yield from Case(capture, view).contradictions()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--captures", default=FOLDER, metavar="FOLDER", help="where the captures are")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("check")
    views = commands.add_parser("views")
    views.add_argument("names", nargs="*")
    views.add_argument("--write", required=True, metavar="FOLDER")
    one = commands.add_parser("list")
    judge = commands.add_parser("judge")
    for command in (one, judge):
        command.add_argument("name")
        command.add_argument("view", choices=VIEWS)
    judge.add_argument("verdicts")
    table = commands.add_parser("table")
    table.add_argument("--tool", required=True, metavar="PROGRAM")
    table.add_argument("names", nargs="*")
    options = parser.parse_args()
    if options.command == "check":
        complaints = list(check(options.captures))
        print(*complaints, sep="\n", end="\n" if complaints else "")
        return bool(complaints)
    if options.command == "views":
        for name in options.names or names(options.captures):
            for view in VIEWS:
                print(Capture(options.captures, name).write(view, options.write))
        return 0
    if options.command == "list":
        for unit in sorted(Case(Capture(options.captures, options.name), options.view).units, key=lambda u: u.frame):
            psns = f" PSN {unit.psns[0] % (1 << 24)}+{len(unit.psns)}" if unit.psns else ""
            print(f"{unit.frame:6} {unit.kind}{psns}  {unit.why}")
        return 0
    if options.command == "judge":
        case = Case(Capture(options.captures, options.name), options.view)
        with open(options.verdicts, encoding="utf-8") as file:
            verdicts = [json.loads(line) for line in file if line.strip()]
        return not report([(case, verdicts)])
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for name in options.names or names(options.captures):
            capture = Capture(options.captures, name)
            for view in VIEWS:
                results.append((Case(capture, view), run_tool(options.tool, capture.write(view, folder))))
    return not report(results)


if __name__ == "__main__":
    sys.exit(main())
