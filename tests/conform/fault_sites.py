#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Shows that the endpoint in libroce is the same as if no fault could be planted in it.

Takes the calls of `fault` out of the sources, compiles what is left, and compares the machine code and constants with
those of the object files in libroce. Looks for symbols of the faults in the library, too.

usage: fault_sites.py SOURCE BUILD
"""

import concurrent.futures
import json
import os
import re
import shlex
import shutil
import subprocess
import sys

FOLDERS = ("transport", "cm", "port")
SKIPPED = 77
# Another compiler may order the same code differently once a branch that is never taken is out of the sources.
COMPILER = re.compile(r"\) 12\.")
CALL = r"fault\(Fault::\w+\)"
INCLUDE = re.compile('#include "(?:transport|cm|port)/faults.h"\n')


def end_of_statement(text, start):
    """The index behind the statement that begins at `start`: a block, or what ends with a semicolon."""
    depth = 0
    for index in range(start, len(text)):
        depth += (text[index] in "({[") - (text[index] in ")}]")
        if depth == 0 and text[index] in ";}":
            return index + 1
    raise ValueError("a statement without an end")


def end_of_condition(text, start):
    """The index behind the bracket that closes the one at `start`."""
    depth = 0
    for index in range(start, len(text)):
        depth += (text[index] == "(") - (text[index] == ")")
        if depth == 0:
            return index + 1
    raise ValueError("a condition without an end")


def without_faults(text):
    """A source without its calls of `fault`, and without the header that declares it."""
    text = INCLUDE.sub("", text)
    while match := re.search(r"^ *if \((?=" + CALL + ")", text, re.M):
        end = end_of_statement(text, end_of_condition(text, match.end() - 1))
        text = text[:match.start()] + text[end:].lstrip(" ").removeprefix("\n")
    text = re.sub(r"if \(!" + CALL + r"\)\s+", "", text)
    text = re.sub(r"\s+&& !" + CALL, "", text)
    text = re.sub(r"\s+\|\| " + CALL, "", text)
    text = re.sub(r" && " + CALL, " && false", text)
    text = re.sub(r"\|\| \(" + CALL + r" && [^()]*\)", "", text)
    text = re.sub(CALL + r" \? \w+ : ", "", text)
    text = re.sub(r"!\(" + CALL + r" && [^()]*\(\)\)", "true", text)
    if re.search(r"\bfault\(", text):
        raise ValueError("a call of `fault` that this script cannot take out: " + re.search(r".*\bfault\(.*", text).group())
    return text


def sections(path):
    """The bytes of the sections of an object file that hold code and constants, by name."""
    listing = subprocess.run(["objdump", "-h", "-w", path], capture_output=True, check=True, text=True).stdout
    found = {}
    for line in listing.splitlines():
        words = line.split()
        if not words or not words[0].isdigit() or "DEBUGGING" in line.replace(",", " ").split() or "CONTENTS" not in line:
            continue
        if words[1].startswith((".text", ".rodata", ".data")):
            size, offset = int(words[2], 16), int(words[5], 16)
            with open(path, "rb") as file:
                file.seek(offset)
                found[words[1]] = file.read(size)
    return found


def command_of(entry, source, folder, output):
    """The compiler's command for a file of the database, for another source; headers in `folder` come first."""
    words = shlex.split(entry["command"])
    words = words[1:] if os.path.basename(words[0]) == "ccache" else words
    words[words.index("-o") + 1] = output
    words[words.index("-c") + 1] = source
    launcher = [shutil.which("ccache")] if shutil.which("ccache") else []
    return [*launcher, words[0], "-I" + folder, *words[1:], "-w", "-g0"]


def bare_source(entry, source, folder):
    """The path of what an object file is made of, without call sites."""
    part = next(part for part in FOLDERS if f"/libroce/src/{part}/" in entry["file"])
    bare = os.path.join(folder, part, os.path.basename(entry["file"]))
    if not os.path.exists(bare):
        # CMake's, which includes several sources by their paths.
        with open(entry["file"], encoding="utf-8") as file:
            text = file.read().replace(os.path.join(source, "libroce/src/"), folder + "/")
        with open(bare, "w", encoding="utf-8") as file:
            file.write(text)
    return bare


def compare(entry, source, folder):
    """What differs between an object file of libroce and one without call sites, or None."""
    bare = bare_source(entry, source, folder)
    name = os.path.relpath(bare, folder)
    words = shlex.split(entry["command"])
    product = os.path.join(entry["directory"], words[words.index("-o") + 1])
    bare_product = bare + ".o"
    result = subprocess.run(command_of(entry, bare, folder, bare_product), cwd=entry["directory"], capture_output=True, check=False, text=True)
    if result.returncode != 0:
        return f"{name} does not compile without its call sites:\n{result.stderr}"
    one, other = sections(product), sections(bare_product)
    if one.keys() != other.keys():
        return f"{name} has other sections with call sites: {', '.join(sorted(one.keys() ^ other.keys()))}"
    differing = sorted(section for section in one if one[section] != other[section])
    return f"{name} is not the same with call sites: {', '.join(differing)}" if differing else None


def symbols_of_faults(library):
    """The symbols of a library that name a fault."""
    listing = subprocess.run(["nm", "-C", "--defined-only", library], capture_output=True, check=True, text=True).stdout
    return sorted({line for line in listing.splitlines() if re.search(r"\b[Ff]ault\b", line)})


def copy_without_faults(source, folder):
    """Writes the sources of a folder without their call sites to a new one; returns how many sites there were."""
    os.mkdir(folder)
    sites = 0
    for name in sorted(os.listdir(source)):
        if name.endswith((".h", ".cc")) and name != "faults.h":
            with open(os.path.join(source, name), encoding="utf-8") as file:
                text = file.read()
            sites += len(re.findall(CALL, text))
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(without_faults(text))
    return sites


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__.strip())
    source, build = sys.argv[1:]
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        entries = [entry for entry in json.load(file)
                   if any(f"/libroce/src/{name}/" in entry["file"] for name in FOLDERS) and "-DROCE_FAULTS" not in shlex.split(entry["command"])]
    if not all(re.search(r" -O[23] ", entry["command"]) and "-fsanitize" not in entry["command"] for entry in entries):
        print("the endpoint is not compiled as for users")
        sys.exit(SKIPPED)
    compiler = next(word for word in shlex.split(entries[0]["command"]) if os.path.basename(word) != "ccache")
    version = subprocess.run([compiler, "--version"], capture_output=True, check=True, text=True).stdout.splitlines()[0]
    if not COMPILER.search(version):
        print(f"code is compared as GCC 12 makes it; this is {version}")
        sys.exit(SKIPPED)
    findings = symbols_of_faults(os.path.join(build, "libroce", "libroce.a"))
    # Of the same name each time, so that ccache knows what it has compiled before.
    folder = os.path.join(os.path.abspath(build), "without_faults")
    shutil.rmtree(folder, ignore_errors=True)
    os.mkdir(folder)
    sites = sum(copy_without_faults(os.path.join(source, "libroce/src", name), os.path.join(folder, name)) for name in FOLDERS)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        findings += filter(None, pool.map(lambda entry: compare(entry, source, folder), entries))
    print("\n".join(findings) if findings else
          f"{len(entries)} object files are the same with {sites} call sites and without")
    sys.exit(1 if findings else 0)


if __name__ == "__main__":
    main()
