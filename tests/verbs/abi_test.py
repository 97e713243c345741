# SPDX-License-Identifier: BSD-2-Clause
"""The symbols of our libibverbs.so.1 and librdmacm.so.1, compared with those of rdma-core, and with what programs and drivers
ask for.

usage: abi_test.py LIBIBVERBS LIBRDMACM [UNITTEST ARGUMENT...]

rdma-core's library is that of the system. Programs that are not installed are not looked at.
"""

import glob
import os
import re
import shutil
import subprocess
import sys
import unittest

PROGRAMS = ("ibv_devices", "ibv_devinfo", "ibv_rc_pingpong", "ibv_uc_pingpong", "ibv_ud_pingpong", "ibv_srq_pingpong",
            "ib_write_bw", "ib_send_bw", "ib_read_bw", "ib_atomic_bw", "ib_write_lat", "ib_send_lat", "ib_read_lat")
LIBRARIES = ("libmlx5.so.1", "libmlx4.so.1", "libefa.so.1", "librdmacm.so.1")
LINE = re.compile(r"^[0-9a-f]+ .{7} (\S+)\t[0-9a-f]+ +\(?(\w[\w.]*)\)? +(?:\.hidden )?(\S+)$")


def symbols(path):
    """(defined, symbol, node) of each dynamic symbol with a version."""
    text = subprocess.run(["objdump", "-T", path], capture_output=True, text=True, check=True).stdout
    matches = filter(None, map(LINE.match, text.splitlines()))
    return {(match[1] != "*UND*", match[3], match[2]) for match in matches}


def exported(path):
    """(symbol, node) of all that a library has, the nodes themselves left out."""
    return {(name, node) for defined, name, node in symbols(path) if defined and name != node}


def asked_for(path):
    """(symbol, node) of all that a file wants from libibverbs."""
    return {(name, node) for defined, name, node in symbols(path) if not defined and node.startswith("IBVERBS_")}


def library(name):
    """The path of a library of the system, or None."""
    for line in subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=True).stdout.splitlines():
        if line.strip().startswith(name + " "):
            return line.split(" => ")[1]
    return None


class AbiTest(unittest.TestCase):
    def test_has_all_that_rdma_core_has(self):
        theirs = exported(library("libibverbs.so.1"))
        # Node 1.1 has these anew, and programs built since 2008 use that.
        renewed = {name for name, node in theirs if node == "IBVERBS_1.1"}
        expected = {(name, node) for name, node in theirs if node != "IBVERBS_1.0" or name not in renewed}
        self.assertGreater(len(expected), 100)
        self.assertEqual(expected - exported(OURS), set())

    def test_has_all_that_programs_and_drivers_ask_for(self):
        files = [path for path in map(shutil.which, PROGRAMS) if path] + [path for path in map(library, LIBRARIES) if path]
        files += glob.glob(os.path.join(os.path.dirname(library("libibverbs.so.1")), "libibverbs", "*.so"))
        ours = exported(OURS)
        for file in files:
            with self.subTest(file):
                self.assertEqual(asked_for(file) - ours, set())
        self.assertTrue(any(asked_for(file) for file in files))

    def test_has_all_of_librdmacm(self):
        theirs = exported(library("librdmacm.so.1"))
        self.assertGreater(len(theirs), 60)
        ours = exported(CM)
        self.assertEqual(theirs - ours, set())
        self.assertEqual({(name, node) for name, node in ours if not node.startswith("RDMACM_")}, set())
        # Of releases up to 65.
        self.assertEqual({("rdma_write_cm_event", "RDMACM_1.4"), ("repoll_wait", "RDMACM_1.5")} - ours, set())

    def test_knows_the_private_nodes_of_other_releases(self):
        ours = exported(OURS)
        for node in (25, 33, 34, 57, 59, 64, 65):
            self.assertIn((f"verbs_register_driver_{node}", f"IBVERBS_PRIVATE_{node}"), ours)
            self.assertIn(("verbs_set_ops", f"IBVERBS_PRIVATE_{node}"), ours)

    def test_has_functions_of_later_releases(self):
        later = {("ibv_reg_mr_ex", "IBVERBS_1.15"), ("ibv_query_port_speed", "IBVERBS_1.16"), ("ibv_alloc_buf", "IBVERBS_1.17"),
                 ("ibv_create_comp_cntr", "IBVERBS_1.18"), ("ibv_cmd_create_cq_ex2", "IBVERBS_PRIVATE_34"),
                 ("ibv_cmd_alloc_dmah", "IBVERBS_PRIVATE_65")}
        self.assertEqual(later - exported(OURS), set())

    def test_shows_nothing_else(self):
        strangers = {(name, node) for name, node in exported(OURS) if not node.startswith("IBVERBS_")}
        self.assertEqual(strangers, set())
        text = subprocess.run(["nm", "-D", "--defined-only", OURS], capture_output=True, text=True, check=True).stdout
        self.assertNotIn("_Z", text)

    def test_needs_no_library_but_that_of_c_and_the_crc(self):
        text = subprocess.run(["objdump", "-p", OURS], capture_output=True, text=True, check=True).stdout
        needed = set(re.findall(r"NEEDED +(\S+)", text))
        others = {name for name in needed if not name.startswith("ld-linux")} - {"libisal.so.2", "libc.so.6", "libm.so.6"}
        self.assertEqual(others, set())
        self.assertRegex(text, r"SONAME +libibverbs\.so\.1\n")


if __name__ == "__main__":
    OURS, CM = sys.argv.pop(1), sys.argv.pop(1)
    unittest.main()
