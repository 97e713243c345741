# SPDX-License-Identifier: BSD-2-Clause
"""The page of roce-analyze --report in a browser that opens it as a file.

usage: browser_test.py CHROMIUM ROCE_ANALYZE ROCE_GEN|none CAPTURES [UNITTEST ARGUMENT...]
"""

import json
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "support"))

from chromium import Chromium  # noqa: E402

# How many pixels of a plot have its colour, by the left end of each twentieth.
PAINTED = """(name => {
  const plot = document.querySelector(`[data-series="${name}"]`);
  if (plot === null) return null;
  const canvas = plot.querySelector("canvas"), context = canvas.getContext("2d");
  const colour = getComputedStyle(plot.querySelector(".swatch")).backgroundColor.match(/\\d+/g).map(Number);
  const {data, width} = context.getImageData(0, 0, canvas.width, canvas.height);
  const found = new Array(20).fill(0);
  for (let i = 0; i < data.length; i += 4)
    if (colour.every((value, c) => Math.abs(data[i + c] - value) < 40)) ++found[Math.floor((i / 4 % width) * 20 / width)];
  return found;
})"""
# Four hosts send to one through a switch that marks, and slow down when they are told.
INCAST = """
duration: 10ms
topology: {name: star, hosts: 5, rate: 25G, delay: 1us}
hosts: {congestion: dcqcn}
switches: {red: {kmin: 5KB, kmax: 100KB, pmax: 0.05}}
workloads: [{kind: incast, senders: [h1, h2, h3, h4], to: h0, size: endless}]
"""
LABELS = "[...document.querySelectorAll('.picture')].map(each => each.ariaLabel)"


def packets(path):
    """Time in nanoseconds, and bytes, of each packet of a pcap file."""
    data = path.read_bytes()
    magic = struct.unpack("<I", data[:4])[0]
    unit = 1 if magic == 0xA1B23C4D else 1000
    at = 24
    while at < len(data):
        seconds, fraction, length, original = struct.unpack("<IIII", data[at:at + 16])
        yield seconds * 10**9 + fraction * unit, original, data[at + 16:at + 16 + length]
        at += 16 + length


def passed(frame, hops):
    """An IPv4 packet behind so many routers."""
    header = bytearray(frame[14:34])
    header[8] -= hops
    header[10:12] = bytes(2)
    total = sum(struct.unpack(">10H", header))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    header[10:12] = struct.pack(">H", total ^ 0xFFFF)
    return frame[:14] + bytes(header) + frame[34:]


def write(path, rows):
    """Writes packets with times in nanoseconds."""
    parts = [struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262144, 1)]
    for time, original, frame in rows:
        parts.append(struct.pack("<IIII", time // 10**9, time % 10**9, len(frame), original) + frame)
    path.write_bytes(b"".join(parts))


class Browser(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.browser = Chromium(CHROMIUM, self.folder)
        self.browser.__enter__()

    def tearDown(self):
        self.browser.__exit__()
        shutil.rmtree(self.folder, ignore_errors=True)

    def show(self, capture, *options, fragment=""):
        """Makes a page and opens it."""
        page = self.folder / "page.html"
        made = subprocess.run([ROCE_ANALYZE, "summary", "--json", "--report", page, *options, capture], capture_output=True, text=True, timeout=120,
                              check=False)
        self.assertEqual(made.returncode, 0, made.stderr)
        self.browser.open("about:blank")
        self.browser.open(page.as_uri() + fragment)
        self.assertEqual(self.browser.run("document.documentElement.dataset.ready"), "yes")
        return json.loads(made.stdout)

    def painted(self, name):
        return self.browser.run(f"{PAINTED}({json.dumps(name)})")

    def quiet(self):
        """Nothing was written to the console, and nothing was asked for but the page itself."""
        self.assertEqual(self.browser.messages, [])
        self.assertEqual([each for each in self.browser.requests if not each.startswith("file:///")], [])
        self.assertLessEqual(len(self.browser.requests), 1)

    def test_draws_each_plot_and_says_what_summary_says(self):
        for name in ("rc-drop-requests.tx", "rc-ecn-ce.rx", "rc-rnr.tx"):
            for scheme in ("light", "dark"):
                with self.subTest(name, scheme=scheme):
                    self.browser.media(scheme)
                    told = self.show(CAPTURES / f"softroce/{name}.pcap")
                    verdict = self.browser.run("document.querySelector('h1').textContent")
                    self.assertEqual(verdict.rstrip(".").lower(), told["verdict"].rstrip(".").lower())
                    shown = self.browser.run("[...document.querySelectorAll('.findings tr[data-verdict]')].map(row => "
                                             "[row.dataset.verdict, Number(row.querySelector('[data-exact]').dataset.exact)])")
                    self.assertEqual(shown, [[each["verdict"], each["count"]] for each in told["findings"]])
                    plots = self.browser.run("[...document.querySelectorAll('.plot')].map(each => each.dataset.series)")
                    self.assertGreaterEqual(len(plots), 3)
                    for plot in plots:
                        self.assertGreater(sum(self.painted(plot)), 3, plot)
        self.quiet()

    def test_draws_packets_by_psn_and_as_a_ladder(self):
        self.show(CAPTURES / "softroce/rc-drop-requests.tx.pcap")
        label = self.browser.run("document.querySelector('.psn .picture').ariaLabel")
        self.assertRegex(label, r"\d+ sent, \d+ sent again.*, \d+ lost after the capture point\.$")
        painted = self.browser.run("(() => { const canvas = document.querySelector('.psn canvas');"
                                   "const {data} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height), found = {};"
                                   "const swatches = [...document.querySelectorAll('.legend .swatch')].map(each => getComputedStyle(each).backgroundColor"
                                   ".match(/\\d+/g).map(Number));"
                                   "return swatches.map(colour => { let n = 0; for (let i = 0; i < data.length; i += 4)"
                                   "if (colour.every((value, c) => Math.abs(data[i + c] - value) < 30)) ++n; return n; }); })()")
        self.assertGreaterEqual(len(painted), 5)
        for pixels in painted:
            self.assertGreater(pixels, 0)
        self.browser.run("document.querySelector('.ladder').open = true")
        self.browser.settle()
        self.assertEqual(self.browser.run("document.querySelectorAll('.rungs .arrow').length"), 60)
        self.assertGreater(self.browser.run("document.querySelectorAll('.rungs .arrow.lost').length"), 0)
        zoomed = "#t=0.031000000-0.034000000"
        self.show(CAPTURES / "softroce/rc-drop-requests.tx.pcap", fragment=zoomed)
        self.assertNotEqual(self.browser.run("document.querySelector('.psn .picture').ariaLabel"), label)
        self.quiet()

    def waits(self, capture):
        """The time of all requesters by what they waited for, as the command tells it."""
        told = subprocess.run([ROCE_ANALYZE, "waits", "--json", capture], capture_output=True, text=True, timeout=60, check=True).stdout
        sums = {}
        for row in map(json.loads, told.splitlines()):
            for name, wait in row.get("waits", {}).items():
                sums[name] = sums.get(name, 0) + wait["time_ns"]
        return {name: time for name, time in sums.items() if time}

    def test_divides_the_time_by_what_limits(self):
        for name in ("rc-drop-requests.tx", "rc-rnr.tx"):
            capture = CAPTURES / f"softroce/{name}.pcap"
            self.show(capture)
            shown = self.browser.run("Object.fromEntries([...document.querySelectorAll('[data-series=waits] .key')].map(each => "
                                     "[each.dataset.wait, Number(each.dataset.exact)]))")
            self.assertEqual(shown, self.waits(capture))
            label = self.browser.run("document.querySelector('.picture.band').ariaLabel")
            self.assertRegex(label, r"^Limited by, 0\.000000 to [\d.]+ s: [A-Za-z ]+ \d")
            # Each colour of the legend is in the picture.
            painted = self.browser.run("(() => { const canvas = document.querySelector('.band canvas');"
                                       "const {data} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);"
                                       "return [...document.querySelectorAll('[data-series=waits] .swatch')].map(each => {"
                                       "const colour = getComputedStyle(each).backgroundColor.match(/\\d+/g).map(Number); let n = 0;"
                                       "for (let i = 0; i < data.length; i += 4) if (colour.every((value, c) => Math.abs(data[i + c] - value) < 8)) ++n;"
                                       "return n; }); })()")
            self.assertEqual(len(painted), len(shown))
            for pixels in painted:
                self.assertGreater(pixels, 0)
            self.browser.run("(each => each.open = true)(document.querySelector('[data-series=waits] .data'))")
            self.browser.settle()
            self.assertGreater(self.browser.run("document.querySelectorAll('[data-series=waits] tbody tr').length"), 3)
        self.quiet()

    def test_tells_the_story_of_the_slowest_messages(self):
        capture = CAPTURES / "softroce/rc-drop-requests.tx.pcap"
        told = subprocess.run([ROCE_ANALYZE, "messages", "--top", "20", "--json", capture], capture_output=True, text=True, timeout=60, check=True).stdout
        rows = [json.loads(line) for line in told.splitlines()]
        self.show(capture)
        shown = self.browser.run("[...document.querySelectorAll('.slowest tbody tr')].map(row => [...row.querySelectorAll('[data-exact]')]"
                                 ".map(each => Number(each.dataset.exact)))")
        keys = ("latency_ns", "stream", "bytes", "psn_count", "resent", "first_frame", "last_frame", "answer_frame")
        self.assertEqual(shown, [[row[key] for key in keys] for row in rows])
        self.browser.run("document.querySelector('.slowest button').click()")
        self.browser.settle()
        # The address says which message it is, not its place: that is another one when the capture goes on.
        directions = self.browser.run("JSON.parse(document.getElementById('data').textContent).slowest.map(each => each.direction)")
        fragments = [f"#slow={row['stream']}.{direction}.{row['first_frame']}" for row, direction in zip(rows, directions)]
        self.assertEqual(self.browser.run("location.hash"), fragments[0])
        ladder = self.browser.run("document.querySelector('.story').textContent")
        for frame in (rows[0]["first_frame"], rows[0]["answer_frame"]):
            self.assertIn(f"frame {frame}", ladder)
        self.assertGreater(self.browser.run("document.querySelectorAll('.story .arrow.sent_again').length"), 0)
        self.assertGreater(self.browser.run("document.querySelectorAll('.story .own').length"), 1)
        # All plots show its time.
        self.browser.run("document.querySelector('.story button').click()")
        self.assertRegex(self.browser.run("location.hash"), r"[#&]t=0\.35\d+-0\.44\d+")
        for fragment, expanded in ((fragments[-1], [len(rows) - 1]), ("#slow=", []), ("#slow=0", [])):
            self.show(capture, fragment=fragment)
            self.assertEqual(self.browser.run("[...document.querySelectorAll('.slowest button')].map(each => each.ariaExpanded)"
                                              ".flatMap((each, i) => each === 'true' ? [i] : [])"), expanded, fragment)
        self.quiet()

    def test_shows_marks_cnps_and_the_rate(self):
        if ROCE_GEN == "none":
            self.skipTest("roce-gen is not built")
        network, capture = self.folder / "incast.yaml", self.folder / "incast.pcapng"
        network.write_text(INCAST, encoding="utf-8")
        subprocess.run([ROCE_GEN, "fabric", network, "--json", "--capture", f"s0-h0={capture}"], capture_output=True, timeout=60, check=True)
        self.show(capture)
        streams = subprocess.run([ROCE_ANALYZE, "streams", "--json", capture], capture_output=True, text=True, timeout=60, check=True).stdout
        told = {}
        for stream in map(json.loads, streams.splitlines()):
            for each in stream["congestion"]:
                reaction = each["reaction"]
                told[stream["stream"]] = [each["marks"], each["cnps"], each["cnps_without_mark"], each["marks_since_cnp"], each["mark_to_cnp"]["p50_ns"],
                                          each["mark_to_cnp"]["max_ns"], each["cnp_spacing"]["min_ns"], each["cnp_spacing"]["p50_ns"], reaction["cnps"],
                                          reaction["slowed"], reaction["bits_per_second_before"], reaction["bits_per_second_after"]]
        self.assertEqual(len(told), 4)
        shown = self.browser.run("Object.fromEntries([...document.querySelector('.congestion table.figures').tBodies[0].rows].map(row => "
                                 "[row.cells[0].textContent.match(/\\d+/)[0], [...row.querySelectorAll('[data-exact]')].map(each => Number(each.dataset.exact))]))")
        self.assertEqual({int(stream): row for stream, row in shown.items()}, told)
        # How the senders reacted is in the page alone.
        fits = [each["fit"] for each in self.browser.run("JSON.parse(document.getElementById('data').textContent)")["congestion"]["rows"]]
        self.assertTrue(all(fit["cuts"] > 0 and 0 < fit["left"] < 1 for fit in fits), fits)
        reactions = self.browser.run("[...document.querySelectorAll('.congestion table.figures')[1].tBodies[0].rows].map(row => "
                                     "[...row.querySelectorAll('[data-exact]')].map(each => Number(each.dataset.exact)))")
        self.assertEqual(reactions, [[value for name, value in fit.items() if name != "steps" and value is not None] for fit in fits])
        self.assertIn("after a CNP the sender is at ", self.browser.run("document.querySelector('.congestion .hint').textContent"))
        stream = int(self.browser.run("document.querySelector('.congestion select').selectedOptions[0].textContent").split(":")[0].split()[1])
        marks, cnps = told[stream][:2]
        self.assertIn(f": {marks} packets marked, {cnps} CNPs, at most ", self.browser.run("document.querySelector('.picture.congested').ariaLabel"))
        other = self.browser.run("document.querySelector('.congestion select').options[2].value")
        self.browser.run("document.querySelectorAll('.congestion .link')[2].click()")
        self.assertRegex(other, r"^\d+\.[01]$")
        self.assertEqual(self.browser.run("location.hash"), f"#congested={other}")
        self.show(capture, fragment=f"#congested={other}")
        self.assertEqual(self.browser.run("document.querySelector('.congestion select').value"), other)
        self.assertIn(f"Congestion of stream {other.split('.')[0]}:", self.browser.run("document.querySelector('.picture.congested').ariaLabel"))
        painted = self.browser.run("(() => { const canvas = document.querySelector('.congested canvas');"
                                   "const {data} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);"
                                   "return [...document.querySelectorAll('.congestion .legend .swatch')].map(each => {"
                                   "const colour = getComputedStyle(each).backgroundColor.match(/\\d+/g).map(Number); let n = 0;"
                                   "for (let i = 0; i < data.length; i += 4) if (colour.every((value, c) => Math.abs(data[i + c] - value) < 8)) ++n;"
                                   "return n; }); })()")
        self.assertEqual(len(painted), 4)
        for pixels in painted:
            self.assertGreater(pixels, 20)
        self.quiet()

    def test_shows_the_time_of_what_it_says(self):
        told = self.show(CAPTURES / "softroce/rc-drop-requests.tx.pcap")
        (stall,) = (each["facts"] for each in told["statements"] if each.get("cause") == "stall")
        # The headline, and the stall below it.
        self.browser.run("document.querySelector('.statements .more button').click()")
        begin, end = (float(each) * 1e9 for each in self.browser.run("location.hash").removeprefix("#t=").split("-"))
        self.assertAlmostEqual((begin + end) / 2, (stall["since_ns"] + stall["until_ns"]) / 2, delta=1e6)
        self.assertAlmostEqual(end - begin, 1.2 * (stall["until_ns"] - stall["since_ns"]), delta=1e6)
        # What plots count follows the view.
        resent = "document.querySelector('[data-series=resent] .in-view').textContent"
        inside = sum(1 for line in subprocess.run([ROCE_ANALYZE, "events", "--json", CAPTURES / "softroce/rc-drop-requests.tx.pcap"], capture_output=True,
                                                  text=True, timeout=60, check=True).stdout.splitlines() if '"retransmission"' in line)
        self.assertRegex(self.browser.run(resent), r"^, \d+ in the time shown$")
        self.assertLess(int(self.browser.run(resent).split()[1]), inside)
        self.browser.key("0")
        self.browser.run("[...document.querySelectorAll('#time button')].find(each => each.textContent === 'Whole time').click()")
        self.assertEqual(self.browser.run(resent), "")
        # Each finding has its first frame, and its time.
        rows = self.browser.run("[...document.querySelectorAll('.findings tr[data-verdict]')].map(row => [row.dataset.verdict, "
                                "row.querySelector('.first').textContent])")
        self.assertEqual(rows, [[each["verdict"], f"{each['first_ns'] / 1e9:.6f} sframe {each['first_frame']}"] for each in told["findings"]])
        self.assertEqual(self.browser.run("[...document.querySelectorAll('.findings tr[data-cause]')].map(row => row.dataset.cause)"), ["stall"])
        # A stream is shown in the table and by its PSNs.
        self.browser.run("document.querySelector('.findings tr[data-verdict] td:nth-child(5) button').click()")
        self.assertEqual(self.browser.run("new URLSearchParams(location.hash.slice(1)).get('filter')"), "stream=0")
        self.assertEqual(self.browser.run("new URLSearchParams(location.hash.slice(1)).get('psn')"), "0.0")
        self.quiet()

    def test_lists_the_connections_of_the_time_shown(self):
        capture = CAPTURES / "fabric/incast.pcapng.gz"
        told = [json.loads(line) for line in subprocess.run([ROCE_ANALYZE, "streams", "--json", capture], capture_output=True, text=True, timeout=60, check=True)
                .stdout.splitlines()]
        whole = self.show(capture)
        first = min(each["start"] for each in told)
        self.assertTrue(whole["capture"]["first"] <= first)
        self.show(capture, fragment="#t=0.000000000-0.000050000&active=1")
        self.assertEqual(self.browser.run("document.querySelectorAll('#connections .rows .row').length"), 1)
        self.browser.run("document.querySelector('#connections input[type=checkbox]').click()")
        self.browser.settle()
        self.assertEqual(self.browser.run("document.querySelectorAll('#connections .rows .row').length"), len(told))
        self.quiet()

    def test_shows_where_packets_died_between_capture_points(self):
        near, middle, far = (self.folder / f"{name}.pcap" for name in ("near", "middle", "far"))
        for path, source, hops in ((near, "tx", 0), (middle, "tx", 1), (far, "rx", 2)):
            write(path, ((time + hops * 10_000, original, passed(frame, hops))
                         for time, original, frame in packets(CAPTURES / f"softroce/rc-drop-requests.{source}.pcap")))
        told = self.show(near, far, middle)
        self.assertEqual(self.browser.run("[...document.querySelectorAll('#points .path')].map(row => "
                                          "[...row.querySelectorAll('.point')].map(each => each.textContent))"), [["near", "middle", "far"]])
        self.assertEqual(self.browser.run("[...document.querySelectorAll('#points .hop')].map(each => each.classList.contains('dead'))"), [False, True])
        shown = self.browser.run("[...document.querySelectorAll('#points tbody tr')].map(row => [row.querySelector('th').textContent, "
                                 "...[...row.querySelectorAll('td')].map(cell => cell.dataset.exact === undefined ? null : Number(cell.dataset.exact))])")
        figures = ("packets", "matched", "lost", "damaged", "duplicated", "reordered", "missed", "not_judged", "delay_p50_ns")
        self.assertEqual(shown, [[f"{each['from']} → {each['to']}", *(each[name] for name in figures)] for each in told["crossings"]])
        self.quiet()
        self.show(near)
        self.assertTrue(self.browser.run("document.querySelector('#points') === null"))

    def test_shows_pauses(self):
        self.show(CAPTURES / "made/link-control.pcapng", "--link-speed", "100G")
        rows = self.browser.run("document.querySelectorAll('.pauses tbody tr').length")
        self.assertGreater(rows, 0)
        self.assertEqual(self.browser.run("[...document.querySelectorAll('.pauses [data-exact]')].filter(each => Number.isNaN(Number(each.dataset.exact))).length"), 0)
        self.quiet()

    def test_zooms_all_plots_at_once_and_keeps_the_view_in_the_address(self):
        self.show(CAPTURES / "softroce/rc-drop-requests.tx.pcap")
        whole = self.browser.run(LABELS)
        box = self.browser.run("(({left, top, width, height}) => [left, top + height / 2, width])"
                               "((document.querySelector('[data-series=goodput]').scrollIntoView(), document.querySelector('[data-series=goodput] .u-over'))"
                               ".getBoundingClientRect())")
        self.browser.drag(box[0] + box[2] * 0.2, box[0] + box[2] * 0.4, box[1])
        zoomed = self.browser.run(LABELS)
        for before, after in zip(whole, zoomed):
            self.assertNotEqual(before, after)
        ranges = {each.split(", ", 1)[1].split(" s:")[0] for each in zoomed}
        self.assertEqual(len(ranges), 1)
        self.assertGreaterEqual(len(zoomed), 8)
        fragment = self.browser.run("location.hash")
        self.assertRegex(fragment, r"^#t=0\.08\d+-0\.17\d+$")
        self.show(CAPTURES / "softroce/rc-drop-requests.tx.pcap", fragment=fragment)
        self.assertEqual(self.browser.run(LABELS), zoomed)
        self.quiet()

    def test_works_by_keyboard(self):
        self.show(CAPTURES / "softroce/rc-drop-requests.tx.pcap")
        whole = self.browser.run(LABELS)
        self.browser.run("document.querySelector('[data-series=lost] .picture').focus()")
        self.browser.key("+")
        self.browser.key("ArrowRight")
        moved = self.browser.run(LABELS)
        self.assertNotEqual(moved, whole)
        self.browser.key("0")
        self.assertEqual(self.browser.run(LABELS), whole)
        self.assertEqual(self.browser.run("document.querySelectorAll('a[href^=http]').length"), 0)
        self.quiet()

    def test_one_loss_in_an_hour_is_seen_from_afar(self):
        # An exchange until its first loss has been noticed, between two without any at the ends of the hour.
        told = self.show(self.hour(list(packets(CAPTURES / "softroce/rc-drop-requests.tx.pcap"))[:36]))
        self.assertEqual(sum(told["lost"].values()), 1)
        painted = self.painted("lost")
        self.assertGreaterEqual(sum(painted[9:13]), 20)
        # The axis and its numbers have another colour.
        self.assertEqual(sum(painted[:9]) + sum(painted[13:]), 0)
        self.quiet()

    def hour(self, middle):
        """A capture of an hour: an exchange at each end, whose messages take 1 us to 40 us, and other packets in the middle."""
        clean = list(packets(CAPTURES / "softroce/rc-mix-v4.tx.pcap"))
        start, half = clean[0][0], 1800 * 10**9
        rows = []
        for after, part in ((0, clean), (half, middle), (2 * half, clean)):
            scale = 1 if part is middle else 1000
            rows += [(start + after + (time - part[0][0]) // scale, length, frame) for time, length, frame in part]
        path = self.folder / "hour.pcap"
        write(path, rows)
        return path

    def test_one_slow_message_in_an_hour_is_seen_from_afar(self):
        # The first message of another exchange, whose answer comes after 400 us.
        exchange = list(packets(CAPTURES / "softroce/rc-mix-v6.tx.pcap"))
        told = subprocess.run([ROCE_ANALYZE, "messages", "--json", CAPTURES / "softroce/rc-mix-v6.tx.pcap"], capture_output=True, text=True, timeout=60, check=True)
        first = min(map(json.loads, told.stdout.splitlines()), key=lambda message: message["answer_frame"])
        slow = [exchange[frame - 1] for frame in range(first["first_frame"], first["last_frame"] + 1)]
        begin = slow[0][0]
        slow = [(begin + i, *packet[1:]) for i, packet in enumerate(slow)] + [(begin + 400_000, *exchange[first["answer_frame"] - 1][1:])]
        path = self.hour(slow)
        self.show(path)
        told = subprocess.run([ROCE_ANALYZE, "messages", "--top", "2", "--json", path], capture_output=True, text=True, timeout=60, check=True).stdout
        slowest, next_one = (json.loads(line)["latency_ns"] for line in told.splitlines())
        self.assertEqual(slowest, 400_000)
        self.assertLess(next_one, 100_000)
        painted = self.painted("latency")
        self.assertGreaterEqual(sum(painted[9:13]), 4)
        self.assertEqual(sum(painted[2:9]) + sum(painted[13:18]), 0)
        self.assertRegex(self.browser.run("document.querySelector('[data-series=latency] .picture').ariaLabel"), r"at most 400 us, at (1799|1800)\.")
        self.quiet()

    def test_one_short_pause_in_an_hour_is_seen_from_afar(self):
        def pfc(quanta):
            head = bytes.fromhex("0180c2000001 020000000001 8808 0101".replace(" ", "")) + struct.pack(">H", 1 << 3)
            return (head + b"".join(struct.pack(">H", quanta if priority == 3 else 0) for priority in range(8))).ljust(60, b"\0")

        path = self.hour([(0, 60, pfc(0xFFFF)), (2_000_000, 60, pfc(0))])
        self.show(path)
        painted = self.painted("paused_3")
        # A window of a millisecond within it is paused all the time.
        self.assertGreaterEqual(sum(painted[9:13]), 20)
        self.assertEqual(sum(painted[2:9]) + sum(painted[13:18]), 0)
        self.assertIn("at most 100 %", self.browser.run("document.querySelector('[data-series=paused_3] .picture').ariaLabel"))
        # The time line of the station, too.
        found = self.browser.run("(() => { const canvas = document.querySelector('.gantt canvas'), {data, width} = canvas.getContext('2d')"
                                 ".getImageData(0, 0, canvas.width, canvas.height), colour = getComputedStyle(document.querySelector("
                                 "'[data-series=paused_3] .swatch')).backgroundColor.match(/\\d+/g).map(Number), places = [];"
                                 "for (let i = 0; i < data.length; i += 4) if (colour.every((value, c) => Math.abs(data[i + c] - value) < 8))"
                                 "places.push((i / 4 % width) / width); return places; })()")
        self.assertGreaterEqual(len(found), 20)
        self.assertTrue(all(0.48 < place < 0.52 for place in found))
        self.quiet()

    def test_lists_many_connections_and_filters_them(self):
        self.show(CAPTURES / "softroce/rc-mix-v4.tx.pcap")
        # The table of the page itself, with many rows: as many connections would be a large capture.
        page = (self.folder / "page.html").read_text(encoding="utf-8")
        opening = '<script type="application/json" id="data">'
        begin = page.index(opening) + len(opening)
        end = page.index("</script>", begin)
        data = json.loads(page[begin:end])
        row = data["streams"]["rows"][0]
        packets_at = data["streams"]["columns"].index("packets")
        data["streams"]["rows"] = [[number, *row[1:packets_at], number % 1000, *row[packets_at + 1:]] for number in range(100_000)]
        (self.folder / "many.html").write_text(page[:begin] + json.dumps(data) + page[end:], encoding="utf-8")
        self.browser.open((self.folder / "many.html").as_uri())
        self.assertEqual(self.browser.run("document.querySelector('#connections .counter').textContent"), "100,000 rows")
        self.assertLess(self.browser.run("document.querySelectorAll('#connections .rows .row').length"), 100)
        self.browser.run("document.querySelector('#connections .scroller').scrollTop = 28 * 99990")
        self.browser.settle()
        self.assertIn("99999", self.browser.run("document.querySelector('#connections .rows').textContent"))
        # A zoom leaves the table where it is.
        self.browser.run("document.querySelector('[data-series=goodput] .picture').focus()")
        self.browser.key("+")
        self.assertRegex(self.browser.run("location.hash"), "^#t=")
        self.assertIn("99999", self.browser.run("document.querySelector('#connections .rows').textContent"))
        stall = self.browser.run("(() => { const input = document.querySelector('#connections .streams input'), begin = performance.now();"
                                 "input.value = 'packets>=999'; input.dispatchEvent(new Event('input')); return performance.now() - begin; })()")
        self.assertLess(stall, 1000)
        self.assertEqual(self.browser.run("document.querySelector('#connections .counter').textContent"), "100 of 100,000 rows")
        self.browser.run("document.querySelector('#connections [role=columnheader] button').click()")
        self.assertTrue(self.browser.run("document.querySelector('#connections .rows .row').textContent").startswith("99999"))
        self.quiet()

    def test_names_from_outside_stay_text(self):
        names = self.folder / "names"
        names.write_text("10.77.0.2 <img/src=x/onerror=document.title='ran'></script><script>document.title='ran'</script>\n10.77.0.3 <b>bold\n",
                         encoding="utf-8")
        self.show(CAPTURES / "softroce/rc-mix-v4.tx.pcap", "--names", names)
        self.assertNotEqual(self.browser.run("document.title"), "ran")
        self.assertEqual(self.browser.run("document.querySelectorAll('#report img, #report b, #report script').length"), 0)
        self.assertIn("<", self.browser.run("document.querySelector('#connections .rows').textContent"))
        self.quiet()

    def test_is_printed(self):
        self.browser.media("dark")
        self.show(CAPTURES / "softroce/rc-drop-requests.tx.pcap")
        self.browser.run("addEventListener('beforeprint', () => window.printed = {plots: [...document.querySelectorAll('.picture')].map(each => "
                         "[each.querySelector('canvas').width, each.querySelector('.uplot').getBoundingClientRect().width]),"
                         "ink: getComputedStyle(document.body).color, rows: document.querySelectorAll('#connections .rows .row').length})")
        before = self.browser.run("[...document.querySelectorAll('canvas')].map(each => each.width)")
        pdf = self.browser.pdf()
        self.assertTrue(pdf.startswith(b"%PDF-"))
        # A4 in points, across.
        left, bottom, right, top = map(float, re.search(rb"/MediaBox \[([^\]]*)\]", pdf)[1].split())
        self.assertGreater(right - left, 1.3 * (top - bottom))
        self.assertGreaterEqual(len(re.findall(rb"/Type /Page\b", pdf)), 3)
        printed = self.browser.run("window.printed")
        self.assertGreaterEqual(len(printed["plots"]), 8)
        for pixels, width in printed["plots"]:
            self.assertGreaterEqual(pixels, 1.99 * width)
            self.assertLess(width, (right - left) * 96 / 72)
        # Ink is dark although the screen is.
        self.assertLess(sum(map(int, re.findall(r"\d+", printed["ink"])[:3])), 150)
        self.assertEqual(printed["rows"], 1)
        self.assertEqual(self.browser.run("[...document.querySelectorAll('canvas')].map(each => each.width)"), before)
        self.quiet()

    def test_nothing_is_cut_off_on_paper(self):
        for name in ("softroce/rc-drop-requests.tx.pcap", "softroce/rc-ecn-ce.rx.pcap", "made/link-control.pcapng"):
            with self.subTest(name):
                self.show(CAPTURES / name)
                # A4 across, without its margins.
                self.browser.call("Emulation.setDeviceMetricsOverride", width=1046, height=718, deviceScaleFactor=1, mobile=False)
                self.browser.call("Emulation.setEmulatedMedia", media="print")
                self.browser.run("dispatchEvent(new Event('beforeprint'))")
                self.browser.settle()
                wide = self.browser.run("[...document.querySelectorAll('#report *')].filter(each => each.getBoundingClientRect().right > 1047)"
                                        ".map(each => `${each.tagName} ${each.className} ${each.textContent.slice(0, 40)}`)")
                pictures = self.browser.run("[...document.querySelectorAll('.picture')].map(each => [each.closest('[data-series]')?.dataset.series ?? each.className,"
                                            "each.ariaLabel, getComputedStyle(each, '::after').content,"
                                            "each.getBoundingClientRect().bottom - each.lastElementChild.getBoundingClientRect().bottom])")
                self.browser.call("Emulation.setEmulatedMedia", media="")
                self.browser.call("Emulation.clearDeviceMetricsOverride")
                self.assertEqual(wide, [])
                # Each plot has its sentence, and it is drawn below the plot.
                self.assertGreater(len(pictures), 1)
                for series, label, sentence, room in pictures:
                    self.assertTrue(label, series)
                    self.assertEqual(sentence, json.dumps(label, ensure_ascii=False), series)
                    self.assertGreater(room, 8, series)
        self.quiet()

    def test_says_that_there_is_nothing(self):
        write(self.folder / "empty.pcap", [])
        self.show(self.folder / "empty.pcap")
        self.assertIn("no packets to judge", self.browser.run("document.querySelector('h1').textContent"))
        self.quiet()


if __name__ == "__main__":
    CHROMIUM, ROCE_ANALYZE, ROCE_GEN, CAPTURES = *sys.argv[1:4], pathlib.Path(sys.argv[4])
    unittest.main(argv=[sys.argv[0], *sys.argv[5:]], verbosity=2)
