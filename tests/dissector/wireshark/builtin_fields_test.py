# SPDX-License-Identifier: BSD-2-Clause
"""What Wireshark's own dissector shows, the plugin shows too: the table of docs/wireshark-fields.md holds on every capture.

    builtin_fields_test.py PLUGIN ROCE_ANALYZE [unittest arguments]

In the mode `wrap` both dissect the same packet."""

import re

import wireshark

ROW = re.compile(r"\| `(infiniband\.[\w.*]+)` +\| (?:`(roce\.[\w.]+)`|–) +\| (.*) \|$")
# Services and opcodes that the built-in takes for something else: RD, XRC, the CNP, FLUSH and ATOMIC WRITE.
MISREAD = "roce.service == 2 || roce.service == 5 || roce.operation >= 10"


def table():
    text = (wireshark.TOP / "docs/wireshark-fields.md").read_text(encoding="utf-8")
    rows = (ROW.match(line) for line in text.splitlines())
    return {row[1]: (row[2], row[3].strip()) for row in rows if row}


def is_same(theirs, ours):
    """Whether two fields have the same value; or the same bytes, where only one of them is a number; or are one header."""
    if not ours.get("show"):
        return (theirs.get("pos"), theirs.get("size")) == (ours.get("pos"), ours.get("size"))
    left, right = theirs.get("show"), ours.get("show")
    if left == right or left.replace(":", "") == right.replace(":", ""):
        return True
    for read in (wireshark.number, wireshark.address):
        try:
            return read(left) == read(right)
        except ValueError:
            continue
    return theirs.get("value") == ours.get("value")


class BuiltinFields(wireshark.PluginTest):
    def frames(self, path):
        return self.wireshark.pdml("-r", path, "-Y", f"roce.version && infiniband && !({MISREAD})", preferences={"roce.mode": "wrap"})

    def test_are_all_in_the_table_and_have_a_like(self):
        known = table()
        checked = set()
        for path in wireshark.CAPTURES:
            for frame in self.frames(path):
                place = f"{path.name} frame {wireshark.number_of(frame)}"
                fields = list(frame.iter("field"))
                for theirs in fields:
                    name = theirs.get("name")
                    if not name.startswith("infiniband.") or name.startswith("infiniband.eoib."):
                        continue
                    self.assertIn(name, known, place)
                    ours, difference = known[name]
                    like = [field for field in fields if field.get("name") == ours]
                    if difference and not like:
                        continue
                    self.assertTrue(like, f"{place}: {name} without {ours}")
                    checked.add(name)
                    if not difference:
                        shown = [(field.get("show"), field.get("value")) for field in like]
                        self.assertTrue(any(is_same(theirs, field) for field in like),
                                        f"{place}: {name} {theirs.get('show')}, {ours} {shown}")
        # Each row that may be met outside RD was.
        self.assertFalse({name for name, (ours, _) in known.items() if ours} - checked -
                         {"infiniband.rdeth", "infiniband.rdeth.eecnxt", "infiniband.payload", "infiniband.vendor",
                          "infiniband.cm.req.serviceid.prefix"})

    def test_a_filter_on_one_that_matches_nothing_says_so_once(self):
        path = wireshark.TOP / "captures/softroce/rc-mix-v4.tx.pcap"
        names = {name: ours for name, (ours, _) in table().items() if "*" not in name}
        done = self.wireshark.process("tshark", "-2", "-r", path, "-Y", " || ".join(["infiniband", *names]))
        said = [line for line in done.stderr.decode().splitlines() if line.startswith("roce: ")]
        self.assertEqual(0, done.returncode)
        told = {line.split()[1]: re.search(r"use (\S+)", line)[1].rstrip(",") for line in said}
        self.assertEqual({"infiniband": "roce"} | {name: ours or "roce.*" for name, ours in names.items()}, told)
        self.assertEqual(len(told), len(said))
        for arguments, preferences in ((["-Y", "roce.bth.psn"], {}), (["-Y", "infiniband.bth.psn"], {"roce.mode": "wrap"})):
            self.wireshark.tshark("-r", path, *arguments, preferences=preferences)


if __name__ == "__main__":
    wireshark.main()
