# SPDX-License-Identifier: BSD-2-Clause
"""Shows that check_tree.py finds what it is there to find, on small trees made for the purpose."""

import os
import tempfile
import unittest

import check_rooms
import check_tree
import rooms
from rooms import ROOMS

LICENCE = "// SPDX-License-Identifier: BSD-2-Clause\n"
GPL = "// SPDX-License-Identifier: GPL-2.0-or-later\n"
WIRE = "libroce/include/roce/wire/bth.h"
ICRC = "libroce/src/wire/icrc.cc"


def findings(files, is_whole=False):
    """The findings of a tree with these files, which is never on a disk."""
    lines = {path: content.splitlines() for path, content in files.items()}
    return check_tree.check_files(lines, "/usr/src/tree", is_whole)


def findings_on_disk(files):
    """The same of a real folder, for whose name @TOP@ stands."""
    with tempfile.TemporaryDirectory() as top:
        for path, content in files.items():
            os.makedirs(os.path.dirname(os.path.join(top, path)), exist_ok=True)
            with open(os.path.join(top, path), "w", encoding="utf-8") as file:
                file.write(content.replace("@TOP@", os.path.realpath(top)) + "\n")
        return check_tree.check(top)


def folders_of(room):
    """The folders of a room."""
    if room.startswith("roce/"):
        return [f"libroce/include/{room}", f"libroce/src/{room[5:]}"]
    kind = check_rooms.kind_of(room)
    return [{"tools": f"tools/{room}", "analyze": f"dissector/{room}", "wireshark": f"dissector/{room}"}.get(kind, room)]


def licence_of(path):
    return GPL if path.startswith("dissector/wireshark/epan/") else LICENCE


class InSources(unittest.TestCase):
    def assert_found(self, path, line, *words):
        found = findings({path: licence_of(path) + line})
        self.assertEqual(len(found), 1, (path, line, found))
        self.assertTrue(found[0].startswith(f"{path}:2: "), found)
        for word in words:
            self.assertIn(word, found[0])

    def assert_clean(self, path, line, **others):
        self.assertEqual(findings({path: licence_of(path) + line, **others}), [], (path, line))


class Lengths(unittest.TestCase):
    @staticmethod
    def lines(count):
        return LICENCE + (count - 1) * "\n"

    def test_a_source_that_is_too_long_is_found(self):
        self.assertEqual(findings({ICRC: self.lines(check_tree.LONGEST)}), [])
        found, = findings({ICRC: self.lines(check_tree.LONGEST + 1)})
        self.assertIn(f"{ICRC}:451: has 451 lines", found)

    def test_a_test_or_a_table_may_be_longer(self):
        long = self.lines(check_tree.LONGEST + 1)
        self.assertEqual(findings({"tests/wire/icrc_test.cc": long, next(iter(check_tree.BETTER_WHOLE)): long}), [])

    def test_a_reason_that_is_not_needed_is_found(self):
        found, = findings({next(iter(check_tree.BETTER_WHOLE)): LICENCE})
        self.assertIn("needs no reason in BETTER_WHOLE", found)


class Edges(InSources):
    def test_every_room_includes_the_rooms_of_its_row_and_no_other(self):
        for source, row in ROOMS.items():
            lines = [f'#include "{target}/x.h"' for target in ROOMS]
            for folder in folders_of(source):
                path = f"{folder}/x.cc"
                found = findings({path: licence_of(path) + "\n".join(lines)})
                expected = [f'{path}:{number}: {source} may not include {target} ("{target}/x.h")'
                            for number, target in enumerate(ROOMS, 2) if target != source and target not in row.may_include]
                self.assertEqual(found, expected)
                self.assertGreater(len(found), 10, "each room has many others that it may not include")

    def test_other_spellings_of_a_room(self):
        self.assert_found(WIRE, "#include <roce/link/capture_file.h>", "roce/wire may not include roce/link")
        self.assert_found(WIRE, '#include "../link/capture_file.h"', "roce/wire may not include roce/link")
        self.assert_found(ICRC, '#include "link/byte_source.h"', "roce/wire may not include roce/link")
        self.assert_found("gen/relay/x.cc", '#include "../peer/x.h"', "gen/relay may not include gen/peer")
        self.assert_found("tools/text/x.cc", '  #  include "runtime/x.h"  // why', "text may not include runtime")

    def test_no_program_includes_another(self):
        for path, header in [("gen/relay/x.cc", "replay/send/x.h"), ("replay/converse/x.cc", "gen/exchange/x.h"),
                             ("dissector/analyze/run/x.cc", "wireshark/parts/x.h"),
                             ("dissector/wireshark/parts/x.cc", "analyze/input/x.h")]:
            self.assert_found(path, f'#include "{header}"', "may not include")

    def test_tests_include_everything(self):
        for room in ROOMS:
            if room != rooms.GPL_ROOM:
                self.assert_clean("tests/gen/x.cc", f'#include "{room}/x.h"')

    def test_a_header_beside_the_file(self):
        self.assert_clean("gen/relay/x.cc", '#include "y.h"', **{"gen/relay/y.h": LICENCE})
        self.assert_found("gen/relay/x.cc", '#include "y.h"', "is not in this room")

    def test_rooms_that_there_are_not(self):
        self.assert_found("gen/relay/x.cc", '#include "roce/other/x.h"', "there is no room roce/other")
        self.assert_found("gen/relay/x.cc", '#include "gen/other/x.h"', "there is no room gen/other")
        self.assert_found("gen/relay/x.cc", '#include "text/deeper/x.h"', "there is no room text/deeper")

    def test_folders_without_a_row(self):
        for path in ["libroce/src/other/x.cc", "libroce/include/roce/other/x.h", "libroce/src/wire/deeper/x.cc", "gen/other/x.cc",
                     "tools/other/x.cc", "tools/x.cc", "dissector/analyze/other/x.inc", "dissector/x.cc", "other/x.cc", "x.cc"]:
            found = findings({path: LICENCE + "#include <span>"})
            self.assertEqual(len(found), 1, path)
            self.assertIn("has no row in tests/architecture/rooms.py", found[0])


class Libraries(InSources):
    def test_the_core_includes_the_standard_library_and_expected(self):
        for line in ["#include <span>", "#include <cstdint>", "#include <tl/expected.hpp>", '#include "roce/wire/field.h"',
                     '#include "wire/private.h"', "#  include <array>  // why"]:
            self.assert_clean(WIRE, line)

    def test_io_clock_thread_and_logging_headers(self):
        pure = [room for room, row in ROOMS.items() if row.libraries is not None]
        self.assertIn("roce/transport", pure)
        for header in ["sys/socket.h", "sys/mman.h", "unistd.h", "fcntl.h", "netinet/in.h", "net/if.h", "arpa/inet.h",
                       "linux/if_packet.h", "pcap/pcap.h", "pcap.h", "thread", "mutex", "fstream", "iostream", "cstdio",
                       "stdio.h", "filesystem", "ctime", "time.h", "syslog.h", "spdlog/spdlog.h", "csignal"]:
            for room in pure:
                for folder in folders_of(room):
                    self.assert_found(f"{folder}/x.cc", f"#include <{header}>", header, f"{room} may not include")

    def test_quotes_hide_nothing(self):
        self.assert_found(WIRE, '#include "sys/socket.h"', "sys/socket.h")
        self.assert_found(WIRE, '  #  include "pcap/pcap.h"', "pcap/pcap.h")
        self.assert_found("gen/relay/x.cc", '#include "pcap.h"', "only libroce/src/link/")

    def test_other_libraries_in_the_core(self):
        self.assert_found(WIRE, "#include <fmt/format.h>", "fmt/format.h")
        self.assert_found(WIRE, "#include <nlohmann/json.hpp>", "nlohmann/json.hpp")
        self.assert_clean("libroce/src/json_input/x.cc", "#include <nlohmann/json.hpp>")
        self.assert_clean("replay/rules/x.cc", "#include <fmt/format.h>")

    def test_each_library_has_one_place(self):
        places = {
            "tools/command_line/command_line.cc": ["CLI/CLI.hpp", "CLI/App.hpp"],
            "tools/yaml/x.h": ["yaml-cpp/yaml.h", "yaml-cpp/node/node.h"],
            "tools/metrics/x.cc": ["microhttpd.h"],
            "libroce/src/link/x.cc": ["pcap/pcap.h", "pcap.h", "xdp/xsk.h", "bpf/bpf.h", "zlib.h", "zstd.h"],
            ICRC: ["isa-l/crc.h", "isa-l.h"],
            "dissector/wireshark/epan/x.cc": ["epan/packet.h", "wireshark.h", "wsutil/wmem/wmem.h"],
        }
        elsewhere = ["gen/relay/x.cc", "replay/send/x.cc", "dissector/analyze/run/x.h", "dissector/wireshark/parts/x.cc",
                     "tools/command_line/x.h", "tools/text/x.cc", "libroce/src/live/x.cc", "libroce/src/wire/packet.cc",
                     "libroce/include/roce/link/x.h", "libroce/include/roce/wire/icrc.h"]
        for place, headers in places.items():
            for header in headers:
                self.assert_clean(place, f"#include <{header}>")
                for path in elsewhere:
                    self.assert_found(path, f"#include <{header}>", header, "only")

    def test_libraries_that_even_tests_leave_alone(self):
        self.assert_found("tests/bench/live/x.cc", "#include <CLI/CLI.hpp>", "tools/command_line/command_line.cc")
        self.assert_found("tests/tools/x.cc", "#include <yaml-cpp/yaml.h>", "tools/yaml/")
        self.assert_clean("tests/link/x.cc", "#include <pcap/pcap.h>")

    def test_one_file_reads_json(self):
        for text in ["  auto x = nlohmann::json::parse(text);", "if (Json::accept (text)) {", "json::sax_parse(text, &sax)"]:
            for path in ["gen/relay/x.cc", "dissector/analyze/run/x.cc", "tools/runtime/x.cc", "libroce/src/live/x.cc",
                         "libroce/include/roce/json_input/json_input.h"]:
                self.assert_found(path, text, "libroce/src/json_input/json_input.cc")
            self.assert_clean("libroce/src/json_input/json_input.cc", text)
            self.assert_clean("tests/gen/x.cc", text)
        self.assert_clean("gen/relay/x.cc", "auto x = json_input::parse<nlohmann::json>(text);")

    def test_one_room_loads_yaml(self):
        self.assert_found("gen/frames/x.cc", "YAML::Load(text);", "yaml_input::load")
        self.assert_clean("tools/yaml/x.cc", "YAML::Load(text);")


class Licences(unittest.TestCase):
    def assert_found(self, path, text, words):
        found = findings({path: text})
        self.assertEqual(len(found), 1, found)
        self.assertTrue(found[0].startswith(f"{path}:1: "), found)
        self.assertIn(words, found[0])

    def test_only_the_half_with_epan_is_under_the_gpl(self):
        for room in ROOMS:
            for folder in folders_of(room):
                path = f"{folder}/x.cc"
                right, wrong = (GPL, LICENCE) if room == "wireshark/epan" else (LICENCE, GPL)
                self.assertEqual(findings({path: right}), [])
                self.assert_found(path, wrong, "the licence of this file is " + right.split()[-1])

    def test_tests_that_include_it_are_too(self):
        for header in ["epan/packet.h", "wireshark/epan/fields.h"]:
            path = "tests/dissector/wireshark/x.cc"
            self.assertEqual(findings({path: f"{GPL}#include <{header}>"}), [])
            self.assert_found(path, f"{LICENCE}#include <{header}>", "GPL-2.0-or-later")
        self.assert_found("tests/gen/x.cc", GPL, "BSD-2-Clause")

    def test_no_licence(self):
        for path in ["gen/relay/x.cc", "tests/gen/x.cc", "libroce/src/wire/x.inc"]:
            self.assert_found(path, "#pragma once", "names no licence")


class Process(InSources):
    GUESTS = [room for room, row in ROOMS.items() if row.is_guest]

    def test_guests(self):
        self.assertEqual(set(self.GUESTS), {room for room in ROOMS if room.startswith("roce/")} - {"roce/link"})

    def test_clocks(self):
        self.assert_clean(WIRE, "#include <chrono>")
        self.assert_clean(WIRE, "using Clock = DeviceClock;")
        for path in ["libroce/include/roce/transport/time.h", "libroce/src/json_input/x.cc", "replay/segment/x.cc"]:
            self.assert_found(path, "auto t() { return std::chrono::steady_clock::now(); }", "may not read a clock")
        self.assert_clean(WIRE, "// never std::chrono::steady_clock")
        self.assert_clean("libroce/src/live/x.cc", "Time t() { return of(std::chrono::steady_clock::now()); }")

    def test_signals(self):
        for line in ["  sigprocmask(SIG_BLOCK, &set, nullptr);", "  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);",
                     "  std::signal(SIGINT, stop);", "  ::sigaction(SIGINT, &action, nullptr);", "  fd_ = ::signalfd(-1, &set, 0);"]:
            for room in self.GUESTS:
                self.assert_found(f"{folders_of(room)[1]}/x.cc", line, f"{room} may not handle signals")
        for header in ["csignal", "signal.h", "sys/signalfd.h"]:
            self.assert_found("libroce/src/live/x.cc", f"#include <{header}>", "roce/live may not handle signals")
        self.assert_clean("libroce/src/live/x.cc", "// blocked with sigprocmask")
        self.assert_clean("tools/runtime/x.cc", "#include <csignal>")

    def test_global_variables(self):
        for line in ["int count = 0;", "static int count;", "std::vector<int> lines;", "constinit auto* chosen = &first;",
                     "thread_local Counter counter{};", "inline std::map<int, std::string> names = make();",
                     "std::array<std::atomic<int>, 4> places{};", "unsigned long counts[4];", "  static bool done = false;",
                     "  static std::map<int, int> seen;", "  thread_local int depth = 0;"]:
            for room in self.GUESTS:
                self.assert_found(f"{folders_of(room)[1]}/x.cc", line, f"{room} may not have a global variable")
            self.assert_clean("gen/relay/x.cc", line)
        for path in rooms.GLOBALS:
            self.assert_clean(path, "constinit auto* chosen = &first;")

    def test_what_only_looks_like_a_global_variable(self):
        for line in ["const int kCount = 0;", "constexpr std::array kRows{1, 2};", "  static constexpr int kMost = 3;",
                     "  static const std::map<int, int> kNames{};", "  int count = 0;", "using Names = std::vector<int>;",
                     "Counter make(int from);", "static int next(int from) {", "class Driver;", "namespace roce {", "struct Row {",
                     "template class std::vector<int>;", "// int count = 0;", "  static Counter& of(int number);", "enum class Kind;",
                     "std::string_view Link::name() const {", "namespace fs = std::filesystem;"]:
            self.assert_clean("libroce/src/live/x.cc", line)


class LinkLines(unittest.TestCase):
    def check(self, path, *commands):
        """The findings about a CMakeLists.txt, beside targets of three other rooms."""
        return findings({
            "tools/text/CMakeLists.txt": "add_library(roce_text STATIC x.cc)",
            "tools/options/CMakeLists.txt": "add_library(roce_endpoint_options STATIC x.cc)",
            "gen/relay/CMakeLists.txt": "add_library(roce_gen_relay STATIC x.cc)",
            path: "\n".join(["# " + "SPDX-License-Identifier: BSD-2-Clause", *commands])})

    def assert_found(self, path, commands, line, words):
        found = self.check(path, *commands)
        self.assertEqual(len(found), 1, found)
        self.assertTrue(found[0].startswith(f"{path}:{line}: "), found)
        self.assertIn(words, found[0])

    def test_every_room_links_the_rooms_of_its_row_and_no_other(self):
        targets = {room: f"roce::{room[5:]}" if room.startswith("roce/") else "roce_" + room.replace("/", "_") for room in ROOMS}
        targets["options"] = "roce_endpoint_options"
        files = {f"{folders_of(room)[-1]}/CMakeLists.txt": f"add_library({target} STATIC x.cc)\n"
                 f"target_link_libraries({target} PUBLIC {' '.join(targets.values())} PRIVATE roce_options fmt::fmt)"
                 for room, target in targets.items()}
        expected = {f"{folders_of(room)[-1]}/CMakeLists.txt:2: {room} may not link {targets[other]}, of {other}"
                    for room, row in ROOMS.items() for other in ROOMS
                    if other != room and other not in row.may_include and not other.startswith(room + "/")}
        self.assertEqual(set(findings(files)), expected)

    def test_lines_and_comments(self):
        link = ["target_link_libraries(", "  roce_files", "  PUBLIC roce::link", "  # PRIVATE roce::wire", "  PRIVATE roce_options)"]
        self.assertEqual(self.check("tools/files/CMakeLists.txt", "add_library(roce_files STATIC x.cc)", *link), [])
        self.assert_found("tools/files/CMakeLists.txt", ["target_link_libraries(", "  roce_files", "  PUBLIC roce::wire)"], 2,
                          "files may not link roce::wire")

    def test_the_name_of_a_target_need_not_be_that_of_the_room(self):
        self.assert_found("tools/metrics/CMakeLists.txt", ["target_link_libraries(x PRIVATE roce_endpoint_options)"], 2,
                          "metrics may not link roce_endpoint_options, of options")

    def test_a_program_links_all_of_its_rooms(self):
        self.assertEqual(self.check("gen/CMakeLists.txt", "target_link_libraries(roce_gen_parts INTERFACE roce_gen_relay)"), [])

    def test_targets_of_no_room(self):
        for target in ["roce_static", "roce::roce", "roce_txt"]:
            self.assert_found("gen/peer/CMakeLists.txt", [f"target_link_libraries(x {target})"], 2, f"{target} is the target of no room")

    def test_libraries(self):
        for target in ["CLI11::CLI11", "yaml-cpp", "PkgConfig::MICROHTTPD", "PkgConfig::PCAP", "PkgConfig::ISAL", "epan"]:
            self.assert_found("tools/files/CMakeLists.txt", [f"target_link_libraries(x {target})"], 2, f"may not link {target}")
        self.assertEqual(self.check("tools/metrics/CMakeLists.txt", "target_link_libraries(x PRIVATE PkgConfig::MICROHTTPD)"), [])

    def test_tests_link_everything(self):
        self.assertEqual(self.check("tests/gen/CMakeLists.txt", "target_link_libraries(x roce_gen_relay roce_text)"), [])


class Table(unittest.TestCase):
    def assert_found(self, changes, *words):
        found = list(check_rooms.check_table({**ROOMS, **changes}))
        self.assertEqual(len(found), 1, found)
        for word in words:
            self.assertIn(word, found[0])

    def with_edge(self, name, other):
        return {name: ROOMS[name]._replace(may_include=ROOMS[name].may_include | {other})}

    def test_the_table(self):
        self.assertEqual(list(check_rooms.check_table(ROOMS)), [])

    def test_circles(self):
        self.assert_found(self.with_edge("analyze/input", "analyze/run"), "circle", "analyze/input", "analyze/run")
        self.assert_found(self.with_edge("roce/link", "roce/port"), "circle", "roce/link")
        self.assert_found(self.with_edge("files", "files"), "circle", "files")

    def test_a_room_without_a_row(self):
        self.assert_found(self.with_edge("gen/relay", "gen/other"), "gen/relay includes gen/other, which has no row")

    def test_storeys(self):
        for name, other in [("roce/live", "command_line"), ("runtime", "gen/peer"), ("replay/converse", "gen/exchange"),
                            ("gen/peer", "replay/rules"), ("analyze/input", "wireshark/parts"), ("wireshark/parts", "analyze/input")]:
            self.assert_found(self.with_edge(name, other), f"{name} may not have {other} in its row")

    def test_a_room_without_io_needs_only_such(self):
        self.assert_found(self.with_edge("replay/rules", "roce/link"), "replay/rules does no I/O, but roce/link in its row does")

    def test_the_gpl(self):
        table = {**self.with_edge("wireshark/parts", "wireshark/epan"), "wireshark/epan": ROOMS["roce/wire"]}
        self.assert_found(table, "wireshark/parts may not have wireshark/epan in its row")


class Whole(unittest.TestCase):
    """A tree that has all rooms, each with all of its row, and the same with something missing."""

    @staticmethod
    def tree():
        files = {}
        for room, row in ROOMS.items():
            folder = folders_of(room)[-1]
            files[f"{folder}/x.cc"] = licence_of(f"{folder}/x.cc") + "\n".join(f'#include "{other}/x.h"' for other in row.may_include)
            files[f"{folder}/CMakeLists.txt"] = f"add_library(roce_{room.replace('/', '_')} STATIC x.cc)"
        return files

    def test_complete(self):
        self.assertEqual(findings(self.tree(), is_whole=True), [])

    def test_an_edge_that_is_gone(self):
        for room, row in ROOMS.items():
            for other in row.may_include:
                files = self.tree()
                path = f"{folders_of(room)[-1]}/x.cc"
                files[path] = files[path].replace(f'#include "{other}/x.h"', "")
                self.assertEqual(list(check_rooms.check_completeness({name: text.splitlines() for name, text in files.items()})),
                                 [(check_rooms.TABLE, 1, f"{room} no longer includes {other}: take it out of the row")])

    def test_a_room_that_is_gone_or_not_built(self):
        files = self.tree()
        del files["tools/yaml/x.cc"]
        self.assertEqual(findings(files, is_whole=True), [f"{check_rooms.TABLE}:1: yaml has a row, but no sources"])
        files = self.tree()
        del files["libroce/src/wire/CMakeLists.txt"]
        self.assertEqual(findings(files, is_whole=True), [f"{check_rooms.TABLE}:1: roce/wire has no CMake target"])


class Outside(unittest.TestCase):
    def assert_found(self, line):
        self.assertEqual(len(findings_on_disk({"docs/x.md": line})), 1, line)

    def test_the_reference_folder(self):
        self.assert_found("see ../" + "shared/docs/x.md")
        self.assert_found('"../../' + "shared/x\"")

    def test_paths_of_a_machine(self):
        self.assert_found("/" + "work/main/x")
        self.assert_found("in /" + "home/somebody/x")
        self.assert_found("@TOP@/build")

    def test_other_paths(self):
        for line in ["build/dev", "/usr/lib/x86_64-linux-gnu", "tests/work/x", "$HOME/x", "/tmp/x.pcap", "../sharedness"]:
            self.assertEqual(findings_on_disk({"docs/x.md": line}), [], line)

    def test_captures_are_not_text(self):
        self.assertEqual(findings_on_disk({"captures/x.pcap": "\0 ../" + "shared"}), [])


class Rules(unittest.TestCase):
    # No rule of ours begins with X, so that these are not taken for ones.
    BOOK = "docs/rules.md"
    CODE = "libroce/src/wire/x.cc"
    TEST = "tests/wire/x_test.cc"
    FILES = {
        BOOK: "| rule | what | source | function | test |\n|---|---|---|---|---|\n"
              "| X-SUM-01 | sums | IBTA 9.2 | `sum` | `wire/x_test`, `wire/x_test Sum`, `wire/x_test Sum.Adds` |\n"
              "| X-02 | no test yet | – | `other` | – |",
        CODE: LICENCE + "// X-SUM-01\nvoid sum();  // why (X-02)",
        TEST: LICENCE + "TEST(Sum, Adds) {}\nTEST_P(Difference, Subtracts) {}  // X-02",
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
        self.assertEqual(findings({self.CODE: LICENCE + "// X-SUM-01"}), [], "no book, no rules")

    def test_a_rule_that_the_book_does_not_have(self):
        for path in [self.CODE, self.TEST, "docs/x.md", "gen/relay/x.cc", "scripts/x"]:
            for rule in ["X-03", "X-SUM-1", "X-SUN-01", "X-SUM-DIF-01"]:
                changed = self.FILES.get(path, LICENCE) + f"\n// because of {rule}."
                self.assert_found({path: changed}, path, f"{rule} is not in docs/rules.md")

    def test_what_only_looks_like_a_rule(self):
        for text in ["AX-03", "X-03-2", "X-SUM", "x-03", "3X-03", "X-03a"]:
            self.assertEqual(findings({**self.FILES, "docs/x.md": text}), [], text)

    def test_a_rule_that_the_code_does_not_name(self):
        self.assert_found({self.CODE: LICENCE + "// X-SUM-01"}, f"{self.BOOK}:4: ", "X-02 is named nowhere in libroce")

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
