// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "roce/cm/connection_manager.h"

namespace roce::cm::test {

/// Something that a network does to a message.
enum class Fate : std::uint8_t { arrives, lost, doubled, late };

/// Two communication managers and the network between them. `a` asks, `b` listens; both do at once what
/// their events ask for. Messages take a millisecond.
class TwoManagers {
 public:
  static constexpr ServiceId kService{PortSpace::tcp, 7174};
  static constexpr std::uint64_t kGuidA = 0x0200'0000'0000'0001;
  static constexpr std::uint64_t kGuidB = 0x0200'0000'0000'0002;

  /// Decides what happens to the `count`-th message (from 1) with this attribute. Without a plan everything arrives.
  using Plan = std::function<Fate(MadAttribute attribute, unsigned count)>;

  explicit TwoManagers(Plan plan = {}, Config config = {});

  [[nodiscard]] ConnectRequest request(Qpn qpn = Qpn{0x11}) const;
  /// Sends a REQ from `a`.
  CommId connect();
  /// Lets messages arrive and timers run until nothing is left to do, or `until`.
  void run(Time until = kNever);

  ConnectionManager a;
  ConnectionManager b;
  Time now{};
  std::vector<std::string> events_a;  ///< in words, with the reason of a REJ
  std::vector<std::string> events_b;
  std::vector<std::string> sent;  ///< `a REQ`, `b REP`, … in the order of sending
  bool accepts = true;            ///< `b` accepts REQs
  bool confirms = true;           ///< `a` answers REPs
  CommId of_b{};                  ///< the connection of the last REQ at `b`
  Reply reply;
  Resolution resolution;  ///< the answer of `b` to a SIDR_REQ
  CmSidrRep resolved{};   ///< the answer that `a` got to one

 private:
  struct Arrival {
    bool is_for_a = false;
    OutMessage message;
  };
  void collect(ConnectionManager& from, bool is_a);
  void take_events(ConnectionManager& of, bool is_a);

  Plan plan_;
  std::multimap<Time, Arrival> on_the_way_;
  std::map<MadAttribute, unsigned> counts_;
};

/// Returns the 36 bytes of an RDMA IP CM header from `a` to `b`.
[[nodiscard]] std::vector<std::byte> rdma_ip_data();

}  // namespace roce::cm::test
