// SPDX-License-Identifier: BSD-2-Clause
#include "model_reference.h"

#include <algorithm>
#include <cstring>

#include "sim/random.h"

namespace roce::model {

using transport::CompletionOpcode;
using transport::WorkOpcode;

Memory::Memory(const Program& program) {
  for (std::size_t device = 0; device < 2; ++device) {
    std::size_t at = 0;
    for (const QpPlan& plan : program.qps) {
      for (std::size_t area = 0; area < kAreas; ++area) {
        fixed_.at(device).push_back({at, kGuard});
        at += kGuard;
        const std::size_t size = plan.area_size.at(device).at(area);
        areas_.at(device).push_back({at, size});
        if (static_cast<Area>(area) == Area::forbidden) fixed_.at(device).push_back({at, size});
        at += size;
      }
    }
    fixed_.at(device).push_back({at, kGuard});
    bytes_.at(device).resize(at + kGuard);
    sim::Random{program.seed + device}.fill(bytes_.at(device));
    original_.at(device) = bytes_.at(device);
  }
}

std::span<std::byte> Memory::area(std::size_t device, std::size_t qp, Area area) {
  const Place& place = areas_.at(device).at(qp * kAreas + static_cast<std::size_t>(area));
  return std::span{bytes_.at(device)}.subspan(place.offset, place.size);
}

bool Memory::guards_intact(std::size_t device) const {
  return std::ranges::all_of(fixed_.at(device), [&](const Place& place) {
    return std::memcmp(bytes_.at(device).data() + place.offset, original_.at(device).data() + place.offset,
                       place.size) == 0;
  });
}

namespace {

std::vector<std::byte> gather(std::span<const std::byte> area, const Work& op) {
  if (op.is_inline) return op.inline_data;
  std::vector<std::byte> message;
  for (const Piece& piece : op.pieces) {
    const auto bytes = area.subspan(piece.offset, piece.length);
    message.insert(message.end(), bytes.begin(), bytes.end());
  }
  return message;
}

void scatter(std::span<std::byte> area, const std::vector<Piece>& pieces, std::span<const std::byte> message) {
  for (const Piece& piece : pieces) {
    const std::size_t part = std::min<std::size_t>(piece.length, message.size());
    std::ranges::copy(message.first(part), area.subspan(piece.offset).begin());
    message = message.subspan(part);
  }
}

CompletionOpcode completion_of(WorkOpcode opcode) {
  switch (opcode) {
    case WorkOpcode::write:
    case WorkOpcode::write_with_immediate:
      return CompletionOpcode::write;
    case WorkOpcode::read:
      return CompletionOpcode::read;
    case WorkOpcode::compare_swap:
      return CompletionOpcode::compare_swap;
    case WorkOpcode::fetch_add:
      return CompletionOpcode::fetch_add;
    case WorkOpcode::atomic_write:
      return CompletionOpcode::atomic_write;
    case WorkOpcode::flush:
      return CompletionOpcode::flush;
    case WorkOpcode::local_invalidate:
      return CompletionOpcode::local_invalidate;
    case WorkOpcode::bind_mw:
      return CompletionOpcode::bind_mw;
    default:
      return CompletionOpcode::send;
  }
}

/// Changes 8 bytes and returns their old value.
std::uint64_t change(std::span<std::byte> at, const Work& op) {
  std::uint64_t value = 0;
  std::memcpy(&value, at.data(), sizeof value);
  const std::uint64_t before = value;
  if (op.opcode == WorkOpcode::fetch_add) value += op.compare_add;
  if (op.opcode == WorkOpcode::compare_swap && value == op.compare_add) value = op.swap;
  std::memcpy(at.data(), &value, sizeof value);
  return before;
}

}  // namespace

Reference::Reference(const Program& program) : memory(program), sent(program.qps.size()), received(program.qps.size()) {
  for (std::size_t q = 0; q < program.qps.size(); ++q) {
    for (std::size_t device = 0; device < 2; ++device) {
      const std::size_t peer = 1 - device;
      const std::span<std::byte> local = memory.area(device, q, Area::local);
      const std::span<std::byte> remote = memory.area(peer, q, Area::remote);
      std::vector<const Receive*> receives;
      for (const auto& phase : program.qps[q].phases) {
        for (const Receive& receive : phase.at(peer).receives) receives.push_back(&receive);
      }
      std::size_t next_receive = 0;
      for (const auto& phase : program.qps[q].phases) {
        for (const Work& op : phase.at(device).operations) {
          sent[q].at(device).push_back({.wr_id = op.wr_id,
                                        .opcode = completion_of(op.opcode),
                                        .byte_length = op.length,
                                        .signaled = op.signaled});
          Expected arrival{.opcode = CompletionOpcode::receive, .byte_length = op.length};
          bool arrives = true;
          switch (op.opcode) {
            case WorkOpcode::send:
              break;
            case WorkOpcode::send_with_immediate:
              arrival.has_immediate = true;
              break;
            case WorkOpcode::send_with_invalidate:
              arrival.invalidates = true;
              break;
            case WorkOpcode::write_with_immediate:
              arrival.has_immediate = true;
              arrival.opcode = CompletionOpcode::receive_write_with_immediate;
              [[fallthrough]];
            case WorkOpcode::write:
              arrives = arrival.has_immediate;
              if (op.key != Key::forbidden)
                std::ranges::copy(gather(local, op), remote.subspan(op.remote_offset).begin());
              break;
            case WorkOpcode::atomic_write:
              arrives = false;
              std::ranges::copy(gather(local, op), remote.subspan(op.remote_offset).begin());
              break;
            case WorkOpcode::read:
              arrives = false;
              scatter(local, op.pieces, remote.subspan(op.remote_offset, op.length));
              break;
            case WorkOpcode::compare_swap:
            case WorkOpcode::fetch_add: {
              arrives = false;
              const std::uint64_t before = change(remote.subspan(op.remote_offset, sizeof before), op);
              scatter(local, op.pieces, std::as_bytes(std::span{&before, 1}));
              break;
            }
            default:
              arrives = false;
              break;
          }
          if (!arrives) continue;
          const Receive& receive = *receives.at(next_receive++);
          arrival.wr_id = receive.wr_id;
          if (arrival.has_immediate) arrival.immediate = op.immediate;
          received[q].at(peer).push_back(arrival);
          if (arrival.opcode == CompletionOpcode::receive) {
            scatter(memory.area(peer, q, Area::receive), receive.pieces, gather(local, op));
          }
        }
      }
    }
  }
}

}  // namespace roce::model
