// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "roce/analysis/nvme.h"
#include "roce/wire/all_headers.h"

namespace roce::analysis {

inline const Gid kHost = Gid::from_ipv4({{10, 0, 0, 1}});
inline const Gid kTarget = Gid::from_ipv4({{10, 0, 0, 2}});

/// A host and a target, frame by frame, 1 us from packet to packet.
class NvmeWire {
 public:
  explicit NvmeWire(std::size_t most_commands = 100, std::size_t most_queues = 100)
      : NvmeWire(NvmeSurveyOptions{.targets = {kTarget}, .most_queues = most_queues, .most_commands = most_commands}) {}
  explicit NvmeWire(NvmeSurveyOptions options) : survey_{std::move(options)} {}

  void command(std::uint16_t id, std::uint8_t opcode = 2, std::uint32_t qp = 0x22, std::uint8_t name_space = 0) {
    std::vector<std::byte> capsule(NvmeCommand::kBytes);
    capsule[0] = std::byte{opcode};
    capsule[1] = std::byte{0x40};
    put(capsule, 2, id);
    capsule[4] = std::byte{name_space};
    put(capsule, 35, id);  // the key of its memory
    capsule[33] = std::byte{0x10};
    capsule[39] = std::byte{0x40};
    packet(true, qp, host_psn_++, Opcode::rc_send_only, capsule);
  }
  void ack() { packet(false, 0x11, host_psn_ - 1, Opcode::rc_acknowledge, std::vector(4, std::byte{0x1F})); }
  void response(std::uint16_t id, std::uint32_t qp = 0x11) {
    std::vector<std::byte> capsule(NvmeCompletion::kBytes);
    put(capsule, 12, id);
    packet(false, qp, target_psn_++, Opcode::rc_send_only, capsule);
  }
  void data(std::uint16_t id) {
    std::vector<std::byte> write(kSize<Reth> + 64);
    roce::write(Reth{.r_key = RKey{id}, .dma_length = 64}, write.data());
    packet(false, 0x11, target_psn_++, Opcode::rc_write_only, write);
  }

  /// A request of the host for a connection of its QP to a port; to that of NVMe for queue 1.
  void request(std::uint32_t comm_id, std::uint32_t qp, std::uint16_t port = kNvmePort) {
    CmReq request{.local_comm_id = CommId{comm_id},
                  .service_id = ServiceId{PortSpace::tcp, port},
                  .local_qpn = Qpn{qp},
                  .starting_psn = Psn{target_psn_},
                  .path_mtu = PathMtu::mtu_1024};
    write(Cma{.source_address = kHost, .destination_address = kTarget}, request.private_data.data());
    request.private_data[kSize<Cma> + 2] = std::byte{1};
    management(true, MadAttribute::cm_req, request);
  }
  /// The target's reply to a request, with its own QP.
  void reply(std::uint32_t comm_id, std::uint32_t qp) {
    management(false, MadAttribute::cm_rep,
               CmRep{.local_comm_id = CommId{comm_id + 1000},
                     .remote_comm_id = CommId{comm_id},
                     .local_qpn = Qpn{qp},
                     .starting_psn = Psn{host_psn_}});
  }
  void reject(std::uint32_t comm_id) {
    management(false, MadAttribute::cm_rej, CmRej{.remote_comm_id = CommId{comm_id}});
  }
  /// The host's request to end a connection, which names the target's QP.
  void release(std::uint32_t comm_id, std::uint32_t target_qp) {
    management(
        true, MadAttribute::cm_dreq,
        CmDreq{
            .local_comm_id = CommId{comm_id}, .remote_comm_id = CommId{comm_id + 1000}, .remote_qpn = Qpn{target_qp}});
  }

  /// The same of the target, which names the host's QP.
  void release_by_target(std::uint32_t comm_id, std::uint32_t host_qp) {
    management(
        false, MadAttribute::cm_dreq,
        CmDreq{.local_comm_id = CommId{comm_id + 1000}, .remote_comm_id = CommId{comm_id}, .remote_qpn = Qpn{host_qp}});
  }

  /// Sets the clock; the next packet comes a microsecond later.
  void set_clock(Duration time) { now_ = Time{time}; }
  void set_point(std::uint16_t point) { point_ = point; }

  std::vector<NvmeExchange> finish() {
    survey_.finish();
    std::vector<NvmeExchange> all;
    survey_.drain(all);
    return all;
  }
  [[nodiscard]] const NvmeSurvey& survey() const { return survey_; }

 private:
  static void put(std::vector<std::byte>& bytes, std::size_t at, std::uint16_t value) {
    bytes[at] = static_cast<std::byte>(value & 0xFF);
    bytes[at + 1] = static_cast<std::byte>(value >> 8U);
  }
  template <typename Message>
  void management(bool is_forth, MadAttribute attribute, const Message& message) {
    std::vector<std::byte> rest(kSize<Deth> + kMadSize);
    write(Deth{.q_key = QKey{0x8001'0000}, .source_qp = Qpn{1}}, rest.data());
    write(Mad{.transaction_id = frame_ + 1, .attribute_id = attribute}, rest.data() + kSize<Deth>);
    write(message, rest.data() + kSize<Deth> + kSize<Mad>);
    packet(is_forth, 1, 0, Opcode::ud_send_only, rest);
  }
  void packet(bool is_forth, std::uint32_t qp, std::uint32_t psn, Opcode opcode, const std::vector<std::byte>& rest) {
    std::vector<std::byte> bytes(kSize<Bth>);
    write(Bth{.opcode = opcode, .dest_qp = Qpn{qp}, .psn = Psn{psn}}, bytes.data());
    bytes.insert(bytes.end(), rest.begin(), rest.end());
    bytes.resize(bytes.size() + 4);
    NetMeta net;
    net.version = RoceVersion::v2_ipv4;
    net.source = is_forth ? kHost : kTarget;
    net.destination = is_forth ? kTarget : kHost;
    const Packet parsed = parse_transport(bytes, net, static_cast<std::uint32_t>(bytes.size()));
    now_ += Duration{1000};
    Observation seen = observe_packet(parsed, {}, now_, {++frame_});
    seen.point = point_;
    survey_.observe(parsed, seen, tracker_.observe(seen));
  }

  Tracker tracker_;
  NvmeSurvey survey_;
  std::uint64_t frame_ = 0;
  Time now_{};
  std::uint16_t point_ = 0;
  std::uint32_t host_psn_ = 100;
  std::uint32_t target_psn_ = 5000;
};

}  // namespace roce::analysis
