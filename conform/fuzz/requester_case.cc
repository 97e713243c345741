// SPDX-License-Identifier: BSD-2-Clause
// The case of a finding about the device's requester.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "conform/fuzz/case_text.h"
#include "conform/fuzz/requester_model.h"
#include "conform/language/functions.h"
#include "roce/wire/reth.h"

namespace roce::conform::fuzz {

namespace {

std::string_view operation_name(transport::WorkOpcode opcode) {
  switch (opcode) {
    case transport::WorkOpcode::send:
      return "send";
    case transport::WorkOpcode::write:
      return "write";
    case transport::WorkOpcode::read:
      return "read";
    case transport::WorkOpcode::compare_swap:
      return "compare_swap";
    default:
      return "fetch_add";
  }
}

bool leaves_data(const Turn& turn) {
  const auto* post = std::get_if<Post>(&turn.action);
  return post != nullptr && post->opcode != transport::WorkOpcode::send && post->opcode != transport::WorkOpcode::write;
}

class RequesterCase {
 public:
  explicit RequesterCase(const ProgramResult& failed) : failed_(failed) {}

  [[nodiscard]] std::string text() {
    out_.add_head(failed_);
    out_.add_setup(failed_,
                   fmt::format("sq_psn: {}, max_rd_atomic: {}", failed_.program.first_psn.value(), kMostPosts));
    out_.begin_steps();
    for (std::size_t i = 0; i < failed_.turns.size(); ++i) {
      const Turn& turn = failed_.turns[i];
      if (std::holds_alternative<Post>(turn.action)) {
        add_post(turn);
      } else {
        add_response(turn);
      }
      const bool is_last = i + 1 == failed_.turns.size();
      if (is_last && failed_.alarm->oracle == Oracle::completion) {
        add_wrong_completion(turn);
      } else if (!is_last) {
        add_outcome(turn);
      }
    }
    add_end();
    return out_.take();
  }

 private:
  [[nodiscard]] std::string address_text(std::uint64_t address) const {
    return fmt::format("$right.va + {}", address - failed_.regions.right.address);
  }

  void add_post(const Turn& turn) {
    const auto& post = std::get<Post>(turn.action);
    out_.add_step(fmt::format(
        "post_send: {{opcode: {}, at: {}, l_key: $right.l_key, length: {}, remote: 0x{:x}, r_key: 0x{:x}, wr_id: {}}}",
        operation_name(post.opcode), address_text(turn.buffer.address), turn.buffer.length,
        kRemote + turn.wr_id % kMostPosts * kPostBytes, kRemoteKey, turn.wr_id));
    if (leaves_data(turn)) {
      add_request(opcode_of(post.opcode, 0, 1), turn.psn, "");
      return;
    }
    const std::uint32_t mtu = failed_.program.path_mtu;
    const std::uint32_t packets = std::max(1U, (turn.buffer.length + mtu - 1) / mtu);
    for (std::uint32_t i = 0; i < packets; ++i) {
      const std::uint32_t length = std::min(mtu, turn.buffer.length - i * mtu);
      add_request(opcode_of(post.opcode, i, packets), turn.psn + i,
                  payload_text(turn.buffer.address + std::uint64_t{i} * mtu, length));
    }
  }

  /// Returns the bytes of memory that no program has changed, in pieces of the same seed.
  [[nodiscard]] std::string payload_text(std::uint64_t address, std::uint32_t length) const {
    std::vector<std::byte> bytes;
    std::uint64_t offset = address - failed_.regions.right.address;
    while (bytes.size() < length) {
      const std::vector<std::byte> piece = bytes_of_seed(offset / kFillBytes + 1, kFillBytes);
      for (std::uint64_t i = offset % kFillBytes; i < kFillBytes && bytes.size() < length; ++i, ++offset) {
        bytes.push_back(piece[i]);
      }
    }
    return fmt::format(", payload: \"{}\"", hex_digits(bytes));
  }

  void add_request(Opcode opcode, Psn psn, const std::string& payload) {
    out_.add_step(fmt::format("expect: {{{}: , bth.psn: {}{}}}", short_name(opcode), psn.value(), payload));
  }

  void add_response(const Turn& turn) {
    if (turn.frame.empty()) return;
    const auto& response = std::get<Response>(turn.action);
    std::string fields = fmt::format(", bth.psn: {}", turn.psn.value());
    for (const HeaderId id : opcode_info(response.opcode).headers()) {
      if (id == HeaderId::aeth) fields += fmt::format(", aeth.syndrome: 0x{:02x}, aeth.msn: 1", response.syndrome);
      if (id == HeaderId::atomicacketh) fields += fmt::format(", atomicacketh.original: {}", response.value);
    }
    fields += fmt::format(", payload: \"bytes({}, {})\"", response.seed, response.payload);
    if (response.qpn_flip != 0) fields += fmt::format(", bth.dest_qp: $qp.qpn ^ 0x{:x}", response.qpn_flip);
    if (response.wrong_icrc) fields += ", icrc: wrong";
    out_.add_step(fmt::format("inject: {{{}: {}}}", short_name(response.opcode), fields));
  }

  /// Adds what the device did, which was right.
  void add_outcome(const Turn& turn) {
    if (std::holds_alternative<Response>(turn.action)) {
      for (const SeenFrame& frame : turn.answers) {
        const Packet packet = parse_frame(frame.bytes, LinkType::ethernet);
        add_request(packet.opcode(), packet.bth().psn, "");
      }
    }
    for (const transport::Completion& completion : turn.completions) {
      out_.add_step(fmt::format("completion: {{of: send, wr_id: {}, status: {}}}", completion.wr_id,
                                to_string(completion.status)));
    }
    for (const MemoryWrite& write : turn.writes) {
      out_.add_step(
          fmt::format("memory: {{at: {}, is: \"{}\"}}", address_text(write.address), hex_digits(write.bytes)));
    }
  }

  /// Adds the completions that a right device may give instead.
  void add_wrong_completion(const Turn& turn) {
    if (failed_.missing) {
      out_.add_step(fmt::format("completion: {{of: send, wr_id: {}, status: {}}}", *failed_.missing,
                                failed_.is_stopped ? "work request flushed error" : "success"));
      return;
    }
    if (turn.completions.empty()) return;
    for (std::size_t i = 0; i + 1 < turn.completions.size(); ++i) {
      out_.add_step(fmt::format("completion: {{of: send, wr_id: {}, status: {}}}", turn.completions[i].wr_id,
                                to_string(turn.completions[i].status)));
    }
    const bool has_succeeded = turn.completions.back().status == transport::CompletionStatus::success;
    out_.add_step("expect_one_of:");
    out_.add("{}    completes:\n", out_.indent());
    out_.begin_inner();
    out_.add_step(fmt::format("completion: {{of: send, status: {}}}", has_succeeded ? "not success" : "success"));
    out_.end_inner();
    out_.add("{}    waits:\n", out_.indent());
    out_.begin_inner();
    add_quiet(false);
    out_.add_step("no_completion: {of: send}");
    out_.end_inner();
  }

  void add_end() {
    const bool is_about_frames = failed_.alarm->oracle == Oracle::answer;
    if (!is_about_frames || !std::holds_alternative<Post>(failed_.turns.back().action)) {
      add_quiet(is_about_frames);
    }
    if (failed_.alarm->oracle == Oracle::state) {
      out_.add_step(fmt::format("state: {}", failed_.is_stopped ? "ERR" : "RTS"));
    }
    for (const Turn& turn : failed_.turns) {
      if (!leaves_data(turn) || failed_.alarm->oracle == Oracle::memory) continue;
      out_.add_step(
          fmt::format("memory: {{at: {}, length: {}}}", address_text(turn.buffer.address), turn.buffer.length));
    }
    out_.add_step("memory: unchanged");
    out_.add_end(failed_);
  }

  /// Adds the end of the frames: what was posted may come again, but only as it was.
  void add_quiet(bool is_about_frames) {
    constexpr std::array opcodes{Opcode::rc_send_first,   Opcode::rc_send_middle, Opcode::rc_send_last,
                                 Opcode::rc_send_only,    Opcode::rc_write_first, Opcode::rc_write_middle,
                                 Opcode::rc_write_last,   Opcode::rc_write_only,  Opcode::rc_read_request,
                                 Opcode::rc_compare_swap, Opcode::rc_fetch_add};
    std::string patterns;
    const auto add_pattern = [&](const std::string& pattern) {
      patterns += fmt::format("{}{{{}}}", patterns.empty() ? "" : ", ", pattern);
    };
    if (!is_about_frames) {
      for (const Opcode opcode : opcodes) add_pattern(fmt::format("{}: ", short_name(opcode)));
    }
    for (const Turn& turn : failed_.turns) {
      if (is_about_frames && std::holds_alternative<Post>(turn.action)) add_patterns_of(turn, add_pattern);
    }
    out_.add_step(fmt::format("quiet: {{except: [{}]}}", patterns));
  }

  template <typename Add>
  void add_patterns_of(const Turn& turn, const Add& add_pattern) const {
    const auto& post = std::get<Post>(turn.action);
    const std::uint32_t mtu = failed_.program.path_mtu;
    const bool is_read = post.opcode == transport::WorkOpcode::read;
    const bool is_atomic = leaves_data(turn) && !is_read;
    const std::uint32_t packets = is_atomic ? 1 : std::max(1U, (turn.buffer.length + mtu - 1) / mtu);
    for (std::uint32_t i = 0; i < packets; ++i) {
      std::string pattern =
          fmt::format("{}: , bth.psn: {}", short_name(opcode_of(post.opcode, i, packets)), (turn.psn + i).value());
      if (is_read) {
        pattern += fmt::format(", reth.va: 0x{:x}, reth.dma_length: {}",
                               kRemote + turn.wr_id % kMostPosts * kPostBytes + std::uint64_t{i} * mtu,
                               turn.buffer.length - i * mtu);
      } else if (!is_atomic) {
        pattern +=
            payload_text(turn.buffer.address + std::uint64_t{i} * mtu, std::min(mtu, turn.buffer.length - i * mtu));
      }
      add_pattern(pattern);
    }
  }

  const ProgramResult& failed_;
  CaseText out_;
};

}  // namespace

std::string requester_case_text(const ProgramResult& failed) {
  return RequesterCase{failed}.text();
}

}  // namespace roce::conform::fuzz
