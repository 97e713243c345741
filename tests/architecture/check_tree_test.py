# SPDX-License-Identifier: BSD-2-Clause
"""Shows that check_tree.py finds what it is there to find, on small trees made for the purpose."""

import os
import tempfile
import unittest

import check_tree

WIRE = "libroce/include/roce/wire/bth.h"
ICRC = "libroce/src/wire/icrc.cc"


def findings(files):
    with tempfile.TemporaryDirectory() as top:
        for path, content in files.items():
            os.makedirs(os.path.dirname(os.path.join(top, path)), exist_ok=True)
            with open(os.path.join(top, path), "w", encoding="utf-8") as file:
                file.write(content.replace("@TOP@", os.path.realpath(top)) + "\n")
        return check_tree.check(top)


class Includes(unittest.TestCase):
    def assert_found(self, path, line, *words):
        found = findings({path: "#pragma once\n" + line})
        self.assertEqual(len(found), 1, found)
        self.assertTrue(found[0].startswith(f"{path}:2: "), found)
        for word in words:
            self.assertIn(word, found[0])

    def assert_clean(self, path, line):
        self.assertEqual(findings({path: line}), [])

    def test_the_core_includes_the_standard_library_and_expected(self):
        for line in ["#include <span>", "#include <cstdint>", "#include <tl/expected.hpp>", '#include "roce/wire/field.h"',
                     '#include "neighbour.h"', '#include "wire/private.h"', "#  include <array>  // why"]:
            self.assert_clean(WIRE, line)

    def test_io_clock_thread_and_logging_headers(self):
        for header in ["sys/socket.h", "sys/mman.h", "unistd.h", "fcntl.h", "netinet/in.h", "net/if.h", "arpa/inet.h",
                       "linux/if_packet.h", "pcap/pcap.h", "pcap.h", "thread", "mutex", "fstream", "iostream", "cstdio",
                       "stdio.h", "filesystem", "ctime", "time.h", "syslog.h", "spdlog/spdlog.h"]:
            for folder in check_tree.PURE:
                self.assert_found(f"libroce/src/{folder}/x.cc", f"#include <{header}>", header, folder)

    def test_quotes_hide_nothing(self):
        self.assert_found(WIRE, '#include "sys/socket.h"', "sys/socket.h")
        self.assert_found(WIRE, '  #  include "pcap/pcap.h"', "pcap/pcap.h")

    def test_other_libraries(self):
        self.assert_found(WIRE, "#include <fmt/format.h>", "fmt/format.h")
        self.assert_found(WIRE, "#include <nlohmann/json.hpp>", "nlohmann/json.hpp")

    def test_the_crc_library_belongs_to_the_icrc(self):
        self.assert_clean(ICRC, "#include <isa-l/crc.h>")
        self.assert_found("libroce/src/wire/packet.cc", "#include <isa-l/crc.h>", "isa-l/crc.h")
        self.assert_found("libroce/include/roce/wire/icrc.h", "#include <isa-l/crc.h>", "isa-l/crc.h")

    def test_folders(self):
        allowed = {("transport", "wire"), ("cm", "wire"), ("cm", "transport"), ("impair", "wire"), ("analysis", "wire"),
                   ("port", "wire"), ("port", "transport"), ("port", "link")}
        folders = check_tree.MAY_INCLUDE.keys()
        for source in folders:
            for target in folders:
                line = f'#include "roce/{target}/x.h"'
                if source == target or (source, target) in allowed:
                    self.assert_clean(f"libroce/src/{source}/x.cc", line)
                else:
                    self.assert_found(f"libroce/src/{source}/x.cc", line, f"{source} may not include {target}")

    def test_other_spellings_of_a_folder(self):
        self.assert_found(WIRE, "#include <roce/link/capture_file.h>", "link")
        self.assert_found(WIRE, '#include "../link/capture_file.h"', "link")
        self.assert_found(ICRC, '#include "link/byte_source.h"', "link")

    def test_link_may_do_io_but_knows_no_packets(self):
        self.assert_clean("libroce/src/link/x.cc", "#include <sys/mman.h>")
        self.assert_clean("libroce/src/link/x.cc", "#include <pcap/pcap.h>")
        self.assert_found("libroce/src/link/x.cc", '#include "roce/wire/packet.h"', "link may not include wire")

    def test_one_file_reads_json(self):
        for text in ["auto x = nlohmann::json::parse(text);", "if (Json::accept (text)) {", "json::sax_parse(text, &sax)"]:
            for path in ["gen/x.cc", "dissector/analyze/x.cc", "tools/runtime/x.cc"]:
                self.assert_found(path, text, "tools/json_input/json_input.cc")
            self.assert_clean("tools/json_input/json_input.cc", text)
            self.assert_clean("tests/gen/x.cc", text)
        self.assert_clean("gen/x.cc", "auto x = json_input::parse<nlohmann::json>(text);")

    def test_one_file_includes_the_library_of_command_lines(self):
        for header in ["CLI/CLI.hpp", "CLI/App.hpp"]:
            for path in ["gen/x.cc", "dissector/analyze/x.h", "tools/command_line/x.h", "tests/bench/live/x.cc"]:
                self.assert_found(path, f"#include <{header}>", header, "tools/command_line/command_line.cc")
            self.assert_clean("tools/command_line/command_line.cc", f"#include <{header}>")
        self.assert_clean("gen/x.cc", '#include "command_line/program.h"')
        self.assert_found(WIRE, "#include <CLI/CLI.hpp>", "CLI/CLI.hpp")

    def test_what_programs_share(self):
        self.assert_clean("tools/files/x.cc", '#include "roce/link/output_file.h"')
        self.assert_found("tools/files/x.cc", '#include "roce/wire/packet.h"', "tools/files may not include wire")
        self.assert_found("tools/command_line/x.cc", '#include "roce/link/output_file.h"', "tools/command_line may not include link")

    def test_programs(self):
        self.assert_clean("gen/x.cc", '#include "roce/port/port.h"')
        self.assert_clean("replay/x.cc", '#include "roce/analysis/tracker.h"')
        self.assert_clean("replay/x.cc", '#include "replay/exit_code.h"')
        self.assert_found("gen/x.cc", '#include "roce/analysis/tracker.h"', "gen may not include analysis")
        self.assert_found("dissector/analyze/x.h", '#include "roce/port/port.h"', "dissector/analyze may not include port")
        self.assert_clean("replay/x.cc", '#include "gen/driver.h"')
        self.assert_found("gen/x.cc", '#include "replay/rewriter.h"', "gen may not include replay")

    def test_clocks(self):
        self.assert_clean(WIRE, "#include <chrono>")
        self.assert_clean(WIRE, "using Clock = DeviceClock;")
        self.assert_found("libroce/include/roce/transport/time.h", "auto t = std::chrono::steady_clock::now();", "clock")
        self.assert_clean(WIRE, "// never std::chrono::steady_clock")

    def test_an_unknown_folder(self):
        found = findings({"libroce/src/other/x.cc": "#include <span>"})
        self.assertEqual(len(found), 1)
        self.assertIn("no folder other", found[0])


class Outside(unittest.TestCase):
    def assert_found(self, line):
        self.assertEqual(len(findings({"docs/x.md": line})), 1, line)

    def test_the_reference_folder(self):
        self.assert_found("see ../" + "shared/docs/x.md")
        self.assert_found('"../../' + "shared/x\"")

    def test_paths_of_a_machine(self):
        self.assert_found("/" + "work/main/x")
        self.assert_found("in /" + "home/somebody/x")
        self.assert_found("@TOP@/build")

    def test_other_paths(self):
        for line in ["build/dev", "/usr/lib/x86_64-linux-gnu", "tests/work/x", "$HOME/x", "/tmp/x.pcap", "../sharedness"]:
            self.assertEqual(findings({"docs/x.md": line}), [], line)

    def test_captures_are_not_text(self):
        self.assertEqual(findings({"captures/x.pcap": "\0 ../" + "shared"}), [])


class Rules(unittest.TestCase):
    # No rule of ours begins with X, so that these are not taken for ones.
    BOOK = "docs/rules.md"
    CODE = "libroce/src/wire/x.cc"
    TEST = "tests/wire/x_test.cc"
    FILES = {
        BOOK: "| rule | what | source | function | test |\n|---|---|---|---|---|\n"
              "| X-SUM-01 | sums | IBTA 9.2 | `sum` | `wire/x_test`, `wire/x_test Sum`, `wire/x_test Sum.Adds` |\n"
              "| X-02 | no test yet | – | `other` | – |",
        CODE: "// X-SUM-01\nvoid sum();  // why (X-02)",
        TEST: "TEST(Sum, Adds) {}\nTEST_P(Difference, Subtracts) {}  // X-02",
    }

    def assert_found(self, changes, where, *words):
        found = findings({**self.FILES, **changes})
        self.assertEqual(len(found), 1, found)
        self.assertTrue(found[0].startswith(where), found)
        for word in words:
            self.assertIn(word, found[0])

    def in_book(self, old, new):
        self.assertIn(old, self.FILES[self.BOOK])
        return {self.BOOK: self.FILES[self.BOOK].replace(old, new)}

    def test_a_book_that_fits_the_code(self):
        self.assertEqual(findings(self.FILES), [])
        self.assertEqual(findings({self.CODE: "// X-SUM-01"}), [], "no book, no rules")

    def test_a_rule_that_the_book_does_not_have(self):
        for path in [self.CODE, self.TEST, "docs/x.md", "dissector/x.cc", "scripts/x"]:
            for rule in ["X-03", "X-SUM-1", "X-SUN-01", "X-SUM-DIF-01"]:
                changed = self.FILES.get(path, "") + f"\n// because of {rule}."
                self.assert_found({path: changed}, path, f"{rule} is not in docs/rules.md")

    def test_what_only_looks_like_a_rule(self):
        for text in ["AX-03", "X-03-2", "X-SUM", "x-03", "3X-03", "X-03a"]:
            self.assertEqual(findings({**self.FILES, "docs/x.md": text}), [], text)

    def test_a_rule_that_the_code_does_not_name(self):
        self.assert_found({self.CODE: "// X-SUM-01"}, f"{self.BOOK}:4: ", "X-02 is named nowhere in libroce")

    def test_a_rule_that_is_there_twice(self):
        self.assert_found(self.in_book("X-02", "X-02 | a | b | c | – |\n| X-02"), f"{self.BOOK}:5: ", "X-02", "twice")

    def test_tests_that_do_not_exist(self):
        self.assert_found(self.in_book("`wire/x_test`", "`wire/y_test`"), f"{self.BOOK}:3: ", "tests/wire/y_test.cc")
        self.assert_found(self.in_book("Sum`", "Product`"), f"{self.BOOK}:3: ", "x_test.cc has no test Product")
        self.assert_found(self.in_book("Sum.Adds", "Sum.Add"), f"{self.BOOK}:3: ", "x_test.cc has no test Sum.Add")
        self.assert_found(self.in_book("Sum.Adds", "Sum.Subtracts"), f"{self.BOOK}:3: ", "has no test Sum.Subtracts")
        self.assertEqual(findings({**self.FILES, **self.in_book("Sum.Adds", "Difference.Subtracts")}), [])

    def test_a_test_that_is_not_named(self):
        for cell in ["", "x_test", "`wire/x_test Sum Adds`", "see `wire/x_test`"]:
            self.assert_found(self.in_book("other` | – |", f"other` | {cell} |"), f"{self.BOOK}:4: ", "X-02",
                              "does not name a test")


if __name__ == "__main__":
    unittest.main()
