# SPDX-License-Identifier: BSD-2-Clause
"""What check_tree.py checks about rooms (rooms.py): include lines, libraries, licences, clocks, signals, link lines."""

import posixpath
import re

from rooms import GLOBALS, GPL_ROOM, JSON_INPUT, LIBRARIES, PREFIXES, PROGRAMS, ROOMS, WIRESHARK

TABLE = "tests/architecture/rooms.py"
SOURCES = (".h", ".cc", ".inc")

# Headers of the standard library that are I/O, a clock, threads or logging. Not <chrono>: its durations are how the core
# speaks of time. CLOCK forbids its clocks.
IMPURE_STANDARD = {
    "barrier", "condition_variable", "csignal", "cstdio", "ctime", "filesystem", "fstream", "future", "iostream",
    "latch", "mutex", "print", "semaphore", "shared_mutex", "stop_token", "syncstream", "thread",
}
CLOCK = re.compile(r"\b(system|steady|high_resolution|utc|tai|gps|file)_clock\b|\bclock_gettime\b|\bgettimeofday\b")

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')

SIGNAL = re.compile(r"<(?:csignal|signal\.h|sys/signalfd\.h)>|\b(?:sigprocmask|pthread_sigmask|sigaction|signalfd)\b|"
                    r"\bstd::signal\b")
# A variable in a namespace (the formatter does not indent those), or a static one in a function or a class.
VARIABLE = re.compile(r"(?:\w[\w:]*(?:<.*>)?(?: [\w:]+(?:<.*>)?)*|"
                      r"\s+(?:static|thread_local|inline static|static inline)\b[^(]*?)"
                      r"[ *&>]+\w+(?:\[[^\]]*\])*(?: = .*|\{.*|;)$")
NO_VARIABLE = re.compile(r"[()]|\b(?:const|constexpr|consteval|using|return|namespace|struct|class|enum|union|template|"
                         r"friend|typedef|concept|case|goto)\b")

JSON_READING = re.compile(r"\b(?:json|Json)::(?:parse|accept|sax_parse|from_\w+)\s*\(")

LICENCE = re.compile(r"// SPDX-License-Identifier: (\S+)$")

CMAKE_COMMAND = re.compile(r"\b(add_library|add_executable|target_link_libraries)\s*\(([^()]*)\)")
CMAKE_KEYWORDS = {"PUBLIC", "PRIVATE", "INTERFACE"}
# Targets of ours that are no room: the options of the compiler.
NO_ROOM_TARGETS = {"roce_options"}


def name_of(path):
    """The name that the room of a file has or would have, or None if it is in no folder of rooms."""
    for prefix, name in PREFIXES:
        if path.startswith(prefix):
            return posixpath.dirname(name + path[len(prefix):])
    return None


def room_of(path):
    """The room of a file, or None."""
    name = name_of(path)
    return name if name in ROOMS else None


# The first words of the paths under which headers of ours are included.
FIRST_WORDS = {room.split("/")[0] for room in ROOMS}


def included_room(path, quoted, name):
    """The room that an include line of `path` names, which need not exist; None: a library, or a header beside the file."""
    if name.startswith("."):
        return name_of(posixpath.normpath(posixpath.join(posixpath.dirname(path), name))) or "another folder"
    folder = posixpath.dirname(name)
    if not folder:
        return None
    if quoted and path.startswith("libroce/") and f"roce/{folder}" in ROOMS:
        return f"roce/{folder}"
    return folder if folder.split("/")[0] in FIRST_WORDS else None


def check_library(path, name):
    """What is wrong with an include line of somebody else's header, or None."""
    room = room_of(path)
    for library in LIBRARIES:
        if library.header.match(name):
            if path.startswith(library.places):
                return None
            if room is not None or library.binds_tests:
                return f"{room or path} may not include <{name}>: only {' and '.join(library.places)} does"
            return None
    allowed = ROOMS[room].libraries if room is not None else None
    if allowed is None or name in allowed:
        return None
    if name in IMPURE_STANDARD:
        return f"{room} may not include <{name}>: no I/O, clock, threads or logging there"
    if "/" in name or "." in name:
        return f"{room} may not include <{name}>: the standard library and {', '.join(sorted(allowed))} only"
    return None


def check_include(path, quoted, name, files):
    """What is wrong with one include line, or None."""
    room = room_of(path)
    target = included_room(path, quoted, name)
    if target is None:
        beside = posixpath.join(posixpath.dirname(path), name)
        if room is None or not quoted or "/" in name:
            return check_library(path, name)
        return None if beside in files else check_library(path, name) or f"\"{name}\" is not in this room: write its room, too"
    if room is None or target == room or target in ROOMS[room].may_include:
        return None
    if target not in ROOMS:
        return f"there is no room {target} (\"{name}\")"
    return f"{room} may not include {target} (\"{name}\")"


def check_licence(path, lines):
    """What is wrong with the licence of a source file, or None."""
    match = LICENCE.match(lines[0]) if lines else None
    if match is None:
        return "the first line names no licence: // SPDX-License-Identifier: …"
    needs_gpl = room_of(path) == GPL_ROOM
    if path.startswith("tests/"):
        names = [found.group(2) for found in map(INCLUDE.match, lines) if found]
        needs_gpl = any(WIRESHARK.header.match(name) or name.startswith(GPL_ROOM + "/") for name in names)
    expected = "GPL-2.0-or-later" if needs_gpl else "BSD-2-Clause"
    return None if match.group(1) == expected else f"the licence of this file is {expected}"


def is_changing_global(code):
    """Whether a line defines a variable that lives as long as the process and can change."""
    head = re.split(r" = |\{|;", code)[0]
    return VARIABLE.match(code) is not None and NO_VARIABLE.search(head) is None


def check_line(path, line):
    """What is wrong with one line beside the room or library that it includes, or None."""
    code = line.split("//")[0].rstrip()
    if not path.startswith("tests/"):
        if JSON_READING.search(code) and path != JSON_INPUT:
            return f"only {JSON_INPUT} reads JSON: see json_input/json_input.h"
    if "YAML::Load" in code and not path.startswith("tools/yaml/"):
        return "YAML is loaded by yaml_input::load, which has bounds"
    room = room_of(path)
    if room is None:
        return None
    if ROOMS[room].libraries is not None and CLOCK.search(code):
        return f"{room} may not read a clock"
    if ROOMS[room].is_guest:
        if SIGNAL.search(code):
            return f"{room} may not handle signals: they belong to the program"
        if is_changing_global(code) and path not in GLOBALS:
            return f"{room} may not have a global variable that changes"
    return None


def check_source(path, lines, files):
    """Findings (line number, text) of one source file; `files` are all files of the tree."""
    if not path.startswith("tests/") and room_of(path) is None:
        yield 1, f"the folder of this file has no row in {TABLE}"
        return
    licence = check_licence(path, lines)
    if licence:
        yield 1, licence
    for number, line in enumerate(lines, 1):
        match = INCLUDE.match(line)
        finding = check_include(path, match.group(1) == '"', match.group(2), files) if match else None
        finding = finding or check_line(path, line)
        if finding:
            yield number, finding


def cmake_commands(lines):
    """(line number, command, arguments) of the commands of a CMakeLists.txt that make and link targets."""
    text = "\n".join(line.split("#")[0] for line in lines)
    for match in CMAKE_COMMAND.finditer(text):
        yield text.count("\n", 0, match.start()) + 1, match.group(1), match.group(2).split()


def targets_of(files):
    """The room of each CMake target that a room makes; `files` are the lines of each file by its name."""
    targets = {}
    for path, lines in files.items():
        if posixpath.basename(path) == "CMakeLists.txt" and room_of(path) is not None:
            for _, command, arguments in cmake_commands(lines):
                if command != "target_link_libraries" and arguments:
                    targets[arguments[0]] = room_of(path)
    return targets


def linked_room(item, targets):
    """The room of an item of target_link_libraries, or None; `targets` are those of `targets_of`."""
    component = item.removeprefix("roce::")
    return f"roce/{component}" if component != item and f"roce/{component}" in ROOMS else targets.get(item)


def check_cmake(path, lines, targets):
    """Findings (line number, text) of the CMakeLists.txt of a room: targets of rooms that it may not include."""
    room = room_of(path)
    if room is None:
        return
    for number, command, arguments in cmake_commands(lines):
        if command != "target_link_libraries":
            continue
        for item in arguments[1:]:
            target = linked_room(item, targets)
            if item in CMAKE_KEYWORDS or item in NO_ROOM_TARGETS:
                continue
            if target is None:
                if item.startswith("roce"):
                    yield number, f"{item} is the target of no room"
                for library in LIBRARIES:
                    if item in library.targets and not any(place.startswith(posixpath.dirname(path) + "/") for place in library.places):
                        yield number, f"{room} may not link {item}: only {' and '.join(library.places)} uses it"
            elif target not in ROOMS[room].may_include and target != room and not target.startswith(room + "/"):
                yield number, f"{room} may not link {item}, of {target}"


def kind_of(room):
    """The part of the house that a room is in: "roce", "tools", or the name of a program."""
    first = room.split("/")[0]
    return first if first == "roce" or first in PROGRAMS else "tools"


def check_table(rooms):
    """What is wrong with a table of rooms by itself, as texts."""
    for name, room in rooms.items():
        for other in sorted(room.may_include):
            if other not in rooms:
                yield f"{name} includes {other}, which has no row"
                continue
            allowed = {"roce": {"roce"}, "tools": {"roce", "tools"}}.get(kind_of(name), {"roce", "tools", kind_of(name)})
            if kind_of(other) not in allowed:
                yield (f"{name} may not have {other} in its row: libroce stands alone, tools know no program, programs do "
                       "not know each other")
            if room.libraries is not None and rooms[other].libraries is None:
                yield f"{name} does no I/O, but {other} in its row does"
            if other == GPL_ROOM:
                yield f"{name} may not have {other} in its row: that is under the GPL"
    left = {name: room.may_include & rooms.keys() for name, room in rooms.items()}
    while left:
        free = {name for name, others in left.items() if not others & left.keys()}
        if not free:
            yield f"rooms include each other in a circle, or one that does: {', '.join(sorted(left))}"
            return
        left = {name: others for name, others in left.items() if name not in free}


def check_completeness(files):
    """Findings (path, line number, text) of a whole tree: rows that nothing stands for, and rooms that are no target.

    `files` are the lines of each file by its name.
    """
    used = {name: set() for name in ROOMS}
    has_sources = set()
    for path, lines in files.items():
        room = room_of(path)
        if room is not None and path.endswith(SOURCES):
            has_sources.add(room)
            for match in filter(None, map(INCLUDE.match, lines)):
                used[room].add(included_room(path, match.group(1) == '"', match.group(2)))
    built = set(targets_of(files).values())
    for name, room in ROOMS.items():
        if name not in has_sources:
            yield TABLE, 1, f"{name} has a row, but no sources"
        elif name not in built:
            yield TABLE, 1, f"{name} has no CMake target"
        for other in sorted(room.may_include - used[name]):
            yield TABLE, 1, f"{name} no longer includes {other}: take it out of the row"
