// SPDX-License-Identifier: BSD-2-Clause
// The MADs of a handshake are those of the verified vectors, byte for byte.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "roce/cm/connection_manager.h"
#include "roce/wire/packet.h"
#include "support/hex.h"
#include "support/vectors.h"
#include "two_managers.h"

namespace roce::cm::test {
namespace {

std::vector<std::byte> mad_of(const roce::test::Vector& vector) {
  const std::vector<std::byte> frame = roce::test::from_hex(vector.hex);
  const Packet packet = parse_frame(frame, LinkType::ethernet);
  const std::optional<Layer> mad = packet.find(HeaderId::mad);
  const Bytes bytes = packet.bytes().subspan(mad->offset, kMadSize);
  return {bytes.begin(), bytes.end()};
}

/// Returns a manager whose first random numbers are those of a vector.
ConnectionManager manager_of(std::uint64_t guid, std::uint8_t packet_lifetime, std::uint64_t first,
                             std::uint64_t second) {
  return ConnectionManager::make(
             {.ca_guid = guid, .packet_lifetime = packet_lifetime},
             [first, second, is_first = true]() mutable { return std::exchange(is_first, false) ? first : second; })
      .value();
}

TEST(CmVectors, AHandshakeHasTheirBytes) {
  const Peer to_b{Gid::from_ipv4({{192, 0, 2, 1}}), Gid::from_ipv4({{192, 0, 2, 2}})};
  const Peer to_a{to_b.remote, to_b.local};
  ConnectionManager a = manager_of(0x0200'0000'0000'0001, 17, 0x11223343, 0x0000'0009'1122'3344);
  ConnectionManager b = manager_of(0x0200'0000'0000'0002, 16, 0x55667787, 1);
  const std::vector<std::byte> data = rdma_ip_data();
  ConnectRequest request;
  request.peer = to_b;
  request.service = TwoManagers::kService;
  request.qpn = Qpn{0x11};
  request.starting_psn = Psn{0xABCDEF};
  request.responder_resources = request.initiator_depth = 1;
  request.flow_label = 0x12345;
  request.private_data = data;
  ASSERT_TRUE(a.connect(request, Time{}));
  const auto req = a.poll_message();
  ASSERT_TRUE(req);
  EXPECT_THAT(req->mad, ::testing::ElementsAreArray(mad_of(roce::test::kT10)));

  ASSERT_TRUE(b.listen(TwoManagers::kService));
  b.receive(req->mad, to_a, Time{});
  const auto event = b.poll_event();
  ASSERT_TRUE(event);
  Reply reply;
  reply.qpn = Qpn{0x12};
  reply.starting_psn = Psn{0x123456};
  reply.responder_resources = reply.initiator_depth = 1;
  ASSERT_TRUE(b.accept(event->connection, reply, Time{}));
  const auto rep = b.poll_message();
  ASSERT_TRUE(rep);
  EXPECT_THAT(rep->mad, ::testing::ElementsAreArray(mad_of(roce::test::kT11)));
}

}  // namespace
}  // namespace roce::cm::test
