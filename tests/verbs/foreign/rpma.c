// SPDX-License-Identifier: BSD-2-Clause
// Two ends of librpma: the client reads what the server has, writes and flushes, and says so by a WRITE with an immediate; the
// server then looks at what was written, and answers. usage: rpma server|client ADDRESS PORT
#include <endian.h>
#include <librpma.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Each end has a region: what the server has, what the client writes, eight bytes that it writes at once, and a message.
enum { kPart = 1 << 20, kWritten = kPart, kAtomic = 2 * kPart, kMessage = kAtomic + 4096, kRegion = kMessage + 4096 };
enum { kUsage = RPMA_MR_USAGE_READ_SRC | RPMA_MR_USAGE_READ_DST | RPMA_MR_USAGE_WRITE_SRC | RPMA_MR_USAGE_WRITE_DST | RPMA_MR_USAGE_SEND |
                RPMA_MR_USAGE_RECV | RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY | RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT };
static const uint32_t kImmediate = 0x12345678;
static const size_t kSizes[] = {1, 7, 64, 1023, 4096, 4097, 65536, kPart};
enum { kSizeCount = sizeof kSizes / sizeof kSizes[0] };

static uint8_t* region;
static struct rpma_mr_local* local;

static void check(int result, const char* call) {
  if (result == 0) return;
  fprintf(stderr, "%s: %s\n", call, rpma_err_2str(result));
  exit(1);
}
#define CHECK(call) check(call, #call)

static uint8_t pattern(size_t at, unsigned seed) { return (uint8_t)(at * 31 + (at >> 8) * 7 + seed); }

static void fill(size_t from, unsigned seed) {
  for (size_t at = 0; at < kPart; ++at) region[from + at] = pattern(at, seed);
}

static void compare(size_t from, size_t size, unsigned seed) {
  for (size_t at = 0; at < size; ++at) {
    if (region[from + at] == pattern(at, seed)) continue;
    fprintf(stderr, "byte %zu of %zu is %02x, not %02x\n", at, size, region[from + at], pattern(at, seed));
    exit(1);
  }
}

static struct ibv_wc complete(struct rpma_cq* cq) {
  struct ibv_wc wc;
  CHECK(rpma_cq_wait(cq));
  CHECK(rpma_cq_get_wc(cq, 1, &wc, NULL));
  if (wc.status != IBV_WC_SUCCESS) {
    fprintf(stderr, "completion: %s\n", ibv_wc_status_str(wc.status));
    exit(1);
  }
  return wc;
}

static void expect_event(struct rpma_conn* connection, enum rpma_conn_event expected) {
  enum rpma_conn_event event;
  CHECK(rpma_conn_next_event(connection, &event));
  if (event == expected) return;
  fprintf(stderr, "event: %s\n", rpma_utils_conn_event_2str(event));
  exit(1);
}

static void serve(struct rpma_peer* peer, const char* address, const char* port) {
  struct rpma_ep* endpoint;
  struct rpma_conn_req* request;
  struct rpma_conn* connection;
  struct rpma_cq* cq;
  uint8_t descriptor[64];
  struct rpma_conn_private_data data = {.ptr = descriptor};
  size_t length;
  CHECK(rpma_mr_get_descriptor_size(local, &length));
  CHECK(rpma_mr_get_descriptor(local, descriptor));
  data.len = (uint8_t)length;
  fill(0, 1);
  CHECK(rpma_ep_listen(peer, address, port, &endpoint));
  puts("listening");
  fflush(stdout);
  CHECK(rpma_ep_next_conn_req(endpoint, NULL, &request));
  CHECK(rpma_conn_req_recv(request, local, kMessage, 64, NULL));
  CHECK(rpma_conn_req_connect(&request, &data, &connection));
  expect_event(connection, RPMA_CONN_ESTABLISHED);
  CHECK(rpma_conn_get_cq(connection, &cq));
  const struct ibv_wc written = complete(cq);
  if (!(written.wc_flags & IBV_WC_WITH_IMM) || be32toh(written.imm_data) != kImmediate) {
    fprintf(stderr, "the immediate is %08x\n", be32toh(written.imm_data));
    exit(1);
  }
  compare(kWritten, kPart, 2);
  compare(kAtomic, 8, 3);
  strcpy((char*)region + kMessage, "as it should be");
  CHECK(rpma_send(connection, local, kMessage, 64, RPMA_F_COMPLETION_ALWAYS, NULL));
  complete(cq);
  expect_event(connection, RPMA_CONN_CLOSED);
  CHECK(rpma_conn_disconnect(connection));
  CHECK(rpma_conn_delete(&connection));
  CHECK(rpma_ep_shutdown(&endpoint));
}

static void ask(struct rpma_peer* peer, const char* address, const char* port) {
  struct rpma_conn_req* request;
  struct rpma_conn* connection;
  struct rpma_conn_private_data data;
  struct rpma_mr_remote* remote;
  struct rpma_cq* cq;
  size_t size;
  char tag = 0;
  CHECK(rpma_conn_req_new(peer, address, port, NULL, &request));
  CHECK(rpma_conn_req_recv(request, local, kMessage, 64, NULL));
  CHECK(rpma_conn_req_connect(&request, NULL, &connection));
  expect_event(connection, RPMA_CONN_ESTABLISHED);
  CHECK(rpma_conn_get_private_data(connection, &data));
  CHECK(rpma_mr_remote_from_descriptor(data.ptr, data.len, &remote));
  CHECK(rpma_mr_remote_get_size(remote, &size));
  if (size != kRegion) {
    fprintf(stderr, "the server's region has %zu bytes\n", size);
    exit(1);
  }
  CHECK(rpma_conn_get_cq(connection, &cq));
  for (int i = 0; i < kSizeCount; ++i) {
    memset(region, 0, kPart);
    CHECK(rpma_read(connection, local, 0, remote, 0, kSizes[i], RPMA_F_COMPLETION_ALWAYS, &tag));
    if (complete(cq).wr_id != (uint64_t)(uintptr_t)&tag) exit(1);
    compare(0, kSizes[i], 1);
  }
  // The data that were written are read back into the first part, once they are flushed.
  fill(kWritten, 2);
  for (int i = 0; i < kSizeCount; ++i) {
    CHECK(rpma_write(connection, remote, kWritten, local, kWritten, kSizes[i], RPMA_F_COMPLETION_ON_ERROR, NULL));
    CHECK(rpma_flush(connection, remote, kWritten, kSizes[i], RPMA_FLUSH_TYPE_VISIBILITY, RPMA_F_COMPLETION_ALWAYS, NULL));
    complete(cq);
    memset(region, 0, kPart);
    CHECK(rpma_read(connection, local, 0, remote, kWritten, kSizes[i], RPMA_F_COMPLETION_ALWAYS, NULL));
    complete(cq);
    compare(0, kSizes[i], 2);
  }
  char eight[8];
  for (size_t at = 0; at < sizeof eight; ++at) eight[at] = (char)pattern(at, 3);
  CHECK(rpma_atomic_write(connection, remote, kAtomic, eight, RPMA_F_COMPLETION_ON_ERROR, NULL));
  CHECK(rpma_write_with_imm(connection, remote, kWritten, local, kWritten, 64, RPMA_F_COMPLETION_ON_ERROR, kImmediate, NULL));
  const struct ibv_wc answer = complete(cq);
  if (answer.opcode != IBV_WC_RECV || strcmp((char*)region + kMessage, "as it should be") != 0) exit(1);
  puts("all compared");
  CHECK(rpma_conn_disconnect(connection));
  expect_event(connection, RPMA_CONN_CLOSED);
  CHECK(rpma_mr_remote_delete(&remote));
  CHECK(rpma_conn_delete(&connection));
}

int main(int count, char** words) {
  struct ibv_context* device;
  struct rpma_peer* peer;
  if (count != 4) return 2;
  const int is_server = strcmp(words[1], "server") == 0;
  region = aligned_alloc(4096, kRegion);
  if (region == NULL) return 2;
  memset(region, 0, kRegion);
  CHECK(rpma_utils_get_ibv_context(words[2], is_server ? RPMA_UTIL_IBV_CONTEXT_LOCAL : RPMA_UTIL_IBV_CONTEXT_REMOTE, &device));
  CHECK(rpma_peer_new(device, &peer));
  CHECK(rpma_mr_reg(peer, region, kRegion, kUsage, &local));
  (is_server ? serve : ask)(peer, words[2], words[3]);
  CHECK(rpma_mr_dereg(&local));
  CHECK(rpma_peer_delete(&peer));
  free(region);
  return 0;
}
