# SPDX-License-Identifier: BSD-2-Clause
"""The plugin shows every header and field that the codec finds, with its value, on every capture.

    fields_test.py PLUGIN ROCE_ANALYZE [unittest arguments]"""

import wireshark

HEADERS = {"grh", "bth", "rdeth", "deth", "xrceth", "feth", "reth", "atomiceth", "aeth", "atomicacketh", "immdt", "ieth", "cnp",
           "mad", "cm_req", "cm_mra", "cm_rej", "cm_rep", "cm_rtu", "cm_dreq", "cm_drep", "cm_sidr_req", "cm_sidr_rep", "cm_lap",
           "cm_apr", "cma", "mac_control", "pfc", "pause"}
# What the plugin adds to the fields of the codec.
ADDED = {"aeth.kind", "aeth.code", "aeth.reserved", "aeth.credits", "aeth.rnr_timer", "aeth.nak_code", "grh.traffic_class", "mad.data",
         "bth.opcode_name", "aeth.syndrome_name", "cma.source_ipv4", "cma.destination_ipv4"}
KINDS = ("roce", "pfc", "pause")
# Wireshark guesses that behind this MPLS label there is no control word, and finds no RoCE.
NOT_HANDED_OVER = {("encapsulations.pcapng", 15)}
STATUS = {"good": 1, "bad": 0, "not_checked": 2, "good_for_ip_id": 1}


def values_of_json(packet):
    """(header.field, value) in the order of the packet, and the ICRC."""
    values = []
    for header, fields in packet.items():
        if header in HEADERS:
            values += [(f"{header}.{name}", value) for name, value in fields.items() if not name.endswith("_name") and name != "meaning"]
    return values


def same(expected, shown):
    """Whether a value of roce-analyze is the one that tshark shows."""
    if isinstance(expected, (bool, int)):
        return int(expected) == wireshark.number(shown)
    if expected.startswith("0x"):
        return int(expected, 16) == wireshark.number(shown)
    if shown.replace(":", "") == expected.replace(":", ""):
        return True
    return wireshark.address(expected) == wireshark.address(shown)


class Fields(wireshark.PluginTest):
    def check(self, path, shown, expected):
        """One packet's tree against what roce-analyze says of it."""
        names = [(field.get("name").removeprefix("roce."), field.get("show")) for field in shown.iter("field")]
        fields = dict(names)
        place = f"{path.name} frame {expected['frame']['number']}"
        values = values_of_json(expected)
        listed = [(name, show) for name, show in names if "." in name and name.split(".")[0] in HEADERS]
        table = [pair for pair in listed if pair[0] not in ADDED]
        self.assertEqual([name for name, _ in values], [name for name, _ in table], place)
        for (name, value), (_, show) in zip(values, table):
            self.assertTrue(same(value, show), f"{place}: {name} is {value}, shown as {show}")
        if "icrc" not in expected:
            return
        icrc = expected["icrc"]
        self.assertEqual(STATUS[icrc["status"]], wireshark.number(fields["icrc.status"]), place)
        if "stored" in icrc:
            self.assertEqual(icrc["stored"], wireshark.number(fields["icrc"]), place)
        if icrc["status"] == "bad":
            self.assertEqual(icrc["computed"], wireshark.number(fields["icrc.computed"]), place)
            self.assertIn("icrc.explanation", fields, place)

    def test_are_those_of_the_codec_on_every_capture(self):
        packets = 0
        for path in wireshark.CAPTURES:
            expected = {}
            for packet in self.analyze("decode", "--json", path):
                number = packet["frame"]["number"]
                if packet["kind"] in KINDS and (path.name, number) not in NOT_HANDED_OVER:
                    expected.setdefault(number, []).append(packet)
            shown = {}
            for frame in self.wireshark.pdml("-r", path, "-Y", "(roce.version || roce.mac_control) && !icmp && !icmpv6"):
                protos = frame.findall("proto[@name='roce']")
                shown[wireshark.number_of(frame)] = [proto for proto in protos if proto.find("field[@name='roce.cn_tag']") is None]
            self.assertEqual(sorted(expected), sorted(shown), path.name)
            for number, protos in shown.items():
                self.assertEqual(len(expected[number]), len(protos), f"{path.name} frame {number}")
                for proto, packet in zip(protos, expected[number]):
                    self.check(path, proto, packet)
                    packets += 1
        self.assertGreater(packets, 1000)

    def test_a_packet_of_v1_goes_from_gid_to_gid(self):
        v1 = wireshark.TOP / "captures/made/opcodes-v1.pcapng"
        columns = ("_ws.col.Source", "_ws.col.Destination", "roce.grh.sgid", "roce.grh.dgid")
        rows = self.wireshark.rows(columns, "-n", "-r", v1, "-Y", "roce.version == 1")
        self.assertTrue(rows)
        for source, destination, sgid, dgid in rows:
            self.assertEqual((sgid, dgid), (source, destination))


if __name__ == "__main__":
    wireshark.main()
