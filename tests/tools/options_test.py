# SPDX-License-Identifier: BSD-2-Clause
"""Every option of the programs that takes a number, as their --help lists them, with values that are none.

    options_test.py PROGRAM... [-- unittest arguments]"""

import re
import subprocess
import sys
import unittest

# What --help calls the values of options that take a number, behind which there may be bounds.
NUMBERS = {"UINT", "INT", "FLOAT", "N", "NUMBER", "ID", "SECONDS", "FACTOR", "MIB", "PORT", "BYTES"}
# What a wrong command line exits with, as the guides say.
USAGE = 2
# Numbers or rules of numbers, which are no business of the command line's.
RULES = {("roce-gen", "cnp", "--source-port"),
         *(("roce-replay", command, option) for command in ("rewrite", "send")
           for option in ("--path-mtu", "--psn-offset", "--udp-source-port", "--vlan-add"))}

# No numbers, or such as no option takes; which texts are none in general, command_line_test.cc has.
WRONG = ["", "x", "+5", "-1", "nan", "1e999", "9" * 400]
WRONG_WHOLE = ["1.5", "18446744073709551616"]

ROW = re.compile(r"^\s+((?:-{1,2}[\w-]+)(?:,\s*-{1,2}[\w-]+)*)\s+([A-Z]+)\b(\S*)")


def said(program, *arguments):
    return subprocess.run([program, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False)


class Options(unittest.TestCase):
    programs = []

    def commands(self, program):
        """The commands that --help lists."""
        text = said(program, "--help").stdout
        listed = re.split(r"^(?:Subcommands|SUBCOMMANDS|Examples):\s*$", text, flags=re.MULTILINE)[1]
        return [match[1] for match in re.finditer(r"^  ([\w-]+)(?:\s|$)", listed, re.MULTILINE)]

    def options(self, program, command):
        """(name, type) of each option with a value."""
        for line in said(program, command, "--help").stdout.splitlines():
            row = ROW.match(line)
            if row:
                yield row[1].split(",")[-1].strip(), row[2]

    def test_no_number_is_refused_in_one_line(self):
        for program in self.programs:
            name = program.rsplit("/", 1)[-1]
            found = 0
            for command in self.commands(program):
                for option, kind in self.options(program, command):
                    if kind not in NUMBERS or (name, command, option) in RULES:
                        continue
                    found += 1
                    for value in WRONG + (WRONG_WHOLE if kind not in ("FLOAT", "SECONDS", "FACTOR") else []):
                        with self.subTest(program=name, command=command, option=option, value=value):
                            done = said(program, command, f"{option}={value}" if value else option, *([] if value else [value]))
                            self.assertEqual(USAGE, done.returncode, done.stderr)
                            self.assertEqual("", done.stdout)
                            self.assertRegex(done.stderr, rf"\A{name}( {command})?: {option}: expected [^\n]*, found '[^\n]*\n\Z")
                            self.assertLess(len(done.stderr), 250)
            self.assertGreater(found, 2, name)

    def test_bounds_are_readable(self):
        for program in self.programs:
            for command in self.commands(program):
                for line in said(program, command, "--help").stdout.splitlines():
                    self.assertNotRegex(line, r"\d{21}", command)
                    for least, most in re.findall(r"[A-Z]:(-?[\d.]+) to (-?[\d.]+)", line):
                        self.assertLess(float(least), float(most), line)

    def test_what_is_near_is_named(self):
        for program in self.programs:
            name = program.rsplit("/", 1)[-1]
            for command in self.commands(program):
                slip = command[:-1]
                done = said(program, slip)
                self.assertEqual(USAGE, done.returncode)
                if slip not in self.commands(program):
                    self.assertRegex(done.stderr, rf"\A{name}: there is (no|neither) [^\n]*'{slip}'[^\n]*did you mean \w+\?\n\Z")
                done = said(program, command, "--hlep")
                self.assertEqual((USAGE, f"{name} {command}: there is no option '--hlep', did you mean --help?\n"), (done.returncode, done.stderr))


if __name__ == "__main__":
    split = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    Options.programs = sys.argv[1:split]
    unittest.main(argv=[sys.argv[0], *sys.argv[split + 1:]])
