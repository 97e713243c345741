// SPDX-License-Identifier: BSD-2-Clause
#include "captured_connection.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "roce/wire/aeth.h"
#include "roce/wire/atomiceth.h"
#include "support/captures.h"
#include "support/source_tree.h"

namespace roce::test {

namespace {

/// The peer in user space that one capture has: it is not Soft-RoCE.
constexpr Ipv4Address kUserSpacePeer{{10, 77, 0, 1}};
/// Least distance between the first PSNs of the connections of one capture: they are random.
constexpr std::int32_t kPsnsOfAConnection = 1 << 16;

std::filesystem::path file_of(const std::string& capture, std::string_view stage) {
  return std::filesystem::path{roce::test::captures_folder()} / "softroce" / fmt::format("{}.{}.pcap", capture, stage);
}

template <typename Use>
void for_each_packet(const std::filesystem::path& file, Use use) {
  for_each_record(file, [&](const link::CaptureRecord& record) {
    const Packet packet = parse_frame(record.bytes, LinkType::ethernet);
    if (!packet.is_roce() || packet.bth().dest_qp == Qpn{1}) return;
    use(record, packet);
  });
}

using Key = std::tuple<Gid, Gid, Qpn>;  // requester, responder, QP of the responder

/// A connection, and the number of its last request in the capture.
struct Open {
  CapturedConnection connection{};
  std::uint64_t last_request = 0;
};

/// Returns the connection that an answer belongs to; if several began at the same PSN, the one that was asked last.
CapturedConnection* find_asked(std::map<Key, Open>& open, const Packet& answer) {
  const NetMeta net = answer.net();
  Open* found = nullptr;
  for (auto& [key, candidate] : open) {
    const CapturedConnection& connection = candidate.connection;
    if (connection.responder != net.source || connection.requester != net.destination) continue;
    const std::int32_t ahead = answer.bth().psn.distance_from(connection.first_psn);
    if (connection.service != Service::rc || ahead < 0 || ahead >= kPsnsOfAConnection) continue;
    if (found == nullptr || found->last_request < candidate.last_request) found = &candidate;
  }
  return found == nullptr ? nullptr : &found->connection;
}

}  // namespace

std::string describe(const Answer& answer) {
  std::string text = fmt::format("{} psn {}", opcode_info(answer.opcode).name, answer.psn.value());
  if (answer.syndrome) text += fmt::format(" syndrome {:#04x} msn {}", *answer.syndrome, *answer.msn);
  if (answer.original) text += fmt::format(" original {:#x}", *answer.original);
  return text + fmt::format(" length {}", answer.length);
}

Answer answer_of(const Packet& packet) {
  Answer answer;
  answer.opcode = packet.opcode();
  answer.psn = packet.bth().psn;
  if (const auto aeth = packet.get<Aeth>()) {
    answer.syndrome = aeth->syndrome.value();
    answer.msn = aeth->msn.value();
  }
  if (const auto ack = packet.get<AtomicAckEth>()) answer.original = ack->original;
  answer.length = packet.payload_length();
  return answer;
}

std::string CapturedConnection::name() const {
  return fmt::format("{}: responder {} QP {:#x}", capture, to_string(responder), responder_qpn.value());
}

std::vector<std::string> capture_names() {
  std::vector<std::string> names;
  for (const std::filesystem::path& file : capture_files()) {
    const std::string stem = file.stem().string();
    if (stem.ends_with(".tx")) names.push_back(stem.substr(0, stem.size() - 3));
  }
  return names;
}

std::vector<CapturedConnection> connections_of(const std::string& capture) {
  std::map<Key, Open> connections;
  const Gid peer = Gid::from_ipv4(kUserSpacePeer);
  for_each_packet(file_of(capture, "tx"), [&](const link::CaptureRecord& record, const Packet& packet) {
    const NetMeta net = packet.net();
    if (packet.info().is_response()) {
      CapturedConnection* asked = find_asked(connections, packet);
      if (asked == nullptr) {
        if (net.source != peer)
          throw std::runtime_error(fmt::format("{}: packet {} answers nothing", capture, record.number));
        return;
      }
      asked->requester_qpn = packet.bth().dest_qp;
      asked->answers.push_back({record.number, answer_of(packet)});
      return;
    }
    if (net.destination == peer) return;
    const auto [at, is_new] = connections.try_emplace({net.source, net.destination, packet.bth().dest_qp});
    at->second.last_request = record.number;
    if (!is_new) return;
    const auto ethernet = *packet.get<Ethernet>();
    CapturedConnection& connection = at->second.connection;
    connection.capture = capture;
    connection.service = packet.info().service;
    connection.responder = net.destination;
    connection.requester = net.source;
    connection.responder_mac = ethernet.destination;
    connection.requester_mac = ethernet.source;
    connection.responder_qpn = packet.bth().dest_qp;
    connection.requester_qpn = packet.bth().dest_qp;
    connection.first_psn = packet.bth().psn;
  });
  const std::filesystem::path arrived = file_of(capture, "rx");
  const std::string_view stage = std::filesystem::exists(arrived) ? "rx" : "tx";
  for_each_packet(file_of(capture, stage), [&](const link::CaptureRecord& record, const Packet& packet) {
    const NetMeta net = packet.net();
    const auto found = connections.find({net.source, net.destination, packet.bth().dest_qp});
    if (packet.info().is_response() || found == connections.end()) return;
    found->second.connection.requests.push_back(
        {record.number, Time{Duration{record.timestamp_ns}}, {record.bytes.begin(), record.bytes.end()}});
  });
  std::vector<CapturedConnection> list;
  for (auto& [key, open] : connections) list.push_back(std::move(open.connection));
  return list;
}

}  // namespace roce::test
