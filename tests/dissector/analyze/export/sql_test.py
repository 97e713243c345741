# SPDX-License-Identifier: BSD-2-Clause
"""The questions of docs/sql.md, asked to DuckDB (Parquet) and ClickHouse (Native): both answer the same, and some answers are
those of the NDJSON and of the commands that list the same things.

    sql_test.py duckdb|clickhouse|cluster ROCE_ANALYZE SOURCE FOLDER_FOR_JUDGES [-- unittest arguments]

`duckdb` compares its answers with the rows, `clickhouse` those of ClickHouse with DuckDB's, `cluster` those of two servers. Exits with 77 if one is missing."""

import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import clickhouse
from judges import Judges, Missing

TABLES = ("packets", "messages", "events", "streams", "intervals")
# Together they have something to say to every question: losses, timeouts, RNR, CE and CNPs, refusals, PFC, damage, broken rules.
CAPTURES = ("softroce/rc-drop-random.tx.pcap", "softroce/rc-drop-requests.rx.pcap", "softroce/rc-timeout.tx.pcap", "softroce/rc-rnr.tx.pcap",
            "softroce/rc-ecn-ce.rx.pcap", "softroce/rc-errors.tx.pcap", "softroce/rc-corrupt.rx.pcap", "softroce/rc-blackhole.tx.pcap",
            "made/link-control.pcapng", "made/wrong-on-purpose.pcapng")


def questions(source):
    """{number: statement} of the page."""
    page = pathlib.Path(source, "docs/sql.md").read_text(encoding="utf-8")
    return {int(number): statement for number, statement in re.findall(r"^### (\d+)\. .*?```sql\n(.*?)```", page, re.DOTALL | re.MULTILINE)}


def alike(row):
    """A row in which engines may differ only in the type of what is whole, and of truths."""
    return {name: (round(float(value), 3) if isinstance(value, (int, float)) and abs(value) < 2**50 else value) for name, value in row.items()}


class Asked(unittest.TestCase):
    """The tables, and what DuckDB answers."""

    program = source = judges = None

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.captures = [f"{cls.source}/captures/{name}" for name in CAPTURES]
        cls.export("all", "-o", f"{cls.folder.name}/rows", *cls.captures)
        cls.questions = questions(cls.source)
        views = [f"CREATE VIEW {table} AS SELECT * FROM '{cls.folder.name}/rows/{table}.parquet'" for table in TABLES]
        cls.answers = dict(zip(cls.questions, cls.judges.ask([*views, *cls.questions.values()])[len(views):]))

    @classmethod
    def export(cls, *arguments):
        return subprocess.run([cls.program, "export", *arguments], check=True, capture_output=True).stdout

    def rows(self, table):
        return [json.loads(line) for line in self.export(table, "--format", "ndjson", *self.captures).splitlines()]


class DuckDbTest(Asked):
    def test_there_are_the_questions(self):
        self.assertGreaterEqual(len(self.questions), 20)
        self.assertEqual(list(range(1, len(self.questions) + 1)), list(self.questions))

    def test_each_question_has_an_answer(self):
        self.assertEqual([], [number for number, rows in self.answers.items() if not rows])

    def test_answers_are_what_the_rows_say(self):
        events, packets, messages, streams = (self.rows(table) for table in ("events", "packets", "messages", "streams"))
        lost = [row for row in streams if row["lost_before"] + row["lost_after"] + row["lost_beyond"]]
        self.assertEqual({(row["point"], row["stream"]) for row in lost}, {(row["point"], row["stream"]) for row in self.answers[1]})
        causes = collections.Counter(row["cause"] for row in events if row["verdict"] == "retransmission")
        self.assertEqual(causes, {row["cause"]: row["packets"] for row in self.answers[3]})
        known = sorted((row["latency_ns"] for row in messages if row["latency_ns"] is not None), reverse=True)
        self.assertEqual(known[:20], [row["latency_ns"] for row in self.answers[7]])
        senders = collections.defaultdict(set)
        for row in packets:
            if row["kind"] == "roce" and row["time_ns"] is not None:
                senders[row["point"], row["dst"], row["time_ns"] // 1_000_000 * 1_000_000].add(row["src"])
        for row in self.answers[14]:
            self.assertEqual(len(senders[row["point"], row["dst"], row["t"]]), row["senders"])
        self.assertCountEqual([(row["file"], row["frame"]) for row in packets if row["icrc"] == "bad"], [(row["file"], row["frame"]) for row in self.answers[21]])
        self.assertEqual(collections.Counter(row["opcode_name"] for row in packets if row["kind"] == "roce"), {row["opcode_name"]: row["packets"] for row in self.answers[24]})

    def test_answers_are_those_of_the_commands(self):
        done = subprocess.run([self.program, "events", "--json", *self.captures], capture_output=True, check=False)
        rules = collections.Counter(row["rule"] for row in map(json.loads, done.stdout.splitlines()) if row["rule"])
        found = collections.Counter()
        for row in self.answers[22]:
            found[row["rule"]] += row["times"]
        self.assertEqual(rules, found)
        done = subprocess.run([self.program, "streams", "--json", *self.captures], capture_output=True, check=False)
        rnr = sum(row["verdicts"].get("rnr_nak", 0) for row in map(json.loads, done.stdout.splitlines()))
        self.assertEqual(rnr, sum(row["rnr"] for row in self.answers[15]))


class ClickHouseTest(Asked):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.server = clickhouse.ClickHouse(folder.name)
        self.addCleanup(self.server.close)
        for statement in self.export("--sql").decode().split(";\n"):
            if statement.strip():
                self.server.run(statement)

    def load(self, table, *arguments):
        with subprocess.Popen([self.program, "export", table, "--format", "native", *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as export:
            self.server.run(f"INSERT INTO {table} FORMAT Native", stdin=export.stdout)

    def test_a_load_that_is_repeated_leaves_no_row_twice(self):
        for run in ("monday", "tuesday"):
            self.load("events", "--run", run, self.captures[0])
        before = self.server.ask("SELECT run, count(*) AS n FROM events GROUP BY run ORDER BY run")
        self.assertEqual(["monday", "tuesday"], [row["run"] for row in before])
        self.server.run("ALTER TABLE events DROP PARTITION ('monday', 'rc-drop-random.tx')")
        self.load("events", "--run", "monday", self.captures[0])
        self.assertEqual(before, self.server.ask("SELECT run, count(*) AS n FROM events GROUP BY run ORDER BY run"))

    def test_it_answers_as_duckdb_does(self):
        server = self.server
        for table in TABLES:
            self.load(table, *self.captures)
            self.assertEqual(len(self.rows(table)), server.ask(f"SELECT count(*) AS n FROM {table}")[0]["n"])
        for number, statement in self.questions.items():
            with self.subTest(question=number):
                self.assertEqual([alike(row) for row in self.answers[number]], [alike(row) for row in server.ask(statement)])


class ClusterTest(Asked):
    """Two servers, and tables that are spread over both."""

    def setUp(self):
        ports = clickhouse.free_ports(2)
        self.servers = []
        for own in (ports, ports[::-1]):
            folder = tempfile.TemporaryDirectory()
            self.addCleanup(folder.cleanup)
            self.servers.append(clickhouse.ClickHouse(folder.name, own))
            self.addCleanup(self.servers[-1].close)
        for server in self.servers:
            for statement in self.export("--sql", "--cluster", "roce").decode().split(";\n"):
                if statement.strip():
                    server.run(statement)

    def load(self, table, *arguments, most=None):
        """Loads a table through the first server; only so many bytes of it, if the load is to die."""
        with subprocess.Popen([self.program, "export", table, "--format", "native", *arguments], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL) as export:
            if most is None:
                self.servers[0].run(f"INSERT INTO {table} FORMAT Native", stdin=export.stdout)
                return
            part = export.stdout.read(most)
            export.kill()
            with tempfile.TemporaryFile() as died:
                died.write(part)
                died.seek(0)
                with self.assertRaises(AssertionError):
                    self.servers[0].run(f"INSERT INTO {table} FORMAT Native", stdin=died)

    def count(self, table):
        """The rows that either server tells of all, and those that each has itself."""
        own = [server.ask(f"SELECT count(*) AS n FROM {table}_here")[0]["n"] for server in self.servers]
        for server in self.servers:
            self.assertEqual(sum(own), server.ask(f"SELECT count(*) AS n FROM {table}")[0]["n"])
        return own

    def test_both_answer_as_duckdb_does(self):
        for table in TABLES:
            self.load(table, *self.captures)
            own = self.count(table)
            self.assertEqual(len(self.rows(table)), sum(own))
            if sum(own) > 100:
                self.assertGreater(min(own), sum(own) / 4, table)
        for number, statement in self.questions.items():
            for server in self.servers:
                with self.subTest(question=number, server=server.port):
                    self.assertEqual([alike(row) for row in self.answers[number]], [alike(row) for row in server.ask(statement)])

    def test_a_load_that_dies_and_is_repeated_leaves_no_row_twice(self):
        """Runs of one capture: so many that there are ROCE_SQL_EVENTS events, of ROCE_SQL_CAPTURE."""
        capture = os.environ.get("ROCE_SQL_CAPTURE", self.captures[0])
        rows = self.export("events", "--format", "ndjson", capture)
        each = rows.count(b"\n")
        partition = f"('run 1', '{json.loads(rows[:rows.index(b'}') + 1])['point']}')"
        runs = max(3, -(-int(os.environ.get("ROCE_SQL_EVENTS", "0")) // each))
        whole = len(self.export("events", "--format", "native", capture))
        for run in range(runs):
            self.load("events", "--run", f"run {run}", capture)
        before = sum(self.count("events"))
        self.assertEqual(runs * each, before)
        for server in self.servers:
            server.run(f"ALTER TABLE events_here DROP PARTITION {partition}")
        self.assertEqual(before - each, sum(self.count("events")))
        self.load("events", "--run", "run 1", capture, most=whole * 2 // 3)
        for server in self.servers:
            server.run(f"ALTER TABLE events_here DROP PARTITION {partition}")
        self.load("events", "--run", "run 1", capture)
        self.assertEqual(before, sum(self.count("events")))
        print(f"{before} events in {runs} runs", file=sys.stderr)


if __name__ == "__main__":
    engine, Asked.program, Asked.source, where = sys.argv[1:5]
    try:
        Asked.judges = Judges(where)
        if engine != "duckdb" and not clickhouse.is_there():
            raise Missing("there is no ClickHouse")
    except Missing as missing:
        print(f"skipped: {missing}")
        sys.exit(77)
    chosen = {"duckdb": "DuckDbTest", "clickhouse": "ClickHouseTest", "cluster": "ClusterTest"}[engine]
    unittest.main(argv=sys.argv[:1] + (sys.argv[6:] or [chosen]))
