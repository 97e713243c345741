// SPDX-License-Identifier: BSD-2-Clause
// Memory windows. Those of type 1 are bound by a function, those of type 2 by a posted request.
#include "verbs/ibverbs/memory_window.h"

#include <memory>

#include "verbs/ibverbs/destroy.h"
#include "verbs/ibverbs/entries.h"
#include "verbs/ibverbs/results.h"

namespace roce::verbs {

namespace {

/// The rights that a window can have; others are the region's.
constexpr unsigned kRights =
    IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_ZERO_BASED;
/// The part of a key that the program chooses.
constexpr std::uint32_t kVariantMask = 0xFF;

}  // namespace

std::uint32_t key_after_bind(const ibv_mw& mw, std::uint32_t r_key) {
  return (mw.rkey & ~kVariantMask) | (r_key & kVariantMask);
}

transport::MwBinding binding_of(const ibv_mw& mw, std::uint32_t r_key, const ibv_mw_bind_info& info) {
  transport::MwBinding binding;
  binding.mw = object_of(const_cast<ibv_mw*>(&mw)).handle_of_device;
  if (info.mr != nullptr) binding.mr = object_of(info.mr).handle_of_device;
  binding.address = info.addr;
  binding.length = info.length;
  binding.access = static_cast<transport::Access>(info.mw_access_flags & kRights);
  binding.variant = static_cast<std::uint8_t>(r_key & kVariantMask);
  return binding;
}

ibv_mw* alloc_window(ibv_pd* pd, ibv_mw_type type) {
  return object_of([&]() -> OrErrno<ibv_mw*> {
    if (type != IBV_MW_TYPE_1 && type != IBV_MW_TYPE_2) return refused(EINVAL);
    PdObject& owner = object_of(pd);
    if (const int error = error_of(owner); error != 0) return refused(error);
    auto window = std::make_unique<MwObject>();
    const auto key = owner.engine->use([&](transport::Device& device, Time) {
      const auto mw_type = type == IBV_MW_TYPE_1 ? transport::MwType::type1 : transport::MwType::type2;
      return device.create_mw(owner.handle_of_device, mw_type).and_then([&](transport::Mw handle) {
        window->handle_of_device = handle;
        return device.query_mw(handle);
      });
    });
    if (!key) return refused(errno_of(key.error()));
    window->engine = owner.engine;
    window->context = pd->context;
    window->pd = pd;
    window->rkey = key->value();
    window->handle = window->handle_of_device.index;
    window->type = type;
    return window.release();
  });
}

int free_window(ibv_mw* mw) {
  return destroy(object_of(mw), &transport::Device::destroy_mw);
}

int bind_window(ibv_qp* qp, ibv_mw* mw, ibv_mw_bind* bind) {
  if (mw->type != IBV_MW_TYPE_1) return status_of([] { return EINVAL; });
  ibv_send_wr request{};
  request.wr_id = bind->wr_id;
  request.opcode = IBV_WR_BIND_MW;
  request.send_flags = bind->send_flags;
  request.bind_mw = {mw, ::ibv_inc_rkey(mw->rkey), bind->bind_info};
  ibv_send_wr* bad = nullptr;
  return post_send(qp, &request, &bad);
}

}  // namespace roce::verbs
