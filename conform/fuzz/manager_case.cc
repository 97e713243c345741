// SPDX-License-Identifier: BSD-2-Clause
// The case of a finding about the device's communication manager.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>
#include <utility>

#include "conform/fuzz/case_text.h"
#include "conform/fuzz/manager_model.h"
#include "conform/fuzz/manager_run.h"
#include "conform/fuzz/program_text.h"

namespace roce::conform::fuzz {

namespace {

std::string_view name_of(CmKind kind) {
  return kCmNames.at(static_cast<std::size_t>(kind));
}

/// Returns the name of a message as the field table has it: `cm_req`.
std::string header_of(CmKind kind) {
  std::string name{name_of(kind)};
  std::ranges::transform(name, name.begin(), [](unsigned char letter) { return std::tolower(letter); });
  return name;
}

class ManagerCase {
 public:
  explicit ManagerCase(const ProgramResult& failed) : failed_(failed) {}

  [[nodiscard]] std::string text() {
    out_.add_head(failed_);
    const std::string qp = fmt::format("state: INIT, receives: 0, path_mtu: {}", failed_.program.path_mtu);
    out_.add("setup:\n  qp: {{{0}}}\n  b: {{qp: {{{0}}}}}\n  listener: {{listener: {{qps: [qp, b]}}}}\n", qp);
    out_.add("steps:\n");
    out_.add_step("set: {goes_on: 1}");
    for (const Turn& turn : failed_.turns) {
      if (turn.cm.empty() && turn.frame.empty()) continue;
      const auto* message = std::get_if<Message>(&turn.action);
      if (message != nullptr) {
        add_message(*message);
        add_expectation(*message, turn);
        // The QPs go to whoever asks, in their order.
        const bool is_connected = turn.taken && turn.cm[*turn.taken].answer == CmKind::rep;
        if (is_connected && !std::exchange(has_connection_, true) && message->is_fresh) own_qp_ = "b";
        if (is_connected) keep_id(*message);
      } else {
        out_.add_step(fmt::format("disconnect: {{on: {}}}", own_qp_));
        out_.add_step(fmt::format(
            "expect: {{CM_DREQ: , cm_dreq.remote_comm_id: $cm.local_id, cm_dreq.local_comm_id: {}}}", own_id_));
      }
    }
    add_end();
    out_.end_rest();
    return out_.take();
  }

 private:
  /// The device's ID of each connection, which is that of the last REP for a case.
  void keep_id(const Message& message) {
    std::string_view& id = message.is_fresh ? fresh_id_ : own_id_;
    if (id != kLastId) return;
    id = message.is_fresh ? "$fresh" : "$own";
    out_.add_step(fmt::format("set: {{{}: {}}}", id.substr(1), kLastId));
  }
  [[nodiscard]] std::string remote_id(const Message& message) const {
    return flipped(message.is_fresh ? fresh_id_ : own_id_, message.remote_flip);
  }
  static std::string flipped(std::string_view value, std::uint32_t bits) {
    return bits == 0 ? std::string{value} : fmt::format("{} ^ 0x{:x}", value, bits);
  }
  static std::string local_id(const Message& message) {
    return flipped("$cm.local_id", message.local_flip ^ (message.is_fresh ? kFreshId : 0));
  }
  /// Returns the transaction of a message.
  static std::string transaction(const Message& message) {
    const bool answers = message.kind == CmKind::drep || message.kind == CmKind::apr;
    return fmt::format("{} + {}", answers ? "$cm.asked_tid" : "$cm.tid",
                       message.transaction + (message.is_fresh ? 1 : 0));
  }

  void add_message(const Message& message) {
    const std::string header = header_of(message.kind);
    std::string fields =
        fmt::format(", mad.transaction_id: {}, {}.local_comm_id: {}", transaction(message), header, local_id(message));
    if (message.kind != CmKind::req) {
      fields += fmt::format(", {}.remote_comm_id: {}", header, remote_id(message));
    }
    if (message.is_fresh) fields += ", cm_req.local_qpn: $b.peer, cm_req.starting_psn: $b.S";
    if (message.kind == CmKind::dreq)
      fields += ", cm_dreq.remote_qpn: " + flipped(fmt::format("${}.qpn", own_qp_), message.qpn_flip);
    for (const FieldChange& change : message.changes) fields += fmt::format(", {}: \"{}\"", change.field, change.value);
    if (message.wrong_icrc) fields += ", icrc: wrong";
    out_.add_step(fmt::format("inject: {{{}: {}}}", name_of(message.kind), fields));
  }

  void add_expectation(const Message& message, const Turn& turn) {
    if (turn.cm.size() == 1) return add_behaviour(turn.cm.front(), message);
    out_.add_step("expect_one_of:");
    if (turn.cm.empty()) return add_anything();
    const bool is_choice = turn.taken.has_value();
    for (std::size_t way = 0; way < turn.cm.size(); ++way) {
      out_.add("{}    way_{}:\n", out_.indent(), way);
      out_.begin_inner();
      add_behaviour(turn.cm[way], message);
      if (is_choice && way != *turn.taken) out_.add_stop();
      out_.end_inner();
    }
    if (is_choice) out_.begin_rest();
  }

  /// Adds the ways of a device that may do what it likes.
  void add_anything() {
    for (const std::string_view name : kCmNames) {
      out_.add("{}    {}:\n", out_.indent(), name);
      out_.begin_inner();
      out_.add_step(fmt::format("expect: {{{}: }}", name));
      out_.end_inner();
    }
    out_.add("{}    nothing:\n", out_.indent());
    out_.begin_inner();
    out_.add_step("quiet: default");
    out_.end_inner();
  }

  void add_behaviour(const CmBehaviour& behaviour, const Message& message) {
    if (behaviour.answer) {
      const std::string header = header_of(*behaviour.answer);
      std::string fields = fmt::format(", mad.transaction_id: {}, {}.remote_comm_id: {}", transaction(message), header,
                                       local_id(message));
      if (behaviour.answer == CmKind::drep) {
        fields += ", cm_drep.local_comm_id: " + remote_id(message);
      }
      if (!behaviour.reasons.empty())
        fields += fmt::format(", cm_rej.reason: [{}]", fmt::join(behaviour.reasons, ", "));
      out_.add_step(fmt::format("expect: {{{}: {}}}", name_of(*behaviour.answer), fields));
    } else {
      out_.add_step("quiet: default");
    }
    for (const std::string_view kind : behaviour.events) out_.add_step(fmt::format("cm_event: {}", kind));
  }

  void add_end() {
    const bool is_sure = std::ranges::none_of(failed_.turns, [](const Turn& turn) {
      return std::holds_alternative<Message>(turn.action) && turn.cm.empty() && !turn.frame.empty();
    });
    if (!is_sure) return;
    out_.add_step("quiet: default");
    out_.add_step("cm_event: none");
    if (failed_.connected_state) {
      out_.add_step(fmt::format("state: {{{}: {}}}", own_qp_, to_string(*failed_.connected_state)));
    }
  }

  const ProgramResult& failed_;
  CaseText out_;
  static constexpr std::string_view kLastId = "$cm.remote_id";
  std::string_view own_id_ = kLastId;
  std::string_view fresh_id_ = kLastId;
  bool has_connection_ = false;
  std::string_view own_qp_ = "qp";  // of the connection that is not the fresh one
};

}  // namespace

std::string manager_case_text(const ProgramResult& failed) {
  return ManagerCase{failed}.text();
}

}  // namespace roce::conform::fuzz
