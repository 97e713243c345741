// SPDX-License-Identifier: BSD-2-Clause
// Checks of a node's completions.
#include <sstream>

#include "model_node.h"

namespace roce::model {

using transport::Completion;
using transport::CompletionStatus;

namespace {

std::string tell(const char* what, std::size_t device, const Completion& completion) {
  std::ostringstream text;
  text << what << ": device " << device << ", QPN " << completion.qpn.value() << ", wr_id " << completion.wr_id << ", "
       << transport::to_string(completion.opcode) << ", " << transport::to_string(completion.status) << ", "
       << completion.byte_length << " bytes";
  return text.str();
}

}  // namespace

std::string Node::check_completions(const Reference& reference, const Node& peer) {
  static_cast<void>(peer);
  std::array<Completion, 16> some{};
  for (const bool of_sends : {true, false}) {
    for (;;) {
      const std::size_t count = device_.poll_cq(of_sends ? send_cq_ : receive_cq_, some);
      if (count == 0) break;
      for (std::size_t i = 0; i < count; ++i) {
        const std::size_t q = find(some.at(i).qpn);
        if (q == qps_.size()) return tell("a completion of no QP", index_, some.at(i));
        ++completions;
        if (some.at(i).status != CompletionStatus::success) {
          ++errors;
          if (!program_.errors_allowed) return tell("an error", index_, some.at(i));
        }
        std::string failure = of_sends ? check_sent(q, some.at(i), reference.sent[q].at(index_))
                                       : check_received(q, some.at(i), reference.received[q].at(index_));
        if (!failure.empty()) return failure;
      }
    }
  }
  for (const QpState& qp : qps_) {
    if (device_.memory_of(qp.qpn).value() != qp.memory) return "a QP that takes more memory than before";
  }
  return {};
}

std::string Node::check_sent(std::size_t qp, const Completion& completion, const std::vector<Expected>& expected) {
  QpState& state = qps_[qp];
  const bool good = completion.status == CompletionStatus::success;
  // A successful unsignaled request does not make a completion; after an error no request is successful.
  while (!state.failed && state.sends_completed < expected.size() && !expected[state.sends_completed].signaled &&
         expected[state.sends_completed].wr_id != completion.wr_id) {
    ++state.sends_completed;
  }
  if (state.sends_completed >= state.sends_posted) return tell("a completion twice", index_, completion);
  const Expected& next = expected[state.sends_completed++];
  if (next.wr_id != completion.wr_id) return tell("lost or out of order before", index_, completion);
  if (state.failed && good) return tell("a success after an error", index_, completion);
  if (!good) {
    state.failed = true;
    return {};
  }
  if (!next.signaled) return tell("not asked for", index_, completion);
  if (next.opcode != completion.opcode || next.byte_length != completion.byte_length || completion.has_immediate ||
      completion.has_invalidated) {
    return tell("wrong contents", index_, completion);
  }
  return {};
}

std::string Node::check_received(std::size_t qp, const Completion& completion, const std::vector<Expected>& expected) {
  QpState& state = qps_[qp];
  if (state.receives_completed >= state.receives_posted) return tell("a completion twice", index_, completion);
  const std::size_t index = state.receives_completed++;
  if (completion.wr_id != index + 1) return tell("lost or out of order before", index_, completion);
  if (completion.status != CompletionStatus::success) return {};
  if (index >= expected.size()) return tell("a message that nobody sent", index_, completion);
  const Expected& next = expected[index];
  if (next.opcode != completion.opcode || next.byte_length != completion.byte_length ||
      next.has_immediate != completion.has_immediate || next.invalidates != completion.has_invalidated ||
      (next.has_immediate && next.immediate != completion.immediate) ||
      (next.invalidates && key(qp, Key::spare_peer) != completion.invalidated)) {
    return tell("wrong contents", index_, completion);
  }
  return {};
}

std::string Node::check_all_completed(const Reference& reference) const {
  for (std::size_t q = 0; q < qps_.size(); ++q) {
    const QpState& state = qps_[q];
    const std::vector<Expected>& sent = reference.sent[q].at(index_);
    for (std::size_t i = state.sends_completed; i < state.sends_posted; ++i) {
      if (sent[i].signaled || state.failed)
        return "a send request without a completion: wr_id " + std::to_string(sent[i].wr_id);
    }
    if (!program_.errors_allowed && state.receives_completed != reference.received[q].at(index_).size()) {
      return "a receive without a completion: wr_id " + std::to_string(state.receives_completed + 1);
    }
    // The receives of a shared queue stay in it.
    if (program_.errors_allowed && !state.srq && state.receives_completed != state.receives_posted) {
      return "a receive that was not flushed: wr_id " + std::to_string(state.receives_completed + 1);
    }
  }
  return {};
}

}  // namespace roce::model
