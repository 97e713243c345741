#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The tests of rdma-core's pyverbs, as Debian has them, over our libibverbs and librdmacm.

usage: pyverbs.py ROCE_RUN [--write]

Those that pass are listed by the version of rdma-core in pyverbs-VERSION.passed: one more or one fewer is a failure; --write
writes the list. Exits with 77 where the packages rdma-core and python3-pyverbs are not installed, or of a version without a list,
and where no network namespace can be made: the tests of librdmacm want the first address of the interface, which others use."""

import gzip
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "gen"))

from live import enter_namespaces

SOURCE = pathlib.Path("/usr/share/doc/rdma-core/tests")
PYTHON = "/usr/bin/python3"  # Debian's own: pyverbs is a module of it
ADDRESS = "127.0.0.1"
SECONDS = 300
# They want an RNIC of a vendor.
OUT_OF_REACH = ("tests.test_mlx5", "tests.test_efa")
# Its client posts the receive for the answer after it has seen that its message arrived, and the RNR retry count of both is 0: on a busy
# machine the answer comes before (once in ten runs beside four programs that take the processor).
RACES = {"tests.test_rdmacm.CMTestCase.test_rdmacm_async_traffic_external_qp"}


def list_of_passed():
    """The file for the version that is installed."""
    version = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", "rdma-core"], capture_output=True, text=True, check=True).stdout
    return pathlib.Path(__file__).parent / f"pyverbs-{version.split('.')[0]}.passed"


def unpack(folder):
    """Puts the tests, of which Debian compresses the longer ones, into a folder."""
    for file in SOURCE.iterdir():
        if file.suffix == ".gz":
            (folder / file.stem).write_bytes(gzip.decompress(file.read_bytes()))
        else:
            shutil.copy(file, folder)


def pose_as_rdma(folder):
    """Puts a program `rdma` into a folder: later releases ask iproute2's, which asks the kernel, for the interface of a device."""
    rdma = folder / "rdma"
    rdma.write_text("""#!/bin/sh\necho '[{"ifname": "roce_lo", "port": 1, "netdev": "lo"}]'\n""", encoding="ascii")
    rdma.chmod(0o755)


def start_by_fork(folder):
    """Lets Python of this folder start processes by fork: a test hands its own to them, and those of Python 3.14 cannot be pickled."""
    (folder / "sitecustomize.py").write_text("import multiprocessing\nmultiprocessing.set_start_method('fork')\n", encoding="ascii")


def run(program):
    """-> the names of the tests that pass, and of those that fail; what was printed."""
    with tempfile.TemporaryDirectory(prefix="pyverbs-") as name:
        tests = pathlib.Path(name) / "tests"
        tests.mkdir()
        unpack(tests)
        pose_as_rdma(pathlib.Path(name))
        start_by_fork(pathlib.Path(name))
        command = [program, "--address", ADDRESS, PYTHON, "-B", "-W", "ignore::DeprecationWarning", tests / "run_tests.py", "--dev", "roce_lo", "-v"]
        done = subprocess.run(command, cwd=name, capture_output=True, text=True, timeout=SECONDS, check=False,
                              env={**os.environ, "PATH": f"{name}:{os.environ['PATH']}", "PYTHONPATH": name})
    passed, failed, test = set(), set(), None
    for line in done.stderr.splitlines():
        # The result of a test with a docstring is in a line of its own.
        if found := re.match(r"test_\w+ \((tests\.[\w.]+)\)", line):
            test = found[1]
        if test and (end := re.search(r"\.\.\. .*?(ok|FAIL|ERROR|skipped .*)$", line)):
            if end[1] == "ok":
                passed.add(test)
            elif not end[1].startswith("skipped"):
                failed.add(test)
            test = None
    # Output of the tests themselves may stand between a name and its result.
    failed |= set(re.findall(r"(?m)^(?:FAIL|ERROR): test_\w+ \((tests\.[\w.]+)\)", done.stderr))
    return passed - failed, failed, done.stdout + done.stderr


def main(arguments):
    if not SOURCE.exists() or subprocess.run([PYTHON, "-c", "import pyverbs"], capture_output=True, check=False).returncode:
        print("skipped: the packages rdma-core (with its documentation) and python3-pyverbs are not installed")
        return 77
    listed = list_of_passed()
    is_writing = arguments[1:] == ["--write"]
    if not is_writing and not listed.exists():
        print(f"skipped: there is no list of what passes with this rdma-core ({listed.name})")
        return 77
    enter_namespaces()
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    passed, failed, said = run(pathlib.Path(arguments[0]).resolve())
    failed = {test for test in failed if not test.startswith(OUT_OF_REACH)}
    passed = {test for test in passed if not test.startswith(OUT_OF_REACH)}
    if is_writing:
        listed.write_text("\n".join(sorted(passed)) + "\n", encoding="ascii")
        return 0
    expected = set(listed.read_text(encoding="ascii").split())
    if lost := failed & RACES & expected:
        print(f"{', '.join(lost)}: lost its race{', once more' if failed == lost else ''}")
        if failed == lost:
            passed, failed, said = run(pathlib.Path(arguments[0]).resolve())
            passed, failed = ({test for test in tests if not test.startswith(OUT_OF_REACH)} for tests in (passed, failed))
    for what, tests in (("failed", failed), ("does not pass any more", expected - passed - failed), ("passes now", passed - expected)):
        for test in sorted(tests):
            print(f"{test}: {what}")
    if failed:
        print(said)
    print(f"{len(passed)} tests pass, {len(failed)} fail")
    return int(bool(failed) or passed != expected)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
