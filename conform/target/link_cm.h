// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "conform/target/cm_service.h"
#include "conform/target/link_device.h"

namespace roce::conform {

/// The communication manager of a device on a wire, by the control protocol.
class LinkCm final : public CmService {
 public:
  /// `device` has to outlive it.
  explicit LinkCm(LinkDevice& device) : device_(device) {}

  TargetResult<void> listen(const CmListener& listener) override;
  TargetResult<void> accept(const CmTerms& terms) override;
  TargetResult<void> reject(const CmTerms& terms) override;
  TargetResult<void> delay(const CmTerms& terms) override;
  TargetResult<void> connect(const CmEnd& end, const CmTerms& terms) override;
  TargetResult<void> disconnect(const CmEnd& end) override;
  [[nodiscard]] std::optional<CmReport> poll_event() override;

 private:
  void check_type(const CmEnd& end) const;
  TargetResult<void> order(std::string_view op, nlohmann::ordered_json request);

  LinkDevice& device_;
};

}  // namespace roce::conform
