// SPDX-License-Identifier: BSD-2-Clause
// Event channels of RDMA CM as a program uses them, both ends in one process. Run through roce-run.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <rdma/rdma_cma.h>

namespace roce::test {
namespace {

constexpr int kLong = 30'000;  // ms

[[nodiscard]] bool is_readable(const rdma_event_channel* channel, int wait) {
  pollfd polled{.fd = channel->fd, .events = POLLIN, .revents = 0};
  return ::poll(&polled, 1, wait) == 1;
}

/// Takes the next event of a channel, which has to be of this type; returns its identifier.
[[nodiscard]] rdma_cm_id* next(rdma_event_channel* channel, rdma_cm_event_type type) {
  rdma_cm_event* event = nullptr;
  if (!is_readable(channel, kLong) || rdma_get_cm_event(channel, &event) != 0) return nullptr;
  rdma_cm_id* const id = event->event == type ? event->id : nullptr;
  EXPECT_EQ(event->event, type);
  EXPECT_EQ(rdma_ack_cm_event(event), 0);
  return id;
}

void make_qp(rdma_cm_id* id) {
  ibv_qp_init_attr wanted{};
  wanted.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = 0};
  wanted.qp_type = IBV_QPT_RC;
  ASSERT_EQ(rdma_create_qp(id, nullptr, &wanted), 0);
}

// A program polls for the channel, and then asks for an event, without end if there is none.
TEST(EventChannel, IsNotReadableForAnIdentifierThatIsGone) {
  rdma_event_channel* const at_server = rdma_create_event_channel();
  rdma_event_channel* const at_client = rdma_create_event_channel();
  ASSERT_TRUE(at_server != nullptr && at_client != nullptr);
  rdma_cm_id* listener = nullptr;
  ASSERT_EQ(rdma_create_id(at_server, &listener, nullptr, RDMA_PS_TCP), 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = ::inet_addr("127.90.7.2");
  ASSERT_EQ(rdma_bind_addr(listener, reinterpret_cast<sockaddr*>(&address)), 0);
  ASSERT_EQ(rdma_listen(listener, 1), 0);
  address.sin_port = rdma_get_src_port(listener);

  rdma_cm_id* client = nullptr;
  ASSERT_EQ(rdma_create_id(at_client, &client, nullptr, RDMA_PS_TCP), 0);
  ASSERT_EQ(rdma_resolve_addr(client, nullptr, reinterpret_cast<sockaddr*>(&address), kLong), 0);
  ASSERT_EQ(next(at_client, RDMA_CM_EVENT_ADDR_RESOLVED), client);
  ASSERT_EQ(rdma_resolve_route(client, kLong), 0);
  ASSERT_EQ(next(at_client, RDMA_CM_EVENT_ROUTE_RESOLVED), client);
  make_qp(client);
  rdma_conn_param parameters{};
  ASSERT_EQ(rdma_connect(client, &parameters), 0);
  rdma_cm_id* const server = next(at_server, RDMA_CM_EVENT_CONNECT_REQUEST);
  ASSERT_NE(server, nullptr);
  make_qp(server);
  ASSERT_EQ(rdma_accept(server, &parameters), 0);
  ASSERT_EQ(next(at_client, RDMA_CM_EVENT_ESTABLISHED), client);
  ASSERT_EQ(next(at_server, RDMA_CM_EVENT_ESTABLISHED), server);

  ASSERT_EQ(rdma_disconnect(server), 0);
  ASSERT_TRUE(is_readable(at_client, kLong));
  rdma_destroy_qp(client);
  EXPECT_EQ(rdma_destroy_id(client), 0);
  EXPECT_FALSE(is_readable(at_client, 0));

  rdma_destroy_qp(server);
  EXPECT_EQ(rdma_destroy_id(server), 0);
  EXPECT_EQ(rdma_destroy_id(listener), 0);
  rdma_destroy_event_channel(at_client);
  rdma_destroy_event_channel(at_server);
}

}  // namespace
}  // namespace roce::test
