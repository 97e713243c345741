# SPDX-License-Identifier: BSD-2-Clause
"""The JSON result of roce-conform, and the reports that are made from it: text, JUnit XML, packets, comparison and page.

usage: result_test.py ROCE_CONFORM SOURCE [UNITTEST ARGUMENT...]
"""

import base64
import copy
import html.parser
import json
import os
import pathlib
import re
import sys
import unittest

import jsonschema

import program_test
from program_test import Programs, conform

# Passes, fails, is skipped (for want of a device to stop), and fails as is known.
CASE = """case: psn-x
title: A <script>alert(1)</script> & "title"
rule: [RC-RESP-02, IBTA 9.7.5.2]
level: must
why: It's <b>so</b>.
params: {n: [0x60, 0x61, 0x62, 0x63]}
steps:
  - inject: {WRITE_ONLY: , bth.psn: $E + 1}
  - {expect: {NAK: [$n, $E]}, save: {x: bth.psn}}
  - expect_one_of:
      silent: [{quiet: default}]
      loud: [{expect: {ACK: }}]
"""
DEVICE = """device: A kind <i>of</i> device
deviations: [{instances: 'psn-x[n=0x61]', seen: RC_ACKNOWLEDGE, because: it always did}]
may_stop: ['psn-x[n=0x62]']
"""
VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}


class Results(Programs):
    def setUp(self):
        super().setUp()
        self.cases = self.write("psn-x.yaml", CASE)
        self.schema = json.loads((SOURCE / "conform/result.schema.json").read_text(encoding="utf-8"))

    def write(self, name, text):
        pathlib.Path(self.path(name)).write_text(text, encoding="utf-8")
        return self.path(name)

    def run_to(self, name, *arguments, cases=None):
        """The JSON file of a run, and what the run printed."""
        done = conform("run", *(cases or [self.cases]), "--json", self.path(name), *arguments)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        return self.path(name), done

    def load(self, path):
        with open(path, encoding="utf-8") as file:
            return json.load(file)

    def save(self, name, value):
        return self.write(name, json.dumps(value))


class Schema(Results):
    def check(self, result):
        jsonschema.Draft202012Validator(self.schema).validate(result)

    def test_holds_for_every_kind_of_result(self):
        jsonschema.Draft202012Validator.check_schema(self.schema)
        path, _ = self.run_to("result.json", "--device", self.write("device.yaml", DEVICE))
        result = self.load(path)
        self.check(result)
        self.assertEqual([one["result"] for one in result["results"]], ["pass", "xfail", "skip", "fail"])
        self.assertEqual(result["counts"], {"pass": 1, "fail": 1, "deviates": 0, "known": 1, "xpass": 0, "skip": 1,
                                            "wrong_case": 0, "inconclusive": 0, "dead": 0, "passed_later": 0})
        self.assertEqual((result["kind_of_device"], result["link"], result["seed"]), ("A kind <i>of</i> device", "memory", 1))
        self.assertIn("a gap is answered with one NAK", result["rules"]["RC-RESP-02"])
        passed, failed = result["results"][0], result["results"][3]
        self.assertEqual((passed["branches"], [name for name, _ in passed["saved"]]), (["silent"], ["x"]))
        self.assertNotIn("frames", passed)
        self.assertEqual([(frame["from"], frame["line"]) for frame in failed["frames"]], [("T", 8), ("D", 9)])
        wrong = [(field["field"], field["expected"]) for field in failed["failure"]["fields"] if not field["right"]]
        self.assertEqual(wrong, [("aeth.syndrome", "0x63")])

    def test_holds_for_frames_of_all_and_for_the_cases_that_came_with_the_program(self):
        path, _ = self.run_to("all.json", "--frames")
        self.check(self.load(path))
        self.assertEqual([len(one["frames"]) for one in self.load(path)["results"]], [2] * 4)
        path, _ = self.run_to("rxe.json", "--profile", "rxe", "--only", "req-credits", "--only", "psn-gap*", cases=[CASES])
        self.check(self.load(path))
        self.assertIn("fail", {one["result"] for one in self.load(path)["results"]})

    def test_finds_what_is_wrong(self):
        whole = self.load(self.run_to("result.json")[0])
        for change in (lambda one: one.update(more=1), lambda one: one["results"][0].update(result="good"),
                       lambda one: one["results"][1].pop("failure"), lambda one: one["results"][1]["frames"][0].update(bytes="abc")):
            wrong = copy.deepcopy(whole)
            change(wrong)
            with self.assertRaises(jsonschema.ValidationError):
                self.check(wrong)


class Reports(Results):
    def test_from_a_file_are_those_of_the_run(self):
        for arguments in ([], ["--frames"], ["--failures", "1"]):
            with self.subTest(arguments):
                path, done = self.run_to("result.json", "--device", self.write("device.yaml", DEVICE), "--junit",
                                         self.path("run.xml"), "--packets", self.path("run"), "--html", self.path("run.html"), *arguments)
                again = conform("report", path, "--junit", self.path("again.xml"), "--packets", self.path("again"), "--html",
                                self.path("again.html"), *arguments)
                self.assertEqual((again.returncode, again.stdout, again.stderr), (0, done.stdout, ""))
                for name in ("{}.xml", "{}.html", "{}/psn-x.n-0x63.pcapng"):
                    files = [pathlib.Path(self.path(name.format(stem))).read_bytes() for stem in ("run", "again")]
                    self.assertEqual(files[0], files[1], name)
                self.assertEqual(sorted(os.listdir(self.path("run"))), sorted(os.listdir(self.path("again"))))

    def test_show_all_tries_and_the_damage(self):
        whole = self.load(self.run_to("result.json")[0])
        tries = [{"result": word, "alone": alone, "counts": counts, "message": message} for word, alone, counts, message in (
            ("fail", False, True, "a.yaml:3:4: <one>"), ("pass", True, False, ""), ("fail", True, True, "a.yaml:3:9: another"))]
        whole["results"][1].update(result="inconclusive", tries=tries)
        whole["results"][2].update(result="dead", damage="device deaf")
        whole["noise"] = {"probes": 1000, "lost": 19, "duplicated": 0, "pairs": 100, "reordered": 2, "median_ns": 81000, "p99_9_ns": 210000}
        jsonschema.Draft202012Validator(self.schema).validate(whole)
        page = self.path("page.html")
        done = conform("report", self.save("changed.json", whole), "--html", page, "--junit", self.path("junit.xml"))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for line in ("INCONCLUSIVE  psn-x[n=0x61]", "  try 1 of 3: fail, a.yaml:3:4: <one>",
                     "  try 2 of 3: alone, pass (does not count: the tester lost frames or was too slow)", "  try 3 of 3: alone, fail, a.yaml:3:9: another",
                     "damage: the device is deaf", "1 are inconclusive, which is no pass"):
            self.assertIn(line, done.stdout)
        text = pathlib.Path(page).read_text(encoding="utf-8")
        for part in ("INCONCLUSIVE", "fail, a.yaml:3:4: &lt;one&gt;", "alone, fail, a.yaml:3:9: another", "the device is deaf",
                     "1 inconclusive, for their tries did not agree", "1000 probes: round trip 0.081 ms (99.9 %: 0.210 ms), 19 lost"):
            self.assertIn(part, text)
        self.assertIn('<error message="inconclusive: ', pathlib.Path(self.path("junit.xml")).read_text(encoding="utf-8"))
        whole["noise"]["median_ns"] = 1 << 60
        done = conform("report", self.save("changed.json", whole))
        self.assertEqual(done.returncode, 2)
        self.assertIn("noise.median_ns: expected nanoseconds of at most a day", done.stderr)

    def test_name_the_command_that_repeats_an_instance(self):
        _, done = self.run_to("result.json", "--seed", "7", "--profile", "rxe")
        self.assertIn(f"alone: roce-conform run --profile rxe {self.cases} --only 'psn-x[n=0x61]' --seed 7\n", done.stdout)

    def test_of_no_result_are_refused(self):
        whole = self.load(self.run_to("result.json")[0])

        def changed(change):
            wrong = copy.deepcopy(whole)
            change(wrong)
            return json.dumps(wrong)

        failed = 1
        for text, message in (
                ("", "byte 1: "), ("[]", "expected an object, found a list"), ("{}", "format: expected a text, found nothing"),
                (changed(lambda one: one.update(format="roce-conform 1")), "format: expected \"roce-conform 2\""),
                (changed(lambda one: one.update(seed=-1)), "seed: expected a number that is not negative"),
                (changed(lambda one: one.update(started="now")), "started: expected a time"),
                (changed(lambda one: one["results"][0].update(result="good")), "results[0].result: expected one of pass, fail"),
                (changed(lambda one: one["results"][0].update(case="psn-y")), "results[0].case: expected a name that cases has"),
                (changed(lambda one: one["results"][failed]["failure"].pop("line")), "results[1].failure.line: "),
                (changed(lambda one: one["results"][failed]["failure"].update(line=2 ** 40)), "results[1].failure.line: "),
                (changed(lambda one: one["results"][failed]["frames"][1].update(bytes="0g")), "results[1].frames[1].bytes: "),
                (changed(lambda one: one["results"][failed]["frames"][1].update({"from": "X"})), "results[1].frames[1].from: "),
                (changed(lambda one: one["results"][failed]["frames"][1].update(time=2 ** 63)), "results[1].frames[1].time: "),
                (changed(lambda one: one["results"][failed]["frames"][1].update(time=-1)), "results[1].frames[1].time: "),
                (changed(lambda one: one["results"][failed]["frames"][1].update(bytes="00" * 300000)), "results[1].frames[1].bytes: "),
                (changed(lambda one: one["results"][0].update(saved=[["x"]])), "results[0].saved: "),
                ("[" * 100, "deep")):
            with self.subTest(message):
                path = self.write("wrong.json", text)
                for arguments in ([path, "--junit", self.path("none.xml")], [self.path("result.json"), "--compare", path]):
                    done = conform("report", *arguments)
                    self.refused(done, message)
                    self.assertIn(path, done.stderr)
                self.refused(conform("run", self.cases, "--compare", path), message)
        self.assertFalse(os.path.exists(self.path("none.xml")))
        self.refused(conform("report", self.path("none.json")), "none.json: No such file or directory")
        self.refused(conform("report", self.folder), self.folder)

    def test_send_nothing_to_a_terminal_that_it_would_obey(self):
        result = self.load(self.run_to("result.json")[0])
        for one in result["results"]:
            one["name"] += "\x1b[2J"
        done = conform("report", self.save("changed.json", result))
        self.assertIn("FAIL  psn-x[n=0x61]?[2J", done.stdout)
        self.assertNotIn("\x1b", done.stdout)

    def test_do_not_overwrite_what_they_read(self):
        path, _ = self.run_to("result.json")
        before = pathlib.Path(path).read_bytes()
        for arguments in (["report", path, "--html", path], ["run", self.cases, "--compare", path, "--json", path]):
            self.assertEqual(conform(*arguments).returncode, 2)
        self.assertEqual(pathlib.Path(path).read_bytes(), before)

    def test_that_cannot_be_written_leave_the_others(self):
        path, first = self.run_to("result.json")
        done = conform("report", path, "--junit", "/dev/full", "--html", self.path("page.html"), "--packets", self.path("packets"))
        self.assertEqual((done.returncode, done.stdout), (1, first.stdout))
        self.assertIn("/dev/full", done.stderr)
        self.assertIn("</html>", pathlib.Path(self.path("page.html")).read_text(encoding="utf-8"))
        self.assertEqual(len(os.listdir(self.path("packets"))), 3)


class Comparison(Results):
    def setUp(self):
        super().setUp()
        self.old, _ = self.run_to("old.json")

    def compared(self, change, *arguments):
        """What `report --compare` says of a result that differs from the old one; the old one fails but for n=0x60."""
        new = self.load(self.old)
        change({one["name"]: one for one in new["results"]}, new)
        done = conform("report", self.save("new.json", new), "--compare", self.old, *arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout[done.stdout.index("compared with"):]

    def test_says_that_nothing_changed(self):
        self.assertIn("none changed of 4 instances", self.compared(lambda results, whole: None))
        done = conform("run", self.cases, "--compare", self.old)
        self.assertEqual(done.returncode, 1)
        self.assertIn("none changed of 4 instances", done.stdout)

    def test_lists_changes_in_the_order_of_their_weight(self):
        def change(results, whole):
            good, bad = results["psn-x[n=0x60]"], results["psn-x[n=0x61]"]
            good.update(result="fail", failure=bad.pop("failure"))
            bad.update(result="pass")
            results["psn-x[n=0x62]"]["failure"]["line"] = 12
            results["psn-x[n=0x63]"]["name"] = "psn-x[n=0x64]"

        lines = self.compared(change).splitlines()[1:]
        self.assertEqual([line.split("  ")[0] for line in lines], ["change", "now fails", "now passes", "new", "gone", "fails otherwise"])
        for name in ("was", "is"):
            column = lines[0].index(f" {name} ") + 1
            self.assertEqual({(line[column - 1], line[column] != " ") for line in lines}, {(" ", True)}, name)
        self.assertRegex(lines[1], r"psn-x +\[n=0x60\] +pass +fail +expected NAK")
        self.assertRegex(lines[3], r"\[n=0x64\] +- +fail")
        self.assertRegex(lines[4], r"\[n=0x63\] +fail +-")

    def test_takes_times_for_no_difference(self):
        def later(results, whole):
            failure = results["psn-x[n=0x61]"]["failure"]
            failure["message"] = re.sub(r"0\.000 ms", "12.345 ms", failure["message"])
            self.assertIn("12.345", failure["message"])

        self.assertIn("none changed", self.compared(later))

    def test_of_other_seeds_is_of_steps_and_fields(self):
        # The PSN that is wrong follows from the seed.
        self.write("psn-x.yaml", CASE.replace("[$n, $E]", "[$n, $E + 1]"))
        self.run_to("old.json")
        _, done = self.run_to("seed.json", "--seed", "2", "--compare", self.old)
        self.assertIn("seed 1: values in failures are not compared\nnone changed", done.stdout)
        lines = self.compared(lambda results, whole: results["psn-x[n=0x60]"]["failure"]["fields"][2].update(expected="7"))
        self.assertIn("same seed", lines)
        self.assertRegex(lines, r"fails otherwise +psn-x +\[n=0x60\] +fail +fail")

    def test_leaves_out_what_was_not_selected(self):
        _, done = self.run_to("some.json", "--only", "psn-x[n=0x60]", "--compare", self.old)
        self.assertEqual(done.returncode, 0)
        self.assertIn("3 instances that only one of the runs selected\nnone changed of 1 instance\n", done.stdout)
        done = conform("report", self.old, "--compare", self.path("some.json"))
        self.assertIn("3 instances that only one of the runs selected\nnone changed of 1 instance\n", done.stdout)


class Page(html.parser.HTMLParser):
    """A page, and what of it does not nest."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.attributes, self.texts = [], [], [], []
        self.rows, self.tables = [], []
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        if tag == "table":
            self.tables.append({"captions": 0, "heads": 0, "unscoped": 0})
        if tag == "caption":
            self.tables[-1]["captions"] += 1
        if tag == "th":
            self.tables[-1]["heads"] += 1
            self.tables[-1]["unscoped"] += 0 if dict(attrs).get("scope") in ("row", "col", "rowgroup") else 1
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, (tag, self.open, self.getpos())
        self.open.pop()

    def handle_data(self, data):
        self.texts.append(data)
        if self.open and set(self.open) & {"td", "th"} and self.rows:
            self.rows[-1][-1] += data

    def text(self):
        return " ".join("".join(self.texts).split())


class Pages(Results):
    def page(self, path, *arguments):
        done = conform("report", path, "--html", self.path("page.html"), *arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return pathlib.Path(self.path("page.html")).read_text(encoding="utf-8")

    def test_are_well_formed_and_need_nothing_else(self):
        text = self.page(self.run_to("result.json", "--device", self.write("device.yaml", DEVICE))[0], "--compare", self.path("result.json"))
        page = Page(text)
        for tag, name, value in page.attributes:
            if name in ("src", "srcset", "href", "action", "data", "poster"):
                self.assertRegex(value, r"^(#[\w-]+|data:application/octet-stream;base64,[\w+/=]+)$", tag)
        self.assertFalse({"script", "link", "iframe", "img", "object", "base"} & set(page.tags))
        self.assertNotRegex(text, r"url\(|@import|https?:")
        ids = [value for _, name, value in page.attributes if name == "id"]
        self.assertEqual(len(ids), len(set(ids)))
        for _, name, value in page.attributes:
            if name == "aria-labelledby" or (name == "href" and value.startswith("#")):
                self.assertIn(value.lstrip("#"), ids)
        self.assertEqual({(table["captions"], table["unscoped"]) for table in page.tables}, {(1, 0)})

    def test_have_the_numbers_of_the_result(self):
        path, _ = self.run_to("result.json", "--device", self.write("device.yaml", DEVICE))
        counts, page = self.load(path)["counts"], Page(self.page(path))
        self.assertIn("1 of 4 passed; 1 deviates; 1 fail as the device is known to; 1 skipped.", page.text())
        heads = next(row for row in page.rows if row[:2] == ["case", "pass"])
        total = next(row for row in page.rows if row[0] == "all")
        shown = dict(zip(heads[1:-2], map(int, total[1:-2])))
        self.assertEqual(shown, {"pass": counts["pass"], "fail": counts["fail"], "known": counts["known"], "skipped": counts["skip"]})
        self.assertIn("psn-x[n=0x61]", [row[0] for row in page.rows])
        self.assertEqual(page.text().count("Run it alone"), counts["fail"])

    def test_show_a_failure_with_its_frames(self):
        path, _ = self.run_to("result.json", "--only", "psn-x[n=0x63]", "--packets", self.path("packets"))
        text = self.page(path)
        page = Page(text)
        self.assertIn("RC-RESP-02: a gap is answered with one NAK for the expected PSN", page.text())
        self.assertIn(["aeth.syndrome", "0x63", "96", "wrong"], page.rows)
        ladder = [row for row in page.rows if row[1:2] in (["T→D"], ["D→T"])]
        self.assertEqual([(row[1], row[2], row[4]) for row in ladder], [("T→D", "RC_WRITE_ONLY", "8"), ("D→T", "RC_ACKNOWLEDGE", "9")])
        self.assertRegex(ladder[1][3], r"psn \d+ +NAK PSN sequence error MSN 0")
        self.assertIn(f"roce-conform run --profile strict {self.cases} --only 'psn-x[n=0x63]' --seed 1", page.text())
        names = [value for _, name, value in page.attributes if name == "download"]
        saved = [value for _, name, value in page.attributes if name == "href" and value.startswith("data:")]
        self.assertEqual(names, ["psn-x.n-0x63.pcapng"])
        packets = pathlib.Path(self.path("packets"), names[0]).read_bytes()
        self.assertEqual(base64.b64decode(saved[0].split(",")[1], validate=True), packets)

    def test_show_text_from_outside_as_text(self):
        result = self.load(self.run_to("result.json", "--device", self.write("device.yaml", DEVICE))[0])
        evil = "<script>alert('x')</script>\"' onload=x &lt; {{matrix}}\x01"
        result.update(device=evil, link=evil, program=evil, only=[evil], kind_of_device=evil)
        result["arguments"] = [evil]
        result["rules"] = {"RC-RESP-02": evil}
        result["cases"]["psn-x"] = {"title": evil, "why": evil, "file": evil}
        for one in result["results"]:
            one["rules"].append(evil)
            one["name"] += evil
            if "failure" in one:
                one["failure"].update(file=evil, message=evil)
                for field in one["failure"]["fields"]:
                    field.update(field=evil, expected=evil, seen=evil)
            for name in ("because", "lacks"):
                if name in one:
                    one[name] = evil
        changed = self.save("changed.json", result)
        text = self.page(changed, "--compare", self.path("result.json"))
        page = Page(text)
        self.assertNotIn("script", page.tags)
        self.assertNotIn("onload", [name for _, name, _ in page.attributes])
        self.assertGreater(page.text().count(" ".join(evil.replace("\x01", "?").split())), 20)

    def test_leave_out_frames_that_are_too_many_and_say_so(self):
        result = self.load(self.run_to("result.json", "--only", "psn-x[n=0x63]")[0])
        one = result["results"][0]
        one["frames"] = [one["frames"][0] | {"bytes": one["frames"][0]["bytes"] + "00" * 1000}] * 1000
        result["results"] = [one | {"name": f"psn-x[n={i}]"} for i in range(12)]
        text = self.page(self.save("large.json", result))
        self.assertLess(len(text), 15 << 20)
        page = Page(text)
        left_out = page.text().count("Its frames are left out of this page.")
        self.assertGreater(left_out, 0)
        self.assertIn(f"The frames of {left_out} of 12 deviations are left out of this page.", page.text())
        self.assertEqual(page.text().count("Save the frames"), 12 - left_out)

    def test_show_what_changed(self):
        path, _ = self.run_to("result.json")
        self.assertIn("None changed of 4 instances.", Page(self.page(path, "--compare", path)).text())
        new = self.load(path)
        new["results"][1].update(result="pass")
        del new["results"][1]["failure"], new["results"][1]["frames"]
        page = Page(self.page(self.save("new.json", new), "--compare", path))
        self.assertIn(["psn-x[n=0x61]", "now passes", "fail", "pass", ""], page.rows)


if __name__ == "__main__":
    program_test.ROCE_CONFORM = sys.argv[1]
    SOURCE = pathlib.Path(sys.argv[2])
    CASES = str(SOURCE / "conform/cases")
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
