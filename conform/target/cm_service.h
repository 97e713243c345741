// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "conform/target/target.h"
#include "roce/wire/cm_messages.h"

namespace roce::conform {

/// A QP of the device that a connection is for. `qpn` and `setup` are those that it was made with; its starting PSNs
/// are `setup.rq_psn` and, since a case says it in its REQ or REP, `setup.sq_psn`.
struct CmEnd {
  QpNumber number = 0;
  Qpn qpn{};
  QpSetup setup{};
};

/// The members of a message of the device that do not follow from its QP.
struct CmTerms {
  ServiceId service{};
  std::uint8_t responder_resources = 4;
  std::uint8_t initiator_depth = 4;
  std::uint8_t rnr_retry = 7;
  std::uint8_t service_timeout = 20;  ///< of an MRA, a time code
  std::uint16_t reason = 28;          ///< of a REJ
  std::string info{};                 ///< of a REJ, hex digits
  std::string private_data{};         ///< hex digits; in a REQ behind the RDMA IP CM header
};

/// A service that the device listens for.
struct CmListener {
  CmTerms terms{};
  std::vector<CmEnd> ends{};  ///< the QPs that requests get, in this order; a UD QP serves all of them
  bool answers = true;        ///< at once; else each request waits for a verb
};

/// An event of the device's communication manager.
struct CmReport {
  std::string kind{};  ///< `request`, `established`, `rejected` …
  std::uint16_t reason = 0;
  std::string private_data{};  ///< of a request or a rejection, hex digits
};

/// The communication manager of a device as the runner of a case sees it. A connection that is agreed on takes its QP
/// to RTS, and its end takes the QP to ERR, before the message goes out that tells the tester.
class CmService {
 public:
  CmService() = default;
  CmService(const CmService&) = delete;
  CmService& operator=(const CmService&) = delete;
  virtual ~CmService() = default;

  virtual TargetResult<void> listen(const CmListener& listener) = 0;
  /// Answers the oldest request that waits, with the QP that its listener has for it.
  virtual TargetResult<void> accept(const CmTerms& terms) = 0;
  virtual TargetResult<void> reject(const CmTerms& terms) = 0;
  /// Asks for time to answer the oldest request or reply that waits.
  virtual TargetResult<void> delay(const CmTerms& terms) = 0;
  /// Asks the tester for a connection.
  virtual TargetResult<void> connect(const CmEnd& end, const CmTerms& terms) = 0;
  virtual TargetResult<void> disconnect(const CmEnd& end) = 0;
  /// Takes the oldest event that was not taken yet.
  [[nodiscard]] virtual std::optional<CmReport> poll_event() = 0;
};

}  // namespace roce::conform
