# SPDX-License-Identifier: BSD-2-Clause
"""Upper protocols over the plugin's dissection: what the built-in dissector shows of them, the plugin shows.

    upper_protocols_test.py PLUGIN ROCE_ANALYZE [unittest arguments]"""

import os
import tempfile
import xml.etree.ElementTree

import upper_protocol_frames as frames
import wireshark
from upper_protocol_frames import CLIENT, SERVER

UPPER = {"nvme-rdma", "nvme", "rpcordma", "rpc", "nfs", "smb_direct", "smc", "iser", "iscsi", "lnet"}
OFF = ("-o", "roce.mode:off")


def fields_below(node):
    """Name, value and place of each field, without what is only text."""
    return [(n.get("name"), n.get("show"), n.get("pos"), n.get("size")) for n in node.iter() if n.get("name")]


class UpperProtocols(wireshark.PluginTest):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        os.chmod(self.folder.name, 0o755)
        self.capture = os.path.join(self.folder.name, "upper.pcap")
        self.connection = frames.Connection()

    def tearDown(self):
        self.folder.cleanup()

    def write(self, **options):
        frames.write_pcap(self.capture, self.connection.frames, **options)
        os.chmod(self.capture, 0o644)

    def trees(self, *options):
        """Of each frame the upper protocols with their fields."""
        pdml = xml.etree.ElementTree.fromstring(self.wireshark.tshark(*["-r", self.capture, "-T", "pdml", *options]))
        return [
            [fields_below(protocol) for protocol in packet if protocol.get("name") in UPPER]
            for packet in pdml.iter("packet")
        ]

    def column(self, *names, options=()):
        arguments = ["-r", self.capture, "-T", "fields", *options]
        for name in names:
            arguments += ["-e", name]
        return [tuple(line.split("\t")) for line in self.wireshark.tshark(*arguments).splitlines()]

    def values(self, name, options=()):
        return [value for (value,) in self.column(name, options=options) if value]

    def assert_as_built_in(self, *, unseen_by_built_in=(), forgotten_by_built_in=False):
        """`unseen_by_built_in`: the frames, from 0, whose upper protocol the built-in dissector misses.
        `forgotten_by_built_in`: some versions of it find the upper protocol in the first pass only."""
        self.write()
        for passes in ((), ("-2",)):
            expected = self.trees(*OFF, *(() if forgotten_by_built_in else passes))
            self.assertTrue(any(expected), "the built-in dissector finds nothing either")
            found = self.trees(*passes)
            for frame in unseen_by_built_in:
                self.assertTrue(found[frame])
                expected[frame] = found[frame]
            self.assertEqual(expected, found)

    def assert_as_built_in_with_cm(self, service_id, traffic, *options, queue=0, missed=0):
        """What the plugin shows without the messages of the CM is what the built-in dissector shows with them, but for
        the first `missed` frames."""
        self.connection.cm(service_id, frames.nvme_request_data(queue))
        set_up = len(self.connection.frames)
        traffic(self.connection)
        self.write()
        both_passes = ((), ("-2",))
        expected = [self.trees(*OFF, *passes)[set_up + missed :] for passes in both_passes]
        self.assertTrue(any(expected[0]))
        self.connection.frames[:set_up] = [frames.unrelated()] * set_up
        self.write()
        found = [self.trees(*options, *passes)[set_up + missed :] for passes in both_passes]
        self.assertEqual(expected, found)

    def table(self, *line):
        return ("-o", "uat:roce_qps:" + ",".join(f'"{value}"' for value in line))


class WithConnectionManager(UpperProtocols):
    def test_nvme(self):
        self.connection.cm(frames.TCP_SERVICE + frames.NVME_PORT, frames.nvme_request_data(3), b"\0\0\x20\0")
        frames.nvme_traffic(self.connection)
        self.assert_as_built_in(unseen_by_built_in=[0])
        self.assertEqual(["3"], self.values("nvme-rdma.cm.req.qid")[:1])
        self.assertIn("0x02", self.values("nvme.cmd.opc"))

    def test_nvme_of_several_connections_at_once(self):
        other = frames.Connection(client_qp=0x333, server_qp=0x444)
        other.frames = self.connection.frames
        self.connection.cm(frames.TCP_SERVICE + frames.NVME_PORT, frames.nvme_request_data(1))
        other.cm(frames.TCP_SERVICE + frames.NVME_PORT, frames.nvme_request_data(2))
        frames.nvme_traffic(self.connection)
        frames.nvme_traffic(other)
        self.assert_as_built_in(unseen_by_built_in=[0, 3])

    def test_nvme_refused(self):
        self.connection.cm(frames.TCP_SERVICE + frames.NVME_PORT, frames.nvme_request_data(1), reply=False)
        self.connection.reject(b"\0\0\x05\0")
        self.assert_as_built_in(unseen_by_built_in=[0])
        self.assertEqual(["0x0005"], self.values("nvme-rdma.cm.rej.status"))

    def test_iser(self):
        self.connection.cm(frames.TCP_SERVICE + frames.ISER_PORT)
        self.connection.send(CLIENT, frames.iser_login())
        self.connection.send(SERVER, frames.iser_login())
        self.assert_as_built_in()
        self.assertEqual(2, len(self.values("iscsi.opcode")))


class WithoutConnectionManager(UpperProtocols):
    def test_rpc_over_rdma(self):
        def null_call(connection):
            connection.send(CLIENT, frames.rpc_header(0x55) + frames.nfs_call(0x55, 0))
            connection.send(SERVER, frames.rpc_header(0x55) + b"\0\0\0\x55\0\0\0\x01" + b"\0" * 16)

        self.assert_as_built_in_with_cm(frames.TCP_SERVICE + 20049, null_call)
        self.assertEqual(2, len(self.values("rpc.xid")))

    def test_pad_of_a_read_response_is_the_padding_of_rpc_over_rdma(self):
        # A call with data of odd length is found whole only with the padding behind them.
        def writes(connection):
            frames.nfs_write(connection, b"thirteen byte", xid=0x77)
            frames.nfs_write(connection, b"seventeen bytes..", xid=0x78)

        self.assert_as_built_in_with_cm(frames.TCP_SERVICE + 20049, writes)
        self.assertEqual(2, len(self.values("rpc.fill_bytes")))

    def test_nvme_of_a_server_in_the_table(self):
        line = self.table("10.0.0.2", "0x222", "server", "nvme", "", "3")
        service = frames.TCP_SERVICE + frames.NVME_PORT
        self.assert_as_built_in_with_cm(service, frames.nvme_traffic, *line, queue=3)

    def test_nvme_of_a_client_in_the_table(self):
        # Where the command goes is known when the answer to it was seen: what belongs to it is missed.
        line = self.table("10.0.0.1", "273", "client", "nvme", "4420", "3")
        service = frames.TCP_SERVICE + frames.NVME_PORT
        self.assert_as_built_in_with_cm(service, frames.nvme_traffic, *line, queue=3, missed=6)

    def test_iser_in_the_table(self):
        line = self.table("10.0.0.2", "0x222", "server", "iser", "0x0000000001060cbc", "")
        login = lambda connection: connection.send(CLIENT, frames.iser_login())
        self.assert_as_built_in_with_cm(frames.TCP_SERVICE + frames.ISER_PORT, login, *line)

    def test_named_dissector_in_the_table(self):
        ipv4 = frames.frame(CLIENT, SERVER, b"\0" * 12)[14:]
        self.connection.send(CLIENT, ipv4)
        self.write()
        self.assertEqual(["10.0.0.1"], self.column("ip.src")[0][0].split(","))
        self.assertEqual(
            ["10.0.0.1"] * 2,
            self.column("ip.src", options=self.table("10.0.0.2", "0x222", "server", "ip", "", ""))[0][0].split(","),
        )

    def test_wrong_lines_of_the_table_say_what_would_be_right(self):
        self.write()
        for line, reason in (
            (("10.0.0", "2", "server", "nvme", "", ""), "Address is"),
            (("10.0.0.2", "1", "server", "nvme", "", ""), "QP number is"),
            (("10.0.0.2", "0x1000000", "server", "nvme", "", ""), "QP number is"),
            (("10.0.0.2", "2", "server", "nvme", "65536", ""), "Service is"),
            (("10.0.0.2", "2", "server", "nvme", "", "65536"), "Queue is"),
            (("10.0.0.2", "2", "server", "iser", "", "1"), "Queue is"),
            (("10.0.0.2", "2", "server", "no_such_dissector", "", ""), "Protocol is"),
            (("10.0.0.2", "2", "server", "", "", ""), "Protocol is empty"),
        ):
            with self.subTest(line=line), self.assertRaisesRegex(AssertionError, reason):
                self.wireshark.tshark(*["-r", self.capture, *self.table(*line)])

    def test_smb_direct(self):
        self.connection.send(CLIENT, frames.smb_direct_negotiate())
        self.assert_as_built_in(forgotten_by_built_in=True)
        self.assertEqual(["0x0100"], self.values("smb_direct.version.max"))

    def test_smc(self):
        self.connection.send(CLIENT, frames.smc_confirm_link())
        self.assert_as_built_in()

    def test_decode_as_comes_first_unless_the_built_ins_preference_says_otherwise(self):
        self.connection.send(CLIENT, frames.smb_direct_negotiate())
        self.write()
        for first, protocol in (("FALSE", "SMC-R"), ("TRUE", "SMBDirect")):
            options = ("-d", "infiniband,smc", "-o", f"infiniband.try_heuristic_first:{first}")
            for mode in ((), OFF):
                self.assertEqual(protocol, self.values("_ws.col.Protocol", options=(*options, *mode))[0])

    def test_the_marks_of_the_analysis_stay_in_the_info_column(self):
        psn = self.connection.request(CLIENT, frames.SEND_ONLY, payload=frames.smb_direct_negotiate())
        self.connection.packet(CLIENT, frames.SEND_ONLY, psn, payload=frames.smb_direct_negotiate())
        self.write()
        (_, protocol), (info, _) = self.column("_ws.col.Info", "_ws.col.Protocol")
        self.assertEqual("SMBDirect", protocol)
        self.assertTrue(info.startswith("[RoCE "), info)

    def test_pad_is_not_payload(self):
        self.connection.send(CLIENT, b"\x01\x02\x03\x04\x05")
        self.write()
        self.assertEqual(["0102030405"], self.values("roce.payload"))


if __name__ == "__main__":
    wireshark.main()
