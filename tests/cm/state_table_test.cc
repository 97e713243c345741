// SPDX-License-Identifier: BSD-2-Clause
// docs/cm.md has a table of what each message does in each state: it is compared with the code.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <sstream>

#include "one_manager.h"
#include "support/source_tree.h"

namespace roce::cm::test {
namespace {

constexpr std::array kActive{State::req_sent,    State::mra_req_received, State::rep_received, State::mra_rep_sent,
                             State::established, State::dreq_sent,        State::timewait};
constexpr std::array kPassive{State::req_received, State::mra_req_sent, State::rep_sent, State::mra_rep_received,
                              State::established,  State::dreq_sent,    State::timewait};

struct Message {
  const char* name;
  std::function<void(OneManager&)> arrives;
};

template <typename H>
H named(const OneManager& one) {
  H header;
  header.local_comm_id = OneManager::kPeerId;
  header.remote_comm_id = one.connection;
  return header;
}

std::vector<Message> messages() {
  using enum MadAttribute;
  const auto mra = [](CmMessageKind kind) {
    return [kind](OneManager& one) {
      auto message = named<CmMra>(one);
      message.message = kind;
      message.service_timeout = 20;
      one.receive(cm_mra, message);
    };
  };
  const auto rej = [](CmMessageKind kind, CmRejReason reason) {
    return [=](OneManager& one) { one.receive_rej(kind, reason); };
  };
  return {
      {"REQ again", [](OneManager& one) { one.receive_req(); }},
      {"REQ, same QP, another name", [](OneManager& one) { one.receive_req(CommId{0x78}); }},
      {"REP", [](OneManager& one) { one.receive_rep(); }},
      {"RTU", [](OneManager& one) { one.receive(cm_rtu, named<CmRtu>(one)); }},
      {"MRA of the REQ", mra(CmMessageKind::req)},
      {"MRA of the REP", mra(CmMessageKind::rep)},
      {"REJ of the REQ", rej(CmMessageKind::req, CmRejReason::consumer_defined)},
      {"REJ of the REQ, stale", rej(CmMessageKind::req, CmRejReason::stale_connection)},
      {"REJ of the REP", rej(CmMessageKind::rep, CmRejReason::consumer_defined)},
      {"REJ of no message", rej(CmMessageKind::other, CmRejReason::consumer_defined)},
      {"DREQ",
       [](OneManager& one) {
         auto message = named<CmDreq>(one);
         message.remote_qpn = OneManager::kQpn;
         one.receive(cm_dreq, message);
       }},
      {"DREP", [](OneManager& one) { one.receive(cm_drep, named<CmDrep>(one)); }},
      {"LAP", [](OneManager& one) { one.receive(cm_lap, named<CmLap>(one)); }},
      {"no answer, all retries",
       [](OneManager& one) {
         if (one.state() == State::timewait) return;
         while (one.manager.next_timeout() != kNever && one.state() != State::none && one.state() != State::timewait) {
           one.manager.advance(one.manager.next_timeout());
           (void)one.manager.counters();
         }
       }},
      {"time passes", [](OneManager& one) {
         if (one.state() == State::timewait) one.manager.advance(one.manager.next_timeout());
       }}};
}

/// Returns the rows of the messages that have an effect.
std::string rows(bool is_active) {
  std::string text;
  for (const State state : is_active ? std::span<const State>{kActive} : std::span<const State>{kPassive}) {
    for (const Message& message : messages()) {
      OneManager one;
      is_active ? one.enter_as_active(state) : one.enter_as_passive(state);
      message.arrives(one);
      const State then = one.state();
      std::string sent = one.take_sent();
      // The messages before the last one are repetitions; only the last one ends the wait.
      if (std::string_view{message.name}.starts_with("no answer"))
        sent = sent.substr(sent.rfind(", ") == std::string::npos ? 0 : sent.rfind(", ") + 2);
      const std::string events = one.take_events();
      if (sent.empty() && events.empty() && then == state) continue;
      const auto shown = [](const std::string& cell) { return cell.empty() ? std::string{"–"} : cell; };
      text += "| `" + std::string{to_string(state)} + "` | " + message.name + " | " + shown(sent) + " | " +
              shown(events) + " | `" + std::string{to_string(then)} + "` |\n";
    }
  }
  return text;
}

std::string documented(const std::string& heading) {
  std::ifstream file(roce::test::source_folder() + "/docs/cm.md");
  std::string text;
  std::string line;
  bool is_inside = false;
  while (std::getline(file, line)) {
    if (line.starts_with("#")) is_inside = line == heading;
    if (is_inside && line.starts_with("| `")) text += line + "\n";
  }
  return text;
}

TEST(CmStateTable, OfTheActiveSideIsTheOneInTheDocs) {
  EXPECT_EQ(documented("### The active side"), rows(true));
}

TEST(CmStateTable, OfThePassiveSideIsTheOneInTheDocs) {
  EXPECT_EQ(documented("### The passive side"), rows(false));
}

}  // namespace
}  // namespace roce::cm::test
