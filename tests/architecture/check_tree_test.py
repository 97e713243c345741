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


if __name__ == "__main__":
    unittest.main()
