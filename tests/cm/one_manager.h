// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

#include "roce/cm/connection_manager.h"

namespace roce::cm::test {

/// A communication manager whose peer is played by hand.
class OneManager {
 public:
  static constexpr ServiceId kService{PortSpace::tcp, 7174};
  static constexpr std::uint64_t kPeerGuid = 0xBEEF;
  static constexpr CommId kPeerId{0x77};
  static constexpr Qpn kPeerQpn{0x22};
  static constexpr Qpn kQpn{0x11};

  explicit OneManager(Config config = {});

  /// Enter a state that an active, or a passive side can be in.
  void enter_as_active(State state);
  void enter_as_passive(State state);

  template <typename H>
  void receive(MadAttribute attribute, const H& header) {
    std::array<std::byte, kMadSize> bytes{};
    Mad mad;
    mad.attribute_id = attribute;
    mad.transaction_id = 0x5555;
    write(mad, bytes.data());
    write(header, bytes.data() + kSize<Mad>);
    manager.receive(bytes, peer(), now);
  }
  void receive_req(CommId id = kPeerId, Qpn qpn = kPeerQpn);
  void receive_rep();
  void receive_drep();
  void receive_rej(CmMessageKind message, CmRejReason reason);
  /// Returns a REQ as the peer would send it.
  [[nodiscard]] static CmReq req(CommId id = kPeerId, Qpn qpn = kPeerQpn);

  [[nodiscard]] static Peer peer();
  [[nodiscard]] State state() const;
  /// Returns the messages that were sent since the last call, as `REJ(stale_connection)`.
  std::string take_sent();
  /// Returns the events since the last call.
  std::string take_events();

  ConnectionManager manager;
  Time now{};
  CommId connection{};
  std::vector<OutMessage> last_sent;  ///< the messages that `take_sent` returned last
};

}  // namespace roce::cm::test
