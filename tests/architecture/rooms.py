# SPDX-License-Identifier: BSD-2-Clause
"""The rooms of the source tree: each folder with sources, and the rooms whose headers it may include.

A room is named by the path under which its headers are included: roce/wire, text, gen/exchange, analyze/run. A room of
libroce is two folders, include/roce/ and src/. check_tree.py checks the tree against this table, and draw_rooms.py
draws it into docs/architecture.md.
"""

import re
from typing import NamedTuple, Optional

# From the path of a file to the name of its room: the first prefix that fits.
PREFIXES = (
    ("libroce/include/roce/", "roce/"),
    ("libroce/src/", "roce/"),
    ("tools/", ""),
    ("dissector/", ""),
    ("conform/", "conform/"),
    ("gen/", "gen/"),
    ("replay/", "replay/"),
    ("verbs/", "verbs/"),
)

PROGRAMS = ("conform", "gen", "replay", "analyze", "verbs", "wireshark")


class Room(NamedTuple):
    """What a room may do."""
    may_include: frozenset
    # Of other libraries only these, and no I/O, clock, thread or logging: bytes and times are arguments. None: anything.
    libraries: Optional[frozenset] = None
    # A part of somebody else's process: no handler of signals, no global variable that changes.
    is_guest: bool = False


def _core(rooms="", libraries=("tl/expected.hpp",)):
    return Room(frozenset(rooms.split()), frozenset(libraries), True)


def _guest(rooms):
    return Room(frozenset(rooms.split()), None, True)


def _pure(rooms):
    return Room(frozenset(rooms.split()), frozenset(["tl/expected.hpp", "fmt/format.h"]))


def _room(rooms=""):
    return Room(frozenset(rooms.split()))


ROOMS = {
    # The library.
    "roce/wire": _core(),
    "roce/congestion": _core("roce/wire"),
    "roce/transport": _core("roce/congestion roce/wire"),
    "roce/cm": _core("roce/transport roce/wire"),
    "roce/impair": _core("roce/wire"),
    "roce/analysis": _core("roce/wire"),
    "roce/json_input": _core("", ("tl/expected.hpp", "fmt/format.h", "nlohmann/json.hpp", "nlohmann/json_fwd.hpp")),
    # Keeps the names of unfinished files, for handlers of signals.
    "roce/link": _room(),
    "roce/port": _guest("roce/link roce/transport roce/wire"),
    "roce/fabric": _core("roce/congestion roce/transport roce/wire"),
    "roce/live": _guest("roce/cm roce/congestion roce/json_input roce/link roce/port roce/transport roce/wire"),

    # Shared by the programs.
    "command_line": _room(),
    "yaml": _room(),
    "files": _room("roce/link"),
    "columns": Room(frozenset(), frozenset(["tl/expected.hpp"])),
    "text": _room("roce/wire"),
    "page": _room("roce/link command_line"),
    "packet_text": _room("roce/wire text"),
    "perftest": _room("roce/live roce/wire"),
    "runtime": _room("roce/wire command_line text"),
    "capture": _room("roce/link roce/wire command_line"),
    "serve": _room("roce/live command_line"),
    "metrics": _room("roce/link roce/live command_line runtime"),
    "options": _room("roce/link roce/live command_line files metrics runtime"),

    # roce-conform
    "conform/language": _room("roce/wire command_line yaml"),
    "conform/target": _room("roce/cm roce/congestion roce/link roce/live roce/port roce/transport roce/wire perftest"),
    "conform/run": _room("roce/analysis roce/transport roce/wire conform/language conform/target"),
    "conform/fuzz": _room("roce/link roce/live roce/transport roce/wire command_line text yaml conform/language conform/run conform/target"),
    "conform/report": _room("roce/json_input roce/link roce/wire packet_text page text conform/language conform/run"),
    "conform/commands": _room("roce/link roce/live roce/port roce/wire command_line files page runtime text conform/fuzz conform/language conform/report conform/run conform/target"),
    "conform": _room("command_line files conform/commands"),
    # roce-agent: a program of its own, for the machine with the device under test.
    "conform/agent": _room("roce/live roce/port roce/transport roce/wire command_line runtime"),

    # roce-gen
    "gen/handshake": _room("roce/live roce/wire runtime"),
    "gen/perftest": _room("roce/live roce/transport roce/wire command_line perftest runtime gen/handshake"),
    "gen/pingpong": _room("roce/live roce/transport command_line perftest"),
    "gen/librdmacm": _room("roce/cm roce/live roce/transport roce/wire command_line options runtime"),
    "gen/exchange": _room("roce/live roce/port roce/transport command_line options page runtime text"),
    "gen/frames": _room("roce/link roce/live roce/port roce/wire command_line metrics packet_text runtime "
                        "text yaml"),
    "gen/fabric": _room("roce/congestion roce/fabric roce/link roce/transport roce/wire command_line page text yaml"),
    "gen/relay": _room("roce/impair roce/json_input roce/link roce/live roce/wire command_line runtime"),
    "gen/peer": _room("roce/live command_line"),
    "gen/commands": _room("roce/link roce/live roce/port command_line files metrics options page runtime text yaml "
                          "gen/exchange gen/fabric gen/frames gen/handshake gen/librdmacm gen/peer gen/perftest gen/pingpong gen/relay"),
    "gen": _room("command_line files gen/commands"),

    # roce-replay
    "replay/rules": _pure("roce/transport roce/wire"),
    "replay/segment": _pure("roce/analysis roce/wire"),
    "replay/survey": _room("roce/analysis roce/link roce/wire capture command_line replay/rules replay/segment"),
    "replay/rewrite": _room("roce/impair roce/link roce/transport roce/wire capture command_line files text "
                            "replay/rules replay/segment replay/survey"),
    "replay/send": _room("roce/analysis roce/link roce/port roce/wire capture command_line runtime text "
                         "replay/rewrite replay/segment replay/survey"),
    "replay/converse": _room("roce/analysis roce/link roce/live roce/port roce/transport roce/wire command_line options runtime"),
    "replay/info": _room("roce/analysis roce/link roce/wire capture command_line"),
    "replay/commands": _room("roce/link capture command_line files options runtime text "
                             "replay/converse replay/info replay/rewrite replay/send replay/survey"),
    "replay": _room("command_line files replay/commands"),

    # roce-analyze
    "analyze/input": _room("roce/analysis roce/link roce/wire packet_text runtime text"),
    "analyze/filter": _room("roce/wire command_line packet_text text"),
    "analyze/run": _room("roce/analysis roce/json_input roce/link roce/wire command_line packet_text text analyze/input"),
    "analyze/names": _room("roce/json_input roce/wire command_line analyze/filter"),
    "analyze/report": _room("roce/analysis roce/wire packet_text text analyze/names analyze/run"),
    "analyze/session": _room("command_line files text analyze/filter analyze/input analyze/names analyze/report analyze/run"),
    "analyze/decode": _room("roce/link roce/wire command_line packet_text text analyze/filter analyze/input"),
    "analyze/copy": _room("roce/link command_line files text analyze/input analyze/report analyze/run"),
    "analyze/counters": _room("roce/analysis roce/json_input roce/wire "
                              "analyze/filter analyze/report analyze/run analyze/session"),
    "analyze/join": _room("roce/analysis roce/wire packet_text text analyze/names analyze/report analyze/run analyze/session"),
    "analyze/charts": _room("roce/analysis page analyze/report analyze/run"),
    "analyze/export": _room("columns roce/analysis roce/link roce/wire command_line text "
                            "analyze/names analyze/report analyze/run analyze/session"),
    "analyze/commands": _room("roce/link command_line files packet_text page serve text analyze/charts analyze/copy analyze/counters "
                              "analyze/decode analyze/export analyze/filter analyze/input analyze/join analyze/names analyze/report analyze/run "
                              "analyze/session"),
    "analyze": _room("command_line files analyze/commands"),
    # roce-analyze-mpi: a program of its own, the only one with MPI.
    "analyze/ranks": _room("roce/analysis roce/link command_line files text analyze/commands analyze/input analyze/report analyze/run analyze/session"),

    # A libibverbs.so.1 and a librdmacm.so.1 of our own, and roce-run, which puts them in front of programs.
    "verbs/report": _room(""),
    "verbs/cm": _room("roce/cm roce/wire"),
    "verbs/counters": _room(""),
    "verbs/devices": _room("roce/port roce/transport roce/wire verbs/counters"),
    "verbs/port": _room("roce/link roce/wire"),
    "verbs/engine": _room("roce/link roce/live roce/port roce/transport roce/wire verbs/counters verbs/port"),
    "verbs/ibverbs": _room("roce/port roce/transport verbs/counters verbs/devices verbs/engine verbs/port verbs/report"),
    "verbs/rdmacm": _room("roce/cm roce/link roce/live roce/wire verbs/cm verbs/port verbs/report"),
    "verbs/paths": _room("verbs/counters"),
    "verbs/portd": _room("roce/cm roce/link roce/live roce/port roce/transport roce/wire command_line verbs/cm verbs/devices verbs/port"),
    "verbs/run": _room("roce/link roce/port command_line verbs/devices verbs/port"),

    # The Wireshark plugin: a half that does not know Wireshark, and the half under the GPL.
    "wireshark/parts": _room("roce/analysis roce/wire packet_text"),
    "wireshark/epan": _room("roce/analysis roce/wire wireshark/parts"),
}

GPL_ROOM = "wireshark/epan"


class Library(NamedTuple):
    """A library of somebody else that only certain places use."""
    header: re.Pattern
    places: tuple  # the beginnings of the paths of files
    targets: frozenset
    binds_tests: bool = False


def _library(header, places, *targets, binds_tests=False):
    places = (places,) if isinstance(places, str) else places
    return Library(re.compile(header + "$"), places, frozenset(targets), binds_tests)


WIRESHARK = _library(r"(?:(?:epan|wsutil|wiretap)/.*|wireshark\.h|ws_version\.h)", "dissector/wireshark/epan/", "epan")

LIBRARIES = (
    # CLI11 takes a compiler ten seconds and more for each file that includes it.
    _library(r"CLI/\w+\.hpp", "tools/command_line/command_line.cc", "CLI11::CLI11", binds_tests=True),
    # YAML from outside is read within bounds: whoever loads it elsewhere has none.
    _library(r"yaml-cpp/[\w/]+\.h", "tools/yaml/", "yaml-cpp", "yaml-cpp::yaml-cpp", binds_tests=True),
    _library(r"microhttpd\.h", ("tools/metrics/", "tools/serve/"), "PkgConfig::MICROHTTPD"),
    _library(r"(?:pcap/.*|pcap\.h|xdp/.*|bpf/.*|zlib\.h)", "libroce/src/link/", "PkgConfig::PCAP",
             "PkgConfig::XDP", "PkgConfig::BPF", "PkgConfig::ZLIB"),
    # Captures are compressed whole, and the pages of Parquet one by one.
    _library(r"zstd\w*\.h", ("libroce/src/link/", "tools/columns/"), "PkgConfig::ZSTD"),
    _library(r"(?:isa-l/\w+\.h|isa-l\.h|crc\.h)", "libroce/src/wire/icrc", "PkgConfig::ISAL"),
    _library(r"infiniband/\w+\.h", ("conform/agent/", "verbs/ibverbs/", "verbs/rdmacm/"), "PkgConfig::IBVERBS"),
    _library(r"rdma/\w+\.h", ("conform/agent/", "verbs/rdmacm/"), "PkgConfig::RDMACM"),
    _library(r"mpi\.h", "dissector/analyze/ranks/", "MPI::MPI_CXX"),
    WIRESHARK,
)

# What somebody else wrote is read within bounds, in one place.
JSON_INPUT = "libroce/src/json_input/json_input.cc"

# Global variables that change in rooms of guests, each with its reason.
GLOBALS = {
    "libroce/src/wire/icrc.cc": "the CRC for this processor, chosen once",
}
