# SPDX-License-Identifier: BSD-2-Clause
"""roce-conform as a program: its results, its reports, and what it says about bad input.

usage: program_test.py ROCE_CONFORM CASES [UNITTEST ARGUMENT...]
"""

import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
import xml.etree.ElementTree as ET

HEAD = "case: psn-x\ntitle: A title\nrule: [RC-RESP-02]\nlevel: {level}\n"


def conform(*arguments):
    return subprocess.run([ROCE_CONFORM, *arguments], capture_output=True, text=True, timeout=120, check=False)


def drain(terminal):
    """Reads a terminal until nobody writes to it any more, and closes it."""
    try:
        while os.read(terminal, 1 << 16):
            pass
    except OSError:
        pass
    os.close(terminal)


class Programs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def case(self, rest, name="psn-x.yaml", level="must"):
        path = self.path(name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(HEAD.format(level=level) + rest)
        return path

    def refused(self, done, message):
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        self.assertIn(message, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)


class Results(Programs):
    def test_the_cases_of_the_guide_run(self):
        with open(os.path.join(CASES, "../../docs/conformance.md"), encoding="utf-8") as file:
            blocks = re.findall(r"^```yaml\n(case: (\S+)\n.*?)^```", file.read(), re.DOTALL | re.MULTILINE)
        self.assertEqual([name for _, name in blocks], ["psn-gap", "st-sqe"])
        for text, name in blocks:
            with open(self.path(f"{name}.yaml"), "w", encoding="utf-8") as file:
                file.write(text)
        done = conform("run", self.folder, "--strict")
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)

    def test_repeat_what_they_did_among_others(self):
        whole, alone = self.path("whole.json"), self.path("alone.json")
        conform("run", CASES, "--seed", "5", "--json", whole, "-j", "4")
        with open(whole, encoding="utf-8") as file:
            results = {result["name"]: result for result in json.load(file)["results"]}
        name = "psn-gap[n=50,ack_req=true]"
        conform("run", CASES, "--seed", "5", "--json", alone, "--only", name)
        with open(alone, encoding="utf-8") as file:
            self.assertEqual(json.load(file)["results"], [results[name]])

    def test_are_kept_when_the_run_is_interrupted(self):
        ours, theirs = pty.openpty()
        report = self.path("report.json")
        with subprocess.Popen([ROCE_CONFORM, "run", CASES, "-j", "1", "--json", report], stdout=subprocess.PIPE, stderr=theirs,
                              text=True) as run:
            os.close(theirs)
            self.assertIn(b" of ", os.read(ours, 1000))
            run.send_signal(signal.SIGINT)
            threading.Thread(target=drain, args=(ours,), daemon=True).start()
            printed = run.communicate(timeout=60)[0]
        self.assertEqual(run.returncode, 1)
        with open(report, encoding="utf-8") as file:
            results = json.load(file)["results"]
        words = [result["result"] for result in results]
        self.assertEqual(set(words), {"pass", "not_run"})
        self.assertEqual(results[-1]["because"], "the run was interrupted")
        self.assertIn(f"{words.count('not_run')} were not run, for the run was interrupted", printed)
        self.assertEqual(conform("report", report).stdout, printed)

    def test_say_what_differs(self):
        path = self.case("steps:\n  - inject: {WRITE_ONLY: , bth.psn: $E + 1}\n  - expect: {NAK: [0x61, $E]}\n")
        report, junit = self.path("report.json"), self.path("junit.xml")
        done = conform("run", path, "--json", report, "--junit", junit)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("FAIL  psn-x  must  RC-RESP-02", done.stdout)
        self.assertRegex(done.stdout, r"aeth.syndrome +0x61 +96")
        self.assertIn("NAK PSN sequence error", done.stdout)
        with open(report, encoding="utf-8") as file:
            result = json.load(file)["results"][0]
        self.assertEqual((result["result"], result["failure"]["line"]), ("fail", 7))
        suite = ET.parse(junit).getroot().find("testsuite")
        self.assertEqual((suite.get("name"), suite.get("tests"), suite.get("failures")), ("psn", "1", "1"))
        self.assertIn("psn-x.yaml:7", suite.find("testcase/failure").text)

    def test_notice_what_no_step_names(self):
        write = "steps:\n  - inject: {WRITE_ONLY: }\n  - expect: {ACK: [$E, $M + 1]}\n"
        done = conform("run", self.case(write))
        self.assertEqual(done.returncode, 1)
        self.assertIn("memory changed", done.stdout)
        self.assertIn("$R.va + 0", done.stdout)
        done = conform("run", self.case("steps:\n  - inject: {READ_REQUEST: , reth.dma_length: 4}\n"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("unexpected frame after the last step: RC_READ_RESPONSE_ONLY", done.stdout)

    def test_follow_the_branch_of_the_completion_that_came(self):
        begin = ("steps:\n  - inject: {SEND_ONLY: , bth.ack_req: \"false\"}\n  - memory: {at: $rx0.va, length: 4}\n"
                 "  - expect_one_of:\n      none: [{quiet: default}]\n      other: [{completion: {of: receive, wr_id: 5}}]\n")
        done = conform("run", self.case(begin + "      first: [{completion: {of: receive, wr_id: 0}}, {no_completion: }]\n"))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        done = conform("run", self.case(begin))
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("no branch fits the completion: success of request 0", done.stdout)
        # Without one it is the branch that expects nothing.
        done = conform("run", self.case(begin.replace("inject: {SEND_ONLY: , bth.ack_req: \"false\"}", "wait: 1ms")))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_print_as_many_failures_as_wanted(self):
        path = self.case("params: {n: 1..30}\nsteps:\n  - check: $n == 1\n")
        for arguments, printed in ([], 20), (["--failures", "3"], 3), (["--failures", "0"], 29), (["--failures", "29"], 29):
            with self.subTest(arguments):
                done = conform("run", path, *arguments)
                self.assertEqual((done.returncode, done.stdout.count("FAIL  psn-x[")), (1, printed))
                rest = f"{29 - printed} more deviations; --failures 0 prints all of them"
                self.assertEqual(rest in done.stdout, printed < 29)
                self.assertRegex(done.stdout, r"all +1 +29")

    def test_of_level_should_fail_only_a_strict_run(self):
        path = self.case("steps:\n  - check: 1 == 2\n", level="should")
        self.assertEqual(conform("run", path).returncode, 0)
        self.assertIn("DEVIATES", conform("run", path).stdout)
        self.assertEqual(conform("run", path, "--strict").returncode, 1)

    def test_give_the_frames_of_failures_to_wireshark(self):
        path = self.case("steps:\n  - inject: {WRITE_ONLY: , bth.psn: $E + 1}\n  - quiet: default\n")
        packets = self.path("packets")
        done = conform("run", path, "--packets", packets)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(os.listdir(packets), ["psn-x.pcapng"])
        with open(os.path.join(packets, "psn-x.pcapng"), "rb") as file:
            content = file.read()
        self.assertEqual(content[:4], b"\x0a\x0d\x0d\x0a")
        self.assertIn(b"psn-x.yaml:6", content)


class KnownDeviations(Programs):
    STEPS = ("params: {{mtu: [256, 512]}}\nsteps:\n  - inject: {{WRITE_ONLY: , bth.psn: $E + {gap}}}\n  - expect: {{ACK: [$E]}}\n"
             "  - memory: {{at: $R.va, length: 64}}\n")

    def run_with(self, profile, gap=1):
        """The results by name, for a case that fails if there is a gap."""
        report = self.path("report.json")
        with open(self.path("device.yaml"), "w", encoding="utf-8") as file:
            file.write(profile)
        done = conform("run", self.case(self.STEPS.format(gap=gap)), "--device", self.path("device.yaml"), "--json", report)
        if done.returncode == 2:
            return done, {}
        with open(report, encoding="utf-8") as file:
            return done, {one["name"]: one for one in json.load(file)["results"]}

    def test_do_not_fail_a_run(self):
        done, results = self.run_with("device: X\ndeviations: [{instances: psn-x, seen: RC_ACKNOWLEDGE, because: it always did}]\n")
        self.assertEqual((done.returncode, {one["result"] for one in results.values()}), (0, {"xfail"}), done.stdout)
        self.assertNotIn("FAIL", done.stdout)
        self.assertEqual(results["psn-x[mtu=256]"]["because"], "it always did")

    def test_hide_no_other_failure(self):
        done, results = self.run_with("device: X\ndeviations: [{instances: psn-x, seen: nothing, because: it slept}]\n")
        self.assertEqual((done.returncode, {one["result"] for one in results.values()}), (1, {"fail"}))
        self.assertIn("FAIL  psn-x[mtu=256]", done.stdout)

    def test_are_only_those_of_the_instances_that_are_named(self):
        done, results = self.run_with("device: X\ndeviations: [{instances: 'psn-x[mtu=2*]', seen: ACK, because: small}]\n")
        self.assertEqual((done.returncode, [one["result"] for one in results.values()]), (1, ["xfail", "fail"]))

    def test_that_are_gone_fail_a_run(self):
        done, results = self.run_with("device: X\ndeviations: [{instances: psn-x, seen: ACK, because: it slept}]\n", gap=0)
        self.assertEqual((done.returncode, {one["result"] for one in results.values()}), (1, {"xpass"}))
        self.assertIn("XPASS  psn-x[mtu=512] passed, and the device is known to fail: it slept", done.stdout)

    def test_of_the_guide_are_read(self):
        with open(os.path.join(CASES, "../../docs/conformance.md"), encoding="utf-8") as file:
            blocks = re.findall(r"^```yaml\n(device:.*?)^```", file.read(), re.DOTALL | re.MULTILINE)
        self.assertEqual(len(blocks), 1)
        with open(self.path("device.yaml"), "w", encoding="utf-8") as file:
            file.write(blocks[0])
        done = conform("run", CASES, "--device", self.path("device.yaml"), "--profile", "rxe", "--only", "req-credits[code=1,op=send]")
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)

    def test_may_begin_with_the_template(self):
        # What it says behind `#` is right, too: the patterns fit instances, and the members are known.
        template = os.path.join(os.path.dirname(CASES), "devices", "new-device.yaml")
        with open(template, encoding="utf-8") as file:
            text = file.read()
        self.assertEqual(conform("run", CASES, "--device", template, "--only", "psn-gap*").returncode, 0)
        with open(self.path("whole.yaml"), "w", encoding="utf-8") as file:
            file.write(re.sub(r"^# (?=deviations:| |may_stop:)", "", text, flags=re.MULTILINE))
        report = self.path("report.json")
        done = conform("run", CASES, "--device", self.path("whole.yaml"), "--only", "cm-flood*", "--json", report)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        with open(report, encoding="utf-8") as file:
            self.assertEqual({one["result"] for one in json.load(file)["results"]}, {"skip"})

    def test_may_stop_the_device_and_are_skipped_then(self):
        profile = "device: X\nmay_stop: ['psn-x[mtu=512]']\n"
        done, results = self.run_with(profile, gap=0)
        self.assertEqual((done.returncode, [one["result"] for one in results.values()]), (0, ["pass", "skip"]))
        self.assertEqual(conform("run", self.path("psn-x.yaml"), "--device", self.path("device.yaml"), "--may-stop").returncode, 0)
        self.refused(self.run_with("device: X\nmay_stop: psn-z\n")[0], "no case or instance is called psn-z")

    def test_of_a_wrong_profile_are_refused_with_their_place(self):
        deviation = "device: X\ndeviations:\n  - {{instances: {}, seen: x, because: y}}\n"
        for profile, message in (("devise: X\n", "device.yaml:1:1: member \"devise\" is unknown; there are: device, timing, may_stop, deviations"),
                                 ("timing: {quiet: 3ms}\n", "a profile needs device"),
                                 ("device: X\ntiming: {quiet: soon}\n", "device.yaml:2:17: quiet: expected a time"),
                                 ("device: X\ntiming: {loud: 3ms}\n", "time \"loud\" is unknown; there are: answer, quiet, early, late"),
                                 ("device: X\ndeviations: [{instances: psn-x, seen: x}]\n", "a deviation needs because"),
                                 (deviation.format("psn-y"), "device.yaml:3:5: no case or instance is called psn-y"),
                                 ("device: [\n", "device.yaml:")):
            with self.subTest(profile=profile):
                done, _ = self.run_with(profile)
                self.refused(done, message)
        self.refused(conform("run", CASES, "--device", self.path("none")), "none")


class Listings(Programs):
    def test_for_programs_have_one_object_a_case(self):
        self.case("params: {n: 1..3}\nsteps: [{probe: }]\n")
        expected = {"case": "psn-x", "level": "must", "instances": 3, "title": "A title", "rules": "RC-RESP-02"}
        self.assertEqual(json.loads(conform("list", "--json", self.folder).stdout), expected)
        expected["instances"] = 1
        self.assertEqual(json.loads(conform("list", "--json", "--only", "psn-x[n=2]", self.folder).stdout), expected)


class OwnCases(Programs):
    """A copy of the program, with cases beside it or not."""

    def setUp(self):
        super().setUp()
        os.mkdir(self.path("bin"))
        self.copy = shutil.copy(ROCE_CONFORM, self.path("bin/roce-conform"))
        self.own = self.path("share/roce/conform/cases")

    def run_copy(self, *arguments):
        return subprocess.run([self.copy, *arguments], capture_output=True, text=True, timeout=120, check=False)

    def test_are_taken_without_a_folder(self):
        os.makedirs(os.path.join(self.own, "psn"))
        self.case("steps: [{probe: }]\n", "share/roce/conform/cases/psn/psn-x.yaml")
        for command, words in [("run", "all       1"), ("list", "psn-x"), ("show", "psn-x: A title"), ("check", "1 case, 1 instance")]:
            with self.subTest(command):
                done = self.run_copy(command)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertIn(words, done.stdout)
        self.refused(self.run_copy("run", "--only", "nak-*"), "--only: no case fits nak-*")

    def test_are_not_taken_beside_a_folder(self):
        os.makedirs(self.own)
        self.case("steps: [{shout: }]\n", "share/roce/conform/cases/psn-x.yaml")
        self.assertEqual(self.run_copy("check", self.case("steps: [{probe: }]\n")).returncode, 0)

    def test_are_found_through_a_link(self):
        os.makedirs(self.own)
        self.case("steps: [{probe: }]\n", "share/roce/conform/cases/psn-x.yaml")
        os.mkdir(self.path("elsewhere"))
        os.symlink(self.copy, self.path("elsewhere/conform"))
        done = subprocess.run([self.path("elsewhere/conform"), "check"], capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_that_are_missing_are_looked_for_in_one_place(self):
        for command in ("run", "list", "show", "check"):
            with self.subTest(command):
                self.refused(self.run_copy(command), f"roce-conform: no CASES given, and there are none in {os.path.realpath(self.folder)}/share/roce/conform/cases\n")
        os.makedirs(self.own)
        self.refused(self.run_copy("run"), f"{os.path.realpath(self.own)}: there is no case in this folder")

    def test_of_a_build_folder_are_those_of_the_source(self):
        self.assertEqual(conform("list").stdout, conform("list", CASES).stdout)


class BadInput(Programs):
    def test_is_refused_with_its_place(self):
        path = self.case("steps:\n  - expct: {ACK: }\n")
        self.refused(conform("run", path), f"{path}:6:5: step \"expct\" is unknown; there are: inject, expect")
        self.refused(conform("check", self.folder), f"{path}:6:5: ")

    def test_of_values_is_refused_with_its_place(self):
        for steps, message in [
            ("- inject: {SEND_ONLY: , bth.psm: 1}", "7:36: bth.psm"),
            ("- inject: {SEND_ONLY: , bth.psn: 0x1000000}", "bth.psn: expected 0 … 16777215"),
            ("- inject: {SEND_LONELY: }", "there is no opcode \"SEND_LONELY\""),
            ("- inject: {SEND_ONLY: , on: b}", "there is no QP b"),
            ("- check: $nobody == 1", "there is no value $nobody"),
            ("- post_send: {opcode: shout}", "opcode: expected one of send, send_with_immediate"),
            ("- deregister: nothing", "there is no region nothing"),
            ("- repeat: {times: 1000000, steps: [{wait: 1ns}]}", "expected at most 100000"),
            ("- for_each: {k: 0..0xFFFFFFFFFFFFFFFF, steps: [{wait: 1ns}]}", "more than 100000 values"),
            ("- repeat: {times: 9999, steps: [{repeat: {times: 9999, steps: [{wait: 1ns}]}}]}", "more than 1000000 steps"),
            ("- wait: 90000s", "more than a day"),
            ("- counter: {luck: 1}", "there is no counter luck"),
            ("- arm: {on: nobody, limit: 3}", "there is no SRQ and no QP nobody"),
            ("- arm: {limt: 3}", "argument \"limt\" is unknown; there are: of, solicited"),
            ("- reconnect: {psn: 3}", "argument \"psn\" is unknown; there are: rq_psn, sq_psn"),
            ("- post_receive: {pieces: [1, many]}", "pieces: expected 0 … 4294967295, found many"),
            ("- destroy: nobody", "there is no window and no QP nobody"),
            ("- set: {x: \"part(bytes(1, 8), 4, 5)\"}", "part: expected bytes of 8, found 5 from 4 on"),
            ("- probe: {on: d}", "a probe needs a QP that answers: d is not of type rc"),
        ]:
            with self.subTest(steps):
                done = conform("check", self.case(f"setup: {{d: {{qp: {{type: ud}}}}}}\nsteps:\n  {steps}\n"))
                self.refused(done, message)
        for setup, message in [
            ("qp: {type: ud, path_mtu: 256}", "path_mtu: a UD QP is not connected, and has only type, version, state, q_key"),
            ("qp: {type: ud, q_key: 0x100000000}", "q_key: expected 0 … 4294967295"),
            ("qp: {srq: s}", "qp: no SRQ s is set up before it"),
            ("s: {srq: {limit: 65}}", "limit: expected 0 … 64"),
        ]:
            with self.subTest(setup):
                self.refused(conform("check", self.case(f"setup: {{{setup}}}\nsteps: [{{probe: }}]\n")), message)

    def test_of_files_is_refused(self):
        self.refused(conform("run", self.folder), "there is no case in this folder")
        self.refused(conform("run", self.path("none.yaml")), "none.yaml")
        path = self.case("steps: [{probe: }]\n", "other.yaml")
        self.refused(conform("run", path), "the case is psn-x, but the file other")
        os.remove(path)
        path = self.case("steps: [{probe: }]\n")
        self.refused(conform("run", path, "--only", "nak-*"), "--only: no case fits nak-*")
        self.refused(conform("run", path, path), "psn-x is in")

    def test_leaves_no_half_written_report(self):
        path = self.case("steps: [{probe: }]\n")
        done = conform("run", path, "--json", "/dev/full")
        self.assertEqual(done.returncode, 1)
        done = conform("run", path, "--json", self.path("no/folder.json"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("folder.json", done.stderr)


if __name__ == "__main__":
    ROCE_CONFORM = sys.argv[1]
    CASES = sys.argv[2]
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
