# SPDX-License-Identifier: BSD-2-Clause
"""tshark with the plugin in it, for the tests of the plugin.

A test program is started as `…_test.py PLUGIN ROCE_ANALYZE [unittest arguments]` and calls `main()`."""

import ipaddress
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

TOP = pathlib.Path(__file__).resolve().parent.parent.parent.parent
CAPTURES = sorted((TOP / "captures").glob("**/*.pcap*"))
NOBODY = 65534
# Wireshark 4.0 and 4.4 take some payloads for RPC-over-RDMA and fail on them in the second pass, with their own dissection too.
KNOWN_BUG = "protocol RPCoRDMA"


class Wireshark:
    """A folder of its own with the plugin and with preferences, which any user may read."""

    def __init__(self, plugin):
        # Root loads no plugins from a folder.
        self.drop = (["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"] if os.geteuid() == 0 else [])
        self.folder = tempfile.TemporaryDirectory(prefix="roce-wireshark-")
        top = pathlib.Path(self.folder.name)
        version = subprocess.run(["tshark", "--version"], capture_output=True, text=True, check=True).stdout.split()[2]
        self.version = tuple(int(part) for part in version.split(".")[:2])
        target = top / "plugins" / ".".join(str(part) for part in self.version) / "epan"
        target.mkdir(parents=True)
        shutil.copyfile(plugin, target / "roce.so")
        self.plugins = target
        (top / "home").mkdir()
        for path in [top, *top.rglob("*")]:
            path.chmod(0o755)
        (top / "home").chmod(0o777)
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(top / "home"), "LC_ALL": "C.UTF-8",
                            "WIRESHARK_PLUGIN_DIR": str(top / "plugins")}

    def close(self):
        self.folder.cleanup()

    def path(self, name):
        """A path for a file that any user may read and write."""
        return pathlib.Path(self.folder.name) / "home" / name

    def write(self, name, data):
        """A file that any user may read."""
        path = self.path(name)
        path.write_bytes(data)
        path.chmod(0o644)
        return path

    def process(self, program, *arguments, preferences=(), data=None, timeout=300, with_plugin=True):
        options = [part for name, value in dict(preferences).items() for part in ("-o", f"{name}:{value}")]
        environment = dict(self.environment)
        if not with_plugin:
            environment["WIRESHARK_PLUGIN_DIR"] = self.environment["HOME"]
        return subprocess.run([*self.drop, program, *options, *map(str, arguments)], env=environment, cwd="/", input=data,
                              capture_output=True, timeout=timeout, check=False)

    def tshark(self, *arguments, **options):
        """What tshark writes; it has to succeed and to say nothing else."""
        done = self.process("tshark", *arguments, **options)
        said = "".join(line for line in done.stderr.decode().splitlines(True) if KNOWN_BUG not in line)
        if done.returncode != 0 or said:
            raise AssertionError(f"tshark {' '.join(map(str, arguments))}: exit code {done.returncode}\n{said}")
        return done.stdout.decode()

    def pdml(self, *arguments, **options):
        """The frames as trees of XML."""
        return xml.etree.ElementTree.fromstring(self.tshark(*arguments, "-T", "pdml", **options)).findall("packet")

    def rows(self, fields, *arguments, **options):
        """A list of lists: of each frame the values of each field, as text."""
        options_of_fields = [part for field in fields for part in ("-e", field)]
        text = self.tshark(*arguments, "-T", "fields", "-E", "separator=/t", "-E", "occurrence=a", "-E", "aggregator=;",
                           *options_of_fields, **options)
        return [[cell.split(";") if cell else [] for cell in line.split("\t")] for line in text.splitlines()]


def number_of(packet):
    return int(packet.find("proto[@name='geninfo']/field[@name='num']").get("show"))


def number(text):
    """A number or truth as tshark shows it, in any version."""
    return {"True": 1, "False": 0}[text] if text in ("True", "False") else int(text, 0)


def address(text):
    """An address in one form: IPv4 as what it is mapped to."""
    parsed = ipaddress.ip_address(text)
    return parsed if parsed.version == 6 else ipaddress.ip_address(f"::ffff:{parsed}")


class PluginTest(unittest.TestCase):
    """A test that has `self.wireshark` and `self.analyze`."""

    plugin = None
    program = None

    @classmethod
    def setUpClass(cls):
        cls.wireshark = Wireshark(cls.plugin)

    @classmethod
    def tearDownClass(cls):
        cls.wireshark.close()

    def analyze(self, *arguments):
        """What roce-analyze says as a list of JSON objects."""
        done = subprocess.run([self.program, *map(str, arguments)], capture_output=True, text=True, check=False)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]


def main():
    PluginTest.plugin, PluginTest.program = sys.argv[1:3]
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
