// SPDX-License-Identifier: BSD-2-Clause
// The case of a finding about the device's requester.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

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

constexpr std::string_view kWithinTimeouts = "within: 4 * ack_timeout(14)";
static_assert(kAckTimeout == 14);

bool leaves_data(const Turn& turn) {
  const auto* post = std::get_if<Post>(&turn.action);
  return post != nullptr && post->opcode != transport::WorkOpcode::send && post->opcode != transport::WorkOpcode::write;
}

class RequesterCase {
 public:
  explicit RequesterCase(const ProgramResult& failed) : failed_(failed) {}

  [[nodiscard]] std::string text() {
    out_.add_head(failed_);
    const bool is_connected = type() != transport::QpType::ud;
    out_.add_setup(
        failed_, fmt::format("sq_psn: {}{}", failed_.program.first_psn.value(), is_connected ? connection_text() : ""));
    out_.begin_steps(failed_);
    for (std::size_t i = 0; i < failed_.turns.size(); ++i) {
      const Turn& turn = failed_.turns[i];
      if (std::holds_alternative<Post>(turn.action)) add_post(turn);
      if (std::holds_alternative<Response>(turn.action)) add_response(turn);
      const bool is_last = i + 1 == failed_.turns.size();
      if (std::holds_alternative<Wait>(turn.action)) {
        add_wait(turn, is_last && !is_about_end());
      } else if (!is_last) {
        add_outcome(turn);
      } else if (failed_.alarm->oracle == Oracle::completion) {
        add_instead_of_wrong(turn);
      } else if (is_about_end()) {
        add_successes(turn);
      } else if (failed_.unrepeated) {
        add_repetition(*failed_.unrepeated);
      }
    }
    add_end();
    return out_.take();
  }

 private:
  /// True if the alarm is about what the device has become, and not about what it did last.
  [[nodiscard]] bool is_about_end() const {
    const Oracle oracle = failed_.alarm->oracle;
    return oracle == Oracle::memory || oracle == Oracle::state || oracle == Oracle::liveness;
  }

  [[nodiscard]] std::string connection_text() const {
    const std::uint8_t retries = failed_.program.retry_count;
    return fmt::format(", max_rd_atomic: {}{}", kMostPosts,
                       retries == kEndlessRetries ? "" : fmt::format(", retry_count: {}", retries));
  }

  /// Adds an ACK timeout: what the device did, or what it has to do.
  void add_wait(const Turn& turn, bool is_wrong) {
    if (is_wrong && failed_.unrepeated) return add_repetition(*failed_.unrepeated);
    if (is_wrong && failed_.exhausted) {
      out_.add_step(fmt::format("completion: {{of: send, wr_id: {}, status: transport retry counter exceeded}}",
                                *failed_.exhausted));
      return out_.add_member(kWithinTimeouts);
    }
    bool is_first = true;
    for (const SeenFrame& frame : turn.answers) {
      const Packet packet = parse_frame(frame.bytes, LinkType::ethernet);
      add_request(packet.opcode(), packet.bth().psn, "");
      if (std::exchange(is_first, false)) out_.add_member(kWithinTimeouts);
    }
    for (const transport::Completion& completion : turn.completions) {
      add_seen(completion);
      if (std::exchange(is_first, false)) out_.add_member(kWithinTimeouts);
    }
  }

  void add_seen(const transport::Completion& completion) {
    out_.add_step(
        fmt::format("completion: {{of: send, wr_id: {}, status: {}}}", completion.wr_id, to_string(completion.status)));
  }

  [[nodiscard]] std::string address_text(std::uint64_t address) const {
    return fmt::format("$right.va + {}", address - failed_.regions.right.address);
  }

  void add_post(const Turn& turn) {
    const auto& post = std::get<Post>(turn.action);
    out_.add_step(
        fmt::format("post_send: {{opcode: {}, at: {}, l_key: $right.l_key, length: {}, remote: 0x{:x}, r_key: 0x{:x}, "
                    "wr_id: {}{}}}",
                    operation_name(post.opcode), address_text(turn.buffer.address), turn.buffer.length,
                    kRemote + turn.wr_id % kMostPosts * kPostBytes, kRemoteKey, turn.wr_id, q_key_text(post, "q_key")));
    const std::uint32_t packets = leaves_data(turn) ? 1 : packets_of(turn);
    if (&turn != &failed_.turns.back() && !is_sent_once(turn, packets)) return add_frames(turn);
    if (leaves_data(turn)) {
      add_request(opcode_of(type(), post.opcode, 0, 1), turn.psn, "");
      return;
    }
    const std::uint32_t mtu = mtu_of(turn);
    for (std::uint32_t i = 0; i < packets; ++i) {
      const std::uint32_t length = std::min(mtu, turn.buffer.length - i * mtu);
      // The end of a message asks for an ACK, if there are any.
      const bool is_reliable = type() == transport::QpType::rc;
      const bool is_end = i + 1 == packets;
      const std::string_view ack = !is_reliable ? ", bth.ack_req: false" : is_end ? ", bth.ack_req: true" : "";
      const std::string data = payload_text(turn.buffer.address + std::uint64_t{i} * mtu, length);
      add_request(opcode_of(type(), post.opcode, i, packets), turn.psn + i,
                  fmt::format("{}{}{}", ack, q_key_text(post, "deth.q_key"), data));
    }
  }

  /// False if what was posted had to wait, or what was posted before was sent again.
  [[nodiscard]] static bool is_sent_once(const Turn& turn, std::uint32_t packets) {
    if (turn.answers.size() != packets) return false;
    for (std::uint32_t i = 0; i < packets; ++i) {
      if (parse_frame(turn.answers[i].bytes, LinkType::ethernet).bth().psn != turn.psn + i) return false;
    }
    return true;
  }

  [[nodiscard]] transport::QpType type() const { return failed_.program.type; }
  /// Returns how many bytes of a message a packet has at most.
  [[nodiscard]] std::uint32_t mtu_of(const Turn& turn) const {
    return type() == transport::QpType::ud ? std::max(1U, turn.buffer.length) : failed_.program.path_mtu;
  }
  [[nodiscard]] std::uint32_t packets_of(const Turn& turn) const {
    return std::max(1U, (turn.buffer.length + mtu_of(turn) - 1) / mtu_of(turn));
  }

  /// Returns the Q_Key of a datagram as a member: of its request, or of its frame.
  [[nodiscard]] std::string q_key_text(const Post& post, std::string_view member) const {
    if (type() != transport::QpType::ud) return {};
    if (post.own_q_key) return fmt::format(", {}: {}", member, member == "q_key" ? "0x80000001" : "$qp.q_key");
    return fmt::format(", {}: 0x{:08x}", member, kRemoteQKey.value());
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

  /// Adds what the device has to send again.
  void add_repetition(Psn psn) {
    for (const Turn& turn : failed_.turns) {
      const auto* post = std::get_if<Post>(&turn.action);
      if (post == nullptr) continue;
      const std::uint32_t packets = packets_of(turn);
      const std::int32_t packet = psn.distance_from(turn.psn);
      if (packet < 0 || static_cast<std::uint32_t>(packet) >= packets) continue;
      add_request(opcode_of(type(), post->opcode, static_cast<std::uint32_t>(packet), packets), psn, "");
      if (std::holds_alternative<Wait>(failed_.turns.back().action)) out_.add_member(kWithinTimeouts);
      if (failed_.least_wait) out_.add_member(fmt::format("after: {}ns", failed_.least_wait->count()));
    }
  }

  /// Adds what the device sent, which was right.
  void add_frames(const Turn& turn) {
    for (const SeenFrame& frame : turn.answers) {
      const Packet packet = parse_frame(frame.bytes, LinkType::ethernet);
      add_request(packet.opcode(), packet.bth().psn, "");
    }
  }

  /// Adds what the device did, which was right.
  void add_outcome(const Turn& turn) {
    if (std::holds_alternative<Response>(turn.action)) add_frames(turn);
    for (const transport::Completion& completion : turn.completions) add_seen(completion);
    add_writes(turn, [](const MemoryWrite&) { return true; });
  }

  /// Adds the requests that succeeded. Where an answer was wrong, a right device may fail them instead.
  void add_successes(const Turn& turn) {
    for (const transport::Completion& completion : turn.completions) {
      if (completion.status != transport::CompletionStatus::success) return;
      const auto post = std::ranges::find_if(failed_.turns, [&](const Turn& one) {
        return std::holds_alternative<Post>(one.action) && one.wr_id == completion.wr_id;
      });
      const std::uint64_t address = post->buffer.address;
      out_.add_step("expect_one_of:");
      out_.add("{}    succeeds:\n", out_.indent());
      out_.begin_inner();
      out_.add_step(fmt::format("completion: {{of: send, wr_id: {}, status: success}}", completion.wr_id));
      add_writes(turn, [&](const MemoryWrite& write) { return write.address == address; });
      out_.end_inner();
      out_.add("{}    fails:\n", out_.indent());
      out_.begin_inner();
      out_.add_step(fmt::format("completion: {{of: send, wr_id: {}, status: not success}}", completion.wr_id));
      if (leaves_data(*post)) {
        out_.add_step(fmt::format("memory: {{at: {}, length: {}}}", address_text(address), post->buffer.length));
      }
      out_.end_inner();
    }
  }

  template <typename Wanted>
  void add_writes(const Turn& turn, const Wanted& is_wanted) {
    for (const MemoryWrite& write : turn.writes) {
      if (!is_wanted(write)) continue;
      out_.add_step(
          fmt::format("memory: {{at: {}, is: \"{}\"}}", address_text(write.address), hex_digits(write.bytes)));
    }
  }

  [[nodiscard]] bool has_succeeded(std::uint64_t wr_id) const {
    return std::ranges::any_of(failed_.turns, [&](const Turn& turn) {
      return std::ranges::any_of(turn.completions, [&](const transport::Completion& completion) {
        return completion.wr_id == wr_id && completion.status == transport::CompletionStatus::success;
      });
    });
  }

  /// Adds the completions that a right device may give instead.
  void add_instead_of_wrong(const Turn& turn) {
    if (failed_.missing) {
      out_.add_step(fmt::format("completion: {{of: send, wr_id: {}, status: {}}}", *failed_.missing,
                                failed_.is_stopped ? "work request flushed error" : "success"));
      return;
    }
    for (std::size_t i = 0; i < turn.completions.size(); ++i) {
      add_instead_of(turn.completions[i], i + 1 == turn.completions.size());
    }
    out_.end_rest();
  }

  /// The last completion is wrong; those before it were allowed, not asked for.
  void add_instead_of(const transport::Completion& seen, bool is_last) {
    out_.add_step("expect_one_of:");
    if (!is_last) {
      out_.add("{}    as_seen:\n", out_.indent());
      out_.begin_inner();
      out_.add_step(fmt::format("completion: {{of: send, wr_id: {}, status: {}}}", seen.wr_id, to_string(seen.status)));
      out_.end_inner();
    }
    const bool has_succeeded = seen.status == transport::CompletionStatus::success;
    out_.add("{}    completes:\n", out_.indent());
    out_.begin_inner();
    out_.add_step(fmt::format("completion: {{of: send, status: {}}}", has_succeeded ? "not success" : "success"));
    if (!is_last) out_.add_stop();
    out_.end_inner();
    out_.add("{}    waits:\n", out_.indent());
    out_.begin_inner();
    add_quiet(false);
    out_.add_step("no_completion: {of: send}");
    if (!is_last) out_.add_stop();
    out_.end_inner();
    if (!is_last) out_.begin_rest();
  }

  void add_end() {
    const bool is_about_frames = failed_.alarm->oracle == Oracle::answer;
    if (failed_.exhausted) {
      // Nothing is sent any more.
      out_.add_step("quiet: default");
    } else if (!is_about_frames || !std::holds_alternative<Post>(failed_.turns.back().action)) {
      add_quiet(is_about_frames);
    }
    if (failed_.alarm->oracle == Oracle::state) {
      out_.add_step(fmt::format("state: {}", failed_.is_stopped ? "ERR" : "RTS"));
    }
    for (const Turn& turn : failed_.turns) {
      // The bytes of an answer that came in part may be there.
      const bool is_known = failed_.alarm->oracle == Oracle::memory && has_succeeded(turn.wr_id);
      if (!leaves_data(turn) || is_known) continue;
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
    const std::uint32_t mtu = mtu_of(turn);
    const bool is_read = post.opcode == transport::WorkOpcode::read;
    const bool is_atomic = leaves_data(turn) && !is_read;
    const std::uint32_t packets = is_atomic ? 1 : packets_of(turn);
    for (std::uint32_t i = 0; i < packets; ++i) {
      std::string pattern = fmt::format("{}: , bth.psn: {}", short_name(opcode_of(type(), post.opcode, i, packets)),
                                        (turn.psn + i).value());
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
