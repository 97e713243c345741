// SPDX-License-Identifier: BSD-2-Clause
// The properties of devices and ports, and the GID and P_Key tables.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "roce/port/link_speed.h"
#include "verbs/ibverbs/device_memory.h"
#include "verbs/ibverbs/entries.h"
#include "verbs/ibverbs/later_functions.h"
#include "verbs/ibverbs/objects.h"
#include "verbs/ibverbs/results.h"

namespace roce::verbs {

namespace {

constexpr std::uint16_t kPKey = 0xFFFF;
constexpr std::uint8_t kLinkUp = 5;
constexpr std::uint32_t kMaxMessage = 1U << 31;
/// No vendor, as Soft-RoCE says: no OUI is all ones.
constexpr std::uint32_t kNoVendor = 0xFF'FFFF;
/// Clocks are told in kHz.
constexpr std::uint64_t kNanosecondsPerMillisecond = 1'000'000;

struct Speed {
  std::uint64_t bits_per_second;
  std::uint8_t width;  // 1: one lane, 2: four
  std::uint8_t speed;  // of a lane: 1: 2.5, 4: 10, 32: 25, 64: 50, 128: 100 Gbit/s
};
constexpr std::array kSpeeds{Speed{400'000'000'000, 2, 128}, Speed{200'000'000'000, 2, 64},
                             Speed{100'000'000'000, 2, 32},  Speed{50'000'000'000, 1, 64},
                             Speed{40'000'000'000, 2, 4},    Speed{25'000'000'000, 1, 32},
                             Speed{10'000'000'000, 1, 4},    Speed{0, 1, 1}};

[[nodiscard]] const Place& place_of(ibv_context* context) {
  return object_of(context->device).place;
}

void fill(const Place& place, ibv_device_attr& out) {
  const transport::Limits limits = Engine::limits();
  std::strncpy(out.fw_ver, ROCE_VERSION, sizeof out.fw_ver - 1);
  out.node_guid = out.sys_image_guid = place.guid();
  out.vendor_id = kNoVendor;
  out.max_mr_size = ~std::uint64_t{0};
  out.page_size_cap = 0xFFFF'F000;
  out.max_qp = static_cast<int>(limits.max_qp);
  out.max_qp_wr = static_cast<int>(limits.max_wr);
  out.device_cap_flags = IBV_DEVICE_CURR_QP_STATE_MOD | IBV_DEVICE_SYS_IMAGE_GUID | IBV_DEVICE_RC_RNR_NAK_GEN |
                         IBV_DEVICE_MEM_WINDOW | IBV_DEVICE_MEM_WINDOW_TYPE_2B | IBV_DEVICE_XRC;
  out.max_sge = out.max_sge_rd = out.max_srq_sge = limits.max_sge;
  out.max_cq = static_cast<int>(limits.max_cq);
  out.max_cqe = static_cast<int>(limits.max_cqe);
  out.max_mr = static_cast<int>(limits.max_mr);
  out.max_mw = static_cast<int>(limits.max_mr);
  out.max_pd = static_cast<int>(limits.max_pd);
  out.max_qp_rd_atom = out.max_qp_init_rd_atom = limits.max_rd_atomic;
  out.max_res_rd_atom = limits.max_rd_atomic * static_cast<int>(limits.max_qp);
  out.atomic_cap = IBV_ATOMIC_GLOB;
  out.max_mcast_grp = out.max_mcast_qp_attach = out.max_total_mcast_qp_attach = static_cast<int>(limits.max_groups);
  out.max_ah = static_cast<int>(limits.max_ah);
  out.max_srq = static_cast<int>(limits.max_srq);
  out.max_srq_wr = static_cast<int>(limits.max_wr);
  out.max_pkeys = 1;
  out.phys_port_cnt = 1;
}

[[nodiscard]] std::uint64_t speed_of(const Place& place) {
  return port::link_speed_bps(place.interface).value_or(port::Port::kUsualSpeed);
}

[[nodiscard]] ibv_port_attr port_of(const Place& place) {
  constexpr std::uint32_t smallest_mtu = 256;
  const std::uint64_t bits_per_second = speed_of(place);
  const Speed& speed =
      *std::ranges::find_if(kSpeeds, [&](const Speed& row) { return bits_per_second >= row.bits_per_second; });
  ibv_port_attr out{};
  out.state = IBV_PORT_ACTIVE;
  out.max_mtu = IBV_MTU_4096;
  out.active_mtu = static_cast<ibv_mtu>(IBV_MTU_256 + std::countr_zero(place.path_mtu / smallest_mtu));
  out.gid_tbl_len = 1;
  out.port_cap_flags = IBV_PORT_CM_SUP | IBV_PORT_IP_BASED_GIDS;
  out.max_msg_sz = kMaxMessage;
  out.pkey_tbl_len = 1;
  out.max_vl_num = 1;
  out.active_width = speed.width;
  out.active_speed = speed.speed;
  out.phys_state = kLinkUp;
  out.link_layer = IBV_LINK_LAYER_ETHERNET;
  out.flags = IBV_QPF_GRH_REQUIRED;
  return out;
}

void fill(ibv_context* context, ibv_gid_entry& out) {
  std::memcpy(out.gid.raw, place_of(context).address.octets.data(), sizeof out.gid.raw);
  out.gid_index = 0;
  out.port_num = 1;
  out.gid_type = IBV_GID_TYPE_ROCE_V2;
  out.ndev_ifindex = place_of(context).interface_index;
}

}  // namespace

int query_port(ibv_context* context, std::uint8_t port, ibv_port_attr* attributes, std::size_t size) {
  return status_of([&] {
    if (port != 1) return EINVAL;
    const ibv_port_attr known = port_of(place_of(context));
    std::memset(attributes, 0, size);
    std::memcpy(attributes, &known, std::min(size, sizeof known));
    return 0;
  });
}

int query_device(ibv_context* context, const ibv_query_device_ex_input* input, ibv_device_attr_ex* attributes,
                 std::size_t size) {
  return status_of([&] {
    if ((input != nullptr && input->comp_mask != 0) || size < sizeof attributes->orig_attr) return EINVAL;
    ibv_device_attr_ex known{};
    fill(place_of(context), known.orig_attr);
    known.device_cap_flags_ex = known.orig_attr.device_cap_flags;
    known.phys_port_cnt_ex = known.orig_attr.phys_port_cnt;
    // Memory is not pinned, so that all of it is on demand.
    constexpr std::uint32_t all = IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_RECV | IBV_ODP_SUPPORT_WRITE |
                                  IBV_ODP_SUPPORT_READ | IBV_ODP_SUPPORT_ATOMIC | IBV_ODP_SUPPORT_SRQ_RECV;
    constexpr std::uint32_t datagrams = IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_RECV | IBV_ODP_SUPPORT_SRQ_RECV;
    known.odp_caps = {IBV_ODP_SUPPORT | IBV_ODP_SUPPORT_IMPLICIT, {all, datagrams | IBV_ODP_SUPPORT_WRITE, datagrams}};
    known.xrc_odp_caps = all;
    known.completion_timestamp_mask = ~std::uint64_t{0};
    known.hca_core_clock = kNanosecondsPerMillisecond;
    known.max_dm_size = kMostDeviceMemory;
    std::memset(attributes, 0, size);
    std::memcpy(attributes, &known, std::min(size, sizeof known));
    return 0;
  });
}

int query_gid_type(ibv_context* /*context*/, std::uint8_t port, unsigned index, int* type) {
  const int error = status_of([&] {
    if (port != 1 || index != 0) return EINVAL;
    *type = 1;
    return 0;
  });
  return error == 0 ? 0 : -1;
}

}  // namespace roce::verbs

using namespace roce;
using namespace roce::verbs;

int ibv_query_device(struct ibv_context* context, struct ibv_device_attr* attributes) {
  return status_of([&] {
    *attributes = {};
    fill(place_of(context), *attributes);
    return 0;
  });
}

/// Programs built before `ibv_port_attr` got its last member call this; they have room for all the others.
int ibv_query_port(struct ibv_context* context, uint8_t port, struct _compat_ibv_port_attr* attributes) {
  return query_port(context, port, reinterpret_cast<ibv_port_attr*>(attributes),
                    offsetof(ibv_port_attr, port_cap_flags2));
}

int ibv_query_port_speed(struct ibv_context* context, uint32_t port, uint64_t* speed) {
  return status_of([&] {
    constexpr std::uint64_t unit = 100'000'000;  // bits a second
    if (port != 1) return EINVAL;
    *speed = speed_of(place_of(context)) / unit;
    return 0;
  });
}

int ibv_query_gid(struct ibv_context* context, uint8_t port, int index, union ibv_gid* gid) {
  const int error = status_of([&] {
    if (port != 1 || index != 0) return EINVAL;
    ibv_gid_entry entry{};
    fill(context, entry);
    *gid = entry.gid;
    return 0;
  });
  return error == 0 ? 0 : -1;
}

int _ibv_query_gid_ex(struct ibv_context* context, uint32_t port, uint32_t index, struct ibv_gid_entry* entry,
                      uint32_t flags, size_t size) {
  return status_of([&] {
    if (port != 1 || flags != 0 || size < sizeof(ibv_gid_entry)) return EINVAL;
    if (index != 0) return ENODATA;
    fill(context, *entry);
    return 0;
  });
}

ssize_t _ibv_query_gid_table(struct ibv_context* context, struct ibv_gid_entry* entries, size_t count, uint32_t flags,
                             size_t size) {
  const int error = status_of([&] {
    if (flags != 0 || size < sizeof(ibv_gid_entry) || count == 0) return EINVAL;
    fill(context, *entries);
    return 0;
  });
  return error == 0 ? 1 : -error;
}

int ibv_query_pkey(struct ibv_context* /*context*/, uint8_t port, int index, __be16* p_key) {
  const int error = status_of([&] {
    if (port != 1 || index != 0) return EINVAL;
    *p_key = kPKey;
    return 0;
  });
  return error == 0 ? 0 : -1;
}

int ibv_get_pkey_index(struct ibv_context* /*context*/, uint8_t port, __be16 p_key) {
  if (port == 1 && p_key == kPKey) return 0;
  errno = EINVAL;
  return -1;
}
