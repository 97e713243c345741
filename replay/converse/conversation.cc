// SPDX-License-Identifier: BSD-2-Clause
#include "replay/converse/conversation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "replay/converse/captured_stream.h"
#include "replay/converse/conversation_builder.h"
#include "roce/analysis/tracker.h"

namespace roce::replay {

namespace {

/// Returns the bytes that a kept packet takes; its payload counts twice, as it is also in the data of its request.
[[nodiscard]] std::uint64_t memory_for(const Packet& packet) {
  constexpr std::uint64_t kMapNodes = 2 * 64;
  return sizeof(CapturedRequestPiece) + kMapNodes + sizeof(CapturedOperation) + 2 * packet.payload().size();
}

void keep_payload(CapturedPiece& piece, const Packet& packet, Time time) {
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
      if (CapturedStream* stream = stream_of(known.stream)) keep(*stream, known, packet, time, id);
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
      conversations.push_back(build_conversation(summary, data->second, memory_));
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
  CapturedStream* stream_of(std::uint32_t number) {
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

  void keep(CapturedStream& stream, const analysis::PacketAnalysis& known, const Packet& packet, Time time,
            analysis::PacketId id) {
    if (stream.not_kept_from != 0) return;
    const std::uint64_t bytes = memory_for(packet);
    if (bytes > memory_ - used_) {
      stream.not_kept_from = id.frame;
      return;
    }
    const bool is_request = known.role == analysis::PacketRole::request;
    // The answers to a requester go in the other direction.
    CapturedRequester& side = stream.sides.at(is_request ? known.direction : 1 - known.direction);
    const bool is_kept = is_request ? take_request(side, packet, time, id, known.relative_psn)
                                    : take_answer(side, packet, time, known.relative_psn);
    if (is_kept) used_ += bytes;
  }

  static bool take_request(CapturedRequester& side, const Packet& packet, Time time, analysis::PacketId id,
                           std::int64_t psn) {
    side.psns.emplace(id, psn);
    const auto [at, is_new] = side.requests.try_emplace(psn);
    if (!is_new) return true;
    CapturedRequestPiece& piece = at->second;
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

  static bool take_answer(CapturedRequester& side, const Packet& packet, Time time, std::int64_t psn) {
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
  static void absorb(CapturedStream& part, CapturedStream& whole) {
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
  std::map<std::uint32_t, CapturedStream> streams_;
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
