// SPDX-License-Identifier: BSD-2-Clause
// Address vectors, address handles and multicast groups.
#include "verbs/ibverbs/address.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>

#include "roce/transport/network_header.h"
#include "verbs/ibverbs/destroy.h"
#include "verbs/ibverbs/objects.h"
#include "verbs/report/complain.h"

namespace roce::verbs {

namespace {

constexpr std::uint8_t kUsualHopLimit = 64;

[[nodiscard]] ibv_gid write(const Gid& gid) {
  ibv_gid out{};
  std::copy(gid.octets.begin(), gid.octets.end(), out.raw);
  return out;
}

template <typename Change>
[[nodiscard]] int change_group(ibv_qp* qp, const ibv_gid* gid, Change&& change) {
  return status_of([&] {
    QpObject& object = object_of(qp);
    if (const int error = error_of(object); error != 0) return error;
    if (!object.engine->is_usable()) return EIO;
    return errno_of(change(*object.engine, object.qpn, gid_of(*gid)));
  });
}

}  // namespace

Gid gid_of(const ibv_gid& gid) {
  Gid out;
  std::copy(std::begin(gid.raw), std::end(gid.raw), out.octets.begin());
  return out;
}

OrErrno<transport::AddressVector> address_of(const ibv_ah_attr& attributes) {
  constexpr std::uint8_t most_service_level = 7;
  if (attributes.is_global == 0 || attributes.port_num != 1) return refused(EINVAL);
  transport::AddressVector address;
  address.sgid_index = attributes.grh.sgid_index;
  address.dgid = gid_of(attributes.grh.dgid);
  address.traffic_class = attributes.grh.traffic_class;
  // Hardware takes none of what programs leave in the upper bits.
  constexpr std::uint32_t flow_label_mask = 0xF'FFFF;
  address.flow_label = attributes.grh.flow_label & flow_label_mask;
  // UCX gives back the service level of a completion, whose upper bits mean something else to it. The hop limit is left
  // to the device, as Linux leaves it to the route: programs give 1.
  if (attributes.sl <= most_service_level) address.service_level = attributes.sl;
  return address;
}

ibv_ah_attr attributes_of(const transport::AddressVector& address, std::uint8_t service_level) {
  ibv_ah_attr out{};
  out.grh.dgid = write(address.dgid);
  out.grh.sgid_index = static_cast<std::uint8_t>(address.sgid_index);
  out.grh.traffic_class = address.traffic_class;
  out.grh.flow_label = address.flow_label;
  out.grh.hop_limit = address.hop_limit.value_or(kUsualHopLimit);
  out.sl = service_level;
  out.is_global = 1;
  out.port_num = 1;
  return out;
}

}  // namespace roce::verbs

using namespace roce;
using namespace roce::verbs;

struct ibv_ah* ibv_create_ah(struct ibv_pd* pd, struct ibv_ah_attr* attributes) {
  return object_of([&]() -> OrErrno<ibv_ah*> {
    PdObject& owner = object_of(pd);
    if (const int error = error_of(owner); error != 0) return refused(error);
    const auto address = address_of(*attributes);
    if (!address) return refused(address.error());
    auto ah = std::make_unique<AhObject>();
    const auto made = owner.engine->use(
        [&](transport::Device& device, Time) { return device.create_ah(owner.handle_of_device, *address); });
    if (!made) return refused(errno_of(made.error()));
    ah->engine = owner.engine;
    ah->handle_of_device = *made;
    ah->context = pd->context;
    ah->pd = pd;
    ah->handle = made->index;
    return ah.release();
  });
}

int ibv_destroy_ah(struct ibv_ah* ah) {
  return destroy(object_of(ah), &transport::Device::destroy_ah);
}

int ibv_init_ah_from_wc(struct ibv_context* /*context*/, uint8_t port, struct ibv_wc* completion,
                        struct ibv_grh* header, struct ibv_ah_attr* attributes) {
  const int error = status_of([&] {
    if (port != 1 || (completion->wc_flags & IBV_WC_GRH) == 0) return EINVAL;
    static_assert(sizeof *header == transport::kNetworkHeaderArea);
    std::array<std::byte, transport::kNetworkHeaderArea> area{};
    std::memcpy(area.data(), header, area.size());
    const auto addresses = transport::addresses_in(area);
    if (!addresses) return EINVAL;
    *attributes = attributes_of({.dgid = addresses->source}, completion->sl);
    return 0;
  });
  return error == 0 ? 0 : -1;
}

struct ibv_ah* ibv_create_ah_from_wc(struct ibv_pd* pd, struct ibv_wc* completion, struct ibv_grh* header,
                                     uint8_t port) {
  ibv_ah_attr attributes{};
  if (ibv_init_ah_from_wc(pd->context, port, completion, header, &attributes) != 0) return nullptr;
  return ibv_create_ah(pd, &attributes);
}

int ibv_attach_mcast(struct ibv_qp* qp, const union ibv_gid* gid, uint16_t /*lid*/) {
  return change_group(qp, gid, [](Engine& engine, Qpn qpn, const Gid& group) {
    std::string why;
    const transport::VerbResult<void> attached = engine.attach_group(qpn, group, why);
    if (!why.empty()) complain(why);
    return attached;
  });
}

int ibv_detach_mcast(struct ibv_qp* qp, const union ibv_gid* gid, uint16_t /*lid*/) {
  return change_group(qp, gid,
                      [](Engine& engine, Qpn qpn, const Gid& group) { return engine.detach_group(qpn, group); });
}
