# SPDX-License-Identifier: BSD-2-Clause
"""The programs of ibverbs-utils, perftest and rdmacm-utils that verbs_cases.py runs at both ends, with their options."""

import typing

PORT = 18515  # of ibverbs-utils and perftest
ROLES = ("client", "server")  # the guest's
# Packets of one message of each QP, and of all that is under way if that is more. With more, an emulated guest takes longer
# than a requester waits, and what nobody sends again may find no room in the socket of a program that waits for a processor.
LONGEST = {"RC": 300, "UC": 64, "UD": 64}
MOST_UNDER_WAY = {"RC": 128, "UC": 64, "UD": 64}


class Run(typing.NamedTuple):
    """A program at both ends."""

    words: tuple
    gid: str = ""  # the option that chooses the GID; programs that connect by RDMA CM take the one of their address
    port: int = PORT
    is_cm: bool = False  # nobody listens to a port of TCP
    ip: str = "ipv4"
    client: tuple = ()  # before the server's address
    server: tuple = ()  # before its own; none for those that take no address
    packets: int = 10  # at least, on the wire
    ends: bool = True  # the server, with its client


FACTORS = {
    "test": ("write_bw RC", "write_bw UC", "write_lat RC", "write_lat UC", "send_bw RC", "send_bw UC", "send_bw UD", "send_lat RC",
             "send_lat UC", "send_lat UD", "read_bw RC", "read_lat RC", "atomic_bw RC", "atomic_lat RC"),
    "role": ROLES,
    "connect": ("", "-R"),
    "ip": ("ipv4", "ipv6"),
    "mtu": (256, 1024, 4096),
    "size": (8, 1000, 4096, 65536),
    "wait": ("", "-e"),
    "qps": (1, 4),
}


def possible(case):
    test, kind = case["test"].split()
    verb, measure = test.split("_")
    return not (
        # perftest resolves no IPv6 addresses, and what librdmacm's REQ says is the MTU of the interface.
        (case["connect"] and (case["ip"] == "ipv6" or kind == "UC" or case["mtu"] != 4096))
        or (measure == "lat" and case["qps"] != 1)
        # Nobody waits for a completion of a write, and nobody here sees whether those came that are not acknowledged.
        or (verb == "write" and case["wait"])
        or (case["test"] == "write_bw UC" and case["role"] == "client")
        or (verb == "atomic" and case["size"] != 8)
        or (kind == "UD" and case["size"] > case["mtu"])
        or case["size"] * case["qps"] > LONGEST[kind] * case["mtu"])


def perftest(case):
    test, kind = case["test"].split()
    verb, measure = test.split("_")
    packets = -(-case["size"] // case["mtu"]) * case["qps"]
    depth = max(1, MOST_UNDER_WAY[kind] // packets) if measure == "bw" else 1
    # With several QPs and messages that are no multiple of the depth perftest counts wrong, and waits for ever.
    count = -(-max(5, min(200 if measure == "bw" else 60, 1000 // packets)) // depth) * depth
    # -F: the guest's processor has no frequency to complain about.
    words = [f"ib_{test}", "-F", "-p", PORT, "-n", count, "-m", case["mtu"]]
    if verb != "atomic":
        words += ["-c", kind, "-s", case["size"]]
    if measure == "bw":
        words += ["-q", case["qps"], "-t", depth]
    return Run(tuple([*words, *filter(None, (case["connect"], case["wait"]))]), "-x", is_cm=bool(case["connect"]), ip=case["ip"])


def pingpong(kind, ip, wait, count=20):
    # A message of UD has to fit one packet.
    size = ["-s", 1024] if kind == "ud" else ["-s", 4096, "-m", 1024]
    return Run((f"ibv_{kind}_pingpong", "-c", "-n", count, *size, "-p", PORT, *wait), "-g", ip=ip, packets=count)


def rping(ip, count=10):
    words = ("rping", "-V", "-C", count, "-S", 5000)
    return Run(words, port=7174, is_cm=True, ip=ip, client=("-c", "-a"), server=("-s", "-a"))


def by_cm(ip):
    """By name, the programs of rdmacm-utils."""
    both = {"is_cm": True, "ip": ip, "client": ("-s",)}
    return {"rping": rping(ip),
            "ucmatose": Run(("ucmatose", "-S", 5000), port=7471, server=("-b",), **both),
            "udaddy": Run(("udaddy",), port=7174, server=("-b",), **both),
            "rdma_server": Run(("rdma_server",), port=7471, server=("-s",), packets=2, **both),
            # Its server goes on for ever.
            "cmtime": Run(("cmtime", "-c", 10), port=7471, server=("-b",), ends=False, **both)}
