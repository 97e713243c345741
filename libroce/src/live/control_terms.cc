// SPDX-License-Identifier: BSD-2-Clause
#include "roce/live/control_terms.h"

#include <cstdint>

#include "roce/live/control_request.h"

namespace roce::live {

namespace {

constexpr std::uint64_t kMostDepth = 255;
constexpr std::uint8_t kLongestCode = 31;

[[nodiscard]] std::vector<std::byte> bytes(const nlohmann::json& request, const char* name) {
  return request.contains(name) ? from_hex(text(request, name)) : std::vector<std::byte>{};
}

}  // namespace

CmTerms cm_terms_of(const nlohmann::json& request) {
  CmTerms terms;
  terms.service = ServiceId{number<std::uint64_t>(request, "service", 0, UINT64_MAX, 0)};
  terms.responder_resources = number<std::uint8_t>(request, "responder_resources", 0, kMostDepth, 4);
  terms.initiator_depth = number<std::uint8_t>(request, "initiator_depth", 0, kMostDepth, 4);
  terms.rnr_retry = number<std::uint8_t>(request, "rnr_retry", 0, 7, 7);
  terms.service_timeout = number<std::uint8_t>(request, "service_timeout", 0, kLongestCode, 20);
  terms.reason = number<std::uint16_t>(request, "reason", 0, UINT16_MAX, 28);
  terms.info = bytes(request, "info");
  terms.private_data = bytes(request, "private_data");
  return terms;
}

ServiceId cm_service_of(const nlohmann::json& request) {
  return ServiceId{number<std::uint64_t>(request, "service", 0, UINT64_MAX)};
}

nlohmann::ordered_json to_json(const CmReport& report) {
  return {{"event", report.kind}, {"reason", report.reason}, {"private_data", to_hex(report.private_data)}};
}

}  // namespace roce::live
