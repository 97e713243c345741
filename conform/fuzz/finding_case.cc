// SPDX-License-Identifier: BSD-2-Clause
#include "conform/fuzz/finding_case.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "conform/fuzz/case_text.h"
#include "conform/fuzz/program_window.h"
#include "conform/fuzz/request_frame.h"
#include "conform/fuzz/signature.h"
#include "roce/live/control_names.h"
#include "roce/wire/opcode.h"
#include "roce/wire/packet_spec.h"

namespace roce::conform::fuzz {

namespace {

class CaseWriter {
 public:
  explicit CaseWriter(const ProgramResult& failed) : failed_(failed) {}

  [[nodiscard]] std::string text() {
    out_.add_head(failed_);
    out_.add_setup(failed_, attributes());
    out_.begin_steps(failed_);
    for (const Turn& turn : failed_.turns) {
      if (std::holds_alternative<Receive>(turn.action)) add_receive(turn);
      if (std::holds_alternative<Request>(turn.action)) add_request(turn);
      if (std::holds_alternative<Restart>(turn.action)) add_restart(turn);
      if (const auto* bind = std::get_if<Bind>(&turn.action)) add_bind(*bind, turn);
      if (std::holds_alternative<Deregister>(turn.action) && !std::exchange(is_lent_gone_, true)) {
        out_.add_step("deregister: lent");
      }
    }
    out_.add_step("no_completion:");
    if (failed_.alarm->oracle == Oracle::event) add_events();
    if (failed_.alarm->oracle == Oracle::state || failed_.alarm->oracle == Oracle::memory) {
      const auto state = failed_.is_stopped ? transport::QpState::err : failed_.program.state;
      out_.add_step(fmt::format("state: {}", to_string(state)));
    }
    out_.add_step("memory: unchanged");
    out_.add_end(failed_);
    out_.end_rest();
    return out_.take();
  }

 private:
  /// Returns the attributes of the QP.
  [[nodiscard]] std::string attributes() const {
    if (failed_.program.type == transport::QpType::ud)
      return fmt::format("state: {}", to_string(failed_.program.state));
    using transport::Access;
    std::vector<std::string_view> rights;
    constexpr std::array all{std::pair{Access::remote_write, "remote_write"},
                             std::pair{Access::remote_read, "remote_read"},
                             std::pair{Access::remote_atomic, "remote_atomic"}};
    for (const auto& [right, name] : all) {
      if (transport::allows(failed_.program.access, right)) rights.emplace_back(name);
    }
    return fmt::format("state: {}, rq_psn: {}, access: [{}]", to_string(failed_.program.state),
                       failed_.program.first_psn.value(), fmt::join(rights, ", "));
  }

  /// Returns an address as an offset in its region.
  [[nodiscard]] std::string address_text(std::uint64_t address) const {
    const Region& right = failed_.regions.right;
    const Region& buffers = failed_.regions.buffers;
    if (address >= buffers.address && address <= buffers.address + buffers.length) {
      return fmt::format("$buffers.va + {}", address - buffers.address);
    }
    const Region& lent = failed_.regions.lent;
    if (address >= lent.address && address <= lent.address + lent.length) {
      return fmt::format("$lent.va + {}", address - lent.address);
    }
    return fmt::format("$right.va + {}", address - right.address);
  }

  void add_events() {
    bool is_sure = true;
    for (const AwaitedEvent& awaited : failed_.events) {
      std::vector<std::string_view> types;
      types.reserve(awaited.types.size());
      for (const transport::EventType type : awaited.types) types.push_back(to_string(type));
      is_sure = is_sure && awaited.is_required;
      if (is_sure) out_.add_step(fmt::format("event: [{}]", fmt::join(types, ", ")));
    }
    if (is_sure) out_.add_step("no_event:");
  }

  /// Returns the name of the window of the QP's life.
  [[nodiscard]] std::string window_name() const { return CaseText::window_name(life_); }

  void add_bind(const Bind& bind, const Turn& turn) {
    if (turn.bind == BindOutcome::none) return;
    has_window_ = true;
    const std::string name = window_name();
    const std::string before = fmt::format("key_{}", turn.wr_id);
    out_.add_step(fmt::format("set: {{{}: ${}.r_key}}", before, name));
    out_.add_step(fmt::format(
        "bind: {{window: {0}, region: {1}, at: ${1}.va {2} {3}, length: {4}, access: [{5}], variant: (${0}.r_key + "
        "{6}) & 0xFF, wr_id: {7}}}",
        name, region_name(bind.region), bind.address < 0 ? '-' : '+', bind.address < 0 ? -bind.address : bind.address,
        bind.length, fmt::join(live::names_of(bind.access), ", "), bind.variant, turn.wr_id));
    std::vector<std::string_view> statuses;
    for (const transport::CompletionStatus status : statuses_of(turn.bind)) statuses.push_back(to_string(status));
    const bool is_bound = turn.bind == BindOutcome::bound;
    out_.add_step(fmt::format("completion: {{of: send, wr_id: {}, status: [{}]{}}}", turn.wr_id,
                              fmt::join(statuses, ", "), is_bound ? ", opcode: bind memory window" : ""));
    if (is_bound) {
      window_begin_ = bind.address;
      out_.add_step(fmt::format("check: ${}.r_key == (${} & 0xFFFFFF00) | ((${} + {}) & 0xFF)", name, before, before,
                                bind.variant));
    }
    for (const ReceiveDone& done : turn.flushed) add_completion(done);
  }

  void add_restart(const Turn& turn) {
    if (std::exchange(has_window_, false)) out_.add_step("destroy: " + window_name());
    window_begin_.reset();
    ++life_;
    out_.add_step("modify: {state: RESET}");
    const bool has_psn = failed_.program.type != transport::QpType::ud;
    out_.add_step(has_psn ? fmt::format("reconnect: {{rq_psn: {}}}", turn.psn.value()) : "reconnect: ");
  }

  void add_receive(const Turn& turn) {
    out_.add_step(fmt::format("post_receive: {{at: {}, length: {}, l_key: $buffers.l_key, wr_id: {}}}",
                              address_text(turn.buffer.address), turn.buffer.length, turn.wr_id));
    if (turn.is_flushed) add_completion({.wr_id = turn.wr_id, .statuses = {transport::CompletionStatus::flushed}});
  }

  [[nodiscard]] std::string key_text(Key key) const {
    switch (key) {
      case Key::foreign:
        return failed_.regions.foreign.r_key != 0 ? "$foreign.r_key" : "0";
      case Key::window:
        return window_begin_ ? fmt::format("${}.r_key", window_name()) : "0";
      case Key::right:
        return "$right.r_key";
      case Key::variant:
        return "$right.r_key ^ 1";
      case Key::index:
        return "$right.r_key ^ 0x8000";
      case Key::zero:
        return "0";
      case Key::other_pd:
        return "$other_pd.r_key";
      case Key::closed:
        return "$closed.r_key";
      case Key::gone:
        return "$gone.r_key";
      case Key::lent:
        return "$lent.r_key";
    }
    return "0";
  }

  static std::string region_name(Key key) {
    switch (key) {
      case Key::other_pd:
        return "other_pd";
      case Key::closed:
        return "closed";
      case Key::gone:
        return "gone";
      case Key::lent:
        return "lent";
      default:
        return "right";
    }
  }

  void add_request(const Turn& turn) {
    if (turn.frame.empty()) return;
    const auto& request = std::get<Request>(turn.action);
    const OpcodeInfo& info = opcode_info(request.opcode);
    std::string fields;
    const auto field = [&](std::string_view name, const std::string& value) {
      fields += fmt::format(", {}: {}", name, value);
    };
    field("bth.psn", std::to_string(turn.psn.value()));
    field("bth.ack_req", request.ack_request ? "\"true\"" : "\"false\"");
    for (const HeaderId id : info.headers()) {
      if (id == HeaderId::reth || id == HeaderId::atomiceth) {
        const std::int64_t address = request.address + (request.key == Key::window ? window_begin_.value_or(0) : 0);
        field("rdma.va", fmt::format("${}.va {} {}", region_name(request.key), address < 0 ? '-' : '+',
                                     address < 0 ? -address : address));
        field("rdma.r_key", key_text(request.key));
      }
      if (id == HeaderId::reth) field("rdma.length", std::to_string(request.length));
      if (id == HeaderId::atomiceth) {
        field("atomiceth.swap_or_add", std::to_string(request.operand));
        field("atomiceth.compare", std::to_string(request.compare));
      }
      if (id == HeaderId::immdt) field("immdt.data", std::to_string(request.immediate));
      if (id == HeaderId::ieth) field("ieth.r_key", key_text(request.key));
      if (id == HeaderId::deth) {
        field("deth.q_key", fmt::format("0x{:08x}", QpSetup{}.q_key.value() ^ request.q_key_flip));
        field("deth.src_qp", "$qp.peer");
      }
    }
    if (request.other_version) field("on", "other");
    if (request.other_version || request.qpn_flip != 0) {
      field("bth.dest_qp", fmt::format("$qp.qpn ^ 0x{:x}", request.qpn_flip));
    }
    field("payload", fmt::format("\"bytes({}, {})\"", request.seed, request.payload));
    const PacketSpec sent = PacketSpec::from_packet(parse_frame(turn.frame, LinkType::ethernet));
    for (const FieldChange& change : request.changes) {
      if (change.field == "trailer" || sent.field(change.field))
        field(change.field, fmt::format("\"{}\"", change.value));
    }
    if (request.wrong_icrc) field("icrc", "wrong");
    if (info.defined()) {
      out_.add_step(fmt::format("inject: {{{}: {}}}", short_name(request.opcode), fields));
    } else {
      out_.add_step(fmt::format("inject: {{SEND_ONLY: , bth.opcode: 0x{:02x}{}}}",
                                static_cast<unsigned>(request.opcode), fields));
    }
    add_expectation(turn);
  }

  void add_expectation(const Turn& turn) {
    const Expectation& behaviours = turn.expectation;
    const bool may_notify = is_marked(turn.frame);
    if (behaviours.size() == 1 && !may_notify) return add_behaviour(behaviours.front());
    const bool is_choice = behaviours.size() > 1 && turn.taken;
    out_.add_step("expect_one_of:");
    for (std::size_t way = 0; way < behaviours.size(); ++way) {
      for (const bool notifies : {false, true}) {
        if (notifies && !may_notify) continue;
        out_.add("{}    way_{}{}:\n", out_.indent(), way, notifies ? "_notified" : "");
        out_.begin_inner();
        if (notifies) out_.add_step("expect: {CNP: }");
        add_behaviour(behaviours[way]);
        if (is_choice && way != *turn.taken) out_.add_stop();
        out_.end_inner();
      }
    }
    // The way that was taken decides what may come later.
    if (is_choice) out_.begin_rest();
  }

  void add_behaviour(const Behaviour& behaviour) {
    // The first step of a way tells whether it is the one.
    const bool is_silent = failed_.program.type != transport::QpType::rc;
    if (is_silent) add_completions(behaviour);
    if (behaviour.answers.empty()) out_.add_step("quiet: default");
    for (const Answer& answer : behaviour.answers) add_answer(answer);
    for (const MemoryWrite& write : behaviour.writes) {
      if (write.bytes.empty()) continue;
      out_.add_step(
          fmt::format("memory: {{at: {}, is: \"{}\"}}", address_text(write.address), hex_digits(write.bytes)));
    }
    if (behaviour.unknown) {
      out_.add_step(fmt::format("memory: {{at: {}, length: {}}}", address_text(behaviour.unknown->address),
                                behaviour.unknown->length));
    }
    if (!is_silent) add_completions(behaviour);
  }

  void add_completions(const Behaviour& behaviour) {
    for (const ReceiveDone& done : behaviour.completions) add_completion(done);
  }

  static std::string syndrome_of(const Answer& answer) {
    if (answer.syndrome) return fmt::format("0x{:02x}", *answer.syndrome);
    if (answer.most_credits == kMostCredits) return "0..0x1F";
    return fmt::format("[0..0x{:02x}, 0x1F]", answer.most_credits);
  }

  void add_answer(const Answer& answer) {
    std::string fields = fmt::format(", bth.psn: {}", answer.last.value());
    if (answer.first != answer.last) {
      fields = fmt::format(", bth.psn: psn({})..psn({})", answer.first.value(), answer.last.value());
    }
    for (const HeaderId id : opcode_info(answer.opcode).headers()) {
      if (id == HeaderId::aeth) {
        fields += ", aeth.syndrome: " + syndrome_of(answer);
        fields += fmt::format(", aeth.msn: {}", answer.msn.value());
      }
      if (id == HeaderId::atomicacketh) fields += fmt::format(", atomicacketh.original: {}", answer.original);
    }
    if (opcode_info(answer.opcode).operation == Operation::read_response) {
      fields += fmt::format(", payload: \"{}\"", hex_digits(answer.payload));
    }
    out_.add_step(fmt::format("expect: {{{}: {}}}", short_name(answer.opcode), fields));
  }

  void add_completion(const ReceiveDone& done) {
    std::vector<std::string_view> statuses;
    statuses.reserve(done.statuses.size());
    for (const transport::CompletionStatus status : done.statuses) statuses.push_back(to_string(status));
    std::string fields = fmt::format("of: receive, wr_id: {}, status: [{}]", done.wr_id, fmt::join(statuses, ", "));
    if (done.statuses.front() == transport::CompletionStatus::success) {
      fields += fmt::format(", byte_length: {}", done.byte_length);
      if (done.source_qp) fields += ", source_qp: $qp.peer";
      if (done.immediate) fields += fmt::format(", immediate: {}", *done.immediate);
      if (done.invalidated) fields += fmt::format(", invalidated: ${}.r_key", window_name());
    }
    out_.add_step(fmt::format("completion: {{{}}}", fields));
  }

  const ProgramResult& failed_;
  CaseText out_;
  bool is_lent_gone_ = false;
  unsigned life_ = 1;                           // of the QP, which ends with a RESET
  bool has_window_ = false;                     // was bound in it, or should have been
  std::optional<std::int64_t> window_begin_{};  // in the region of `right`
};

}  // namespace

std::string case_name(const ProgramResult& failed) {
  return fmt::format("fuzz-{:08x}", hash_of(failed.alarm->place) & UINT32_MAX);
}

std::string case_text(const Finding& finding) {
  const ProgramResult& failed = finding.result;
  const Half half = failed.program.half;
  const std::string text = half == Half::requester ? requester_case_text(failed)
                           : half == Half::manager ? manager_case_text(failed)
                                                   : CaseWriter{failed}.text();
  return fmt::format("# Shown by {} of {} runs of this conversation alone.\n{}", finding.shown, finding.repeats, text);
}

}  // namespace roce::conform::fuzz
