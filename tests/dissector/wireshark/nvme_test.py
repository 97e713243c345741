# SPDX-License-Identifier: BSD-2-Clause
"""NVMe over RDMA of two Linux kernels: the plugin finds every command that the host's kernel says it sent.

    nvme_test.py PLUGIN ROCE_ANALYZE [unittest arguments]"""

import re

import wireshark

CAPTURE = wireshark.TOP / "captures/nvme/nvme-rdma.pcap"
TRACE = wireshark.TOP / "captures/nvme/nvme-rdma.host.trace.txt"
TARGET, ADMIN_QP, IO_QP = "10.77.0.2", 18, 19
# The kernel does not trace these.
ASYNC_EVENT_REQUEST = "0x0c"
COMMAND = ("nvme.cmd.cid", "nvme.fabrics.cmd.cid", "nvme.cmd.opc", "nvme.cmd.slba", "nvme.cmd.nlb")
TABLE = [part for queue, qpn in enumerate((ADMIN_QP, IO_QP))
         for part in ("-o", f'uat:roce_qps:"{TARGET}","{qpn}","server","nvme","","{queue}"')]


def traced(event):
    return [line for line in TRACE.read_text(encoding="utf-8").splitlines() if f" {event}: " in line]


def traced_commands():
    """Of each command its identifier, and of READs and WRITEs the first block and how many."""
    commands = []
    for line in traced("nvme_setup_cmd"):
        blocks = re.search(r"nvme_cmd_(?:read|write) slba=(\d+), len=(\d+)", line)
        commands.append((int(re.search(r"cmdid=(\d+)", line)[1]), (int(blocks[1]), int(blocks[2]) + 1) if blocks else None))
    return sorted(commands, key=str)


class Nvme(wireshark.PluginTest):
    def commands(self, path, *options, **keywords):
        rows = self.wireshark.rows(COMMAND, "-r", path, "-Y", "nvme.cmd.cid || nvme.fabrics.cmd.cid", *options, **keywords)
        commands = []
        for plain, fabrics, opcode, block, count in rows:
            if opcode == [ASYNC_EVENT_REQUEST]:
                continue
            is_data = opcode in (["0x01"], ["0x02"]) and block
            commands.append((int((plain or fabrics)[0], 0), (int(block[0], 0), int(count[0])) if is_data else None))
        return sorted(commands, key=str)

    def completions(self, path, *options, **keywords):
        rows = self.wireshark.rows(("nvme.cqe.cid",), "-r", path, "-Y", "nvme.cqe.cid", *options, **keywords)
        return sorted(int(value[0], 0) for (value,) in rows)

    def assert_all_found(self, path, *options):
        completed = sorted(int(re.search(r"cmdid=(\d+)", line)[1]) for line in traced("nvme_complete_rq"))
        for passes in ((), ("-2",)):
            self.assertEqual(traced_commands(), self.commands(path, *options, *passes))
            self.assertEqual(completed, self.completions(path, *options, *passes))

    def without_cm(self):
        cut = self.wireshark.path("without-cm.pcap")
        self.wireshark.tshark("-r", CAPTURE, "-Y", "!roce.mad", "-F", "pcap", "-w", cut)
        return cut

    def test_the_trace_is_read(self):
        self.assertEqual(40, len(traced_commands()))
        self.assertIn((4099, (512, 128)), traced_commands())

    def test_every_command_is_found_with_the_set_up(self):
        self.assert_all_found(CAPTURE)

    def test_every_command_is_found_without_the_set_up_by_the_table(self):
        cut = self.without_cm()
        self.assert_all_found(cut, *TABLE)
        self.assertEqual([], self.commands(cut))

    def test_without_reassembly_what_is_longer_than_a_packet_is_missed(self):
        # Five capsules: three WRITEs of 4 KiB, a DSM and a Connect, as with the built-in dissector.
        off = {"roce.reassemble": "FALSE"}
        self.assertEqual(len(traced_commands()) - 5, len(self.commands(CAPTURE, preferences=off)))
        self.assertEqual(len(traced_commands()) - 5, len(self.completions(CAPTURE, preferences=off)))

    def test_a_message_names_its_packets_and_they_name_it(self):
        fields = ("frame.number", "roce.reassembled.packet", "roce.reassembled.length", "roce.reassembled.in")
        rows = self.wireshark.rows(fields, "-r", CAPTURE, "-2", "-Y", "frame.number in {182..186}")
        self.assertEqual([[str(frame), "", "", "186"] for frame in range(182, 186)],
                         [[";".join(cell) for cell in row] for row in rows[:4]])
        self.assertEqual([["186"], ["182", "183", "184", "185", "186"], ["4160"], []], rows[4])
        ((data,),) = self.wireshark.rows(("roce.reassembled.data",), "-r", CAPTURE, "-Y", "frame.number == 186")
        payload = [row[0][0] for row in self.wireshark.rows(("roce.payload",), "-r", CAPTURE, "-Y", "frame.number in {182..186}")]
        self.assertEqual(["".join(payload)], data)

    def test_a_lost_packet_leaves_the_message_in_pieces(self):
        cut = self.wireshark.path("cut.pcap")
        self.wireshark.tshark("-r", CAPTURE, "-Y", "frame.number != 184", "-F", "pcap", "-w", cut)
        self.assertEqual(len(traced_commands()) - 1, len(self.commands(cut)))

    def test_packets_in_any_order_and_twice_are_put_together(self):
        # As frames lie in the file: the fourth before the second, and the first again.
        data = CAPTURE.read_bytes()
        records, place = [], 24
        while place < len(data):
            end = place + 16 + int.from_bytes(data[place + 8 : place + 12], "little")
            records.append(data[place:end])
            place = end
        records[182], records[184] = records[184], records[182]
        records.insert(184, records[181])
        mixed = self.wireshark.write("mixed.pcap", data[:24] + b"".join(records))
        self.assertEqual(traced_commands(), self.commands(mixed))
        self.assertEqual(traced_commands(), self.commands(mixed, "-2"))


if __name__ == "__main__":
    wireshark.main()
