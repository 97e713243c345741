# SPDX-License-Identifier: BSD-2-Clause
"""The command line of roce-run: what it refuses, and what the program that it runs gets.

usage: run_test.py ROCE_RUN [UNITTEST ARGUMENT...]
"""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest

# All of 127.0.0.0/8 is this machine's own; other tests use other addresses.
ADDRESS = f"127.91.{os.getpid() >> 8 & 255}.{os.getpid() & 255 or 1}"


class RunTest(unittest.TestCase):
    def run_it(self, *arguments, **environment):
        return subprocess.run([ROCE_RUN, *arguments], capture_output=True, text=True, check=False,
                              env={**os.environ, **environment}, timeout=60)

    def refused(self, *arguments):
        """The one line with which arguments are refused."""
        run = self.run_it(*arguments)
        self.assertEqual((run.returncode, run.stdout), (2, ""), run.stderr)
        self.assertTrue(run.stderr.startswith("roce-run: "), run.stderr)
        self.assertEqual(run.stderr.count("\n"), 1, run.stderr)
        return run.stderr

    def copy_of_true(self, mode):
        folder = tempfile.mkdtemp(prefix="roce-run-")
        self.addCleanup(shutil.rmtree, folder)
        path = os.path.join(folder, "copy")
        shutil.copy(shutil.which("true"), path)
        os.chmod(path, mode)
        return path

    def test_gives_the_program_its_arguments_and_the_library(self):
        script = 'printf "%s|" "$@" "$ROCE_VERBS_ADDRESS" "$LD_LIBRARY_PATH"'
        run = self.run_it("--address", ADDRESS, "sh", "-c", script, "sh", "-n", "--address", "x y", LD_LIBRARY_PATH="/other")
        self.assertEqual(run.stderr, "")
        *words, address, libraries, _ = run.stdout.split("|")
        self.assertEqual((words, address), (["-n", "--address", "x y"], ADDRESS))
        ours, others = libraries.split(":")
        self.assertTrue(os.path.exists(os.path.join(ours, "libibverbs.so.1")), ours)
        self.assertEqual(others, "/other")

    def test_many_may_make_the_tree_at_once(self):
        for _ in range(5):
            with tempfile.TemporaryDirectory(prefix="roce-run-") as folder:
                environment = {**os.environ, "XDG_RUNTIME_DIR": folder}
                # A file of the tree, and one behind a link.
                files = ["/sys/class/infiniband/roce_lo/ports/1/counters/link_downed", "/sys/class/infiniband_verbs/uverbs0/device/numa_node"]
                runs = [subprocess.Popen([ROCE_RUN, "cat", *files], env=environment,
                                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) for _ in range(8)]
                for run in runs:
                    said, _ = run.communicate(timeout=60)
                    self.assertEqual((run.returncode, said), (0, "0\n-1\n"))

    def test_shows_the_device_where_programs_look_for_the_kernels(self):
        script = """import ctypes, os
device = "/sys/class/infiniband/roce_lo"
print(sorted(os.listdir("/sys/class/infiniband")), os.listdir(device + "/device/net"))
print(open(device + "/ports/1/gid_attrs/types/0").read().strip(), open(device + "/ports/1/gids/0").read().strip())
print(os.listdir("/dev/infiniband"), os.path.realpath("/dev/infiniband/uverbs0"), os.access("/dev/infiniband/uverbs0", os.R_OK | os.W_OK))
print(os.path.exists("/sys/class/infiniband_verbs/abi_version"), os.path.exists("/sys/class/infiniband/roce_eth7"))
stat = ctypes.create_string_buffer(1024)
old = [ctypes.CDLL(None)[name](1, path, stat) for name in ("__xstat", "__lxstat64") for path in (b"/sys/class/infiniband/roce_lo", b"/etc")]
print(old, ctypes.CDLL(None)["__xstat"](1, b"/sys/class/infiniband/roce_eth7", stat))
print(os.path.isdir("/sys/class/net"), os.environ["LD_PRELOAD"].split(":")[1])"""
        folder = tempfile.mkdtemp(prefix="roce-run-")
        self.addCleanup(shutil.rmtree, folder)
        # A library that is there, and has nothing that anybody needs.
        other = subprocess.run([sys.executable, "-c", "import ctypes.util; print(ctypes.util.find_library('dl'))"],
                               capture_output=True, text=True, check=True).stdout.strip()
        for again in range(2):
            if again:  # the tree is there, and the interfaces were others
                infiniband = os.path.join(folder, "roce", ADDRESS, "sys/class/infiniband")
                shutil.copytree(os.path.join(infiniband, "roce_lo"), os.path.join(infiniband, "roce_eth7"), symlinks=True)
                os.symlink("/dev/null", os.path.join(folder, "roce", ADDRESS, "dev/infiniband/uverbs1"))
            run = self.run_it("--address", ADDRESS, sys.executable, "-c", script, XDG_RUNTIME_DIR=folder, LD_PRELOAD=other)
            self.assertEqual(run.stderr, "")
            octets = [int(octet) for octet in ADDRESS.split(".")]
            gid = "0000:0000:0000:0000:0000:ffff:{:02x}{:02x}:{:02x}{:02x}".format(*octets)
            self.assertEqual(run.stdout.splitlines(), ["['roce_lo'] ['lo']", f"RoCE v2 {gid}", "['uverbs0'] /dev/null True", "True False", "[0, 0, 0, 0] -1",
                                                       f"True {other}"])

    def test_a_program_may_unload_the_library_with_a_device_open(self):
        script = """import _ctypes, ctypes
library = ctypes.CDLL("libibverbs.so.1")
library.ibv_get_device_list.restype = ctypes.POINTER(ctypes.c_void_p)
library.ibv_open_device.argtypes = [ctypes.c_void_p]
library.ibv_open_device.restype = ctypes.c_void_p
print(library.ibv_open_device(library.ibv_get_device_list(None)[0]) is not None)
_ctypes.dlclose(library._handle)
print(any("libibverbs.so.1" in line for line in open("/proc/self/maps")))"""
        run = self.run_it("--address", ADDRESS, sys.executable, "-c", script)
        self.assertEqual((run.returncode, run.stdout, run.stderr), (0, "True\nTrue\n", ""))

    def test_makes_a_folder_that_is_not_of_the_group(self):
        folder = tempfile.mkdtemp(prefix="roce-run-")
        self.addCleanup(shutil.rmtree, folder)
        before = os.umask(0o002)
        self.addCleanup(os.umask, before)
        run = self.run_it("--address", ADDRESS, "true", XDG_RUNTIME_DIR=folder)
        self.assertEqual((run.returncode, run.stderr), (0, ""))

    def test_refuses_a_folder_that_others_can_write(self):
        folder = tempfile.mkdtemp(prefix="roce-run-")
        self.addCleanup(shutil.rmtree, folder)
        os.mkdir(os.path.join(folder, "roce"))
        os.chmod(os.path.join(folder, "roce"), 0o777)
        run = self.run_it("--address", ADDRESS, "true", XDG_RUNTIME_DIR=folder)
        self.assertEqual(run.returncode, 2)
        self.assertIn(f"{folder}/roce: it has to be a folder of this user that nobody else can write", run.stderr)

    def test_ends_as_the_program_ends(self):
        self.assertEqual(self.run_it("--address", ADDRESS, "sh", "-c", "exit 7").returncode, 7)

    def test_refuses_addresses_of_nobody(self):
        self.assertIn("expected an IP address, found 'lo'", self.refused("--address", "lo", "true"))
        self.assertIn("no interface of this machine that is up has the address", self.refused("--address", "192.0.2.1", "true"))

    def test_refuses_an_address_in_use(self):
        # One at which no roce-portd waits for the next program.
        address = ADDRESS.replace("127.91.", "127.94.")
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
            other.bind((address, 4791))
            for how in ("", "inside"):
                run = self.run_it("--address", address, "true", ROCE_VERBS_PORTD=how)
                self.assertEqual((run.returncode, run.stderr.count("\n")), (2, 1), run.stderr)
                self.assertIn("the port is taken", run.stderr)
        self.assertEqual(self.run_it("--address", address, "true").returncode, 0)

    def test_says_that_a_part_of_the_package_is_missing(self):
        folder = tempfile.mkdtemp(prefix="roce-run-")
        self.addCleanup(shutil.rmtree, folder)
        where = self.run_it("--address", ADDRESS, "printenv", "LD_LIBRARY_PATH").stdout.split(":")[0].strip()
        bin_folder = os.path.dirname(os.path.realpath(ROCE_RUN))
        libraries = os.path.normpath(os.path.join(folder, os.path.relpath(bin_folder, "/"), os.path.relpath(where, bin_folder)))
        os.makedirs(libraries)
        copy = os.path.join(folder, os.path.relpath(bin_folder, "/"), "roce-run")
        os.makedirs(os.path.dirname(copy), exist_ok=True)
        shutil.copy(ROCE_RUN, copy)
        for name in ("libibverbs.so.1", "libroce-paths.so"):
            shutil.copy(os.path.join(where, name), libraries)
        run = subprocess.run([copy, "--address", ADDRESS, "true"], capture_output=True, text=True, check=False)
        self.assertEqual((run.returncode, run.stderr.count("\n")), (2, 1), run.stderr)
        self.assertIn("there is no roce-portd in", run.stderr)

    def test_refuses_programs_that_would_not_take_the_library(self):
        self.assertIn("set-uid", self.refused(self.copy_of_true(0o4755)))
        with open(self.copy_of_true(0o755), "r+b") as copy:
            # Without the entry that names the dynamic linker, a program is one that nothing is loaded for.
            data = bytearray(copy.read())
            for i in range(int.from_bytes(data[56:58], "little")):
                entry = 64 + i * 56
                if data[entry] == 3:
                    data[entry] = 0
            copy.seek(0)
            copy.write(data)
            name = copy.name
        self.assertIn("linked statically", self.refused(name))

    def test_refuses_what_is_no_program(self):
        self.assertIn("no program given", self.refused())
        self.assertIn("no option --adress", self.refused("--adress", ADDRESS, "true"))
        self.assertIn("no program 'no-such-program' in any folder of PATH", self.refused("no-such-program"))
        self.assertIn("No such file or directory", self.refused("./no-such-program"))
        self.assertIn("Permission denied", self.refused(self.copy_of_true(0o644)))

    def test_says_what_will_work(self):
        run = self.run_it("--address", ADDRESS, "--check", "true")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertIn(f"{ADDRESS}: UDP port 4791 can be shared by 255 processes", run.stdout)
        self.assertIn("/true: takes the library", run.stdout)


if __name__ == "__main__":
    ROCE_RUN = sys.argv.pop(1)
    unittest.main()
