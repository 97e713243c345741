# SPDX-License-Identifier: BSD-2-Clause
"""Checks that every room of the tree (rooms.py) includes and links only the rooms of its row, that libraries stay in their
places, that no file of the tree needs anything outside it, that no source is too long to have one subject, and that
docs/rules.md and the code name the same rules and the tests that there are.

usage: check_tree.py FOLDER

Prints one line a finding (file:line: what) and exits with 1 if there is any.
"""

import os
import re
import subprocess
import sys

import check_rooms
import rooms

# Spelled so that this file does not contain what it looks for.
OUTSIDE = re.compile(r"\.\./" + r"shared\b")
# The folders in which people and machines keep their checkouts.
MACHINE_PATH = re.compile(r"(?<![\w.$}/-])/(?:" + "|".join(["work", "farm", "root", "home"]) + r")/\w")

# A source with more lines has more than one subject, unless it is here with the reason why it is better whole. Tests, which
# are lists, may be longer.
LONGEST = 450
BETTER_WHOLE = {
    "libroce/include/roce/wire/opcode.h": "one table, of all opcodes",
}

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


def check_text(top, lines):
    """Findings of any text file: references to what is outside the tree."""
    checkout = re.compile(r"(?<![\w.$}/-])" + re.escape(top) + r"(?![\w-])")
    for number, line in enumerate(lines, 1):
        if OUTSIDE.search(line):
            yield number, "refers to a folder outside the repository"
        if MACHINE_PATH.search(line) or (top.count("/") > 1 and checkout.search(line)):
            yield number, "has an absolute path of a machine"


def check_length(path, lines):
    """Findings of a source: too many lines, or a reason for them that it does not need any more."""
    if len(lines) > LONGEST and not path.startswith("tests/") and path not in BETTER_WHOLE:
        yield LONGEST + 1, f"has {len(lines)} lines, more than {LONGEST}: give a part with a subject of its own another file"
    if len(lines) <= LONGEST and path in BETTER_WHOLE:
        yield 1, f"has {len(lines)} lines, and needs no reason in BETTER_WHOLE for more than {LONGEST}"


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


def read(top):
    """The lines of each text file of a tree by its name."""
    files = {}
    for path in files_of(top):
        with open(os.path.join(top, path), "rb") as file:
            content = file.read()
        if b"\0" not in content:
            files[path] = content.decode("utf-8", "replace").splitlines()
    return files


def check(top, is_whole=False):
    """All findings of a tree, as lines for people.

    A whole tree has all rooms, and nothing in the table is left over.
    """
    return check_files(read(top), os.path.realpath(top), is_whole)


def check_files(files, top, is_whole=False):
    """All findings of the tree at `top`; `files` are the lines of each file by its name."""
    targets = check_rooms.targets_of(files)
    findings = []
    for path, lines in files.items():
        found = list(check_text(top, lines))
        if path.endswith(check_rooms.SOURCES):
            found += check_rooms.check_source(path, lines, files)
            found += check_length(path, lines)
        elif os.path.basename(path) == "CMakeLists.txt":
            found += check_rooms.check_cmake(path, lines, targets)
        findings += [(path, number, text) for number, text in sorted(found)]
    findings += [(check_rooms.TABLE, 1, text) for text in check_rooms.check_table(rooms.ROOMS)]
    if is_whole:
        findings += check_rooms.check_completeness(files)
    return [f"{path}:{number}: {text}" for path, number, text in [*findings, *sorted(check_rules(files))]]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.strip())
    if not os.path.isdir(os.path.join(sys.argv[1], "libroce")):
        sys.exit(f"{sys.argv[1]} has no folder libroce")
    findings = check(sys.argv[1], is_whole=True)
    print("\n".join(findings) if findings else "the tree keeps the dependency rule, and its rules are named and tested")
    sys.exit(1 if findings else 0)


if __name__ == "__main__":
    main()
