// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "control_line.h"
#include "frame_draft.h"
#include "roce/wire/cm_messages.h"
#include "roce/wire/mad.h"
#include "wire.h"

namespace roce::attack {

struct CmAttackOptions {
  std::string interface;
  Route route;
  std::uint64_t seed = 1;
  std::uint64_t count = 1000;   ///< number of attacking messages
  std::uint64_t half_open = 0;  ///< REQs sent in addition, whose connections are never completed
  std::chrono::seconds limit{600};
};

/// A connection that we begin, and the state that it has reached.
struct Conversation {
  enum class State : std::uint8_t { none, asked, replied, established };
  State state = State::none;
  CommId local{};
  CommId remote{};  ///< ID of the peer, once it has replied
  Qpn qpn{};
  Qpn remote_qpn{};
  ServiceId service{};
};

/// A CM message of 256 bytes, and the header fields that go in front of it.
struct CmMessage {
  std::vector<std::byte> mad;
  QKey q_key{0x8001'0000};
  Qpn source_qp{1};
  PKey p_key = kDefaultPKey;
};

struct CmReport {
  struct Tally {
    std::uint64_t messages = 0;
    std::uint64_t answers = 0;
  };
  std::map<std::string_view, Tally> kinds;
  std::uint64_t messages = 0;  ///< attacking messages
  std::uint64_t legal_messages = 0;
  std::uint64_t half_open = 0;
  std::uint64_t established = 0;
  std::map<std::string_view, std::uint64_t> heard;
  std::uint64_t probes = 0;
  std::uint64_t crashes = 0;
  std::uint64_t hangs = 0;
  std::chrono::microseconds slowest_probe{0};
  std::vector<std::string> findings;
};

/// Makes CM messages.
class CmWorkshop {
 public:
  CmWorkshop(const Route& route, std::uint64_t seed) : route_(route), random_(seed) {}

  [[nodiscard]] std::uint64_t number() { return random_(); }
  [[nodiscard]] std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
  template <typename T>
  [[nodiscard]] T any_of(std::initializer_list<T> choices) {
    return choices.begin()[below(choices.size())];
  }

  void begin(Conversation& conversation);
  [[nodiscard]] CmReq req(const Conversation& conversation);
  [[nodiscard]] CmMessage legal(const Conversation& conversation);
  template <HeaderType H>
  [[nodiscard]] CmMessage message(const H& body);
  template <HeaderType H>
  [[nodiscard]] H named(const Conversation& conversation);
  void fill(std::span<std::byte> bytes);

 private:
  const Route& route_;
  std::mt19937_64 random_;
};

struct CmKind {
  std::string_view name;
  unsigned weight;
  CmMessage (*make)(CmWorkshop&, const Conversation&);
};
[[nodiscard]] std::span<const CmKind> cm_kinds();

/// Attacks the communication manager of a `roce-gen peer`: sends conversations that lead to a connection, and wrong
/// messages in between.
class CmAttack {
 public:
  explicit CmAttack(CmAttackOptions options);
  [[nodiscard]] CmReport run();

 private:
  [[nodiscard]] std::vector<std::byte> frame_of(const CmMessage& message);
  void batch();
  void open_many();
  void probe();
  void hear(const Packet& packet);

  CmAttackOptions options_;
  Wire wire_;
  CmWorkshop shop_;
  CmReport report_;
  std::vector<Conversation> conversations_;
  CommId probing_{};
  bool probe_answered_ = false;
  std::uint32_t answers_ = 0;
  Psn psn_{};
};

template <HeaderType H>
CmMessage CmWorkshop::message(const H& body) {
  CmMessage made;
  made.mad.resize(kMadSize);
  Mad mad;
  mad.transaction_id = number();
  for (auto id = MadAttribute::cm_req; id <= MadAttribute::cm_apr;
       id = MadAttribute{static_cast<std::uint16_t>(static_cast<unsigned>(id) + 1)}) {
    if (cm_header_id(id) == kHeader<H>.id) mad.attribute_id = id;
  }
  write(mad, made.mad.data());
  write(body, made.mad.data() + kSize<Mad>);
  return made;
}

template <HeaderType H>
H CmWorkshop::named(const Conversation& conversation) {
  H body;
  body.local_comm_id = conversation.local;
  body.remote_comm_id = conversation.remote;
  return body;
}

}  // namespace roce::attack
