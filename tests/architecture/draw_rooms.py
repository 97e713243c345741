# SPDX-License-Identifier: BSD-2-Clause
"""Draws the table of rooms (rooms.py) into docs/architecture.md, as Mermaid flowcharts.

usage: draw_rooms.py [--check] FOLDER

The first picture has the rooms of libroce and of tools, and each program as one; each program of more than two rooms
has another with them.
An arrow leads to the room that may be included, unless others lead there too. --check changes nothing, and exits with 1
if the page differs from what would be drawn.
"""

import os
import sys

from check_rooms import kind_of
from rooms import PROGRAMS, ROOMS

PAGE = "docs/architecture.md"
BEGIN = "<!-- drawn by tests/architecture/draw_rooms.py from rooms.py -->"
END = "<!-- end of what is drawn -->"

PROGRAM_NAMES = {"conform": "roce-conform", "gen": "roce-gen", "replay": "roce-replay", "analyze": "roce-analyze",
                 "verbs": "roce-run", "wireshark": "Wireshark plugin"}


def folded(rooms):
    """The table with one row for each program: {name: names that it includes}."""
    table = {}
    for name, room in rooms.items():
        kind = kind_of(name)
        row = table.setdefault(kind if kind in PROGRAMS else name, set())
        row |= {other for other in room.may_include if kind_of(other) not in PROGRAMS}
    return table


def inside(rooms, program):
    """The rows of one program, with the rooms of that program only; the room of `main` is the program itself."""
    return {name: {other for other in room.may_include if kind_of(other) == program}
            for name, room in rooms.items() if kind_of(name) == program}


def reached(table, name):
    """All that a row leads to, over any number of others."""
    found = set()
    left = [name]
    while left:
        for other in table[left.pop()] - found:
            found.add(other)
            left.append(other)
    return found


def reduced(table):
    """The table without the edges that follow from others."""
    return {name: {other for other in row if not any(other in reached(table, between) for between in row)}
            for name, row in table.items()}


def identifier(name):
    """A name that Mermaid does not take for a word of its own."""
    return "room_" + name.replace("/", "_")


def label(name):
    """The text in the box of a room."""
    return PROGRAM_NAMES.get(name) or (name if kind_of(name) == "roce" else name.split("/")[-1])


def edges(table):
    """The lines of the arrows of a table."""
    return [f"  {identifier(name)} --> {' & '.join(map(identifier, sorted(row)))}"
            for name, row in reduced(table).items() if row]


def draw_house(rooms):
    """The lines of the picture of everything."""
    table = folded(rooms)
    lines = ["flowchart TD"]
    for kind, title in (("program", "programs"), ("tools", "tools"), ("roce", "libroce")):
        lines.append(f"  subgraph {title}")
        for name in table:
            if kind_of(name) == kind or (kind == "program" and name in PROGRAMS):
                lines.append(f'    {identifier(name)}["{label(name)}"]')
        lines.append("  end")
    return lines + edges(table)


def draw_program(rooms, program):
    """The lines of the picture of one program."""
    table = inside(rooms, program)
    return ["flowchart LR", *(f'  {identifier(name)}["{label(name)}"]' for name in reversed(table)), *edges(table)]


def draw(rooms):
    """The text between the two marks of the page."""
    parts = ["\n".join(["```mermaid", *draw_house(rooms), "```"])]
    for program in PROGRAMS:
        if len(inside(rooms, program)) > 2:
            parts.append(f"Inside {PROGRAM_NAMES[program]}:")
            parts.append("\n".join(["```mermaid", *draw_program(rooms, program), "```"]))
    return "\n\n".join(parts)


def redraw(page, rooms):
    """The text of the page with the present pictures in it."""
    before, mark, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not mark or not end:
        raise ValueError(f"{PAGE} lacks the line {BEGIN} or {END}")
    return f"{before}{BEGIN}\n\n{draw(rooms)}\n\n{END}{after}"


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--check"]
    if len(arguments) != 1:
        sys.exit(__doc__.strip())
    path = os.path.join(arguments[0], PAGE)
    with open(path, encoding="utf-8") as file:
        page = file.read()
    drawn = redraw(page, ROOMS)
    if "--check" not in sys.argv[1:]:
        with open(path, "w", encoding="utf-8") as file:
            file.write(drawn)
    elif page != drawn:
        sys.exit(f"{PAGE} does not show the rooms as they are: run tests/architecture/draw_rooms.py .")


if __name__ == "__main__":
    main()
