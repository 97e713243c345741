# SPDX-License-Identifier: BSD-2-Clause
"""Checks the dependency rule on the include lines of libroce and the programs, that one file alone includes CLI11, one folder yaml-cpp, and that one
file alone reads JSON, that no file of the tree needs anything outside it, and that docs/rules.md and the code name the same rules and the tests that there
are.

usage: check_tree.py FOLDER

Prints one line a finding (file:line: what) and exits with 1 if there is any.
"""

import os
import re
import subprocess
import sys

# Which folders of libroce the headers and sources of each may include.
MAY_INCLUDE = {
    "wire": {"wire"},
    "transport": {"wire", "transport"},
    "cm": {"wire", "transport", "cm"},
    "impair": {"wire", "impair"},
    "analysis": {"wire", "analysis"},
    "link": {"link"},
    "port": {"wire", "transport", "link", "port"},
}

# Which folders of libroce, and which of other programs, the files of a program may include besides its own.
PROGRAMS = {
    "gen": {"wire", "transport", "cm", "impair", "link", "port", "analyze"},
    "dissector/analyze": {"wire", "analysis", "link"},
    "replay": {"wire", "transport", "cm", "impair", "analysis", "link", "port", "gen"},
}

# Likewise what the programs share.
SHARED = {
    "tools/command_line": set(),
    "tools/files": {"link"},
    "tools/runtime": {"wire"},
}

# Folders that take bytes and times as arguments: no I/O, no clock, no thread, no logging, and of other libraries only
# what is listed here.
PURE = {"wire", "transport", "cm", "impair", "analysis"}
PURE_LIBRARIES = {"tl/expected.hpp"}
# The CRC library is an implementation detail of these files alone.
CRC_FILES = re.compile(r"libroce/src/wire/icrc[a-z_]*\.cc$")
CRC_LIBRARY = re.compile(r"(isa-l/\w+\.h|isa-l\.h|crc\.h)$")

# Headers of the standard library that are I/O, a clock, threads or logging. Not <chrono>: its durations are how the core
# speaks of time. CLOCK forbids its clocks.
IMPURE_STANDARD = {
    "barrier", "condition_variable", "csignal", "cstdio", "ctime", "filesystem", "fstream", "future", "iostream",
    "latch", "mutex", "print", "semaphore", "shared_mutex", "stop_token", "syncstream", "thread",
}
CLOCK = re.compile(r"\b(system|steady|high_resolution|utc|tai|gps|file)_clock\b|\bclock_gettime\b|\bgettimeofday\b")

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')

# CLI11 takes a compiler ten seconds and more for each file that includes it.
COMMAND_LINE = "tools/command_line/command_line.cc"
COMMAND_LINE_LIBRARY = re.compile(r"CLI/\w+\.hpp$")

# YAML from outside is read within bounds: whoever loads it elsewhere has none.
YAML_FOLDER = "tools/yaml_input/"
YAML_LIBRARY = re.compile(r"yaml-cpp/[\w/]+\.h$")

# What somebody else wrote is read within bounds, in one place.
JSON_INPUT = "tools/json_input/json_input.cc"
JSON_READING = re.compile(r"\b(?:json|Json)::(?:parse|accept|sax_parse|from_\w+)\s*\(")

# Spelled so that this file does not contain what it looks for.
OUTSIDE = re.compile(r"\.\./" + r"shared\b")
# The folders in which people and machines keep their checkouts.
MACHINE_PATH = re.compile(r"(?<![\w.$}/-])/(?:" + "|".join(["work", "farm", "root", "home"]) + r")/\w")

BUILD_FOLDERS = {".git", "build", ".cache"}

# A row of a table of rules: identifier, what, source, function, test.
RULES = "docs/rules.md"
RULE_ROW = re.compile(r"\| ([A-Z]+(?:-[A-Z]+)*-\d+) \|(.*)\|$")
# A test that a rule names: a file in tests/, and the suite or the test in it where one is meant.
RULE_TEST = re.compile(r"`([\w/]+)(?: (\w+)(?:\.(\w+))?)?`$")
NO_TEST = "–"


def files_of(top):
    """The files of the tree, relative to top: what git would commit, or everything where git does not know the tree."""
    listing = subprocess.run(
        ["git", "-c", "safe.directory=*", "-C", top, "ls-files", "-co", "--exclude-standard", "-z"],
        capture_output=True, check=False) if os.path.exists(os.path.join(top, ".git")) else None
    if listing is not None and listing.returncode == 0:
        names = [os.fsdecode(name) for name in listing.stdout.split(b"\0") if name]
        return sorted(name for name in names if os.path.isfile(os.path.join(top, name)))
    found = []
    for folder, folders, names in os.walk(top):
        folders[:] = [name for name in folders if name not in BUILD_FOLDERS]
        found += [os.path.relpath(os.path.join(folder, name), top) for name in names]
    return sorted(found)


def folder_of(path):
    """The folder of libroce ("wire", "link", …) that a file belongs to, or None."""
    match = re.match(r"libroce/(?:include/roce|src)/([^/]+)/", path)
    return match.group(1) if match else None


def included_folder(path, quoted, name):
    """The folder of libroce that an include line of `path` names, or None if it names none."""
    if name.startswith("roce/"):
        return name.split("/")[1]
    if not quoted:
        return None
    if name.startswith("."):
        return folder_of(os.path.normpath(os.path.join(os.path.dirname(path), name)))
    first = name.split("/")[0]
    return first if "/" in name and first in MAY_INCLUDE else None


def check_include(path, quoted, name):
    """What is wrong with one include line, or None."""
    folder = folder_of(path)
    target = included_folder(path, quoted, name)
    if target is not None:
        if target in MAY_INCLUDE[folder]:
            return None
        return f"{folder} may not include {target} (\"{name}\")"
    if folder not in PURE or (quoted and "/" not in name):
        return None
    if CRC_FILES.match(path) and CRC_LIBRARY.match(name):
        return None
    if name in PURE_LIBRARIES:
        return None
    if name in IMPURE_STANDARD:
        return f"{folder} may not include <{name}>: no I/O, clock, threads or logging there"
    if "/" in name or "." in name:
        return f"{folder} may not include <{name}>: the standard library and {', '.join(sorted(PURE_LIBRARIES))} only"
    return None


def check_source(path, lines):
    """Findings (line number, text) of one file of libroce."""
    folder = folder_of(path)
    for number, line in enumerate(lines, 1):
        match = INCLUDE.match(line)
        if match:
            finding = check_include(path, match.group(1) == '"', match.group(2))
            if finding:
                yield number, finding
        elif folder in PURE and CLOCK.search(line.split("//")[0]):
            yield number, f"{folder} may not read a clock"


def check_program(path, lines):
    """Findings (line number, text) of one source file of a program, or of what programs share."""
    allowed = {**PROGRAMS, **SHARED}
    program = next((folder for folder in allowed if path.startswith(folder + "/")), None)
    if program is None:
        return
    others = {os.path.basename(folder) for folder in PROGRAMS} - {os.path.basename(program)}
    for number, line in enumerate(lines, 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        folders = match.group(2).split("/")
        target = folders[1] if folders[0] == "roce" else folders[0] if folders[0] in others else None
        if target is not None and target not in allowed[program]:
            yield number, f"{program} may not include {target} (\"{match.group(2)}\")"


def check_command_line(path, lines):
    """Findings (line number, text) of one source file: CLI11 anywhere but behind our own headers."""
    for number, line in enumerate(lines, 1):
        match = INCLUDE.match(line)
        if match and COMMAND_LINE_LIBRARY.match(match.group(2)) and path != COMMAND_LINE:
            yield number, f"only {COMMAND_LINE} includes <{match.group(2)}>: see command_line/program.h"


def check_yaml(path, lines):
    """Findings (line number, text) of one source file: yaml-cpp anywhere but behind its bounds."""
    for number, line in enumerate(lines, 1):
        match = INCLUDE.match(line)
        if match and YAML_LIBRARY.match(match.group(2)) and not path.startswith(YAML_FOLDER):
            yield number, f"only {YAML_FOLDER} includes <{match.group(2)}>: see yaml_input/yaml_input.h"
        if "YAML::Load" in line and not path.startswith(YAML_FOLDER):
            yield number, "YAML is loaded by yaml_input::load, which has bounds"


def check_json_input(path, lines):
    """Findings (line number, text) of one source file: JSON read by the library itself, but in tests."""
    if path.startswith("tests/") or path == JSON_INPUT:
        return
    for number, line in enumerate(lines, 1):
        if JSON_READING.search(line.split("//")[0]):
            yield number, f"only {JSON_INPUT} reads JSON: see json_input/json_input.h"


def check_text(top, lines):
    """Findings of any text file: references to what is outside the tree."""
    checkout = re.compile(r"(?<![\w.$}/-])" + re.escape(top) + r"(?![\w-])")
    for number, line in enumerate(lines, 1):
        if OUTSIDE.search(line):
            yield number, "refers to a folder outside the repository"
        if MACHINE_PATH.search(line) or (top.count("/") > 1 and checkout.search(line)):
            yield number, "has an absolute path of a machine"


def check_rule_tests(cell, files):
    """What is wrong with the tests that a rule names; `files` are the lines of each file by its name."""
    if cell == NO_TEST:
        return
    for item in cell.split(", "):
        match = RULE_TEST.match(item)
        if not match:
            yield f"{item} does not name a test: write `folder/file_test`, `folder/file_test Suite` or {NO_TEST}"
            continue
        name, suite, test = match.groups()
        path = next((path for path in (f"tests/{name}.cc", f"tests/{name}.py") if path in files), None)
        if path is None:
            yield f"there is no test file tests/{name}.cc"
        elif suite is not None:
            heads = [f"{macro}({suite}, {test + ')' if test else ''}" for macro in ("TEST", "TEST_F", "TEST_P")]
            if not any(line.startswith(tuple(heads)) for line in files[path]):
                yield f"{path} has no test {suite}{'.' + test if test else ''}"


def check_rules(files):
    """Findings (path, line number, text): rules that only the book or only the code knows, and tests that do not exist.

    `files` are the lines of each file by its name.
    """
    rules = {}
    for number, line in enumerate(files.get(RULES, []), 1):
        match = RULE_ROW.match(line)
        if not match:
            continue
        if match.group(1) in rules:
            yield RULES, number, f"{match.group(1)} is there twice"
        rules[match.group(1)] = number
        for finding in check_rule_tests(match.group(2).split(" | ")[-1].strip(), files):
            yield RULES, number, f"{match.group(1)}: {finding}"
    if not rules:
        return
    # What begins like a rule and ends in a number is meant as one, whatever stands between.
    areas = sorted({rule.split("-")[0] for rule in rules})
    identifier = re.compile(rf"(?<![\w-])(?:{'|'.join(areas)})(?:-[A-Z]+)*-\d+(?![\w-])")
    followed = set()
    for path, lines in files.items():
        for number, line in enumerate(lines, 1):
            for rule in identifier.findall(line):
                if rule not in rules:
                    yield path, number, f"{rule} is not in {RULES}"
                elif path.startswith("libroce/"):
                    followed.add(rule)
    for rule in rules.keys() - followed:
        yield RULES, rules[rule], f"{rule} is named nowhere in libroce: name it in a comment where the code follows it"


def check(top):
    """All findings of a tree, as lines for people."""
    top = os.path.realpath(top)
    findings = []
    files = {}
    for path in files_of(top):
        with open(os.path.join(top, path), "rb") as file:
            content = file.read()
        if b"\0" in content:
            continue
        lines = content.decode("utf-8", "replace").splitlines()
        files[path] = lines
        found = list(check_text(top, lines))
        if path.endswith((".h", ".cc", ".inc")):
            if folder_of(path) is None:
                found += check_command_line(path, lines)
                found += check_yaml(path, lines)
                found += check_json_input(path, lines)
                found += check_program(path, lines)
            elif folder_of(path) in MAY_INCLUDE:
                found += check_source(path, lines)
            else:
                found.append((1, f"libroce has no folder {folder_of(path)}: add it to MAY_INCLUDE"))
        findings += [f"{path}:{number}: {text}" for number, text in sorted(found)]
    return findings + [f"{path}:{number}: {text}" for path, number, text in sorted(check_rules(files))]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.strip())
    if not os.path.isdir(os.path.join(sys.argv[1], "libroce")):
        sys.exit(f"{sys.argv[1]} has no folder libroce")
    findings = check(sys.argv[1])
    print("\n".join(findings) if findings else "the tree keeps the dependency rule, and its rules are named and tested")
    sys.exit(1 if findings else 0)


if __name__ == "__main__":
    main()
