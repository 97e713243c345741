# SPDX-License-Identifier: BSD-2-Clause
"""Runs `roce-gen fabric` on files: the same bytes for the same seed, what it prints and writes, and mistakes in files.

usage: fabric_test.py ROCE-GEN ROCE-ANALYZE TREE
"""

import csv
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

GEN, ANALYZE, TREE = (os.path.abspath(name) for name in sys.argv[1:4])
GUIDE = os.path.join(TREE, "docs/fabric.md")

CLOS = """\
seed: 7
duration: 2ms
topology: {name: clos, leaves: 2, spines: 2, hosts: 4, rate: 25G, delay: 1us, core: {rate: 25G, loss: 0.0005}}
hosts: {congestion: dcqcn, timeout: 5}
switches:
  buffer: 2MB
  red: {kmin: 5KB, kmax: 50KB, pmax: 0.1}
  pfc: {priorities: [3], xoff: 60KB}
workloads:
  - {kind: permutation, size: 200KB}
  - {kind: incast, name: to one, to: h0, senders: [h4, h5, h6], size: 100KB, start: 100us}
  - {kind: random, load: 0.3, length: 300us, sizes: {1KB: 0.5, 50KB: 1}}
"""

INCAST = """\
duration: 20ms
topology: {name: star, hosts: 9, rate: 40G}
hosts: {timeout: 8}
switches: {buffer: 1MB, pfc: {xoff: 20KB}}
workloads: [{kind: incast, senders: 8, size: 1MB}]
"""

RING = """\
duration: 6ms
topology: {name: ring, switches: 4, hosts: 1, routes: clockwise}
hosts: {timeout: 8, congestion: dcqcn}
switches: {buffer: 1MB, red: {kmin: 2KB, kmax: 10KB, pmax: 1}, pfc: {xoff: 20KB}}
workloads:
  - kind: flows
    flows: [{from: h0, to: h3, size: 2MB}, {from: h1, to: h0, size: 2MB}, {from: h2, to: h1, size: 2MB},
            {from: h3, to: h2, size: 2MB}]
"""

# h0 stops its switch for 260 ms, and two that send to it have CNPs before and after it.
STORM = """\
duration: 450ms
topology: {name: star, hosts: 5, rate: 1G, delay: 1us}
hosts: {congestion: dcqcn, timeout: 18}
switches: {buffer: 2MB, red: {kmin: 50KB, kmax: 200KB, pmax: 0.05}, pfc: {priorities: [3], xoff: 60KB}}
storms: [{host: h0, start: 90ms, duration: 260ms}]
workloads: [{kind: flows, flows: [{from: h1, to: h0, size: 12MB}, {from: h2, to: h0, size: 12MB}, {from: h3, to: h4, size: 8MB}]}]
"""

# A file, and what its one line has to say: the place, the name, and what is wrong.
STAR = "topology: {name: star, hosts: 3}\n"
LOAD = "workloads: [{kind: permutation, size: 1MB}]\n"
MISTAKES = (
    ("duration: [\n", "line ", "this is no YAML"),
    (STAR + LOAD, "line 1, column 1", "there is no \"duration\""),
    ("duration: soon\n" + STAR + LOAD, "line 1, column 11", "duration: expected a time such as 10us"),
    ("duration: 1ms\n" + STAR + LOAD + "swiches: {}\n", "line 4, column 1", "\"swiches\" is unknown; there are: seed"),
    ("duration: 1ms\ntopology: {name: torus}\n" + LOAD, "line 2, column 18", "expected pair, star, dumbbell, clos"),
    ("duration: 1ms\ntopology: {name: ring, switches: 4, hosts: 1}\n" + LOAD, "line 2, column 11",
     "a ring has no routes of its own"),
    ("duration: 1ms\ntopology: {name: links, hosts: 2, switches: 2, links: [[h0, s0], [h1, s1]]}\n" + LOAD,
     "line 2, column 55", "there is no route from h0 to h1"),
    ("duration: 1ms\ntopology: {name: links, hosts: 2, switches: 1, links: [[h0, s0], [h1, s1]]}\n" + LOAD,
     "line 2, column 71", "there is no node 's1'"),
    ("duration: 1ms\ntopology: {name: star, hosts: 3, rate: 25}\n" + LOAD, "line 2, column 40", "topology.rate: expected a rate"),
    ("duration: 1ms\ntopology: {name: star, hosts: 3, loss: 2}\n" + LOAD, "line 2", "expected a chance of 0 to 1"),
    ("duration: 1ms\n" + STAR + LOAD + "hosts: {congestion: swift}\n", "line 4, column 21", "swift"),
    ("duration: 1ms\n" + STAR + LOAD + "hosts: {congestion: 'dcqcn,g=2'}\n", "line 4, column 21", "g"),
    ("duration: 1ms\n" + STAR + LOAD + "hosts: {congestion: dcqcn}\n", "line 4, column 21", "no switch marks"),
    ("duration: 1ms\n" + STAR + LOAD + "hosts: {mtu: 1500}\n", "line 4, column 14", "256, 512, 1024, 2048 or 4096"),
    ("duration: 1ms\n" + STAR + LOAD + "switches:\n  red: {kmin: 9KB, kmax: 5KB}\n", "line 5, column 26",
     "switches.red.kmax: expected at least kmin (9000 bytes), found 5000 bytes"),
    ("duration: 1ms\n" + STAR + LOAD + "switches: {pfc: {xoff: 20KB, alpha: 0.1}}\n", "line 4, column 37", "it contradicts xoff"),
    ("duration: 1ms\n" + STAR + LOAD + "switches: {buffer: 20KB, pfc: {xoff: 9KB}}\n", "line 4, column 20",
     "reserves and headrooms of s0 take"),
    ("duration: 1ms\n" + STAR + LOAD + "switches: {watchdog: {}}\n", "line 4, column 22", "there is no switches.pfc"),
    ("duration: 1ms\n" + STAR + LOAD + "switches: {weights: {0: 0}}\n", "line 4, column 25", "a weight of 1 to 1000, or strict"),
    ("duration: 1ms\n" + STAR + LOAD + "hosts: {shares: {0: 0}}\n", "line 4, column 21", "a share of 1 to 100, or strict"),
    ("duration: 1ms\n" + STAR + LOAD + "hosts: {shares: {0: Strict}}\n", "line 4, column 21", "or strict, found 'Strict'"),
    ("duration: 1ms\n" + STAR + LOAD + "hosts: {shares: {0: 60, 3: 30, 6: strict}}\n", "line 4, column 17",
     "hosts.shares: expected shares that add up to 100, found 90"),
    ("duration: 1ms\n" + STAR + LOAD + "storms: {host: h0}\n", "line 4, column 9", "storms: expected a list such as"),
    ("duration: 1ms\n" + STAR + LOAD + "storms: [{host: h0}, {host: h9}]\n", "line 4, column 29",
     "storms[1].host: there is no host 9; the last one is 2"),
    ("duration: 1ms\n" + STAR + LOAD + "storms: [{host: h0, duration: 0s}]\n", "line 4, column 31", "expected more than 0"),
    ("duration: 1ms\n" + STAR + "workloads: [{kind: gossip}]\n", "line 3, column 20", "expected incast, permutation"),
    ("duration: 1ms\n" + STAR + "workloads: [{kind: incast, to: h9, senders: 2, size: 1KB}]\n", "line 3, column 32",
     "there is no host 9; the last one is 2"),
    ("duration: 1ms\n" + STAR + "workloads: [{kind: incast, senders: 3, size: 1KB}]\n", "line 3, column 37",
     "expected at most 2, for there are 3 hosts"),
    ("duration: 1ms\n" + STAR + "workloads: [{kind: flows, flows: [{from: 0, to: 1, size: 1}, {from: 2, to: 2, size: 1}]}]\n",
     "line 3, column 76", "h2 would send to itself"),
    ("duration: 1ms\n" + STAR + "workloads: [{kind: permutation, size: 1KB, start: 2ms}]\n", "line 3, column 51",
     "before the end of the run"),
    ("duration: 1ms\n" + STAR + "workloads: [{kind: random, load: 0.5, sizes: {1KB: 0.5, 2KB: 0.9}}]\n", "line 3, column 46",
     "the last share is 1"),
)


class Fabric(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def file(self, text, name="fabric.yaml"):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def run_fabric(self, text, *options, code=0):
        result = subprocess.run([GEN, "fabric", *options, self.file(text)], capture_output=True, text=True, timeout=120,
                                check=False)
        self.assertEqual(result.returncode, code, result.stderr)
        return result

    def test_the_same_seed_gives_the_same_bytes(self):
        runs = []
        for number, options in enumerate(([], [], ["--seed", "8"])):
            names = [os.path.join(self.folder, f"{number}.{kind}") for kind in ("csv", "pcapng")]
            result = self.run_fabric(CLOS, "--json", "--csv", names[0], "--capture", f"leaf0-spine0={names[1]}", *options)
            files = []
            for name in names:
                with open(name, "rb") as file:
                    files.append(file.read())
            runs.append((result.stdout, *files))
        self.assertEqual(runs[0], runs[1])
        for part in range(3):
            self.assertNotEqual(runs[0][part], runs[2][part])

    def goodput(self, hosts, flows):
        """Of flows from h0 to h1 in 10 ms, by their priority, in parts of all."""
        text = ("duration: 10ms\ntopology: {name: pair, rate: 25G}\nhosts: {shares: %s}\nworkloads:\n" % hosts +
                "".join(f"  - {{kind: flows, name: p{priority}, priority: {priority}, flows: [{{from: 0, to: 1, size: endless}}]}}\n"
                        for priority in flows))
        workloads = json.loads(self.run_fabric(text, "--json").stdout)["workloads"]
        total = sum(workload["delivered_bytes"] for workload in workloads)
        return {int(workload["name"][1:]): round(workload["delivered_bytes"] / total, 2) for workload in workloads}

    def test_hosts_share_their_links(self):
        self.assertEqual(self.goodput("{0: 70, 3: 30}", (0, 3)), {0: 0.7, 3: 0.3})
        # A strict priority goes first, by their number: between two hosts the ACKs of others wait for nobody.
        self.assertEqual(self.goodput("{0: strict, 3: strict}", (0, 3)), {0: 0.0, 3: 1.0})
        self.assertEqual(self.goodput("{1: strict, 0: 60, 2: 10, 3: 10, 4: 5, 5: 5, 6: 5, 7: 5}", (0, 2, 7)), {0: 0.8, 2: 0.13, 7: 0.07})
        # Those that are not named go after the others, in turn.
        self.assertEqual(self.goodput("{3: 100}", (3, 5)), {3: 1.0, 5: 0.0})
        self.assertEqual(self.goodput("{3: 100}", (4, 5)), {4: 0.5, 5: 0.5})

    def test_the_report_is_right(self):
        report = json.loads(self.run_fabric(INCAST, "--json").stdout)
        workload = report["workloads"][0]
        self.assertEqual((workload["flows"], workload["finished"], workload["delivered_bytes"]), (8, 8, 8_000_000))
        # 977 packets each, 1106 bytes on the wire, at 40 Gbit/s: 1.729 ms and two links.
        self.assertAlmostEqual(workload["last_finish_ns"], 8 * 977 * 1106 / 5, delta=5000)
        self.assertGreater(workload["jain"], 0.99)
        self.assertEqual(report["dropped"], 0)
        self.assertGreater(report["xoffs"], 0)
        result = self.run_fabric(INCAST)
        self.assertRegex(result.stdout, r"incast +8 +8 +0 +37\.\d Gbit/s")
        self.assertRegex(result.stderr, r"^simulated \d+ packets over \d+ hops in [\d.]+ s: .* packets, .* hops\n$")

    def test_samples_show_queue_and_pauses(self):
        path = os.path.join(self.folder, "queues.csv")
        self.run_fabric(INCAST, "--csv", path, "--interval", "50us")
        with open(path, encoding="ascii") as file:
            rows = list(csv.DictReader(file))
        queue = [int(row["queue_bytes"]) for row in rows if row["port"] == "s0>h0" and row["priority"] == "3"]
        # 20 KB and the reserve of 4 KB from each of eight ports, and what comes after a stop.
        self.assertGreater(max(queue), 8 * 20_000)
        self.assertLess(max(queue), 8 * 37_000)
        paused = [float(row["paused_us"]) for row in rows if row["port"] == "h1>s0"]
        self.assertEqual(paused, sorted(paused))
        self.assertGreater(paused[-1], 1000)

    def test_samples_show_what_flows_delivered(self):
        path = os.path.join(self.folder, "flows.csv")
        late = INCAST.replace("size: 1MB}]", "size: 1MB}, {kind: flows, flows: [{from: h8, to: h1, size: 50KB, start: 1ms}]}]")
        self.run_fabric(late, "--flow-csv", path, "--interval", "50us")
        with open(path, encoding="ascii") as file:
            rows = list(csv.DictReader(file))
        for flow, size in (("0", 1_000_000), ("8", 50_000)):
            delivered = [int(row["delivered_bytes"]) for row in rows if row["flow"] == flow]
            self.assertEqual(delivered, sorted(delivered))
            self.assertEqual((delivered[-1], delivered.count(size)), (size, 1))
        last = [row for row in rows if row["flow"] == "8"]
        self.assertEqual({(row["from"], row["to"]) for row in last}, {("h8", "h1")})
        self.assertGreaterEqual(float(last[0]["time_us"]), 1000)
        # Nothing limits them, and then the controller of a sender that was told of congestion does.
        self.assertEqual({row["limit_bps"] for row in rows}, {""})
        controlled = INCAST.replace("timeout: 8", "timeout: 8, congestion: dcqcn").replace("pfc:", "red: {kmin: 5KB, kmax: 50KB, pmax: 0.1}, pfc:")
        self.run_fabric(controlled, "--flow-csv", path, "--interval", "2us")
        with open(path, encoding="ascii") as file:
            limits = [float(row["limit_bps"]) for row in csv.DictReader(file)]
        # The line at first, less what Ethernet takes.
        self.assertGreater(max(limits), 37e9)
        self.assertLess(max(limits), 40e9)
        self.assertLess(min(limits), 20e9)

    def test_the_curves_of_the_guide_are_those_of_this_tree(self):
        subprocess.run([os.path.join(TREE, "scripts/make-curves"), GEN, self.folder], check=True, stderr=subprocess.PIPE)
        drawn = sorted(name for name in os.listdir(self.folder) if name.endswith(".svg"))
        self.assertGreater(len(drawn), 4)
        for name in drawn:
            with open(os.path.join(self.folder, name), encoding="ascii") as new, \
                    open(os.path.join(TREE, "docs/images", name), encoding="ascii") as kept:
                self.assertTrue(new.read() == kept.read(),
                                f"{name}: docs/images has another one; look at it, then run scripts/make-curves build/dev/gen/roce-gen docs/images")

    def test_captures_are_read_by_roce_analyze(self):
        path = os.path.join(self.folder, "link.pcapng")
        report = json.loads(self.run_fabric(INCAST, "--json", "--capture", f"s0-h1={path}").stdout)
        counts = json.loads(subprocess.run([ANALYZE, "summary", "--json", path], capture_output=True, text=True, check=True).stdout)
        text = json.dumps(counts)
        self.assertIn("10.0.0.2", text)
        decoded = subprocess.run([ANALYZE, "decode", path], capture_output=True, text=True, check=True).stdout
        lines = decoded.splitlines()
        sent = next(port for port in report["ports"] if port["port"] == "h1>s0")["frames"]
        self.assertEqual(sum("RC_WRITE" in line for line in lines), sent)
        stops = next(port for port in report["ports"] if port["port"] == "s0>h1")["xoffs_sent"]
        self.assertGreater(stops, 0)
        self.assertEqual(sum("PFC" in line for line in lines), 2 * stops)

    def test_a_storm_is_of_its_host_and_what_the_senders_wait_for(self):
        path = os.path.join(self.folder, "storm.pcapng")
        self.run_fabric(STORM, "--capture", f"h0-s0={path}")
        analyze = [ANALYZE, "--json", "--link-speed", "1G", path]
        summary = json.loads(subprocess.run(analyze, check=True, capture_output=True).stdout)
        (storm,) = (statement["facts"] for statement in summary["statements"] if statement.get("cause") == "pfc_storm")
        self.assertEqual((storm["station"], storm["priority"]), ("02:00:00:00:00:00", "3"))
        analyze.insert(1, "waits")
        rows = [json.loads(line) for line in subprocess.run(analyze, check=True, capture_output=True).stdout.splitlines()]
        waits = [row["waits"] for row in rows if row.get("waits")]
        self.assertEqual(len(waits), 2)
        for each in waits:
            self.assertAlmostEqual(each["pauses"]["time_ns"], 260e6, delta=10e6)
            self.assertGreater(each["pauses"]["time_ns"], 2 * each.get("rate", {"time_ns": 0})["time_ns"])

    def test_a_deadlock_is_named_and_the_watchdog_ends_it(self):
        result = self.run_fabric(RING)
        self.assertRegex(result.stdout, r"deadlock: each waits for the next one: s0>s1, s1>s2, s2>s3, s3>s0")
        watched = RING.replace("xoff: 20KB}", "xoff: 20KB}, watchdog: {detection: 500us, restoration: 500us}")
        report = json.loads(self.run_fabric(watched.replace("6ms", "500ms"), "--json").stdout)
        self.assertEqual(report["deadlock"], [])
        self.assertGreater(len(report["watchdog"]), 0)
        self.assertEqual(report["workloads"][0]["finished"], 4)

    def test_the_files_of_the_guide_run(self):
        with open(GUIDE, encoding="utf-8") as file:
            blocks = re.findall(r"```yaml\n(.*?)```", file.read(), re.DOTALL)
        self.assertGreater(len(blocks), 1)
        for block in blocks:
            with self.subTest(block=block):
                # As they are they take some seconds.
                self.run_fabric(re.sub(r"^duration: .*", "duration: 50us", block))

    def test_mistakes_are_one_line_with_their_place(self):
        for text, place, what in MISTAKES:
            with self.subTest(what=what):
                error = self.run_fabric(text, code=2).stderr
                self.assertEqual(error.count("\n"), 1, error)
                self.assertIn(f"fabric.yaml, {place}", error)
                self.assertIn(what, error)

    def test_mistakes_of_options(self):
        for options, what in ((["--capture", "h0-h1=x.pcapng"], "there is no link 'h0-h1'; the first one is h0-s0"),
                              (["--capture", "h0-s0"], "expected LINK=FILE"),
                              (["--interval", "soon", "--csv", "x.csv"], "--interval")):
            with self.subTest(what=what):
                error = self.run_fabric(INCAST, *options, code=2).stderr
                self.assertEqual(error.count("\n"), 1, error)
                self.assertIn(what, error)
        missing = subprocess.run([GEN, "fabric", os.path.join(self.folder, "none.yaml")], capture_output=True, text=True,
                                 check=False)
        self.assertEqual(missing.returncode, 1)
        self.assertIn("No such file", missing.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
