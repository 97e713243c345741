# SPDX-License-Identifier: BSD-2-Clause
"""Shows that draw_rooms.py draws what the table says, leaves out what follows, and notices a page that differs."""

import unittest

import draw_rooms
from rooms import ROOMS, Room

ROWS = {
    "roce/wire": "", "roce/link": "roce/wire", "roce/port": "roce/link roce/wire", "text": "roce/wire",
    "gen/a": "roce/port", "gen/b": "gen/a text", "gen/c": "gen/a gen/b", "gen": "gen/b gen/c roce/wire", "replay": "text",
}
SMALL = {name: Room(frozenset(row.split())) for name, row in ROWS.items()}
PAGE = f"before\n{draw_rooms.BEGIN}\nold\n{draw_rooms.END}\nafter\n"


class Drawing(unittest.TestCase):
    def test_programs_are_one_box_in_the_first_picture(self):
        picture = draw_rooms.draw_house(SMALL)
        self.assertIn('    room_gen["roce-gen"]', picture)
        self.assertFalse([line for line in picture if "room_gen_" in line])

    def test_what_follows_from_other_arrows_is_left_out(self):
        arrows = {line for line in draw_rooms.draw_house(SMALL) if "-->" in line}
        self.assertEqual(arrows, {"  room_roce_link --> room_roce_wire", "  room_roce_port --> room_roce_link",
                                  "  room_text --> room_roce_wire", "  room_gen --> room_roce_port & room_text",
                                  "  room_replay --> room_text"})

    def test_the_rooms_of_a_program(self):
        arrows = {line for line in draw_rooms.draw_program(SMALL, "gen") if "-->" in line}
        self.assertEqual(arrows, {"  room_gen_b --> room_gen_a", "  room_gen_c --> room_gen_b", "  room_gen --> room_gen_c"})

    def test_a_program_of_one_or_two_rooms_has_no_picture_of_its_own(self):
        text = draw_rooms.draw(SMALL)
        self.assertIn("Inside roce-gen:", text)
        self.assertNotIn("Inside roce-replay:", text)

    def test_arrows_lead_to_all_that_the_table_has(self):
        for table in [draw_rooms.folded(ROOMS), *(draw_rooms.inside(ROOMS, program) for program in draw_rooms.PROGRAMS)]:
            small = draw_rooms.reduced(table)
            for name in table:
                self.assertEqual(draw_rooms.reached(small, name), draw_rooms.reached(table, name))

    def test_a_page_is_redrawn_between_its_marks(self):
        drawn = draw_rooms.redraw(PAGE, SMALL)
        self.assertTrue(drawn.startswith("before\n") and drawn.endswith("\nafter\n"))
        self.assertNotIn("old", drawn)
        self.assertEqual(draw_rooms.redraw(drawn, SMALL), drawn)

    def test_another_edge_is_another_page(self):
        changed = {**SMALL, "replay": Room(frozenset(["roce/link"]))}
        self.assertNotEqual(draw_rooms.redraw(PAGE, changed), draw_rooms.redraw(PAGE, SMALL))

    def test_a_page_without_marks(self):
        with self.assertRaises(ValueError):
            draw_rooms.redraw("nothing", SMALL)


if __name__ == "__main__":
    unittest.main()
