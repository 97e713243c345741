// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "command_line/outcome.h"
#include "roce/link/link.h"
#include "roce/port/interfaces.h"
#include "roce/wire/packet.h"

namespace roce::replay {

/// True if a packet can be sent as the payload of a UDP datagram: it is RoCE v2, and whole.
[[nodiscard]] bool is_datagram(const Packet& packet);

/// Takes whole frames, and sends the RoCE v2 packets in them through the kernel's UDP. The headers that the
/// kernel writes keep addresses, source port, traffic class and hop limit, as far as `link::UdpLink` can; the
/// IPv4 identification becomes 0, Don't Fragment is set, there is no UDP checksum. The ICRC is made for those
/// headers; one that was wrong stays wrong in the same bits.
class DatagramLink final : public link::Link {
 public:
  /// Opens a link that sends from the addresses of an interface. Failures: it has no address; none can be used.
  [[nodiscard]] static Outcome<std::unique_ptr<DatagramLink>> open(const port::Interface& interface);

  /// Returns the addresses from which it can send.
  [[nodiscard]] std::vector<Gid> addresses() const;

  [[nodiscard]] link::LinkKind kind() const override { return link::LinkKind::ethernet; }
  /// Returns the limit for frames without VLAN tags and tunnels.
  [[nodiscard]] std::size_t max_bytes() const override;
  /// Never returns a frame.
  [[nodiscard]] link::LinkResult<std::size_t> receive(std::span<link::RxFrame> frames) override;
  /// Counts a frame as a send error if it is not a whole RoCE v2 packet, or not from one of `addresses`.
  [[nodiscard]] link::LinkResult<std::size_t> send(std::span<const link::TxFrame> frames) override;
  [[nodiscard]] int fd() const override { return owns_.front().link->fd(); }
  /// Returns counters in which bytes are those of the datagrams' payload.
  [[nodiscard]] link::LinkCounters counters() const override;

 private:
  struct Own {
    Gid address{};
    std::unique_ptr<link::Link> link;
  };
  static constexpr std::size_t kBatch = 64;

  DatagramLink() : buffers_(kBatch), run_(kBatch) {}
  /// Makes a datagram of a frame in `run_[place]`. Null: the frame cannot be sent.
  [[nodiscard]] Own* prepare(Bytes frame, std::size_t place);

  std::vector<Own> owns_;
  std::vector<std::vector<std::byte>> buffers_;
  std::vector<link::TxFrame> run_;
  std::uint64_t unsendable_ = 0;
};

}  // namespace roce::replay
