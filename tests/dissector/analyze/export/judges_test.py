# SPDX-License-Identifier: BSD-2-Clause
"""What DuckDB and hyparquet read in the Parquet that we write, beside the NDJSON of the same rows.

    judges_test.py MAKE_TABLES ROCE_ANALYZE CAPTURES FOLDER_FOR_JUDGES [-- unittest arguments]

Exits with 77 if the judges cannot be installed."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

from judges import Judges, Missing

TABLES = ("packets", "messages", "events", "streams", "intervals")
CAPTURES = ("rc-drop-random.tx.pcap", "rc-mix-v6.tx.pcap", "rc-ecn-ce.rx.pcap", "cm-rping.tx.pcap")
JUDGES = ("duckdb", "hyparquet")


def lines(path):
    return [json.loads(line) for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines()]


class JudgesTest(unittest.TestCase):
    make_tables = analyze = captures = judges = None

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return f"{self.folder.name}/{name}"

    def assert_same_rows(self, parquet, ndjson):
        expected = lines(ndjson)
        for judge in JUDGES:
            with self.subTest(judge=judge, file=pathlib.Path(parquet).name):
                found = self.judges.rows(judge, parquet)
                self.assertEqual(len(expected), len(found))
                for number, (wanted, row) in enumerate(zip(expected, found)):
                    self.assertEqual(wanted, row, f"row {number}")
        return expected

    def test_hostile_tables_come_back(self):
        subprocess.run([self.make_tables, self.folder.name], check=True)
        sizes = [len(self.assert_same_rows(self.path(f"{kind}.parquet"), self.path(f"{kind}.ndjson"))) for kind in range(1, 7)]
        self.assertEqual([1282, 503, 19999, 0, 1, 354], sizes)

    def test_statistics_lead_to_the_right_rows(self):
        """DuckDB passes over row groups by their minimum and maximum: what it finds by each column's extremes is all there is."""
        subprocess.run([self.make_tables, self.folder.name], check=True)
        questions, answers = [], []
        for kind in (1, 3, 6):
            rows = lines(self.path(f"{kind}.ndjson"))
            for column in rows[0]:
                known = [row[column] for row in rows if row[column] is not None]
                questions.append(f"SELECT count(*) n FROM '{self.path(f'{kind}.parquet')}' WHERE \"{column}\" IS NULL")
                answers.append(len(rows) - len(known))
                if not known or isinstance(known[0], (bool, str)):
                    continue
                for value in (min(known), max(known), known[0], known[-1]):
                    questions.append(f"SELECT count(*) n FROM '{self.path(f'{kind}.parquet')}' WHERE \"{column}\" = {value}")
                    answers.append(known.count(value))
        self.assertEqual(answers, [each[0]["n"] for each in self.judges.ask(questions)])

    def test_extremes_are_in_the_statistics(self):
        subprocess.run([self.make_tables, self.folder.name], check=True)
        [groups] = self.judges.ask([f"SELECT row_group_id g, path_in_schema c, stats_min_value a, stats_max_value b, stats_null_count n, "
                                    f"row_group_num_rows r FROM parquet_metadata('{self.path('3.parquet')}')"])
        rows = lines(self.path("3.ndjson"))
        self.assertEqual({0, 1}, {each["g"] for each in groups})
        for each in groups:
            begin = each["g"] * 10000
            known = [row[each["c"]] for row in rows[begin:begin + each["r"]] if row[each["c"]] is not None]
            self.assertEqual(each["r"] - len(known), each["n"], each)
            if each["c"] in ("u8", "u16", "u32", "u64", "i64", "u64_or_null", "steps"):
                self.assertEqual((str(min(known)), str(max(known))), (each["a"], each["b"]), each["c"])

    def test_every_table_of_captures_comes_back(self):
        for capture in CAPTURES:
            for form in ("parquet", "ndjson"):
                subprocess.run([self.analyze, "export", "all", "--format", form, "-o", self.path(capture), f"{self.captures}/softroce/{capture}"], check=True)
            for table in TABLES:
                rows = self.assert_same_rows(f"{self.path(capture)}/{table}.parquet", f"{self.path(capture)}/{table}.ndjson")
                self.assertTrue(rows or table in ("messages", "events"), (capture, table))

    def test_the_version_of_the_schema_is_in_the_file(self):
        capture = f"{self.captures}/softroce/{CAPTURES[0]}"
        subprocess.run([self.analyze, "export", "events", "-o", self.path("e.parquet"), capture], check=True)
        [pairs] = self.judges.ask([f"SELECT key::VARCHAR k, value::VARCHAR v FROM parquet_kv_metadata('{self.path('e.parquet')}')"])
        found = {each["k"]: each["v"] for each in pairs}
        schema = subprocess.run([self.analyze, "export", "--schema", "--json", "events"], check=True, capture_output=True, text=True).stdout
        self.assertEqual(str(json.loads(schema.splitlines()[0])["schema_version"]), found["roce_schema_version"])
        self.assertEqual("events", found["roce_table"])
        self.assertIn("time_ns=ns", found["roce_units"])


if __name__ == "__main__":
    JudgesTest.make_tables, JudgesTest.analyze, JudgesTest.captures, where = sys.argv[1:5]
    try:
        JudgesTest.judges = Judges(where)
    except Missing as missing:
        print(f"skipped: {missing}")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1] + sys.argv[6:])
