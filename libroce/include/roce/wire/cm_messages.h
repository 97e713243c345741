// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "roce/wire/cm_dreq.h"
#include "roce/wire/cm_lap.h"
#include "roce/wire/cm_mra.h"
#include "roce/wire/cm_rej.h"
#include "roce/wire/cm_rep.h"
#include "roce/wire/cm_req.h"
#include "roce/wire/cm_rtu.h"
#include "roce/wire/cm_sidr.h"
#include "roce/wire/cma.h"
#include "roce/wire/mad.h"

namespace roce {

/// Returns the header that holds the data of a CM message with this attribute, or `HeaderId::none`.
[[nodiscard]] constexpr HeaderId cm_header_id(MadAttribute attribute) {
  switch (attribute) {
    case MadAttribute::cm_req:
      return HeaderId::cm_req;
    case MadAttribute::cm_mra:
      return HeaderId::cm_mra;
    case MadAttribute::cm_rej:
      return HeaderId::cm_rej;
    case MadAttribute::cm_rep:
      return HeaderId::cm_rep;
    case MadAttribute::cm_rtu:
      return HeaderId::cm_rtu;
    case MadAttribute::cm_dreq:
      return HeaderId::cm_dreq;
    case MadAttribute::cm_drep:
      return HeaderId::cm_drep;
    case MadAttribute::cm_sidr_req:
      return HeaderId::cm_sidr_req;
    case MadAttribute::cm_sidr_rep:
      return HeaderId::cm_sidr_rep;
    case MadAttribute::cm_lap:
      return HeaderId::cm_lap;
    case MadAttribute::cm_apr:
      return HeaderId::cm_apr;
    default:
      return HeaderId::none;
  }
}

/// Returns the header of the 232 bytes after this MAD header, or `HeaderId::none` if they are not a CM message:
/// another class, class version (only the layouts of 2 are known) or method than Send, or an unknown attribute.
[[nodiscard]] constexpr HeaderId cm_header_id(const Mad& mad) {
  const bool is_cm = mad.base_version == 1 && mad.mgmt_class == MgmtClass::communication && mad.class_version == 2 &&
                     mad.method == MadMethod::send;
  return is_cm ? cm_header_id(mad.attribute_id) : HeaderId::none;
}

}  // namespace roce
