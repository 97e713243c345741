// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "input.h"
#include "roce/cm/connection_manager.h"

// The input is a program on one communication manager: the caller's actions, messages that name connections which exist
// or do not, messages with bytes changed, time that passes. Always required: no more connections than allowed, events
// only of connections that exist or existed, and after enough time only connections are left that nobody ended.

namespace {

using namespace roce;
using roce::test::Input;
using namespace roce::cm;

void check(bool holds) {
  if (!holds) std::abort();
}

constexpr std::uint32_t kMost = 8;
constexpr ServiceId kService{PortSpace::tcp, 7174};

class Run {
 public:
  explicit Run(Bytes bytes)
      : program_(bytes),
        manager_(ConnectionManager::make({.ca_guid = 1, .max_connections = kMost}, [n = std::uint64_t{0}]() mutable {
                   return n++;
                 }).value()) {
    (void)manager_.listen(kService);
  }

  void run() {
    while (!program_.empty()) {
      step();
      look();
    }
    // A message is sent sixteen times at most, and a timewait ends.
    for (unsigned i = 0; i < 64 * kMost && manager_.next_timeout() != kNever; ++i) {
      now_ = std::max(now_, manager_.next_timeout());
      manager_.advance(now_);
      look();
    }
    check(manager_.next_timeout() == kNever);
  }

 private:
  CommId some_connection() {
    const std::uint8_t choice = program_.byte();
    return names_.empty() || choice > 200 ? CommId{choice} : names_[choice % names_.size()];
  }

  void step() {
    switch (program_.byte() % 14) {
      case 0: {
        ConnectRequest request;
        request.service = kService;
        request.qpn = Qpn{program_.byte()};
        request.path_mtu = static_cast<PathMtu>(program_.byte() % 7);
        const auto made = manager_.connect(request, now_);
        if (made) names_.push_back(*made);
        return;
      }
      case 1: {
        Reply reply;
        reply.qpn = Qpn{program_.byte()};
        reply.responder_resources = program_.byte() % 4;
        (void)manager_.accept(some_connection(), reply, now_);
        return;
      }
      case 2:
        (void)manager_.confirm(some_connection(), {}, now_);
        return;
      case 3:
        (void)manager_.reject(some_connection(), {}, now_);
        return;
      case 4:
        (void)manager_.delay(some_connection(), program_.byte(), now_);
        return;
      case 5:
        (void)manager_.disconnect(some_connection(), now_);
        return;
      case 6:
        (void)manager_.abandon(some_connection(), now_);
        return;
      case 7:
        manager_.data_arrived(some_connection(), now_);
        return;
      case 8: {
        const auto made = manager_.resolve({.service = kService}, now_);
        if (made) names_.push_back(*made);
        return;
      }
      case 9:
        (void)manager_.answer(some_connection(), {.qpn = Qpn{program_.byte()}}, now_);
        return;
      case 10:
        now_ += std::chrono::milliseconds{std::int64_t{1} << (program_.byte() % 20)};
        manager_.advance(now_);
        return;
      default:
        return receive();
    }
  }

  /// Receives a message with a header and IDs as a peer could send them, and a few bytes changed.
  void receive() {
    std::array<std::byte, kMadSize> bytes{};
    Mad mad;
    mad.attribute_id = static_cast<MadAttribute>(0x10 + program_.byte() % 12);
    write(mad, bytes.data());
    std::byte* const data = bytes.data() + kSize<Mad>;
    if (mad.attribute_id == MadAttribute::cm_req) {
      CmReq req;
      req.local_comm_id = CommId{program_.byte()};
      req.local_ca_guid = program_.byte() % 2U;
      req.local_qpn = Qpn{program_.byte()};
      req.service_id = kService;
      req.path_mtu = PathMtu::mtu_1024;
      req.max_cm_retries = program_.byte() % 16;
      req.local_cm_response_timeout = program_.byte() % 32;
      const Cma cma;
      write(cma, req.private_data.data());
      write(req, data);
    } else if (mad.attribute_id == MadAttribute::cm_sidr_req) {
      CmSidrReq req;
      req.request_id = program_.byte();
      req.service_id = kService;
      const Cma cma;
      write(cma, req.private_data.data());
      write(req, data);
    } else if (mad.attribute_id == MadAttribute::cm_sidr_rep) {
      CmSidrRep rep;
      rep.request_id = some_connection().value();
      write(rep, data);
    } else if (mad.attribute_id == MadAttribute::cm_rep) {
      CmRep rep;
      rep.local_comm_id = CommId{program_.byte()};
      rep.remote_comm_id = some_connection();
      rep.local_qpn = Qpn{program_.byte()};
      write(rep, data);
    } else {
      CmDreq names;
      names.local_comm_id = CommId{program_.byte()};
      names.remote_comm_id = some_connection();
      names.remote_qpn = Qpn{program_.byte()};
      write(names, data);
    }
    for (unsigned changes = program_.byte() % 4; changes > 0; --changes) {
      bytes[program_.byte()] = static_cast<std::byte>(program_.byte());
    }
    const std::size_t size = program_.byte() == 0 ? program_.byte() : kMadSize;
    manager_.receive(std::span{bytes}.first(size), {}, now_);
  }

  void look() {
    while (const auto event = manager_.poll_event()) {
      if (event->kind == EventKind::request || event->kind == EventKind::resolve_request)
        names_.push_back(event->connection);
      check(std::ranges::find(names_, event->connection) != names_.end());
    }
    while (manager_.poll_message()) {
    }
    check(manager_.connections() <= kMost);
  }

  Input program_;
  ConnectionManager manager_;
  Time now_{};
  std::vector<CommId> names_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Run{std::as_bytes(std::span{data, size})}.run();
  return 0;
}
