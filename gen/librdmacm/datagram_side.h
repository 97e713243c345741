// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

#include "gen/librdmacm/program_report.h"
#include "roce/cm/connection.h"
#include "roce/live/script.h"
#include "roce/live/verbs.h"

namespace roce::gen {

/// Options that must be the same on both sides of a program.
struct MessageOptions {
  std::uint32_t size = 100;  ///< bytes of a message
  std::uint32_t count = 10;  ///< messages each way
};

/// The Q_Key of all UD queue pairs of the RDMA port space UDP, and of its multicast groups (librdmacm: RDMA_UDP_QKEY).
inline constexpr QKey kUdpPortSpaceQKey{0x01234567};

/// An address handle for the other end of a datagram queue pair, destroyed with this object.
class AddressHandle {
 public:
  AddressHandle(const live::Domain& domain, const transport::AddressVector& address)
      : device_(domain.device()),
        ah_(live::granted(device_.create_ah(domain.pd(), address), "make an address handle")) {}
  ~AddressHandle() { (void)device_.destroy_ah(ah_); }
  AddressHandle(const AddressHandle&) = delete;
  AddressHandle& operator=(const AddressHandle&) = delete;

  [[nodiscard]] transport::Ah get() const { return ah_; }

 private:
  transport::Device& device_;
  transport::Ah ah_;
};

/// A UD queue pair of one of librdmacm's programs, in RTS and with receives posted. Its messages are SENDs whose
/// immediate data is the number of the queue pair.
class DatagramSide {
 public:
  /// Throws: ScriptFailure if a message does not fit the path MTU, or the device refuses an operation.
  DatagramSide(live::Endpoint& endpoint, MessageOptions options, Time now);

  [[nodiscard]] live::QueuePair& qp() { return qp_; }
  [[nodiscard]] const live::Domain& domain() const { return domain_; }

  /// Sends all messages and waits until they have completed.
  live::Task<> send(transport::DatagramAddress to);

  /// The origin of a datagram that has arrived.
  struct Arrival {
    cm::Peer peer{};
    Qpn qpn{};  ///< the sender's QPN, from the immediate data
  };
  /// Waits for all messages, up to `patience` for each; returns the origin of the last one. Throws: ScriptFailure if
  /// one is late, has another size or no immediate data.
  live::Task<Arrival> receive(ProgramReport& report, Duration patience);

 private:
  static constexpr std::uint32_t kReceives = 64;

  void post_receive(std::uint32_t slot);
  /// Returns where in the memory a receive lies: after the message that is sent.
  [[nodiscard]] std::size_t offset_of(std::uint32_t slot) const;

  MessageOptions options_;
  live::Domain domain_;
  live::Memory memory_;
  live::QueuePair qp_;
};

}  // namespace roce::gen
