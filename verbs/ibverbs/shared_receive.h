// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "verbs/ibverbs/objects.h"
#include "verbs/ibverbs/results.h"

namespace roce::verbs {

/// The domain and the CQ of an SRQ for XRC; a plain SRQ has neither.
struct XrcPart {
  transport::Xrcd domain{};
  transport::Cq cq{};
};

/// Makes an SRQ; `xrc` is null for a plain one. `wanted` becomes what it has. Error: a number of errno.h.
[[nodiscard]] OrErrno<ibv_srq*> make_srq(ibv_pd* pd, void* srq_context, ibv_srq_attr& wanted, const XrcPart* xrc);

}  // namespace roce::verbs
