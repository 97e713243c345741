# SPDX-License-Identifier: BSD-2-Clause
"""The page of roce-conform --report: its numbers are those of the JSON file, and a browser shows, sorts and filters them.

usage: page_test.py CHROMIUM ROCE_CONFORM [UNITTEST ARGUMENT...]
"""

import collections
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from chromium import Chromium  # noqa: E402

# Passes, fails as is known, is skipped (for want of a device to stop), and fails.
PSN = """case: psn-x
title: A <script>document.body.append('it ran')</script> & "title"
rule: [RC-RESP-02, IBTA 9.7.5.2]
level: must
why: It's </script><b>so</b>.
params: {n: [0x60, 0x61, 0x62, 0x63]}
steps:
  - inject: {WRITE_ONLY: , bth.psn: $E + 1}
  - expect: {NAK: [$n, $E]}
"""
# Is only advised, and deviates twice.
ACK = """case: ack-x
title: An advice
rule: [RC-RESP-02]
level: should
params: {n: [0x62, 0x63]}
steps:
  - inject: {WRITE_ONLY: , bth.psn: $E + 1}
  - expect: {NAK: [$n, $E]}
"""
DEVICE = """device: A kind <i>of</i> device
deviations: [{instances: 'psn-x[n=0x61]', seen: RC_ACKNOWLEDGE, because: it always did}]
may_stop: ['psn-x[n=0x62]']
"""
SECONDS = 120
TEXT = "document.querySelector({}).textContent"
# After what has been opened was told so.
LATER = "new Promise(done => setTimeout(() => done({})))"
# The verdict of a result, by its level, as `counts` names it.
COUNTED = {"pass": "pass", "xfail": "known", "xpass": "xpass", "skip": "skip", "error": "wrong_case", "dead": "dead", "not_run": "dead",
           "inconclusive": "inconclusive"}


def conform(*arguments):
    return subprocess.run([ROCE_CONFORM, *arguments], capture_output=True, text=True, timeout=SECONDS, check=False)


def verdict(instance):
    if instance["result"] == "fail":
        return "fail" if instance["level"] == "must" else "deviates"
    return COUNTED[instance["result"]]


def area(instance):
    return instance["case"].split("-")[0]


def data_of(page):
    """What the page holds for its script."""
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page.read_text(), re.DOTALL)[1])


def rows_of(data, table):
    """Each row of a table by the names of its columns."""
    found = next(each for each in data["run"]["tables"] if each["id"] == table)
    return [dict(zip(found["columns"], row, strict=True)) for row in found["rows"]]


class PageTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="roce-page-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.page = self.folder / "page.html"
        self.result = self.folder / "result.json"
        self.cases = self.folder / "cases"
        self.cases.mkdir()
        for name, text in (("psn-x", PSN), ("ack-x", ACK)):
            (self.cases / f"{name}.yaml").write_text(text)
        (self.folder / "device.yaml").write_text(DEVICE)

    def run_cases(self, *arguments):
        """A run with a page, what it wrote as JSON, and what its page holds."""
        done = conform("run", self.cases, "--device", self.folder / "device.yaml", "--json", self.result, "--report", self.page, *arguments)
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        return json.loads(self.result.read_text()), data_of(self.page)

    def report(self, result, *arguments):
        """What the page of a result holds."""
        self.result.write_text(json.dumps(result))
        done = conform("report", self.result, "--report", self.page, *arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return data_of(self.page)


class Numbers(PageTest):
    def check(self, told, data):
        """Each number is that of the JSON file."""
        names = data["areas"]["verdicts"]
        self.assertEqual(dict(zip(names, data["areas"]["all"], strict=True)), {name: told["counts"][name] for name in names})
        self.assertEqual(set(told["counts"]) - set(names), {"passed_later"})
        instances = told["results"]
        for row in data["areas"]["rows"]:
            counted = collections.Counter(verdict(one) for one in instances if area(one) == row["area"])
            self.assertEqual(dict(zip(names, row["counts"], strict=True)), {name: counted[name] for name in names})
            self.assertEqual(row["cases"], len({one["case"] for one in instances if area(one) == row["area"]}))
        self.assertEqual({row["area"] for row in data["areas"]["rows"]}, {area(one) for one in instances})
        for table, key, belongs in (("cases", "case", lambda one, name: one["case"] == name),
                                    ("rules", "rule", lambda one, name: name in one["rules"])):
            rows = rows_of(data, table)
            for row in rows:
                counted = collections.Counter(verdict(one) for one in instances if belongs(one, row[key]))
                self.assertEqual({name: row[name] for name in names}, {name: counted[name] for name in names}, row[key])
                self.assertEqual(row["instances"], counted.total())
            self.assertEqual(len(rows), len({row[key] for row in rows}))
        self.assertEqual({row["case"] for row in rows_of(data, "cases")}, set(told["cases"]))
        self.assertEqual({row["rule"] for row in rows_of(data, "rules")}, {rule for one in instances for rule in one["rules"]})
        shown = {row["instance"]: row for row in rows_of(data, "instances")}
        self.assertEqual(set(shown), {one["name"] for one in instances})
        for one in instances:
            row = shown[one["name"]]
            wrong = [field for field in one.get("failure", {}).get("fields", []) if not field["right"]]
            self.assertEqual((row["verdict"], row["level"], row["rules"], row["area"]), (verdict(one), one["level"], ", ".join(one["rules"]), area(one)))
            self.assertEqual(row["expected"], ", ".join(f"{field['field']} {field['expected']}" for field in wrong))
            self.assertEqual(row["seen"], ", ".join(f"{field['field']} {field['seen']}" for field in wrong))
        deviating = [one for one in instances if one["result"] in ("xpass", "fail", "error", "dead", "inconclusive")]
        self.assertEqual([one["instance"] for one in data["deviations"]], [one["name"] for one in deviating])
        for one, other in zip(data["deviations"], deviating, strict=True):
            if "failure" in other:
                self.assertEqual((one["message"], one["line"], one["fields"]), tuple(other["failure"][name] for name in ("message", "line", "fields")))
            start = other["frames"][0]["time"] if "frames" in other else 0
            self.assertEqual([(time, "D" if is_from_device else "T", line) for time, is_from_device, _, _, line in one["frames"]],
                             [(frame["time"] - start, frame["from"], frame["line"]) for frame in other.get("frames", [])][-60:])

    def test_are_those_of_the_json_file(self):
        told, data = self.run_cases()
        self.assertEqual(sorted(verdict(one) for one in told["results"]), ["deviates", "deviates", "fail", "known", "pass", "skip"])
        self.check(told, data)
        self.assertEqual(data["run"]["verdict"], "1 of 6 passed; 3 deviate, 1 of them of level must; 1 fail as the device is known to; 1 skipped.")
        self.assertEqual(data["run"]["severity"], "error")
        self.assertEqual(dict(data["run"]["facts"])["Device"], told["device"])
        # From the file of the run, the page is the same to the byte.
        page = self.page.read_bytes()
        self.report(told)
        self.assertEqual(self.page.read_bytes(), page)

    def test_are_those_of_all_cases_of_the_program(self):
        done = conform("run", "--profile", "rxe", "--json", self.result, "--report", self.page)
        self.assertEqual(done.returncode, 0)
        told = json.loads(self.result.read_text())
        self.assertEqual((len(told["results"]) > 4000, told["counts"]["deviates"] > 0), (True, True))
        self.check(told, data_of(self.page))

    def test_are_those_of_every_verdict(self):
        told, _ = self.run_cases()
        results = {verdict(one): one for one in told["results"]}
        for place, result in enumerate(("error", "dead", "inconclusive", "xpass", "not_run")):
            base = results["pass" if result in ("xpass", "not_run") else "fail"]
            told["results"].append({**base, "name": f"psn-x[m={place}]", "result": result, "because": "so it is"})
        self.check(told | {"counts": {**told["counts"], "wrong_case": 1, "dead": 2, "inconclusive": 1, "xpass": 1}}, self.report(told))

    def test_name_what_is_clean_and_what_changed(self):
        told, _ = self.run_cases()
        earlier = self.folder / "earlier.json"
        changed = json.loads(json.dumps(told))
        broken = next(one for one in changed["results"] if one["result"] == "fail" and one["level"] == "must")
        broken["result"] = "pass"
        del broken["failure"]
        earlier.write_text(json.dumps(changed))
        data = self.report(told, "--compare", earlier)
        self.assertEqual([(row["instance"], row["change"], row["was"], row["is"]) for row in rows_of(data, "changes")],
                         [(broken["name"], "now fails", "pass", "fail")])
        told["results"] = [one for one in told["results"] if one["result"] == "pass"]
        data = self.report(told)
        self.assertEqual((data["run"]["severity"], data["run"]["verdict"], data["deviations"]), ("note", "1 of 1 passed.", []))

    def test_of_a_run_with_very_many_failures_fit_and_say_what_is_missing(self):
        told, _ = self.run_cases()
        failed = next(one for one in told["results"] if one["result"] == "fail")
        told["results"] = [{**failed, "name": f"psn-x[m={i}]"} for i in range(30_000)]
        data = self.report(told)
        self.assertLess(self.page.stat().st_size, 15e6)
        self.assertEqual(data["areas"]["all"][1 if failed["level"] == "must" else 2], 30_000)
        left_out = data["left_out"]
        self.assertEqual(len(data["deviations"]) + left_out["deviations"], 30_000)
        self.assertEqual(sum(one["frames"] is None for one in data["deviations"]), left_out["frames"])
        self.assertGreater(left_out["frames"], 0)
        self.assertEqual(len(rows_of(data, "instances")) + left_out["instances"], 30_000)
        self.assertIn(f"{left_out['deviations']:,} deviations are left out of this page", data["run"]["statements"][0]["text"])


class Files(PageTest):
    def test_what_cannot_be_written_leaves_nothing(self):
        self.run_cases()
        self.page.unlink()
        before = sorted(self.folder.iterdir())
        for command in (("run", self.cases), ("report", self.result)):
            with self.subTest(command):
                done = conform(*command, "--report", self.folder / "missing" / "page.html")
                self.assertEqual((done.returncode, done.stdout, len(done.stderr.splitlines())), (1, "", 1))
                self.assertIn("page.html", done.stderr)
                done = conform(*command, "--report", "/dev/full")
                self.assertEqual((done.returncode, len(done.stderr.splitlines())), (1, 1))
                self.assertIn("No space left on device", done.stderr)
                done = conform(*command, "--report", "-")
                self.assertEqual((done.returncode, done.stdout, len(done.stderr.splitlines())), (2, "", 1))
                done = conform(*command, "--report", self.page, "--html", self.page)
                self.assertEqual((done.returncode, done.stdout, len(done.stderr.splitlines())), (2, "", 1))
        done = conform("report", self.result, "--report", self.result)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        done = conform("report", self.folder / "device.yaml", "--report", self.page)
        self.assertEqual(done.returncode, 2)
        self.assertEqual(sorted(self.folder.iterdir()), before)


class Browser(PageTest):
    def show(self, browser, fragment=""):
        browser.open("about:blank")
        browser.open(self.page.as_uri() + fragment)
        self.assertEqual(browser.run("document.documentElement.dataset.ready"), "yes")

    def text(self, browser, selector):
        return browser.run(TEXT.format(json.dumps(selector)))

    def test_is_drawn_filtered_and_printed(self):
        told, _ = self.run_cases()
        told["device"] = "<script>document.body.append('it ran')</script></script>"
        names = [one["name"] for one in told["results"] if verdict(one) == "deviates"]
        data = self.report(told)
        with Chromium(CHROMIUM, self.folder) as browser:
            for scheme in ("light", "dark"):
                browser.media(scheme)
                self.show(browser)
                self.assertEqual(self.text(browser, "h1"), data["run"]["verdict"])
                # The first deviation is open, with a rung for each of its frames.
                rungs = browser.run("document.querySelectorAll('.deviation .rungs .arrow').length")
                self.assertEqual(rungs, len(data["deviations"][0]["frames"]))
            self.assertEqual(browser.run("document.querySelector('.deviation .what.nak.own').textContent.includes('RC_ACKNOWLEDGE')"), True)
            # What others wrote stays text.
            self.assertEqual(browser.run("document.querySelectorAll('#report script, #report b').length"), 0)
            self.assertIn(told["device"], self.text(browser, ".program"))
            browser.run("document.querySelector('.deviation[data-instance^=psn] summary').click()")
            self.assertIn("It's </script><b>so</b>.", browser.run(LATER.format("document.querySelector('.deviation[data-instance^=psn]').textContent")))
            # Each number of the matrix shows what it counts.
            shown = browser.run("[...document.querySelectorAll('#areas td[data-verdict]')].filter(each => each.querySelector('button')).map(each => {"
                                "each.querySelector('button').click(); return [each.dataset.area, each.dataset.verdict, Number(each.dataset.exact), "
                                "Number(document.querySelector('#instances .scroller').getAttribute('aria-rowcount')) - 1]; })")
            self.assertEqual([exact for _, _, exact, _ in shown], [counted for _, _, _, counted in shown])
            expected = collections.Counter((area(one), verdict(one)) for one in told["results"])
            self.assertEqual({(name, kind): count for name, kind, count, _ in shown if name != "all"}, dict(expected))
            self.assertEqual({kind: count for name, kind, count, _ in shown if name == "all"}, {kind: count for kind, count in told["counts"].items() if count})
            # A link keeps the filter, the order and the deviation that is open.
            self.show(browser, f"#instances-filter=area%3Dack+verdict%3Ddeviates&instances-sort=instance.up&deviation={names[1]}")
            self.assertEqual(self.text(browser, "#instances .counter"), "2 of 6 rows")
            self.assertEqual(browser.run("[...document.querySelectorAll('#instances .rows .row')].map(each => each.firstChild.textContent)"), sorted(names))
            self.assertEqual(browser.run("[...document.querySelectorAll('.deviation[open]')].map(each => each.dataset.instance)"), [names[1]])
            browser.run("[...document.querySelectorAll('#deviations .toolbar button')][0].click()")
            self.assertEqual(browser.run(LATER.format("document.querySelectorAll('.deviation .rungs').length")), 3)
            self.assertTrue(browser.pdf().startswith(b"%PDF"))
            self.assertEqual(browser.messages, [])
            self.assertEqual([each for each in browser.requests if not each.startswith("file:///")], [])


if __name__ == "__main__":
    CHROMIUM, ROCE_CONFORM = sys.argv[1:3]
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
