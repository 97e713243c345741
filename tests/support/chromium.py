# SPDX-License-Identifier: BSD-2-Clause
"""A page in headless Chromium, driven over the pipes of --remote-debugging-pipe: needs no other program and no library."""

import base64
import fcntl
import json
import os
import select
import subprocess
import time

FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update",
         "--disable-sync", "--hide-scrollbars", "--remote-debugging-pipe")


def pipe_above(least=10):
    """A pipe whose descriptors are at least that."""
    ends = os.pipe()
    moved = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, least) for end in ends]
    for end in ends:
        os.close(end)
    return moved


class Chromium:
    """One page. Leaving the context ends the browser."""

    def __init__(self, program, folder, width=1280, height=1700, seconds=60):
        self.program, self.folder, self.size, self.seconds = program, folder, (width, height), seconds
        self.messages = []  # what the page wrote to the console, and what it threw
        self.requests = []  # addresses that it asked for
        self._rest, self._last, self._session, self._loaded = b"", 0, None, False

    def __enter__(self):
        to_read, self._out = pipe_above()
        self._in, to_write = pipe_above()
        command = [self.program, *FLAGS, f"--user-data-dir={self.folder}/profile", "--window-size={},{}".format(*self.size), "about:blank"]

        def place():
            # Chromium reads its descriptor 3 and writes its descriptor 4. Ours are neither.
            os.dup2(to_read, 3)
            os.dup2(to_write, 4)
        self._process = subprocess.Popen(command, preexec_fn=place, pass_fds=(3, 4), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        targets = self.call("Target.getTargets")["targetInfos"]
        target = next(each["targetId"] for each in targets if each["type"] == "page")
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        return self

    def __exit__(self, *_):
        os.close(self._out)
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._in)

    def call(self, method, **parameters):
        self._last += 1
        message = {"id": self._last, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        wanted = self._last
        while True:
            answer = self._next(time.monotonic() + self.seconds)
            if answer.get("id") == wanted:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]

    def open(self, address):
        """Shows a page, and waits until it says that it is ready."""
        self.requests.clear()
        self._loaded = False
        self.call("Page.navigate", url=address)
        self._wait_for_load()

    def wait_for_reload(self):
        """Waits until the page has loaded itself again."""
        self._loaded = False
        self._wait_for_load()

    def _wait_for_load(self):
        end = time.monotonic() + self.seconds
        while not self._loaded:
            self._next(end)
        self.settle()

    def settle(self):
        """Waits until what was asked for is drawn."""
        self.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def run(self, expression):
        """The value of an expression of the page."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def media(self, scheme):
        """Prefers "light" or "dark"."""
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.settle()

    def key(self, key):
        code = {"text": key} if len(key) == 1 else {}
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, **(code if kind == "keyDown" else {}))
        self.settle()

    def drag(self, left, right, y):
        """From one place to another with the mouse."""
        for kind, x in (("mouseMoved", left), ("mousePressed", left), ("mouseMoved", (left + right) / 2), ("mouseMoved", right), ("mouseReleased", right)):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=0 if kind == "mouseReleased" else 1, clickCount=1)
            self.settle()

    def picture(self, path, whole=True, first=None, last=None):
        """The page, or the part from one element to another, by their selectors."""
        part = {}
        if first is not None:
            top, bottom, width = self.run(f"(() => {{ const at = name => document.querySelector(name).getBoundingClientRect();"
                                          f"return [at({json.dumps(first)}).top + scrollY, at({json.dumps(last or first)}).bottom + scrollY,"
                                          "document.documentElement.clientWidth]; })()")
            part = {"clip": {"x": 0, "y": max(0, top - 16), "width": width, "height": bottom - top + 32, "scale": 1}}
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole, **part)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def pdf(self):
        return base64.b64decode(self.call("Page.printToPDF", printBackground=True, preferCSSPageSize=True)["data"])

    def _next(self, end):
        while b"\0" not in self._rest:
            if not select.select([self._in], [], [], max(0, end - time.monotonic()))[0]:
                raise TimeoutError("Chromium does not answer")
            more = os.read(self._in, 1 << 20)
            if not more:
                raise RuntimeError("Chromium has ended")
            self._rest += more
        line, self._rest = self._rest.split(b"\0", 1)
        message = json.loads(line)
        method, parameters = message.get("method"), message.get("params", {})
        if method == "Runtime.consoleAPICalled":
            self.messages.append(str(parameters["args"]))
        elif method == "Runtime.exceptionThrown":
            self.messages.append(str(parameters["exceptionDetails"]))
        elif method == "Log.entryAdded":
            self.messages.append(parameters["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])
        elif method == "Page.loadEventFired":
            self._loaded = True
        return message
