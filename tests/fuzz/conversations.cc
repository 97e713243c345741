// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "input.h"
#include "replay/converse/captured_memory.h"
#include "replay/converse/conversation.h"
#include "replay/converse/played_end.h"
#include "replay/converse/player.h"
#include "roce/wire/icrc.h"
#include "roce/wire/packet.h"
#include "tests/replay/converse/memory_end.h"

// The input is a capture of a few connections: a byte for how much memory there is, then records, each of them a
// packet of a connection or a frame for the parser. Always required: no more is kept of a connection than was
// captured; a conversation without an obstacle does not contradict itself, and its memory has the length announced
// before and not more than allowed; played between two ends in memory it comes to an end, and every request addresses
// memory that exists.

namespace {

using namespace roce;
using namespace roce::replay;
using roce::test::Input;

constexpr std::size_t kMaxPackets = 500;
constexpr std::uint64_t kMemory = std::uint64_t{1} << 22;

void check(bool holds) {
  if (!holds) std::abort();
}

void put(std::vector<std::byte>& frame, std::uint64_t value, unsigned bytes) {
  while (bytes-- > 0) frame.push_back(std::byte(value >> (8 * bytes)));
}

/// Makes packets out of bytes: most are the next of their connection except for one thing.
class Maker {
 public:
  Maker(Input& input, ConversationReader& reader) : input_(input), reader_(reader) {}

  void run() {
    while (!input_.empty() && made_ < kMaxPackets) {
      const std::uint8_t what = input_.byte();
      if (what >= 0xF8) {
        frame();
      } else {
        packet(what);
      }
    }
  }
  /// Returns the bytes of payload so far, with those that atomics brought.
  [[nodiscard]] std::uint64_t captured() const { return captured_; }

 private:
  static constexpr std::array kRequests{
      Opcode::rc_send_first,     Opcode::rc_send_middle,    Opcode::rc_send_last,    Opcode::rc_send_only,
      Opcode::rc_write_first,    Opcode::rc_write_middle,   Opcode::rc_write_last,   Opcode::rc_write_only,
      Opcode::rc_write_last_imm, Opcode::rc_write_only_imm, Opcode::rc_read_request, Opcode::rc_compare_swap,
      Opcode::rc_fetch_add,      Opcode::rc_flush,          Opcode::rc_atomic_write, Opcode::rc_send_only_invalidate,
  };
  static constexpr std::array kAnswers{
      Opcode::rc_acknowledge,         Opcode::rc_acknowledge,        Opcode::rc_read_response_only,
      Opcode::rc_read_response_first, Opcode::rc_read_response_last, Opcode::rc_read_response_middle,
      Opcode::rc_atomic_acknowledge,  Opcode::rc_acknowledge,
  };

  void pass_time(std::uint8_t step) {
    if (step < 0x80) {
      now_ += step;
    } else {
      // The clock jumps, as far as 64 bits allow.
      now_ = static_cast<std::int64_t>(static_cast<std::uint64_t>(step) << (56U * (step & 1U) + 3));
    }
  }

  void feed(Bytes bytes) {
    const Packet packet = parse_frame(bytes, LinkType::ethernet);
    ++made_;
    captured_ += packet.payload().size() + 8;
    // A wrong ICRC is the subject of other fuzzers, so most are taken as good here.
    IcrcVerdict icrc = check_icrc(packet);
    if (icrc.status == IcrcStatus::bad && (bytes.size() & 7U) != 0) icrc.status = IcrcStatus::good;
    if (packet.is_roce()) reader_.observe(packet, icrc, Time{Duration{now_}}, {made_, 0});
  }

  void frame() {
    pass_time(input_.byte());
    const Bytes taken = input_.take(input_.byte());
    // A vector of exactly the frame's size, so that a sanitizer sees each byte too many.
    feed(std::vector<std::byte>{taken.begin(), taken.end()});
  }

  /// Makes a packet. Bits 0, 1: connection; 2: requester; 3: a response; 4 … 6: the thing that is unusual.
  void packet(std::uint8_t what) {
    const unsigned connection = what & 3U;
    const unsigned requester = what >> 2U & 1U;
    const bool is_answer = (what & 8U) != 0;
    const std::uint8_t kind = input_.byte();
    const std::uint8_t size = input_.byte();
    const unsigned odd = what >> 4U & 7U;
    const Opcode opcode = is_answer ? kAnswers.at(kind % kAnswers.size()) : kRequests.at(kind % kRequests.size());
    std::uint32_t length = std::uint32_t{size & 0x3FU} << (size >> 6U) * 2;
    if (opcode == Opcode::rc_atomic_write) length = 8;
    std::uint32_t& next = next_.at(connection * 2 + requester);
    std::uint32_t psn = is_answer ? next - 1 : next;
    std::uint64_t address = 0x1000 + std::uint64_t{input_.byte()} * 8;
    std::uint64_t said = length;
    std::uint32_t key = 7;
    switch (odd) {
      case 1:
        psn += static_cast<std::uint32_t>(static_cast<std::int8_t>(input_.byte()));
        break;
      case 2:
        said = input_.word();
        break;
      case 3:
        said = std::uint64_t{input_.word()} << 16U;
        break;
      case 4:
        address = ~std::uint64_t{0} - input_.byte();
        break;
      case 5:
        address = std::uint64_t{input_.byte()} << (input_.byte() & 63U);
        key = input_.byte();
        break;
      case 6:
        pass_time(input_.byte());
        break;
      default:
        break;
    }
    const OpcodeInfo& info = opcode_info(opcode);
    std::vector<std::byte> frame;
    put(frame, 0x02'00'00'00'00'01, 6);
    put(frame, 0x02'00'00'00'00'02, 6);
    put(frame, 0x0800, 2);
    const std::size_t ip = frame.size();
    put(frame, 0x4500, 2);
    put(frame, 0, 2);
    put(frame, 0, 4);
    put(frame, 0x4011, 2);
    put(frame, 0, 2);
    const bool from_a = (requester == 0) != is_answer;
    put(frame, from_a ? 0x0A00'0001 : 0x0A00'0002, 4);
    put(frame, from_a ? 0x0A00'0002 : 0x0A00'0001, 4);
    put(frame, 0xC000, 2);
    put(frame, 4791, 2);
    put(frame, 0, 4);
    const unsigned pad = (4 - length % 4) % 4;
    put(frame, static_cast<unsigned>(opcode), 1);
    put(frame, pad << 4U, 1);
    put(frame, 0xFFFF, 2);
    put(frame, 0x20 + connection * 2 + (from_a ? 1U : 0U), 4);
    put(frame, 0x8000'0000U | (psn & 0xFF'FFFFU), 4);
    for (const HeaderId header : info.headers()) put_header(frame, header, address, key, said, kind);
    for (std::uint32_t i = 0; i < length + pad; ++i) frame.push_back(std::byte(i + made_));
    put(frame, 0, 4);
    put_length(frame, ip + 2, frame.size() - ip);
    put_length(frame, ip + 24, frame.size() - ip - 20);
    if (odd == 7) frame.resize(frame.size() - std::min<std::size_t>(frame.size(), input_.byte()));
    if (!is_answer) {
      // A READ takes as many PSNs as its response has packets.
      next += opcode == Opcode::rc_read_request
                  ? std::max<std::uint32_t>(1, (static_cast<std::uint32_t>(said) + 255) / 256)
                  : 1;
    }
    now_ += now_ < INT64_MAX - 1000 ? 1000 : 0;
    feed(frame);
  }

  static void put_length(std::vector<std::byte>& frame, std::size_t at, std::size_t value) {
    frame.at(at) = std::byte(value >> 8U);
    frame.at(at + 1) = std::byte(value & 0xFFU);
  }

  static void put_header(std::vector<std::byte>& frame, HeaderId header, std::uint64_t address, std::uint32_t key,
                         std::uint64_t said, std::uint8_t kind) {
    switch (header) {
      case HeaderId::reth:
        put(frame, address, 8);
        put(frame, key, 4);
        put(frame, said, 4);
        break;
      case HeaderId::atomiceth:
        put(frame, address, 8);
        put(frame, key, 4);
        put(frame, said, 8);
        put(frame, kind, 8);
        break;
      case HeaderId::aeth:
        // Now and then an error NAK instead of an ACK.
        put(frame, kind >= 0xE0 ? 0x60U | (kind & 3U) : 0x1FU, 1);
        put(frame, kind, 3);
        break;
      case HeaderId::atomicacketh:
        put(frame, said, 8);
        break;
      default:
        put(frame, key, 4);
        break;
    }
  }

  Input& input_;
  ConversationReader& reader_;
  std::uint64_t made_ = 0;
  std::uint64_t captured_ = 0;
  std::int64_t now_ = 1'000'000'000;
  std::array<std::uint32_t, 8> next_{};
};

void play(const Conversation& conversation) {
  std::array<CapturedMemory, 2> memories;
  for (std::uint8_t side = 0; side < 2; ++side) {
    const auto length = memory_length(conversation, side, kMemory);
    auto memory = memory_of(conversation, side, kMemory);
    check(length.has_value() == memory.has_value());
    if (!memory) return;
    std::uint64_t all = 0;
    for (const CapturedRegion& region : memory->regions) {
      all += region.before.size();
      check(region.before.size() == region.after.size());
    }
    check(all == *length && all <= kMemory);
    for (const MemoryChange& change : memory->changes) {
      const std::size_t size = memory->regions.at(change.region).before.size();
      check(change.offset <= size && change.data.size() <= size - change.offset);
    }
    memories.at(side) = std::move(*memory);
    const EndPlan plan = plan_end(conversation, side);
    for (std::size_t i = 0; i < conversation.operations.size(); ++i) {
      const CapturedOperation& operation = conversation.operations[i];
      if (operation.side != side) continue;
      check(plan.offsets.at(i) <= plan.data_bytes && operation.length <= plan.data_bytes - plan.offsets[i]);
      check(operation.data.size() <= operation.length);
    }
  }
  replay::test::MemoryEnd requester{conversation, memories[0]};
  replay::test::MemoryEnd responder{conversation, memories[1]};
  requester.connect(responder);
  responder.connect(requester);
  Player player{conversation, {&requester, &responder}, {&memories[0], &memories[1]}, {}, {}};
  Time now{};
  for (std::size_t i = 0; !player.is_over(); ++i) {
    check(i < 10 * kMaxPackets);
    if (!player.step(now)) now = std::max(now, player.next_timeout());
  }
  // A request that succeeded in the capture finds its memory.
  check(player.report().error.find("remote access error") == std::string::npos);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input{{reinterpret_cast<const std::byte*>(data), size}};
  const std::uint8_t shape = input.byte();
  ConversationReader reader{(shape & 7U) == 7 ? 4096 : kMemory};
  Maker maker{input, reader};
  maker.run();
  std::uint64_t held = 0;
  for (const Conversation& conversation : reader.finish()) {
    for (const CapturedOperation& operation : conversation.operations) {
      held += operation.data.size();
      if (conversation.obstacles.empty()) check(contradiction_in(operation).empty());
    }
    if (conversation.obstacles.empty()) play(conversation);
  }
  check(held <= maker.captured());
  return 0;
}
