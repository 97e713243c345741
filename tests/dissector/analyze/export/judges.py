# SPDX-License-Identifier: BSD-2-Clause
"""DuckDB and hyparquet, which read what roce-analyze export writes: installed by npm, once, in a folder of the build."""

import json
import pathlib
import shutil
import subprocess

HERE = pathlib.Path(__file__).resolve().parent / "judges"
FILES = ("package.json", "package-lock.json", ".npmrc", "dump.mjs")


class Missing(Exception):
    """There is no npm, or it cannot install."""


class Judges:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        if shutil.which("npm") is None:
            raise Missing("there is no npm")
        self.folder.mkdir(parents=True, exist_ok=True)
        wanted = [(HERE / name).read_bytes() for name in FILES]
        found = [path.read_bytes() if path.exists() else b"" for path in (self.folder / name for name in FILES)]
        if wanted == found and (self.folder / "node_modules").exists():
            return
        for name, content in zip(FILES, wanted):
            (self.folder / name).write_bytes(content)
        done = subprocess.run(["npm", "ci", "--no-audit", "--no-fund"], cwd=self.folder, capture_output=True, text=True, timeout=300, check=False)
        if done.returncode != 0:
            (self.folder / FILES[0]).unlink()
            raise Missing(f"npm cannot install the judges: {done.stderr.strip().splitlines()[-1:]}")

    def _dump(self, *arguments, text=None):
        done = subprocess.run(["node", self.folder / "dump.mjs", *arguments], input=text, capture_output=True, text=True, timeout=300, check=False)
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def rows(self, judge, path):
        """The rows of a Parquet file, as `judge` (duckdb, hyparquet) reads them."""
        return self._dump(judge, str(path))

    def ask(self, statements):
        """The rows of each SQL statement, by DuckDB."""
        return self._dump("sql", text="".join(" ".join(each.split()) + "\n" for each in statements))
