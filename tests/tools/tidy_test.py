#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""scripts/tidy, in a small tree of its own and with a clang-tidy that only looks for a word: what it looks at, and what it does not
look at again."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

COMPILER = sys.argv.pop(1)
TIDY = pathlib.Path(__file__).resolve().parents[2] / "scripts/tidy"
# Says which source it was asked about, and finds the word BAD in it.
PROGRAM = """#!/bin/sh
[ "$1" != --version ] || { cat "$(dirname "$0")/version"; exit 0; }
for source; do :; done
basename "$source" >> "$(dirname "$0")/asked"
! grep -H BAD "$source"
"""


class TidyTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="roce-tidy-test-")).resolve()
        self.addCleanup(shutil.rmtree, self.folder)
        self.tree = self.folder / "tree"
        self.make_tree(self.tree)
        (self.folder / "version").write_text("1\n", encoding="ascii")
        self.program = self.folder / "clang-tidy"
        self.program.write_text(PROGRAM, encoding="ascii")
        self.program.chmod(0o755)

    def make_tree(self, tree):
        for name, text in {".clang-tidy": "Checks: all\n", "deep.h": "int deep();\n", "a.h": '#include "deep.h"\nint a();\n',
                           "a.cc": '#include "a.h"\nint a() { return 1; }\n', "b.cc": "int b() { return 2; }\n",
                           "unbuilt.cc": "int unbuilt();\n"}.items():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            (tree / name).write_text(text, encoding="ascii")
        for folder in ("scripts", "build", ".ci"):
            (tree / folder).mkdir()
        shutil.copy(TIDY, tree / "scripts/tidy")
        (tree / ".gitignore").write_text("build\n", encoding="ascii")
        self.compile(tree, "a.cc", "b.cc")
        for line in ("init -q", "add -A", "-c user.name=n -c user.email=e commit -q -m all"):
            subprocess.run(["git", "-C", tree, *line.split()], check=True)

    def compile(self, tree, *names):
        """These are the sources of the build."""
        (tree / "build/compile_commands.json").write_text(json.dumps(
            [{"directory": str(tree / "build"), "file": str(tree / name), "command": f"{COMPILER} -I{tree} -o x.o -c {tree / name}"}
             for name in names]), encoding="utf-8")

    def run_tidy(self, *arguments, tree=None):
        """(exit code, what was looked at, what it printed)."""
        asked = self.folder / "asked"
        asked.unlink(missing_ok=True)
        tree = tree or self.tree
        done = subprocess.run([sys.executable, "-B", tree / "scripts/tidy", "--build", tree / "build", "--cache", self.folder / "cache", "--program",
                               self.program, "-j", "1", *arguments], cwd=tree, capture_output=True, text=True, check=False)
        names = asked.read_text(encoding="ascii").split() if asked.exists() else []
        return done.returncode, names, done.stdout + done.stderr

    def change(self, name, text, tree=None):
        (tree or self.tree).joinpath(name).write_text(text, encoding="ascii")

    def test_looks_at_everything_once(self):
        self.assertEqual(self.run_tidy("--all"), (0, ["a.cc", "b.cc"], "2 sources: 2 looked at, 0 clean before, findings in 0\n"))
        self.assertEqual(self.run_tidy("--all"), (0, [], "2 sources: 0 looked at, 2 clean before, findings in 0\n"))

    def test_knows_a_clean_source_in_another_checkout(self):
        self.run_tidy("--all")
        other = self.folder / "other"
        self.make_tree(other)
        self.assertEqual(self.run_tidy("--all", tree=other)[:2], (0, []))

    def test_looks_again_at_what_changed_in_any_way_that_counts(self):
        self.run_tidy("--all")
        for name, text in {"b.cc": "int b() { return 3; }\n", "deep.h": "int deeper();\n", ".clang-tidy": "Checks: most\n"}.items():
            self.change(name, text)
            expected = {"b.cc": ["b.cc"], "deep.h": ["a.cc"]}.get(name, ["a.cc", "b.cc"])
            self.assertEqual(self.run_tidy("--all")[:2], (0, expected), name)
        (self.folder / "version").write_text("2\n", encoding="ascii")
        self.assertEqual(self.run_tidy("--all")[1], ["a.cc", "b.cc"], "another version")
        self.change("deep.h", "int deeper();  // NOLINT\n")
        self.assertEqual(self.run_tidy("--all")[1], ["a.cc"], "a NOLINT")

    def test_does_not_look_again_for_a_comment(self):
        self.run_tidy("--all")
        self.change("deep.h", "// Says more.\nint deep();\n")
        self.assertEqual(self.run_tidy("--all")[:2], (0, []))

    def test_a_finding_is_found_each_time(self):
        self.change("b.cc", "int BAD();\n")
        for _ in range(2):
            code, asked, said = self.run_tidy("--all")
            self.assertEqual(code, 1)
            self.assertIn("b.cc", asked)
            self.assertIn("clang-tidy: findings in b.cc", said)
            self.assertIn("findings in 1\n", said)

    def test_a_moved_source_is_as_clean_as_before(self):
        self.change("a.cc", '#include "a.h"\nint a() { return f(/*of=*/1); }\n')
        self.run_tidy("--all")
        (self.tree / "sub").mkdir()
        (self.tree / "a.cc").rename(self.tree / "sub/z.cc")
        self.compile(self.tree, "sub/z.cc", "b.cc")
        self.assertEqual(self.run_tidy("--all")[:2], (0, []))
        self.change("sub/.clang-tidy", "Checks: fewer\n")
        self.assertEqual(self.run_tidy("--all")[:2], (0, ["z.cc"]), "other checks apply there")

    def test_since_a_commit_looks_at_what_changed_and_all_that_includes_it(self):
        self.assertEqual(self.run_tidy("--since", "HEAD")[:2], (0, []))
        self.change("unbuilt.cc", "int other();\n")
        self.change("deep.h", "int deeper();\n")
        self.assertEqual(self.run_tidy("--since", "HEAD")[:2], (0, ["a.cc"]))
        self.assertEqual(self.run_tidy("b.cc")[:2], (0, ["b.cc"]))

    def forget(self):
        """As a machine that has looked at nothing yet."""
        shutil.rmtree(self.folder / "cache")

    def test_without_files_looks_at_what_is_not_on_record(self):
        self.assertEqual(self.run_tidy()[:2], (0, ["a.cc", "b.cc"]))
        self.assertEqual(self.run_tidy("--record")[:2], (0, []))
        self.forget()
        self.assertEqual(self.run_tidy()[:2], (0, []))
        self.change("b.cc", "int b() { return 3; }\n")
        self.assertEqual(self.run_tidy()[:2], (0, ["b.cc"]))
        self.change(".clang-tidy", "Checks: most\n")
        self.assertEqual(self.run_tidy()[:2], (0, ["a.cc", "b.cc"]))

    def test_what_is_on_record_may_move_and_include_and_say_other_things(self):
        self.run_tidy("--all", "--record")
        self.forget()
        (self.tree / "sub").mkdir()
        for name in ("a.cc", "a.h"):
            (self.tree / name).rename(self.tree / "sub" / name)
        self.change("sub/a.cc", '// Says more.\n#include "sub/a.h"\n\nint a() { return 1; }\n')
        self.compile(self.tree, "sub/a.cc", "b.cc")
        self.assertEqual(self.run_tidy()[:2], (0, []))
        self.change("sub/a.cc", '#include "sub/a.h"\n// NOLINTNEXTLINE\nint a() { return 1; }\n')
        self.assertEqual(self.run_tidy()[:2], (0, ["a.cc"]))

    def test_a_header_off_the_record_is_looked_at_in_one_source(self):
        for name in ("deep.cc", "c.cc"):
            self.change(name, f'#include "a.h"\nint {name[0]}();\n')
        self.compile(self.tree, "a.cc", "b.cc", "c.cc", "deep.cc")
        self.run_tidy("--all", "--record")
        self.forget()
        self.change("deep.h", "int deeper();\n")
        self.assertEqual(self.run_tidy()[:2], (0, ["deep.cc"]), "the one of its name")
        self.change("deep.h", "int deep();\n")
        self.change("a.h", '#include "deep.h"\nint other();\n')
        self.assertEqual(self.run_tidy()[:2], (0, ["a.cc"]))

    def test_a_source_with_findings_is_looked_at_until_it_is_clean(self):
        self.run_tidy("--all", "--record")
        record = (self.tree / ".ci/tidied").read_text(encoding="ascii")
        self.change("deep.h", "int deep(int);\n")
        self.change("a.cc", '#include "a.h"\nint BAD;\n')
        self.assertEqual(self.run_tidy("--all", "--record")[:2], (1, ["a.cc"]))
        self.assertEqual((self.tree / ".ci/tidied").read_text(encoding="ascii"), record, "findings are not put on record")
        self.assertEqual(self.run_tidy("--since", "HEAD~0", "b.cc")[:2], (0, []))
        subprocess.run(["git", "-C", self.tree, "-c", "user.name=n", "-c", "user.email=e", "commit", "-qam", "bad"], check=True)
        self.assertEqual(self.run_tidy("--since", "HEAD")[:2], (1, ["a.cc"]))
        self.change("a.cc", '#include "a.h"\nint a() { return 1; }\n')
        self.assertEqual(self.run_tidy("--since", "HEAD")[:2], (0, ["a.cc"]))
        self.assertEqual(self.run_tidy()[:2], (0, []))

    def test_says_that_the_build_is_older_than_the_tree(self):
        (self.tree / "b.cc").unlink()
        self.assertEqual(self.run_tidy(), (2, [], f"tidy: {self.tree}/b.cc is gone; run `cmake --preset tidy`\n"))

    def test_says_what_is_missing(self):
        for arguments, words in {("--build", str(self.folder / "none")): "run `cmake --preset tidy` first",
                                 ("--program", "no-such-tidy"): "there is no no-such-tidy; scripts/setup ci installs it",
                                 ("unbuilt.cc",): "unbuilt.cc is not compiled by",
                                 ("--since", "nothing"): "git diff: ",
                                 ("--record", "b.cc"): "--record needs --all",
                                 ("--cache", "/dev/null/x"): "name a folder that can be written with --cache or XDG_CACHE_HOME"}.items():
            code, asked, said = self.run_tidy(*arguments)
            self.assertEqual((code, asked), (2, []), arguments)
            self.assertIn(words, said)
            self.assertEqual(said.count("\n"), 1, said)


if __name__ == "__main__":
    # Neither the settings of whoever runs this nor a hook that does.
    for variable in [name for name in os.environ if name.startswith("GIT_")]:
        del os.environ[variable]
    os.environ |= {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}
    unittest.main()
