# SPDX-License-Identifier: BSD-2-Clause
"""The page that roce-analyze serve gives, while its capture grows.

usage: serve_test.py ROCE_ANALYZE CAPTURES
"""

import http.client
import pathlib
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "support"))
from chromium import Chromium  # noqa: E402

PROGRAM = ""
CAPTURES = pathlib.Path()
PATIENCE = 60  # seconds; only a failure takes as long
SKIPPED = 77


class Serving:
    """A run of roce-analyze serve."""

    def __init__(self, *arguments, **options):
        self.run = subprocess.Popen([PROGRAM, "serve", *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                    **options)
        self.watch = threading.Timer(PATIENCE, self.run.kill)
        self.watch.start()
        self.url = self.run.stdout.readline().strip()
        self.port, self.token = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/\?token=([0-9a-f]{32})", self.url).groups()

    def get(self, path=None, method="GET", **headers):
        connection = http.client.HTTPConnection("127.0.0.1", int(self.port), timeout=PATIENCE)
        try:
            connection.request(method, path or f"/?token={self.token}", headers=headers)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def end(self):
        self.run.send_signal(signal.SIGINT)
        err = self.run.stderr.read()
        code = self.run.wait()
        self.watch.cancel()
        self.run.stdout.close()
        self.run.stderr.close()
        return code, err


class ServeTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="roce-serve-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.capture = self.folder / "trace.pcap"
        self.bytes = (CAPTURES / "softroce" / "rc-drop-requests.rx.pcap").read_bytes()

    def report(self):
        """The page that --report makes of the capture as it is now, made live."""
        page = self.folder / "report.html"
        subprocess.run([PROGRAM, "--report", str(page), str(self.capture)], capture_output=True, check=True)
        policy = b"form-action 'none'"
        return page.read_bytes().replace(b'"live":false', b'"live":true').replace(policy, policy + b"; connect-src 'self'", 1)

    def test_each_page_is_the_report_of_what_has_come(self):
        pieces = [self.bytes[at:at + 20000] for at in range(0, len(self.bytes), 20000)]
        self.capture.write_bytes(b"")
        serving = Serving(self.capture)
        for number, piece in enumerate(pieces):
            with self.capture.open("ab") as file:
                file.write(piece)
            # A capture that ends inside a packet has no report to compare with.
            if number + 1 < len(pieces):
                self.assertEqual(serving.get()[0], 200)
        expected = self.report()
        while (page := serving.get())[1] != expected:
            self.assertEqual(page[0], 200)
            self.assertTrue(serving.watch.is_alive(), "the page never becomes the report of the whole capture")
        self.assertEqual(serving.end(), (0, ""))

    def test_nobody_without_the_address_gets_anything(self):
        self.capture.write_bytes(self.bytes)
        serving = Serving(self.capture)
        self.assertEqual(serving.get("/")[0], 403)
        self.assertEqual(serving.get("/?token=" + "0" * 32)[0], 403)
        self.assertEqual(serving.get(f"/?token={serving.token[:-1]}")[0], 403)
        self.assertEqual(serving.get(Host="example.com")[0], 403, "a name that was made to mean this machine")
        self.assertEqual(serving.get(Host=f"127.0.0.1:{serving.port}")[0], 200)
        self.assertEqual(serving.get(f"/etc/passwd?token={serving.token}")[0], 404)
        self.assertEqual(serving.get(f"/alive?token={serving.token}"), (200, b"the capture goes on\n"))
        self.assertEqual(serving.get("/alive")[0], 403)
        self.assertEqual(serving.get(f"/alive?token={serving.token}", Host="example.com")[0], 403)
        self.assertEqual(serving.get(method="POST")[0], 405)
        self.assertEqual(self.listeners(serving.run.pid), {("0100007F", f"{int(serving.port):04X}")})
        self.assertEqual(serving.end(), (0, ""))

    @staticmethod
    def listeners(pid):
        """Address and port of each socket at which the process listens."""
        own = {link.readlink().name for link in pathlib.Path(f"/proc/{pid}/fd").iterdir() if link.is_symlink()}
        found = set()
        for table in ("tcp", "tcp6"):
            for row in pathlib.Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
                fields = row.split()
                if fields[3] == "0A" and f"socket:[{fields[9]}]" in own:
                    found.add(tuple(fields[1].split(":")))
        return found

    def test_rubbish_for_requests_harms_nobody(self):
        self.capture.write_bytes(self.bytes)
        serving = Serving(self.capture)
        for rubbish in (b"\0" * 10000, b"GET " + b"/" * 100000 + b" HTTP/1.1\r\n\r\n", b"GET / HTTP/1.1\r\nHost: " + b"a" * 50000, b"\r\n" * 500):
            with socket.create_connection(("127.0.0.1", int(serving.port))) as one:
                try:
                    one.sendall(rubbish)
                except ConnectionError:
                    pass  # it may refuse before it has read everything
        self.assertEqual(serving.get()[0], 200)
        self.assertEqual(serving.end(), (0, ""))

    def test_who_leaves_before_the_page_is_there_harms_nobody(self):
        self.capture.write_bytes(self.bytes)
        serving = Serving(self.capture)
        for _ in range(20):
            with socket.create_connection(("127.0.0.1", int(serving.port))) as one:
                one.sendall(f"GET /?token={serving.token} HTTP/1.1\r\nHost: 127.0.0.1:{serving.port}\r\n\r\n".encode())
        self.assertEqual(serving.get()[1], self.report())
        self.assertEqual(serving.end(), (0, ""))

    def test_a_page_that_could_not_be_made_is_asked_for_again(self):
        self.capture.write_bytes(self.bytes)
        serving = Serving(self.capture)
        _, highest = resource.prlimit(serving.run.pid, resource.RLIMIT_FSIZE, (1000, resource.RLIM_INFINITY))
        connection = http.client.HTTPConnection("127.0.0.1", int(serving.port), timeout=PATIENCE)
        connection.request("GET", f"/?token={serving.token}")
        answer = connection.getresponse()
        self.assertEqual((answer.status, answer.headers["Refresh"], answer.headers.get_content_type()), (503, "3", "text/html"))
        self.assertIn(b"could not be made", answer.read())
        connection.close()
        resource.prlimit(serving.run.pid, resource.RLIMIT_FSIZE, (highest, highest))
        self.assertEqual(serving.get(), (200, self.report()))
        self.assertEqual(serving.end(), (0, ""))

    def test_a_pipe_that_ended_is_still_shown(self):
        self.capture.write_bytes(self.bytes)
        serving = Serving("-", stdin=subprocess.PIPE)
        serving.run.stdin.buffer.write(self.bytes)
        serving.run.stdin.close()
        while b"11 lost before the capture point" not in serving.get()[1]:
            self.assertTrue(serving.watch.is_alive(), "what came through the pipe is never shown")
        self.assertEqual(serving.end(), (0, ""))

    def test_faults_are_named(self):
        self.capture.write_bytes(self.bytes)
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = str(taken.getsockname()[1])
            for arguments, sentence in ((["--port", port, self.capture], f"cannot serve at 127.0.0.1:{port}: Address already in use"),
                                        (["--port", "70000", self.capture], "--port"), ([], "which file?"),
                                        (["--json", self.capture], "leave out --json"),
                                        ([self.capture, self.capture], "what is followed is one file")):
                run = subprocess.run([PROGRAM, "serve", *map(str, arguments)], capture_output=True, text=True, timeout=PATIENCE)
                self.assertEqual((run.returncode, run.stdout), (2, ""), run.stderr)
                self.assertIn(sentence, run.stderr)

    @unittest.skipUnless(shutil.which("chromium"), "there is no chromium")
    def test_a_browser_sees_the_capture_grow_unless_it_holds_the_page(self):
        self.capture.write_bytes(self.bytes[:20000])
        serving = Serving(self.capture)
        count = "document.querySelector('.facts')?.textContent.match(/in ([0-9,. ]+) frame/)?.[1] ?? ''"
        with Chromium("chromium", self.folder) as browser:
            browser.open(serving.url)
            self.assertIn("Live", browser.run("document.querySelector('.live').textContent"))
            self.assertNotEqual(browser.run(count), "170")
            with self.capture.open("ab") as file:
                file.write(self.bytes[20000:])
            while browser.run(count) != "170":
                browser.wait_for_reload()
            browser.run("document.querySelector('.live button').click()")
            self.assertIn("Held", browser.run("document.querySelector('.live').textContent"))
            self.assertEqual(browser.messages, [])
            alive = serving.url.replace("/?", "/alive?")
            self.assertEqual({address for address in browser.requests if not address.startswith("data:")}, {serving.url, alive})
            # Held until then, as it might have begun to load the next one.
            self.assertEqual(serving.end(), (0, ""))
            browser.run("document.querySelector('.live button').click()")
            said = "new Promise(done => setInterval(() => /ended/.test(document.querySelector('.live')?.textContent ?? 'ended') && done(), 50))"
            browser.run(said)
            self.assertEqual(browser.run("document.querySelector('.live span')?.textContent"), "The capture has ended; this page stays.")
            self.assertEqual(browser.run(count), "170", "the last report is lost")


if __name__ == "__main__":
    PROGRAM, CAPTURES = sys.argv[1], pathlib.Path(sys.argv[2])
    tried = subprocess.run([PROGRAM, "serve", "--port", "0", "/nonexistent"], capture_output=True, text=True)
    if "this build has no --report" in tried.stderr:
        print(tried.stderr)
        sys.exit(SKIPPED)
    unittest.main(argv=sys.argv[:1], verbosity=2)
