// SPDX-License-Identifier: BSD-2-Clause
#include "conform/fuzz/capture_programs.h"

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>
#include <utility>

#include "conform/fuzz/service.h"
#include "roce/wire/atomiceth.h"
#include "roce/wire/immdt.h"
#include "roce/wire/reth.h"

namespace roce::conform::fuzz {

namespace {

constexpr std::uint32_t kLargestMtu = 1024;
/// The most packets that a message keeps: its first one, one in the middle, and its last one.
constexpr std::uint32_t kKeptPackets = 3;
/// The most bytes of a message (IBTA vol. 1, 9.7.4.1.6).
constexpr std::uint32_t kLongestMessage = 1U << 31U;
/// The most requests of a QP that are looked at: enough for all its programs if none is left out.
constexpr std::size_t kMostSeen = CapturePrograms::kMostOfQp * kMostActions * 4;

bool has_all_headers(const Packet& packet) {
  return std::ranges::all_of(packet.info().headers(), [&](HeaderId id) { return packet.find(id).has_value(); });
}

bool is_request(const OpcodeInfo& info) {
  switch (info.operation) {
    case Operation::send:
    case Operation::write:
    case Operation::read_request:
    case Operation::compare_swap:
    case Operation::fetch_add:
      return info.service == Service::rc || info.service == Service::uc || info.service == Service::ud;
    default:
      return false;
  }
}

std::uint32_t packets_of(std::uint64_t bytes, std::uint32_t mtu) {
  return std::max<std::uint32_t>(1, static_cast<std::uint32_t>((bytes + mtu - 1) / mtu));
}

}  // namespace

void CapturePrograms::add(const Packet& packet) {
  if (!packet.is_roce() || packet.bth().dest_qp.value() <= 1 || !is_request(packet.info())) return;
  // A snap length may have cut them.
  if (!has_all_headers(packet)) return;
  const auto reth = packet.get<Reth>();
  if (reth && reth->dma_length > kLongestMessage) return;
  const NetMeta net = packet.net();
  const Qp qp{net.version, net.destination, packet.bth().dest_qp.value()};
  if (qps_.size() == kMostQps && !numbers_.contains(qp)) return;
  const auto [number, is_new] = numbers_.try_emplace(qp, qps_.size());
  if (is_new) qps_.emplace_back();
  std::vector<Seen>& requests = qps_[number->second];
  if (requests.size() == kMostSeen) return;
  const Bth bth = packet.bth();
  if (!requests.empty() && packet.info().position == Position::middle && requests.back().opcode == bth.opcode &&
      requests.back().psn + requests.back().count == bth.psn) {
    ++requests.back().count;
    return;
  }
  Seen seen{.opcode = bth.opcode, .psn = bth.psn, .ack_request = bth.ack_req, .payload = packet.payload_length()};
  if (reth) {
    seen.length = reth->dma_length;
    seen.address = reth->virtual_address;
    seen.r_key = reth->r_key.value();
  }
  if (const auto atomic = packet.get<AtomicEth>()) {
    seen.address = atomic->virtual_address;
    seen.r_key = atomic->r_key.value();
    seen.operand = atomic->swap_or_add;
    seen.compare = atomic->compare;
  }
  if (const auto immediate = packet.get<ImmDt>()) seen.immediate = immediate->data;
  requests.push_back(seen);
}

class CapturePrograms::Conversion {
 public:
  explicit Conversion(const std::vector<Seen>& requests) : requests_(requests), mtu_(mtu_of(requests)) {
    for (const Seen& seen : requests) {
      std::uint64_t& base = bases_.try_emplace(seen.r_key, seen.address).first->second;
      base = std::min(base, seen.address);
    }
  }

  std::vector<Program> run() {
    for (const Seen& seen : requests_) {
      take(seen);
      if (programs_.size() == kMostOfQp && program_.actions.empty()) break;
    }
    finish();
    return std::move(programs_);
  }

 private:
  /// Packets that are left out of a message, as PSNs of the capture.
  struct Cut {
    Psn first{};
    std::uint32_t count = 0;
  };

  /// Returns the path MTU: that of the packets that have to be full, or else the one with which most READs end where
  /// the next request begins.
  static std::uint32_t mtu_of(const std::vector<Seen>& requests) {
    constexpr std::array<std::uint32_t, 5> mtus{1024, 4096, 2048, 512, 256};
    std::array<std::size_t, mtus.size()> fits{};
    const std::uint32_t largest = std::ranges::max(requests, {}, &Seen::payload).payload;
    for (std::size_t i = 0; i < requests.size(); ++i) {
      const Seen& seen = requests[i];
      const OpcodeInfo& info = opcode_info(seen.opcode);
      const bool is_full = info.payload == PayloadRule::exactly_mtu;
      if (is_full && std::ranges::find(mtus, seen.payload) != mtus.end()) return seen.payload;
      if (info.operation != Operation::read_request || i + 1 == requests.size()) continue;
      for (std::size_t k = 0; k < mtus.size(); ++k)
        fits[k] += requests[i + 1].psn == seen.psn + packets_of(seen.length, mtus[k]) ? 1 : 0;
    }
    std::optional<std::size_t> best;
    for (std::size_t k = 0; k < mtus.size(); ++k) {
      if (mtus[k] >= largest && (!best || fits[k] > fits[*best])) best = k;
    }
    return best ? mtus[*best] : kLargestMtu;
  }

  [[nodiscard]] std::uint32_t scaled_mtu() const { return std::min(mtu_, kLargestMtu); }

  /// Returns the payload of a packet of the program.
  [[nodiscard]] std::uint32_t scaled(std::uint32_t payload) const { return std::min(payload, scaled_mtu()); }

  /// Returns the length of a message of the program.
  [[nodiscard]] std::uint32_t scaled_message(std::uint32_t length) const {
    const std::uint32_t packets = packets_of(length, mtu_);
    const std::uint32_t last = length - (packets - 1) * mtu_;
    return (std::min(packets, kKeptPackets) - 1) * scaled_mtu() + scaled(last);
  }

  /// Returns a PSN of the program for one of the capture.
  [[nodiscard]] Psn mapped(Psn psn) const {
    std::uint32_t left_out = 0;
    for (const Cut& cut : cuts_) {
      const std::int32_t behind = psn.distance_from(cut.first);
      if (behind > 0) left_out += std::min(static_cast<std::uint32_t>(behind), cut.count);
    }
    return psn - left_out;
  }

  [[nodiscard]] bool is_cut(Psn psn) const {
    return std::ranges::any_of(cuts_, [&](const Cut& cut) {
      const std::int32_t behind = psn.distance_from(cut.first);
      return behind >= 0 && static_cast<std::uint32_t>(behind) < cut.count;
    });
  }

  /// A READ of the program.
  struct Read {
    Psn first{};               ///< of the capture
    std::uint32_t kept = 0;    ///< packets of its answer
    std::uint32_t length = 0;  ///< in the capture, bytes
    Request request{};
  };

  void cut(Psn first, std::uint32_t count) {
    if (count == 0) return;
    // Middle packets come one by one.
    if (!cuts_.empty() && cuts_.back().first + cuts_.back().count == first) {
      cuts_.back().count += count;
    } else {
      cuts_.push_back({first, count});
    }
  }

  void take(const Seen& seen) {
    const OpcodeInfo& info = opcode_info(seen.opcode);
    const bool is_datagram = info.service == Service::ud;
    if (program_.actions.empty()) {
      if (!info.begins_message()) return;
      begin(seen, info);
    }
    if (service_of(program_.type) != info.service || (seen.psn != expected_ && is_cut(seen.psn))) return;
    // A UC QP goes on with whatever PSN comes.
    const bool is_next = is_datagram || info.service == Service::uc || seen.psn == expected_;
    if (is_next && !is_datagram) {
      kept_ = info.begins_message() ? 1 : kept_ + 1;
      expected_ = seen.psn + seen.count;
      const bool is_too_much = info.position == Position::middle && kept_ >= most_kept(info);
      cut(seen.psn + (is_too_much ? 0U : 1U), seen.count - (is_too_much ? 0U : 1U));
      if (is_too_much) return;
    }
    const bool takes_receive = info.operation == Operation::send ? info.begins_message()
                                                                 : info.operation == Operation::write && info.immediate;
    if (is_next && takes_receive) program_.actions.emplace_back(Receive{kReceiveBytes});
    const Request request = request_of(seen, info, is_next);
    program_.actions.emplace_back(request);
    if (is_next && !is_datagram) {
      next_ = next_ + static_cast<std::uint32_t>(request.psn) + 1;
      if (info.operation == Operation::read_request) skip_responses(seen, request);
    }
    // A receive and its request go together.
    if (program_.actions.size() + 2 > kMostActions) finish();
  }

  /// Returns how many packets of a message are kept: those of a SEND have to fit a receive.
  [[nodiscard]] std::uint32_t most_kept(const OpcodeInfo& info) const {
    return info.operation == Operation::send ? std::min(kKeptPackets, kReceiveBytes / scaled_mtu()) : kKeptPackets;
  }

  /// Goes behind the PSNs of the responses to a READ, of which the program has at most kKeptPackets.
  void skip_responses(const Seen& seen, const Request& request) {
    const std::uint32_t packets = packets_of(seen.length, mtu_);
    const std::uint32_t kept = std::min(packets, kKeptPackets);
    expected_ = seen.psn + packets;
    cut(seen.psn + kept, packets - kept);
    next_ = next_ + (kept - 1);
    reads_.push_back({seen.psn, kept, seen.length, request});
  }

  /// Lets a READ that is repeated from one of its packets on go on in what the program has of it.
  void go_on_in_read(const Seen& seen, Request& request) const {
    for (const Read& read : reads_) {
      const std::int32_t skipped = seen.psn.distance_from(read.first);
      if (skipped < 0 || static_cast<std::uint32_t>(skipped) >= read.kept) continue;
      const auto packets = static_cast<std::uint32_t>(skipped);
      if (read.length - packets * mtu_ != seen.length) continue;
      request.length = read.request.length - packets * scaled_mtu();
      request.address = read.request.address + std::int64_t{packets} * scaled_mtu();
    }
  }

  void begin(const Seen& seen, const OpcodeInfo& info) {
    using transport::Access;
    using transport::QpType;
    program_ = {.type = info.service == Service::rc   ? QpType::rc
                        : info.service == Service::uc ? QpType::uc
                                                      : QpType::ud,
                .path_mtu = scaled_mtu(),
                .first_psn = seen.psn,
                .access = Access::remote_write | Access::remote_read | Access::remote_atomic};
    cuts_.clear();
    reads_.clear();
    expected_ = next_ = seen.psn;
    kept_ = 0;
  }

  void finish() {
    if (!program_.actions.empty() && programs_.size() < kMostOfQp) programs_.push_back(std::move(program_));
    program_ = {};
  }

  [[nodiscard]] Request request_of(const Seen& seen, const OpcodeInfo& info, bool is_next) const {
    Request request{.opcode = seen.opcode,
                    .ack_request = seen.ack_request,
                    .payload = scaled(seen.payload),
                    .seed = seen.psn.value(),
                    .operand = seen.operand,
                    .compare = seen.compare,
                    .immediate = seen.immediate};
    // The PSN of the next request on RC is the expected one, however far away a cut is.
    const bool is_counted = info.service == Service::uc || (info.service == Service::rc && !is_next);
    if (is_counted) request.psn = mapped(seen.psn).distance_from(next_);
    constexpr std::uint32_t atomic_bytes = 8;
    const bool is_atomic = info.operation == Operation::compare_swap || info.operation == Operation::fetch_add;
    const bool has_reth = !is_atomic && (info.operation == Operation::read_request ||
                                         (info.operation == Operation::write && info.begins_message()));
    if (has_reth) request.length = scaled_message(seen.length);
    if (has_reth || is_atomic) request.address = place(seen, is_atomic ? atomic_bytes : request.length);
    if (!is_next && info.operation == Operation::read_request) go_on_in_read(seen, request);
    return request;
  }

  /// Returns where in the region of the program `length` bytes are; their distance from a multiple of 8 stays.
  [[nodiscard]] std::int64_t place(const Seen& seen, std::uint32_t length) const {
    constexpr std::uint64_t unit = 8;
    const std::uint64_t base = bases_.at(seen.r_key) / unit * unit;
    const std::uint64_t offset = seen.address >= base ? seen.address - base : 0;
    const std::uint64_t rest = offset % unit;
    const std::uint64_t room = (kRegionBytes - length - rest) / unit;
    return static_cast<std::int64_t>(offset / unit % (room + 1) * unit + rest);
  }

  const std::vector<Seen>& requests_;
  std::uint32_t mtu_;
  std::unordered_map<std::uint32_t, std::uint64_t> bases_{};  ///< the lowest address of each R_Key
  std::vector<Program> programs_{};
  Program program_{};
  std::vector<Cut> cuts_{};  ///< of the program
  std::vector<Read> reads_{};
  Psn expected_{};          ///< the PSN of the capture that is next
  Psn next_{};              ///< the PSN that the device expects then
  std::uint32_t kept_ = 0;  ///< packets of the message that is open
};

std::vector<Program> CapturePrograms::programs() const {
  std::vector<Program> programs;
  for (const std::vector<Seen>& requests : qps_) {
    for (Program& program : Conversion{requests}.run()) programs.push_back(std::move(program));
  }
  return programs;
}

}  // namespace roce::conform::fuzz
