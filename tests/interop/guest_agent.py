#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""What guest.py talks to inside the guest: runs commands and passes on what they say, over the virtio-serial port `agent`.

Both ways go lines of JSON. From the host: {"id": N, "run": SHELL COMMAND, "stdin": BASE64} starts a command in a session of
its own, {"kill": N, "signal": S} sends a signal to all of that session. To the host: {"ready": SECONDS SINCE BOOT} first of
all; then of each command {"id": N, "pid": P}, any number of {"id": N, "stdout" or "stderr": BASE64}, and last
{"id": N, "exit": CODE}, where CODE is 128 + S after signal S, as in a shell.
"""

# Few imports: emulated, each costs.
import binascii
import json
import os
import select
import time

STREAMS = {1: "stdout", 2: "stderr"}


class Port:
    def __init__(self, name):
        folder = "/sys/class/virtio-ports/"
        for device in os.listdir(folder):
            with open(f"{folder}{device}/name", encoding="ascii") as file:
                if file.read().strip() == name:
                    self.fd = os.open(f"/dev/{device}", os.O_RDWR)
                    break
        else:
            raise OSError(f"no virtio-serial port has the name {name}")
        self.pending = bytearray()

    def send(self, **message):
        line = json.dumps(message).encode() + b"\n"
        while line:
            line = line[os.write(self.fd, line):]

    def requests(self):
        chunk = os.read(self.fd, 1 << 16)
        if not chunk:
            # QEMU is there before the host has opened its end, which poll cannot tell from data.
            time.sleep(0.01)
        self.pending += chunk
        *lines, rest = self.pending.split(b"\n")
        self.pending = rest
        return [json.loads(line) for line in lines if line]


class Command:
    def __init__(self, port, poller, request):
        self.port, self.poller, self.id = port, poller, request["id"]
        self.pipes = {}
        stdin = os.memfd_create("stdin")
        data = binascii.a2b_base64(request.get("stdin", ""))
        while data:
            data = data[os.write(stdin, data):]
        os.lseek(stdin, 0, os.SEEK_SET)
        actions = [(os.POSIX_SPAWN_DUP2, stdin, 0)]
        theirs = [stdin]
        for number in STREAMS:
            ours, end = os.pipe()
            os.set_blocking(ours, False)
            self.pipes[ours] = number
            theirs.append(end)
            actions.append((os.POSIX_SPAWN_DUP2, end, number))
        self.pid = os.posix_spawn("/bin/sh", ["sh", "-c", request["run"]], os.environ, file_actions=actions, setsid=True)
        for fd in theirs:
            os.close(fd)
        self.exit = os.pidfd_open(self.pid)
        for fd in (*self.pipes, self.exit):
            poller.register(fd, select.POLLIN)
        port.send(id=self.id, pid=self.pid)

    def forward(self, fd):
        """Passes on what a pipe has. Returns whether there was something."""
        try:
            data = os.read(fd, 1 << 16)
        except BlockingIOError:
            return False
        if data:
            self.port.send(**{"id": self.id, STREAMS[self.pipes[fd]]: binascii.b2a_base64(data, newline=False).decode()})
        else:
            self.drop(fd)
        return bool(data)

    def drop(self, fd):
        self.poller.unregister(fd)
        os.close(fd)
        self.pipes.pop(fd, None)

    def finish(self):
        _, status = os.waitpid(self.pid, 0)
        # What a child left behind writes later is nobody's: it may live as long as the guest.
        for fd in list(self.pipes):
            while self.forward(fd):
                pass
            if fd in self.pipes:
                self.drop(fd)
        self.drop(self.exit)
        code = os.waitstatus_to_exitcode(status)
        self.port.send(id=self.id, exit=code if code >= 0 else 128 - code)


def main():
    port = Port("agent")
    poller = select.poll()
    poller.register(port.fd, select.POLLIN)
    commands = {}
    with open("/proc/uptime", encoding="ascii") as uptime:
        port.send(ready=float(uptime.read().split()[0]))
    while True:
        for fd, _ in poller.poll():
            if fd == port.fd:
                for request in port.requests():
                    if "run" in request:
                        command = Command(port, poller, request)
                        commands[command.id] = command
                    elif request["kill"] in commands:
                        os.killpg(commands[request["kill"]].pid, request["signal"])
                continue
            for command in list(commands.values()):
                if fd in command.pipes:
                    command.forward(fd)
                elif fd == command.exit:
                    command.finish()
                    del commands[command.id]
                else:
                    continue
                break


main()
