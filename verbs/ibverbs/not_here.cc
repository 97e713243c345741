// SPDX-License-Identifier: BSD-2-Clause
// Functions of the public ABI for which this library has nothing, and those that only a kernel driver needs.
#include <fcntl.h>
#include <unistd.h>

#include <string>

#include "verbs/ibverbs/kernel_functions.h"
#include "verbs/ibverbs/results.h"
#include "verbs/ibverbs/verbs_api.h"

namespace {

template <typename T>
[[nodiscard]] T* none() {
  errno = EOPNOTSUPP;
  return nullptr;
}

[[nodiscard]] int not_supported() {
  errno = EOPNOTSUPP;
  return EOPNOTSUPP;
}

}  // namespace

using namespace roce::verbs;

struct ibv_context* ibv_import_device(int /*cmd_fd*/) {
  return none<ibv_context>();
}
struct ibv_pd* ibv_import_pd(struct ibv_context* /*context*/, uint32_t /*handle*/) {
  return none<ibv_pd>();
}
void ibv_unimport_pd(struct ibv_pd* /*pd*/) {}
struct ibv_mr* ibv_import_mr(struct ibv_pd* /*pd*/, uint32_t /*handle*/) {
  return none<ibv_mr>();
}
void ibv_unimport_mr(struct ibv_mr* /*mr*/) {}
struct ibv_dm* ibv_import_dm(struct ibv_context* /*context*/, uint32_t /*handle*/) {
  return none<ibv_dm>();
}
void ibv_unimport_dm(struct ibv_dm* /*dm*/) {}
struct ibv_mr* ibv_reg_dmabuf_mr(struct ibv_pd* /*pd*/, uint64_t /*offset*/, size_t /*length*/, uint64_t /*iova*/,
                                 int /*fd*/, int /*access*/) {
  return none<ibv_mr>();
}

int ibv_resolve_eth_l2_from_gid(struct ibv_context* /*context*/, struct ibv_ah_attr* /*attributes*/,
                                uint8_t /*mac*/[ETHERNET_LL_SIZE], uint16_t* /*vlan*/) {
  return not_supported();
}

// No hardware reads the memory of a process here, so that a fork takes nothing away from it.
int ibv_fork_init(void) {
  return 0;
}
enum ibv_fork_status ibv_is_fork_initialized(void) {
  return IBV_FORK_UNNEEDED;
}
int ibv_dofork_range(void* /*base*/, size_t /*size*/) {
  return 0;
}
int ibv_dontfork_range(void* /*base*/, size_t /*size*/) {
  return 0;
}

// These translate structures of the kernel's RDMA CM for librdmacm, which finds no such kernel here.
void ibv_copy_ah_attr_from_kern(void* /*to*/, void* /*from*/) {}
void ibv_copy_path_rec_from_kern(void* /*to*/, void* /*from*/) {}
void ibv_copy_path_rec_to_kern(void* /*to*/, void* /*from*/) {}
void ibv_copy_qp_attr_from_kern(void* /*to*/, void* /*from*/) {}
void ibv_register_driver(const char* /*name*/, void* /*init*/) {}

/// Returns the number of bytes read, without a newline at the end, or -1.
int ibv_read_sysfs_file(const char* folder, const char* file, char* text, size_t size) {
  int length = -1;
  const int error = status_of([&] {
    const std::string path = std::string{folder} + "/" + file;
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return errno;
    length = static_cast<int>(::read(fd, text, size));
    const int read_error = length < 0 ? errno : 0;
    ::close(fd);
    return read_error;
  });
  if (error != 0) return -1;
  if (length > 0 && text[length - 1] == '\n') text[--length] = '\0';
  return length;
}
