// SPDX-License-Identifier: BSD-2-Clause
#include "replay/converse/conversation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "roce/analysis/tracker.h"
#include "roce/wire/atomiceth.h"
#include "roce/wire/ieth.h"
#include "roce/wire/immdt.h"
#include "roce/wire/reth.h"
#include "runtime/saturating_time.h"

namespace roce::replay {

namespace {

constexpr std::size_t kAtomicBytes = 8;
/// Obstacles kept for one connection; any more would be of the same kinds.
constexpr std::size_t kMostObstacles = 20;

/// The contents of one packet, from the first transmission that was intact.
struct Piece {
  std::vector<std::byte> payload;
  std::uint32_t payload_length = 0;  // bytes on the wire
  Time time{};
};

/// A request packet.
struct RequestPiece : Piece {
  Bth bth{};
  Operation operation{};
  bool continues = false;  // true if its message began in an earlier packet
  std::optional<Reth> reth;
  std::optional<AtomicEth> atomic;
  std::optional<ImmDt> immediate;
  std::optional<Ieth> invalidate;
  std::optional<Feth> flush;
};

/// The requests of one side of a stream with their answers, by the requester's PSNs, which count on across wraps.
struct Requester {
  std::map<std::int64_t, RequestPiece> requests;
  std::map<std::int64_t, Piece> answers;
  std::map<analysis::PacketId, std::int64_t> psns;  // PSNs of request packets, one for each transmission
};

struct StreamData {
  std::array<Requester, 2> sides;
  std::vector<analysis::Message> messages;
  std::uint64_t not_kept_from = 0;  // number of the first frame that memory did not suffice for
};

/// Returns the bytes that a kept packet takes; its payload counts twice, as it is also in the data of its request.
[[nodiscard]] std::uint64_t memory_for(const Packet& packet) {
  constexpr std::uint64_t kMapNodes = 2 * 64;
  return sizeof(RequestPiece) + kMapNodes + sizeof(CapturedOperation) + 2 * packet.payload().size();
}

void keep_payload(Piece& piece, const Packet& packet, Time time) {
  const Bytes payload = packet.payload();
  piece.payload.assign(payload.begin(), payload.end());
  piece.payload_length = packet.payload_length();
  piece.time = time;
}

[[nodiscard]] std::array<std::byte, kAtomicBytes> in_memory(std::uint64_t value) {
  std::array<std::byte, kAtomicBytes> bytes{};
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

/// Makes the operations of a stream out of its messages.
class Builder {
 public:
  Builder(const analysis::StreamSummary& summary, StreamData& data, std::uint64_t memory) : data_(data) {
    conversation_.stream = summary.stream;
    conversation_.path_mtu = summary.path_mtu;
    conversation_.naks =
        summary.count(analysis::VerdictKind::nak_sequence_error) + summary.count(analysis::VerdictKind::rnr_nak);
    conversation_.retransmissions = summary.count(analysis::VerdictKind::retransmission);
    if (!summary.joined) refuse("the capture has one direction of it only, or cannot tell which two belong together");
    if (summary.is_open_start) refuse("it had begun before the capture");
    for (const analysis::DirectionSummary& direction : summary.directions) {
      if (!direction.seen && summary.joined) refuse("one of its directions is not in the capture");
    }
    if (summary.missed_psns != 0) refuse(fmt::format("the capture missed {} of its packets", summary.missed_psns));
    if (data.not_kept_from != 0) {
      refuse(fmt::format("from frame {} on it is not read: the connections take more than {} MiB; raise --memory",
                         data.not_kept_from, memory >> 20U));
    }
    std::ranges::stable_sort(data.messages, {}, &analysis::Message::first);
    if (!data.messages.empty()) first_side_ = data.messages.front().direction;
    conversation_.ends = summary.ends;
    for (std::size_t i = 0; i < 2; ++i) conversation_.qpns.at(i) = summary.qpns.at(i).value_or(Qpn{});
    if (first_side_ == 1) {
      std::swap(conversation_.ends[0], conversation_.ends[1]);
      std::swap(conversation_.qpns[0], conversation_.qpns[1]);
    }
  }

  Conversation build() {
    for (const analysis::Message& message : data_.messages) add(message);
    set_times();
    if (conversation_.operations.empty()) refuse("it has no request that is whole");
    return std::move(conversation_);
  }

 private:
  void refuse(std::string why) {
    if (conversation_.obstacles.size() < kMostObstacles) conversation_.obstacles.push_back(std::move(why));
  }

  void add(const analysis::Message& message) {
    Requester& side = data_.sides.at(message.direction);
    const std::string name = fmt::format("the {} in frame {}", to_string(message.type), message.first.frame);
    const auto known = side.psns.find(message.first);
    if (known != side.psns.end() && known->second < refused_until_.at(message.direction)) return;
    if (!message.start_seen || known == side.psns.end()) {
      return refuse(fmt::format("the beginning of {} is not in the capture", name));
    }
    const std::int64_t first = known->second;
    const auto begin = side.requests.find(first);
    if (begin == side.requests.end()) return refuse(fmt::format("{} is damaged in the capture", name));
    CapturedOperation operation;
    operation.side = message.direction == first_side_ ? 0 : 1;
    operation.frame = message.first.frame;
    operation.start = operation.arrival = begin->second.time;
    operation.end = message.end;
    if (message.answer) operation.finish = message.finish;
    if (message.end == analysis::MessageEnd::incomplete) refuse(fmt::format("{} is not whole in the capture", name));
    take_headers(operation, begin->second);
    const std::size_t obstacles = conversation_.obstacles.size();
    if (operation.operation == Operation::read_request) {
      take_answer(operation, side, first, message, name);
    } else if (operation.operation == Operation::compare_swap || operation.operation == Operation::fetch_add) {
      take_atomic_answer(operation, side, first, name);
    } else {
      take_payload(operation, side, first, message, name);
    }
    if (conversation_.obstacles.size() == obstacles) {
      if (const std::string why = contradiction_in(operation); !why.empty()) refuse(fmt::format("{} {}", name, why));
    }
    conversation_.operations.push_back(std::move(operation));
  }

  static void take_headers(CapturedOperation& operation, const RequestPiece& piece) {
    operation.operation = piece.operation;
    operation.solicited = piece.bth.solicited;
    if (piece.reth) {
      operation.remote_address = piece.reth->virtual_address;
      operation.r_key = piece.reth->r_key;
      operation.length = piece.reth->dma_length;
    }
    if (piece.atomic) {
      operation.remote_address = piece.atomic->virtual_address;
      operation.r_key = piece.atomic->r_key;
      operation.length = kAtomicBytes;
      operation.compare_add =
          piece.operation == Operation::compare_swap ? piece.atomic->compare : piece.atomic->swap_or_add;
      operation.swap = piece.operation == Operation::compare_swap ? piece.atomic->swap_or_add : 0;
    }
    if (piece.flush) operation.flush = *piece.flush;
  }

  void take_payload(CapturedOperation& operation, const Requester& side, std::int64_t first,
                    const analysis::Message& message, const std::string& name) {
    bool is_cut = false;
    std::int64_t end = first + message.psn_count;
    if (message.end == analysis::MessageEnd::refused) {
      // Packets that were already under way after the refused one.
      for (auto next = side.requests.find(end); next != side.requests.end() && next->second.continues; ++end, ++next) {
        if (next->first != end) break;
      }
      refused_until_.at(message.direction) = end;
    }
    for (std::int64_t psn = first; psn < end; ++psn) {
      const auto found = side.requests.find(psn);
      if (found == side.requests.end()) return refuse(fmt::format("a packet of {} is missing or damaged", name));
      const RequestPiece& piece = found->second;
      operation.data.insert(operation.data.end(), piece.payload.begin(), piece.payload.end());
      is_cut = is_cut || piece.payload.size() < piece.payload_length;
      operation.arrival = std::max(operation.arrival, piece.time);
      operation.solicited = operation.solicited || piece.bth.solicited;
      if (piece.immediate) operation.immediate = piece.immediate->data;
      if (piece.invalidate) operation.invalidate = piece.invalidate->r_key;
    }
    if (is_cut) return refuse(fmt::format("the payload of {} is cut short by the snap length", name));
    if (operation.operation == Operation::send) operation.length = static_cast<std::uint32_t>(operation.data.size());
  }

  void take_answer(CapturedOperation& operation, const Requester& side, std::int64_t first,
                   const analysis::Message& message, const std::string& name) {
    if (message.end == analysis::MessageEnd::refused) return;
    for (std::int64_t psn = first; psn < first + message.psn_count && operation.data.size() < operation.length; ++psn) {
      const auto found = side.answers.find(psn);
      if (found == side.answers.end()) break;
      operation.data.insert(operation.data.end(), found->second.payload.begin(), found->second.payload.end());
      if (found->second.payload.size() < found->second.payload_length) break;
    }
    if (operation.data.size() == operation.length) return;
    operation.data.clear();
    refuse(fmt::format("the data that came back for {} are not in the capture", name));
  }

  void take_atomic_answer(CapturedOperation& operation, const Requester& side, std::int64_t first,
                          const std::string& name) {
    if (operation.end == analysis::MessageEnd::refused) return;
    const auto found = side.answers.find(first);
    if (found == side.answers.end()) return refuse(fmt::format("the answer to {} is not in the capture", name));
    operation.data = found->second.payload;
  }

  [[nodiscard]] static bool comes_to(std::uint8_t side, const CapturedOperation& operation) {
    return operation.side != side && operation.is_message() && operation.end != analysis::MessageEnd::refused;
  }

  void set_times() {
    std::vector<CapturedOperation>& operations = conversation_.operations;
    std::ranges::stable_sort(operations, {}, &CapturedOperation::start);
    if (!operations.empty()) conversation_.start = operations.front().start;
    for (std::uint8_t side = 0; side < 2; ++side) {
      std::vector<Time> finished;
      std::vector<Time> arrived;
      for (const CapturedOperation& operation : operations) {
        if (operation.side == side) finished.push_back(operation.finish);
        if (comes_to(side, operation)) arrived.push_back(operation.arrival);
      }
      std::ranges::sort(finished);
      std::ranges::sort(arrived);
      const auto count_until = [](const std::vector<Time>& times, std::size_t from, Time until) {
        while (from < times.size() && times[from] <= until) ++from;
        return from;
      };
      std::size_t completed = 0;
      std::size_t messages = 0;
      // While the clock stands still, a request must not wait for itself, or for a request that waits for it.
      std::size_t own_before = 0;
      std::size_t others_before = 0;
      Time latest = conversation_.start;
      for (CapturedOperation& operation : operations) {
        if (comes_to(side, operation)) ++others_before;
        if (operation.side != side) continue;
        completed = std::min(count_until(finished, completed, operation.start), own_before++);
        messages = std::min(count_until(arrived, messages, operation.start), others_before);
        operation.after_completed = completed;
        operation.after_arrived = messages;
        if (completed != 0) latest = std::max(latest, finished[completed - 1]);
        if (messages != 0) latest = std::max(latest, arrived[messages - 1]);
        operation.think = between(latest, operation.start);
        latest = operation.start;
      }
    }
  }

  StreamData& data_;
  Conversation conversation_;
  std::uint8_t first_side_ = 0;
  std::array<std::int64_t, 2> refused_until_{};  // by direction of the stream: the PSN after a refused message
};

}  // namespace

std::string contradiction_in(const CapturedOperation& operation) {
  const bool was_refused = operation.end == analysis::MessageEnd::refused;
  const std::size_t bytes = operation.data.size();
  const auto takes_eight = [&](const char* what) {
    return operation.length == kAtomicBytes
               ? std::string{}
               : fmt::format("is about {} bytes, and {} is about 8", operation.length, what);
  };
  std::string why;
  switch (operation.operation) {
    case Operation::send:
      return {};
    case Operation::write:
      break;
    case Operation::atomic_write:
      why = takes_eight("an ATOMIC WRITE");
      break;
    case Operation::read_request:
      if (!was_refused && bytes != operation.length)
        why = fmt::format("asked for {} bytes and got {}", operation.length, bytes);
      break;
    case Operation::compare_swap:
    case Operation::fetch_add:
      why = takes_eight("an atomic");
      if (why.empty() && !was_refused && bytes != kAtomicBytes)
        why = fmt::format("was answered with {} bytes instead of 8", bytes);
      break;
    case Operation::flush:
      if (bytes != 0) why = fmt::format("has {} bytes of payload, and a FLUSH has none", bytes);
      break;
    default:
      return "is no work request of a queue pair";
  }
  if (!why.empty()) return why;
  // The rest of a refused message was never sent.
  const bool is_written = operation.operation == Operation::write || operation.operation == Operation::atomic_write;
  if (is_written && (was_refused ? bytes > operation.length : bytes != operation.length)) {
    return fmt::format("has {} bytes of payload, its RETH says {}", bytes, operation.length);
  }
  if (!was_refused && operation.length != 0 && operation.length - 1 > UINT64_MAX - operation.remote_address) {
    return fmt::format("is about {} bytes from 0x{:x} on, beyond the last address that there is", operation.length,
                       operation.remote_address);
  }
  return {};
}

class ConversationReader::State {
 public:
  explicit State(std::uint64_t memory) : memory_(memory) {}

  void observe(const Packet& packet, const IcrcVerdict& icrc, Time time, analysis::PacketId id) {
    const analysis::PacketAnalysis& known = tracker_.observe(analysis::observe_packet(packet, icrc, time, id));
    if (known.absorbed != analysis::kNoStream) absorbed_by_[known.absorbed] = known.stream;
    const bool is_request = known.role == analysis::PacketRole::request;
    if (known.stream != analysis::kNoStream && (is_request || known.role == analysis::PacketRole::response) &&
        packet.info().service == Service::rc && icrc.status != IcrcStatus::bad) {
      if (StreamData* stream = stream_of(known.stream)) keep(*stream, known, packet, time, id);
    }
    if (++since_drain_ < kDrainPackets) return;
    since_drain_ = 0;
    drain();
  }

  std::vector<Conversation> finish() {
    tracker_.finish();
    drain();
    for (const auto& [part, whole] : absorbed_by_) {
      const auto from = streams_.find(part);
      const auto to = streams_.find(whole);
      if (from != streams_.end() && to != streams_.end()) absorb(from->second, to->second);
    }
    for (analysis::StreamSummary& summary : tracker_.streams()) take_summary(std::move(summary));
    std::vector<Conversation> conversations;
    for (const analysis::StreamSummary& summary : summaries_) {
      const auto data = streams_.find(summary.stream);
      conversations.push_back(Builder{summary, data->second, memory_}.build());
      // The data exist twice at this point; free the packets at once.
      streams_.erase(data);
    }
    std::ranges::stable_sort(conversations, {}, &Conversation::stream);
    return conversations;
  }
  [[nodiscard]] std::uint64_t left_out() const { return left_out_; }

 private:
  static constexpr unsigned kDrainPackets = 256;
  /// Bytes counted for a connection, whatever was sent on it: its state, its summary and its obstacles.
  static constexpr std::uint64_t kConnectionBytes = 4096;

  /// Returns what is kept of a stream; nullptr if it begins when the memory is used up.
  StreamData* stream_of(std::uint32_t number) {
    if (const auto known = streams_.find(number); known != streams_.end()) return &known->second;
    if (kConnectionBytes > memory_ - used_) return nullptr;
    used_ += kConnectionBytes;
    return &streams_[number];
  }

  void take_summary(analysis::StreamSummary summary) {
    if (summary.service != Service::rc) return;
    if (stream_of(summary.stream) != nullptr) {
      summaries_.push_back(std::move(summary));
    } else {
      ++left_out_;
    }
  }

  void keep(StreamData& stream, const analysis::PacketAnalysis& known, const Packet& packet, Time time,
            analysis::PacketId id) {
    if (stream.not_kept_from != 0) return;
    const std::uint64_t bytes = memory_for(packet);
    if (bytes > memory_ - used_) {
      stream.not_kept_from = id.frame;
      return;
    }
    const bool is_request = known.role == analysis::PacketRole::request;
    // The answers to a requester go in the other direction.
    Requester& side = stream.sides.at(is_request ? known.direction : 1 - known.direction);
    const bool is_kept = is_request ? take_request(side, packet, time, id, known.relative_psn)
                                    : take_answer(side, packet, time, known.relative_psn);
    if (is_kept) used_ += bytes;
  }

  static bool take_request(Requester& side, const Packet& packet, Time time, analysis::PacketId id, std::int64_t psn) {
    side.psns.emplace(id, psn);
    const auto [at, is_new] = side.requests.try_emplace(psn);
    if (!is_new) return true;
    RequestPiece& piece = at->second;
    keep_payload(piece, packet, time);
    piece.bth = packet.bth();
    piece.operation = packet.info().operation;
    piece.continues = packet.info().position == Position::middle || packet.info().position == Position::last;
    piece.reth = packet.get<Reth>();
    piece.atomic = packet.get<AtomicEth>();
    piece.immediate = packet.get<ImmDt>();
    piece.invalidate = packet.get<Ieth>();
    piece.flush = packet.get<Feth>();
    return true;
  }

  static bool take_answer(Requester& side, const Packet& packet, Time time, std::int64_t psn) {
    const Operation operation = packet.info().operation;
    if (operation != Operation::read_response && operation != Operation::atomic_acknowledge) return false;
    const auto [at, is_new] = side.answers.try_emplace(psn);
    if (!is_new) return false;
    keep_payload(at->second, packet, time);
    if (const auto atomic = packet.get<AtomicAckEth>()) {
      const auto bytes = in_memory(atomic->original);
      at->second.payload.assign(bytes.begin(), bytes.end());
    }
    return true;
  }

  /// Merges `part` into `whole`: that a stream is the other direction of another shows only when an answer comes.
  static void absorb(StreamData& part, StreamData& whole) {
    whole.sides[1].requests.merge(part.sides[0].requests);
    whole.sides[1].psns.merge(part.sides[0].psns);
    if (whole.not_kept_from == 0) whole.not_kept_from = part.not_kept_from;
    for (analysis::Message& message : part.messages) {
      message.direction = 1;
      whole.messages.push_back(message);
    }
  }

  void drain() {
    messages_.clear();
    tracker_.drain_messages(messages_);
    for (const analysis::Message& message : messages_) {
      if (const auto stream = streams_.find(message.stream); stream != streams_.end()) {
        stream->second.messages.push_back(message);
      }
    }
    closed_.clear();
    tracker_.drain_closed(closed_);
    for (analysis::StreamSummary& summary : closed_) take_summary(std::move(summary));
  }

  analysis::Tracker tracker_{{.limits = {}, .keep_messages = true, .keep_answers = false, .cnp_interval = {}}};
  std::map<std::uint32_t, StreamData> streams_;
  std::map<std::uint32_t, std::uint32_t> absorbed_by_;
  std::vector<analysis::Message> messages_;
  std::vector<analysis::StreamSummary> closed_;
  std::vector<analysis::StreamSummary> summaries_;  // summaries of streams that have ended
  std::uint64_t left_out_ = 0;
  unsigned since_drain_ = 0;
  std::uint64_t memory_;
  std::uint64_t used_ = 0;
};

ConversationReader::ConversationReader(std::uint64_t memory) : state_(std::make_unique<State>(memory)) {}
ConversationReader::~ConversationReader() = default;

void ConversationReader::observe(const Packet& packet, const IcrcVerdict& icrc, Time time, analysis::PacketId id) {
  // kNever stands for "did not happen", so the time of a packet has to be earlier.
  state_->observe(packet, icrc, std::min(time, kNever - Duration{1}), id);
}

std::vector<Conversation> ConversationReader::finish() {
  return state_->finish();
}

std::uint64_t ConversationReader::left_out() const {
  return state_->left_out();
}

std::string_view control_name(Operation operation) {
  switch (operation) {
    case Operation::write:
      return "write";
    case Operation::read_request:
      return "read";
    case Operation::compare_swap:
      return "compare_swap";
    case Operation::fetch_add:
      return "fetch_add";
    case Operation::atomic_write:
      return "atomic_write";
    case Operation::flush:
      return "flush";
    default:
      return "send";
  }
}

}  // namespace roce::replay
