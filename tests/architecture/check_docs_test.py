# SPDX-License-Identifier: BSD-2-Clause
"""Shows that check_docs.py finds what it is there to find, on small trees made for the purpose."""

import os
import tempfile
import unittest

import check_docs


def findings(files):
    with tempfile.TemporaryDirectory() as top:
        for path, content in files.items():
            os.makedirs(os.path.dirname(os.path.join(top, path)), exist_ok=True)
            with open(os.path.join(top, path), "w", encoding="utf-8") as file:
                file.write(content)
        return check_docs.check(top)


class Links(unittest.TestCase):
    OTHER = "# A page\n\n## The `--ip` option, and [a link](page.md)\n\n### Twice\n\n### Twice\n"

    def assert_found(self, text, *expected):
        self.assertEqual(findings({"docs/page.md": text, "docs/other.md": self.OTHER, "src/main.cc": ""}), list(expected))

    def test_files_and_folders_that_exist(self):
        self.assert_found("[a](other.md) [b](../src/main.cc) [c](../src) [d](https://example.org/x) [e](mailto:a@example.org)\n")

    def test_files_that_do_not_exist(self):
        self.assert_found("text\n[a](gone.md)\n", "docs/page.md:2: the link gone.md leads nowhere")
        self.assert_found("[a](main.cc)\n", "docs/page.md:1: the link main.cc leads nowhere")
        self.assert_found("![a](images/gone.png)\n", "docs/page.md:1: the link images/gone.png leads nowhere")

    def test_headings(self):
        self.assert_found("[a](other.md#the---ip-option-and-a-link) [b](other.md#twice) [c](other.md#twice-1) [d](#mine)\n## Mine\n")
        self.assert_found("[a](other.md#twice-2)\n", "docs/page.md:1: docs/other.md has no heading #twice-2")
        self.assert_found("[a](#mine)\n```\n# Mine\n```\n", "docs/page.md:1: docs/page.md has no heading #mine")
        self.assert_found("[a](../src/main.cc#x)\n", "docs/page.md:1: src/main.cc has no heading #x")

    def test_a_link_over_two_lines(self):
        self.assert_found("[a\nlink](gone.md)\n", "docs/page.md:2: the link gone.md leads nowhere")

    def test_code_has_no_links(self):
        self.assert_found("`[a](gone.md)`\n\n```\n[a](gone.md)\n```\n")


class Tables(unittest.TestCase):
    def assert_found(self, text, *expected):
        self.assertEqual(findings({"docs/page.md": text}), [f"docs/page.md:{line}" for line in expected])

    def test_whole_tables(self):
        self.assert_found("| a | b |\n|---|:-:|\n| 1 | 2 |\n\n| a |\n|---|\n| `x\\|y` |\n")

    def test_a_blank_line_divides_a_table(self):
        self.assert_found("| a | b |\n|---|---|\n\n| 1 | 2 |\n", "4: a row that belongs to no table")

    def test_rows_of_other_lengths(self):
        self.assert_found("| a | b |\n|---|---|\n| 1 | 2 | 3 |\n", "3: a row of 3 cells in a table of 2 columns")
        self.assert_found("| a | b |\n|---|---|\n| 1 | `x|y` |\n", "3: a row of 3 cells in a table of 2 columns")

    def test_a_head_of_other_length(self):
        self.assert_found("| a |\n|---|---|\n| 1 |\n", "2: a row of 2 cells in a table of 1 columns")

    def test_a_table_without_head(self):
        self.assert_found("text\n|---|\n| 1 |\n", "2: a row that belongs to no table", "3: a row that belongs to no table")

    def test_pictures_in_code_are_no_tables(self):
        self.assert_found("```\n| a\n| b | c |\n```\n")


if __name__ == "__main__":
    unittest.main()
