// SPDX-License-Identifier: BSD-2-Clause
// Functions of the public ABI for which this library has nothing: sockets over RDMA, enhanced set-up, and what
// releases after 56 have anew.
#include <cerrno>

#include "verbs/rdmacm/rdmacm_api.h"
#include "verbs/report/complain.h"

namespace {

[[nodiscard]] int not_supported(const char* sentence) {
  try {
    roce::verbs::complain(sentence);
  } catch (...) {
    // The number says enough.
  }
  errno = EOPNOTSUPP;
  return -1;
}

}  // namespace

int rdma_set_local_ece(struct rdma_cm_id* /*id*/, struct ibv_ece* /*ece*/) {
  return 0;
}
/// Peers offer nothing: zeros are that.
int rdma_get_remote_ece(struct rdma_cm_id* /*id*/, struct ibv_ece* ece) {
  *ece = {};
  return 0;
}
int rdma_reject_ece(struct rdma_cm_id* id, const void* private_data, uint8_t private_data_len) {
  return rdma_reject(id, private_data, private_data_len);
}

extern "C" {

// Their return values are of several types, in all of which this is -1.
__attribute__((visibility("hidden"))) long roce_no_socket() {
  return not_supported("sockets over RDMA (rsocket) are not here; see docs/verbs.md");
}

#define ROCE_NO_SOCKET(name) __attribute__((visibility("default"), alias("roce_no_socket"))) long name()
ROCE_NO_SOCKET(raccept);
ROCE_NO_SOCKET(rbind);
ROCE_NO_SOCKET(rclose);
ROCE_NO_SOCKET(rconnect);
ROCE_NO_SOCKET(rfcntl);
ROCE_NO_SOCKET(rgetpeername);
ROCE_NO_SOCKET(rgetsockname);
ROCE_NO_SOCKET(rgetsockopt);
ROCE_NO_SOCKET(riomap);
ROCE_NO_SOCKET(riounmap);
ROCE_NO_SOCKET(riowrite);
ROCE_NO_SOCKET(rlisten);
ROCE_NO_SOCKET(rpoll);
ROCE_NO_SOCKET(rread);
ROCE_NO_SOCKET(rreadv);
ROCE_NO_SOCKET(rrecv);
ROCE_NO_SOCKET(rrecvfrom);
ROCE_NO_SOCKET(rrecvmsg);
ROCE_NO_SOCKET(rselect);
ROCE_NO_SOCKET(rsend);
ROCE_NO_SOCKET(rsendmsg);
ROCE_NO_SOCKET(rsendto);
ROCE_NO_SOCKET(rsetsockopt);
ROCE_NO_SOCKET(rshutdown);
ROCE_NO_SOCKET(rsocket);
ROCE_NO_SOCKET(rwrite);
ROCE_NO_SOCKET(rwritev);
#undef ROCE_NO_SOCKET

/// Stands for functions of releases whose declarations the headers here may have or not.
__attribute__((used, visibility("hidden"))) int roce_no_later_function() {
  errno = EOPNOTSUPP;
  return -1;
}

}  // extern "C"

#define ROCE_LATER_FUNCTION(name) \
  asm(".globl " #name "\n.set " #name ", roce_no_later_function\n.type " #name ", @function\n");
ROCE_LATER_FUNCTION(rdma_query_addrinfo)
ROCE_LATER_FUNCTION(rdma_resolve_addrinfo)
ROCE_LATER_FUNCTION(rdma_write_cm_event)
ROCE_LATER_FUNCTION(repoll_create)
ROCE_LATER_FUNCTION(repoll_ctl)
ROCE_LATER_FUNCTION(repoll_wait)
#undef ROCE_LATER_FUNCTION
