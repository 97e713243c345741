# SPDX-License-Identifier: BSD-2-Clause
"""A ClickHouse server of the test's own, on a port of the loopback: Debian 12's, or a newer one."""

import json
import pathlib
import shutil
import signal
import socket
import subprocess
import time

CONFIG = """<yandex>
  <logger><level>warning</level><log>{folder}/log</log><errorlog>{folder}/errors</errorlog></logger>
  <tcp_port>{port}</tcp_port>
  <listen_host>127.0.0.1</listen_host>
  <path>{folder}/data/</path>
  <tmp_path>{folder}/tmp/</tmp_path>
  <users_config>{folder}/users.xml</users_config>
  <default_profile>default</default_profile>
  <default_database>default</default_database>
  <mark_cache_size>5368709120</mark_cache_size>
  <remote_servers><roce>{shards}</roce></remote_servers>
</yandex>
"""
USERS = """<yandex>
  <profiles><default>
    <insert_distributed_sync>1</insert_distributed_sync><distributed_product_mode>global</distributed_product_mode>
  </default></profiles>
  <quotas><default/></quotas>
  <users><default>
    <password></password><profile>default</profile><quota>default</quota><networks><ip>127.0.0.1</ip></networks>
  </default></users>
</yandex>
"""


def is_there():
    return shutil.which("clickhouse-server") is not None and shutil.which("clickhouse-client") is not None


SHARD = "<shard><replica><host>127.0.0.1</host><port>{}</port></replica></shard>"


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


class ClickHouse:
    """A server; `ports`: those of all servers of the cluster `roce`, of which the first is its own."""

    def __init__(self, folder, ports=None):
        folder = pathlib.Path(folder)
        ports = ports or free_ports(1)
        self.port = ports[0]
        for name in ("data", "tmp"):
            (folder / name).mkdir(parents=True)
        (folder / "config.xml").write_text(CONFIG.format(folder=folder, port=self.port, shards="".join(map(SHARD.format, sorted(ports)))), encoding="utf-8")
        (folder / "users.xml").write_text(USERS, encoding="utf-8")
        self.log = open(folder / "output", "wb")
        self.server = subprocess.Popen(["clickhouse-server", f"--config-file={folder}/config.xml"], stdin=subprocess.DEVNULL,
                                       stdout=self.log, stderr=subprocess.STDOUT, cwd=folder)
        deadline = time.monotonic() + 60
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
            except OSError:
                if self.server.poll() is not None or time.monotonic() > deadline:
                    self.close()
                    raise RuntimeError((folder / "output").read_text(errors="replace")[-2000:]) from None
                # Nothing tells when the server begins to listen.
                time.sleep(0.05)

    def run(self, statement, stdin=subprocess.DEVNULL):
        done = subprocess.run(["clickhouse-client", "--host", "127.0.0.1", "--port", str(self.port), "--query", statement], stdin=stdin,
                              capture_output=True, timeout=120, check=False)
        if done.returncode != 0:
            raise AssertionError(done.stderr.decode(errors="replace"))
        return done.stdout

    def ask(self, statement):
        """The rows of a statement, with 64-bit numbers as numbers."""
        done = self.run(statement.rstrip().rstrip(";") + " FORMAT JSON")
        answer = json.loads(done)
        kinds = {column["name"]: column["type"] for column in answer["meta"]}
        return [{name: int(value) if isinstance(value, str) and "Int" in kinds[name] else value for name, value in row.items()} for row in answer["data"]]

    def close(self):
        if self.server.poll() is None:
            self.server.send_signal(signal.SIGTERM)
            self.server.wait(60)
        self.log.close()
