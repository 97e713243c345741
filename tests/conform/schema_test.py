# SPDX-License-Identifier: BSD-2-Clause
"""The JSON schema of case files: each case is valid, a slip is not, and its words are those that the program knows.

usage: schema_test.py ROCE_CONFORM SOURCE [UNITTEST ARGUMENT...]
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import jsonschema
import yaml


class Loader(yaml.SafeLoader):
    """Reads scalars as YAML 1.2 and editors do: `on` is a name."""


Loader.yaml_implicit_resolvers = {}
for tag, pattern in (("null", r"~|null|Null|NULL|"), ("bool", r"true|True|TRUE|false|False|FALSE"),
                     ("int", r"[-+]?[0-9]+|0x[0-9a-fA-F]+"), ("float", r"[-+]?(?:\.[0-9]+|[0-9]+\.[0-9]*)(?:[eE][-+]?[0-9]+)?")):
    Loader.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(f"(?:{pattern})$"), None)


def read(text):
    """A YAML text as JSON has it."""
    return json.loads(json.dumps(yaml.load(text, Loader)))


CASE = "case: psn-x\ntitle: A title\nrule: [RC-RESP-02]\nlevel: must\n"
PROBE = "steps: [{probe: }]\n"


class Schema(unittest.TestCase):
    def setUp(self):
        self.schema = json.loads((SOURCE / "conform/case.schema.json").read_text(encoding="utf-8"))
        self.validator = jsonschema.Draft202012Validator(self.schema)

    def mistake(self, text):
        """The best message about a text, or None."""
        found = jsonschema.exceptions.best_match(self.validator.iter_errors(read(text)))
        return found and f"{'/'.join(map(str, found.absolute_path))}: {found.message}"


class Cases(Schema):
    def test_the_schema_is_one(self):
        self.validator.check_schema(self.schema)

    def test_each_case_is_valid(self):
        files = sorted((SOURCE / "conform/cases").rglob("*.yaml"))
        self.assertGreater(len(files), 100)
        for file in files:
            with self.subTest(file.stem):
                self.assertIsNone(self.mistake(file.read_text(encoding="utf-8")))

    def test_each_example_of_the_guide_is_valid(self):
        guide = (SOURCE / "docs/conformance.md").read_text(encoding="utf-8")
        blocks = re.findall(r"^```yaml\n(.*?)^```", guide, re.DOTALL | re.MULTILINE)
        self.assertGreater(len(blocks), 1)
        for block in blocks:
            # Profiles of devices are no cases.
            if block.startswith("device:"):
                continue
            with self.subTest(block):
                self.assertIsNone(self.mistake(block if block.startswith("case:") else CASE + PROBE + block))


class Mistakes(Schema):
    def test_in_steps_are_found(self):
        for right, wrong in [
            ("inject: {SEND_ONLY: }", "injct: {SEND_ONLY: }"),
            ("inject: {SEND_ONLY: }", "inject: {SEND_ONYL: }"),
            ("inject: {SEND_ONLY: }", "inject: {SEND_ONLY: 1}"),
            ("inject: {$op: , bth.psn: 1}", "inject: {$op: , bth.psm: 1}"),
            ("inject: {$op: , bth.psn: 1}", "inject: {$op: , bth.psn: }"),
            ("inject: [{$op: , on: b}]", "inject: [{$op: , no: b}]"),
            ("inject: {$op: , \"vlan[1].vid\": 5}", "inject: {$op: , \"vlan(1).vid\": 5}"),
            ("inject: {$op: , after_icrc: {ip.ttl: 1}}", "inject: {$op: , after_icrc: {ip.tll: 1}}"),
            ("inject: {0x1f: , rdma.va: 1}", "inject: {0x1f: , rdma.av: 1}"),
            ("expect: {ACK: [$E, any]}", "expect: {ACK: [$E, any, 1]}"),
            ("expect: {ACK: , bth.psn: $E}", "expect: {ACK: , bth.psm: $E}"),
            ("expect: {READ_RESPONSE: [$E, 4]}", "expect: {READ_RESPONSE: }"),
            ("expect: {opcode: [SEND_ONLY, SEND_LAST]}", "expect: {opcodes: [SEND_ONLY, SEND_LAST]}"),
            ("expect_one_of: {a: [{quiet: default}]}", "expect_one_of: {a: [{quite: default}]}"),
            ("expect_in_any_order: [{NAK: }]", "expect_in_any_order: [{NACK: }]"),
            ("quiet: {time: 1ms}", "quiet: {tim: 1ms}"),
            ("{quiet: 1ms, label: a}", "{quiet: 1ms, lable: a}"),
            ("{quiet: 1ms, label: a}", "{quiet: 1ms, probe: }"),
            ("{quiet: 1ms, label: a}", "{label: a}"),
            ("{expect: {ACK: }, save: {x: bth.psn}}", "{expect: {ACK: }, save: {x: bth.psm}}"),
            ("post_send: {opcode: read}", "post_send: {opcode: raed}"),
            ("post_send: {l_key: 3}", "post_send: {lkey: 3}"),
            ("{post_receive: {at: $R.va}, refused: true}", "{post_receive: {at: $R.va}, refused: maybe}"),
            ("modify: {state: ERR}", "modify: {state: EROR}"),
            ("modify: {timeout: 14}", "modify: {path_mtu: 256}"),
            ("bind: {window: win}", "bind: {windw: win}"),
            ("completion: {of: receive}", "completion: {of: recv}"),
            ("completion: {status: success}", "completion: {stauts: success}"),
            ("no_completion: {of: send}", "no_completion: {fo: send}"),
            ("state: {b: ERR}", "state: {b: ERROR}"),
            ("memory: unchanged", "memory: unchange"),
            ("memory: {at: $R.va, length: 4}", "memory: {at: $R.va, length: 4, is: \"00\"}"),
            ("set: {x: {by: $a, 1: 2, else: 3}}", "set: {x: {yb: $a, 1: 2, else: 3}}"),
            ("repeat: {times: 2, steps: [{probe: }]}", "repeat: {time: 2, steps: [{probe: }]}"),
            ("for_each: {k: 0..3, steps: [{wait: 1ms}]}", "for_each: {k: 0..3, steps: [{wiat: 1ms}]}"),
        ]:
            with self.subTest(wrong):
                self.assertIsNone(self.mistake(f"{CASE}steps:\n  - {right}\n"))
                self.assertIsNotNone(self.mistake(f"{CASE}steps:\n  - {wrong}\n"))

    def test_around_steps_are_found(self):
        for right, wrong in [
            ("why: so", "wyh: so"), ("serial: true", "serial: false"), ("serial: it moves the port", "serial: [it]"), ("needs: [mw]", "needs: [wm]"), ("needs: mw", "needs: []"),
            ("params: {n: 1..3, m: [{is: a, b: [1, 2]}]}", "params: {n: {a: {b: 1}}}"),
            ("setup: {qp: {type: uc}}", "setup: {qp: {type: cu}}"), ("setup: {qp: {timeout: 1}}", "setup: {qp: {timout: 1}}"),
            ("setup: {b: {qp: }}", "setup: {b: {pq: }}"), ("setup: {b: {mw: {type: 2}}}", "setup: {b: {mw: {type: 3}}}"),
            ("setup: {b: {mr: {access: [remote_read]}}}", "setup: {b: {mr: {access: [remote_raed]}}}"),
        ]:
            with self.subTest(wrong):
                self.assertIsNone(self.mistake(f"{CASE}{PROBE}{right}\n"))
                self.assertIsNotNone(self.mistake(f"{CASE}{PROBE}{wrong}\n"))
        self.assertIsNotNone(self.mistake(CASE))
        self.assertIsNotNone(self.mistake((CASE + PROBE).replace("must", "most")))


class Words(Schema):
    """The words of the schema, and those that roce-conform lists when it finds one that it does not know."""

    def said(self, text):
        """What the program finds wrong with a case file."""
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "psn-x.yaml")
            file.write_text(text, encoding="utf-8")
            return subprocess.run([ROCE_CONFORM, "check", file], capture_output=True, text=True, timeout=60, check=False).stderr

    def listed(self, text):
        """The words that the program lists for a case file with a word `x` that is none."""
        said = self.said(text)
        found = re.search(r"(?:there (?:is|are): |expected one of |expected )([\w, ]*?)(?:, found x)?(?: \(psn-x\))?\n", said)
        self.assertIsNotNone(found, said)
        return set(re.split(r", | or ", found[1]))

    def listed_in_step(self, step):
        return self.listed(f"{CASE}steps: [{{{step}}}]\n")

    def listed_in_setup(self, objects):
        return self.listed(f"{CASE}{PROBE}setup: {{{objects}}}\n")

    def part(self, *path):
        """A part of the schema."""
        found = self.schema
        for name in path:
            found = found[name]
        return found

    def names(self, *path):
        return set(self.part(*path, "properties"))

    def enumerated(self, *path):
        """The words of an enum, which stands by itself or beside an expression."""
        found = self.part(*path)
        return set(map(str, found["enum"] if "enum" in found else found["anyOf"][0]["enum"]))

    def test_of_a_case(self):
        self.assertEqual(self.names(), self.listed(f"{CASE}{PROBE}x: 1\n"))
        self.assertEqual(self.enumerated("properties", "level"), self.listed((CASE + PROBE).replace("must", "x")))
        self.assertEqual(self.enumerated("$defs", "feature"), self.listed(f"{CASE}{PROBE}needs: x\n"))
        self.assertEqual(self.names("$defs", "object"), self.listed_in_setup("a: {x: }"))

    def test_of_objects(self):
        for kind in ("qp", "mr", "mw", "srq"):
            with self.subTest(kind):
                self.assertEqual(self.names("$defs", kind), self.listed_in_setup(f"a: {{{kind}: {{x: 1}}}}"))
        self.assertEqual(self.enumerated("$defs", "qp", "properties", "type"), self.listed_in_setup("qp: {type: x}"))
        self.assertEqual(self.enumerated("$defs", "qp", "properties", "version"), self.listed_in_setup("qp: {version: x}"))
        self.assertEqual(self.enumerated("$defs", "mw", "properties", "type"), self.listed_in_setup("a: {mw: {type: x}}"))
        self.assertEqual(self.enumerated("$defs", "state"), self.listed_in_setup("qp: {state: x}"))
        self.assertEqual(self.enumerated("$defs", "right"), {"all"} | self.listed_in_setup("qp: {access: x}"))

    def test_of_steps(self):
        steps = self.listed_in_step("x: ")
        self.assertEqual(self.names("$defs", "step"), steps)
        verbs = {choice["required"][0] for choice in self.part("$defs", "step", "oneOf")}
        for step in steps:
            with self.subTest(step):
                self.assertEqual("a step needs a verb" in self.said(f"{CASE}steps: [{{{step}: x}}]\n"), step not in verbs)
        for step, place in [("post_send", "request"), ("post_receive", "receive"), ("modify", "change"), ("reconnect", "reconnect"), ("bind", "bind")]:
            with self.subTest(step):
                self.assertEqual(self.names("$defs", place), {"on"} | self.listed_in_step(f"{step}: {{x: 1}}"))
        of_srq = self.listed(f"{CASE}setup: {{s: {{srq: }}}}\nsteps: [{{arm: {{on: s, x: 1}}}}]\n")
        self.assertEqual(self.names("$defs", "arm"), {"on"} | self.listed_in_step("arm: {x: 1}") | of_srq)
        self.assertEqual(self.enumerated("$defs", "request", "properties", "opcode"), self.listed_in_step("post_send: {opcode: x}"))
        self.assertEqual(self.enumerated("$defs", "queue"), self.listed_in_step("completion: {of: x}"))
        for step, choice in [("quiet", 1), ("probe", 1), ("no_completion", 1)]:
            with self.subTest(step):
                self.assertEqual(self.names("$defs", "step", "properties", step, "anyOf", choice), self.listed_in_step(f"{step}: {{x: }}"))
        memory = [self.names("$defs", "step", "properties", "memory", "anyOf", choice) for choice in (1, 2)]
        self.assertEqual(memory[0] | memory[1], self.listed_in_step("memory: {x: 1}"))
        self.assertEqual(self.names("$defs", "step", "properties", "repeat"), self.listed_in_step("repeat: {x: 1, steps: [{probe: }]}"))

    def test_that_the_program_does_not_list_are_known_to_it(self):
        fields = ", ".join(f"{name}: any" for name in self.part("$defs", "completion", "properties") if name not in ("on", "of"))
        frame = "{WRITE_ONLY: , on: qp, times: 1, flip: 300, cut: 0, after_icrc: {ip.ttl: 3}}"
        steps = f"steps:\n  - inject: {{SEND_ONLY: }}\n  - expect: {{ACK: }}\n  - completion: {{on: qp, of: receive, {fields}}}\n  - inject: {frame}\n"
        self.assertIsNone(self.mistake(CASE + steps))
        self.assertEqual(self.said(CASE + steps), "")


if __name__ == "__main__":
    ROCE_CONFORM = sys.argv[1]
    SOURCE = pathlib.Path(sys.argv[2])
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
