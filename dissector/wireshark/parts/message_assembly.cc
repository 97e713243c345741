// SPDX-License-Identifier: BSD-2-Clause
#include "wireshark/parts/message_assembly.h"

#include <algorithm>
#include <iterator>
#include <new>
#include <utility>

namespace roce::plugin {

namespace {

/// Returns the opcode of a single packet that could have carried the whole message that ends with `last`.
Opcode opcode_of_whole(Opcode last) {
  const OpcodeInfo& ending = opcode_info(last);
  for (std::size_t code = 0; code < kOpcodeTable.size(); ++code) {
    const OpcodeInfo& info = kOpcodeTable[code];
    if (info.defined() && info.service == ending.service && info.operation == ending.operation &&
        info.position == Position::only && info.immediate == ending.immediate && info.invalidate == ending.invalidate) {
      return static_cast<Opcode>(code);
    }
  }
  return last;
}

/// Finds the piece at one end of the message that `at` belongs to: the first one if `step` goes back, the last one if
/// it goes forward. Returns `none` if a piece on the way is missing.
template <typename Iterator, typename Step>
Iterator end_of_message(Iterator at, Iterator begin, Iterator none, Position wanted, Step step) {
  while (opcode_info(at->second.opcode).position != wanted) {
    const std::int64_t psn = at->first;
    if (step < 0 && at == begin) return none;
    const Iterator next = step < 0 ? std::prev(at) : std::next(at);
    if (next == none || next->first != psn + step) return none;
    const Position position = opcode_info(next->second.opcode).position;
    if (position != wanted && position != Position::middle) return none;
    at = next;
  }
  return at;
}

}  // namespace

std::size_t MessageAssembly::cost(const Piece& piece) {
  constexpr std::size_t kPiece = 256;
  return std::max(piece.bytes.size(), kPiece);
}

const MessageAssembly::Message* MessageAssembly::add(const Packet& packet) noexcept try {
  forget_unwanted(packet.place.frame);
  State& state = channels_[packet.channel];
  if (find(state, packet.psn) != nullptr) return nullptr;
  const auto [piece, is_new] = state.waiting.try_emplace(
      packet.psn, Piece{packet.place, packet.opcode, {packet.payload.begin(), packet.payload.end()}});
  if (!is_new) return nullptr;
  state.waiting_bytes += cost(piece->second);
  while (state.waiting_bytes > kLargest) {
    const auto oldest = state.waiting.begin();
    state.waiting_bytes -= cost(oldest->second);
    const bool is_this = oldest == piece;
    state.waiting.erase(oldest);
    if (is_this) return nullptr;
  }
  const auto begin = state.waiting.begin();
  const auto none = state.waiting.end();
  // Looks back only if the pieces up to the last one are there: otherwise the message cannot be complete.
  const auto last = end_of_message(piece, begin, none, Position::last, +1);
  const auto first = last == none ? none : end_of_message(piece, begin, none, Position::first, -1);
  return first != none ? join(state, first, last, packet.place) : nullptr;
} catch (const std::bad_alloc&) {
  return nullptr;
}

MessageAssembly::Message* MessageAssembly::join(State& state, Pieces::iterator first, Pieces::iterator last,
                                                const Place& completed_by) {
  const auto end = std::next(last);
  Message message;
  message.completed_by = completed_by;
  message.opcode = opcode_of_whole(last->second.opcode);
  for (auto piece = first; piece != end; ++piece) {
    const std::vector<std::byte>& bytes = piece->second.bytes;
    message.parts.push_back({piece->second.place.frame, static_cast<std::uint32_t>(message.bytes.size()),
                             static_cast<std::uint32_t>(bytes.size())});
    message.bytes.insert(message.bytes.end(), bytes.begin(), bytes.end());
  }
  const auto place = state.whole.insert_or_assign(first->first, Whole{last->first, std::move(message)}).first;
  // Only now, when nothing can fail any more.
  for (auto piece = first; piece != end; piece = state.waiting.erase(piece)) state.waiting_bytes -= cost(piece->second);
  last_ = &place->second.message;
  return last_;
}

const MessageAssembly::Whole* MessageAssembly::find(const State& state, std::int64_t psn) noexcept {
  const auto behind = state.whole.upper_bound(psn);
  if (behind == state.whole.begin()) return nullptr;
  const Whole& whole = std::prev(behind)->second;
  return psn <= whole.last_psn ? &whole : nullptr;
}

const MessageAssembly::Message* MessageAssembly::find(Channel channel, std::int64_t psn) const noexcept {
  const auto found = channels_.find(channel);
  const Whole* const whole = found != channels_.end() ? find(found->second, psn) : nullptr;
  return whole != nullptr ? &whole->message : nullptr;
}

void MessageAssembly::forget_unwanted(std::uint64_t frame) noexcept {
  if (unwanted_ == nullptr || unwanted_->completed_by.frame == frame) return;
  unwanted_->bytes = {};
  unwanted_ = nullptr;
}

void MessageAssembly::clear() noexcept {
  channels_.clear();
  last_ = nullptr;
  unwanted_ = nullptr;
}

}  // namespace roce::plugin
