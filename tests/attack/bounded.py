# SPDX-License-Identifier: BSD-2-Clause
"""One run of a program within limits, and what it did: nothing that a capture holds may make it crash, hang, or take the machine."""

import os
import pathlib
import re
import resource
import select
import signal
import subprocess
import tempfile
import time

GIB = 1 << 30
MIB = 1 << 20
SECONDS = 5
# Sanitizers make the worst file 17 times as slow; what hangs takes longer than this as well.
SANITIZED_SECONDS = 60
PATIENCE = 120  # seconds on the wall, whatever the machine has else to do
MEMORY = GIB
OUTPUT = 64 * MIB  # bytes, of standard output, or of a file that is written
# Beyond MEMORY, which is judged; this one only keeps the machine alive.
ADDRESS_SPACE = 4 * GIB
SANITIZER_SAYS = re.compile(rb"(ERROR|WARNING): \w+Sanitizer|runtime error: |: Assertion |terminate called", re.MULTILINE)


def environment():
    """That of the programs: a finding of a sanitizer is a signal and no exit code that means something else."""
    return {**os.environ, "ASAN_OPTIONS": "abort_on_error=1:exitcode=86:allocator_may_return_null=0",
            "UBSAN_OPTIONS": "halt_on_error=1:abort_on_error=1:print_stacktrace=1", "TZ": "UTC"}


def time_kept_waiting(pid):
    """Seconds for which the program's first thread could have run and had no processor: not its fault."""
    try:
        return int(pathlib.Path(f"/proc/{pid}/schedstat").read_text(encoding="ascii").split()[1]) / 1e9
    except (OSError, IndexError, ValueError):
        return 0


class Run:
    """What a program did: `code` (negative: the signal that ended it), `seconds` (without those it waited for a processor),
    `rss` in bytes, `output`, `error`."""

    def __init__(self, code, seconds, rss, output, error, stopped):
        self.code = code
        self.seconds = seconds
        self.rss = rss
        self.output = output
        self.error = error
        self.stopped = stopped  # it had to be killed

    @property
    def first_line(self):
        lines = self.error.decode("utf-8", "replace").splitlines()
        return lines[0] if lines else ""


def limit_this_process(sanitized):
    """What this program starts inherits the limits. Sanitizers need their shadow's address space."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if not sanitized:
        resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))


def run(command, stdin=None, seconds=SECONDS, output_limit=OUTPUT, **more):
    """Runs it to its end, or kills it after `seconds` of which it did not wait for a processor."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as error:
        begun = time.monotonic()
        process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL if stdin is None else stdin,
                                   stdout=output, stderr=error, env=environment(), close_fds=False, **more)
        watch = os.pidfd_open(process.pid)
        stopped, waited = False, 0.0
        try:
            while not select.select([watch], [], [], 0.5)[0]:
                waited = time_kept_waiting(process.pid)
                elapsed = time.monotonic() - begun
                too_much = os.fstat(output.fileno()).st_size > output_limit
                if elapsed - waited > seconds or elapsed > PATIENCE or too_much:
                    process.kill()
                    stopped = True
                    break
        finally:
            os.close(watch)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        elapsed = time.monotonic() - begun - waited
        output.seek(0)
        error.seek(0)
        return Run(process.returncode, elapsed, usage.ru_maxrss * 1024, output.read(output_limit + 1), error.read(MIB), stopped)


def judge(result, sanitized, codes, seconds=None, memory=MEMORY, output_limit=OUTPUT):
    """(kind, sentence) of each promise that the run broke."""
    seconds = seconds or (SANITIZED_SECONDS if sanitized else SECONDS)
    broken = []
    if len(result.output) > output_limit:
        broken.append(("output", f"more than {output_limit // MIB} MiB of output"))
    elif result.stopped or result.seconds > seconds:
        broken.append(("hang", f"{result.seconds:.1f} s"))
    said = SANITIZER_SAYS.search(result.error)
    if result.code < 0 and not result.stopped:
        broken.append(("crash", f"{signal.Signals(-result.code).name}: {last_words(result.error)}"))
    elif said:
        broken.append(("crash", last_words(result.error)))
    elif result.code not in codes and not result.stopped:
        broken.append(("exit code", f"exit code {result.code}: {result.first_line}"))
    elif result.code > 0 and not result.error.strip():
        broken.append(("silent", f"exit code {result.code}, and nothing on standard error"))
    if result.rss > memory and not sanitized:
        broken.append(("memory", f"{result.rss // MIB} MiB of memory"))
    return broken


def last_words(error):
    """What of a crash's output says where it was."""
    lines = error.decode("utf-8", "replace").splitlines()
    telling = [line.strip() for line in lines if re.search(r"Sanitizer|runtime error|terminate called|what\(\)|Assertion|^ *#[0-3] ", line)]
    return " | ".join(telling[:5] or lines[-2:])[:600]
