# SPDX-License-Identifier: BSD-2-Clause
"""`roce-analyze waits` of captures from simulated networks in which one thing alone holds the requester up: it names that.

usage: waits_test.py ROCE_ANALYZE ROCE_GEN CAPTURES [UNITTEST ARGUMENT...]
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

FLOW = "workloads: [{kind: flows, flows: [{from: h1, to: h0, size: 40MB}]}]"
INCAST = "workloads: [{kind: incast, senders: [h1, h2, h3, h4], to: h0, size: endless}]"


class WaitsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def run_tool(self, *words, code=0):
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout

    def simulate(self, duration, topology, *lines):
        """Runs a fabric; what it says, and the capture of the link of h1."""
        path, capture = os.path.join(self.folder, "fabric.yaml"), os.path.join(self.folder, "h1.pcapng")
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join([f"duration: {duration}", f"topology: {topology}", *lines]) + "\n")
        return json.loads(self.run_tool(ROCE_GEN, "fabric", path, "--json", "--capture", f"h1-s0={capture}")), capture

    def waits(self, *words):
        """The rows without the sentences below them."""
        lines = map(json.loads, self.run_tool(ROCE_ANALYZE, "waits", "--json", *words).splitlines())
        return [line for line in lines if "stream" in line]

    def share(self, wait, *words):
        rows = self.waits(*words)
        self.assertEqual(len(rows), 1)
        shares = {name: one["share"] for name, one in rows[0]["waits"].items()}
        self.assertAlmostEqual(sum(shares.values()), 1, places=6)
        self.assertEqual(max(shares, key=shares.get), wait, shares)
        return shares[wait]

    def test_a_window_that_is_too_small(self):
        _, capture = self.simulate("20ms", "{name: star, hosts: 2, rate: 100G, delay: 500us}", FLOW)
        row = self.waits(capture)[0]
        self.share("answers", capture)
        # Of each round trip it sends for the time that its window of PSNs takes on the link.
        window = row["most_under_way"] * (row["payload"] / row["requests"] + 90) * 8 / 100e9
        self.assertAlmostEqual(row["waits"]["nothing"]["share"], window * 1e9 / row["least_round_trip_ns"], delta=0.05)

    def test_congestion_notifications(self):
        _, capture = self.simulate("10ms", "{name: star, hosts: 5, rate: 25G, delay: 1us}", "hosts: {congestion: dcqcn}",
                                   "switches: {red: {kmin: 5KB, kmax: 100KB, pmax: 0.05}}", INCAST)
        self.assertGreater(self.share("rate", capture), 0.8)

    def test_flow_control(self):
        said, capture = self.simulate("5ms", "{name: star, hosts: 5, rate: 40G, delay: 1us}",
                                      "switches: {buffer: 1MB, pfc: {priorities: [3], xoff: 20KB}}", INCAST)
        share = self.share("pauses", "--link-speed", "40G", capture)
        port = next(port for port in said["ports"] if port["port"] == "h1>s0")
        self.assertAlmostEqual(share, port["paused_ns"][3] / 5e6, delta=0.05)

    def test_losses(self):
        _, capture = self.simulate("50ms", "{name: star, hosts: 2, rate: 25G, delay: 1us, loss: 0.01}", FLOW)
        self.assertGreater(self.share("losses", capture), 0.7)

    def test_an_application_that_has_little_to_send(self):
        _, capture = self.simulate("10ms", "{name: star, hosts: 2, rate: 25G, delay: 1us}",
                                   "workloads: [{kind: random, hosts: 2, load: 0.1, length: 9ms, size: 10KB}]")
        rows = self.waits(capture)
        self.assertEqual(len(rows), 2)
        for row in rows:
            shares = {name: one["share"] for name, one in row["waits"].items()}
            self.assertEqual(max(shares, key=shares.get), "application", shares)

    def test_a_link_that_is_full(self):
        _, capture = self.simulate("5ms", "{name: star, hosts: 2, rate: 25G, delay: 1us}", FLOW)
        self.assertGreater(self.share("nothing", capture), 0.95)

    def test_a_link_that_several_connections_of_a_host_fill(self):
        _, capture = self.simulate("8ms", "{name: star, hosts: 4, rate: 25G, delay: 1us}",
                                   "workloads: [{kind: flows, flows: [{from: h1, to: h0, size: endless}, "
                                   "{from: h1, to: h2, size: endless}, {from: h1, to: h3, size: endless}]}]")
        rows = self.waits(capture)
        self.assertEqual(len(rows), 3)
        for row in rows:
            self.assertGreater(row["waits"]["link"]["share"] + row["waits"]["nothing"]["share"], 0.95, row)

    def test_connections_of_several_hosts_in_one_capture(self):
        """Streams that are joined late belong to no other hosts."""
        _, capture = self.simulate("9ms", "{name: star, hosts: 4, rate: 25G, delay: 1us}",
                                   "workloads: [{kind: random, hosts: 4, load: 0.2, length: 8ms, size: 4KB}]")
        streams = {}
        for row in self.waits(capture):
            ends = frozenset((row["source"], row["destination"]))
            self.assertEqual(streams.setdefault(row["stream"], ends), ends)

    def test_receivers_that_are_not_ready(self):
        rows = self.waits(os.path.join(CAPTURES, "softroce", "rc-rnr.tx.pcap"))
        for row in rows:
            self.assertGreater(row["waits"]["receiver"]["share"], 0.8, row)

    def test_every_capture_adds_up(self):
        for name in sorted(os.listdir(os.path.join(CAPTURES, "softroce"))):
            if not name.endswith(".pcap"):
                continue
            with self.subTest(name):
                for row in self.waits(os.path.join(CAPTURES, "softroce", name)):
                    times = [one["time_ns"] for one in row["waits"].values()]
                    self.assertEqual(sum(times), row["time_ns"])
                    self.assertGreaterEqual(min(times), 0)

    def test_one_stream(self):
        capture = os.path.join(CAPTURES, "softroce", "rc-rnr.tx.pcap")
        self.assertEqual({row["stream"] for row in self.waits("--stream", "1", capture)}, {1})


if __name__ == "__main__":
    ROCE_ANALYZE, ROCE_GEN, CAPTURES = (os.path.abspath(sys.argv.pop(1)) for _ in range(3))
    unittest.main()
