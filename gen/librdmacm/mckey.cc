// SPDX-License-Identifier: BSD-2-Clause
#include "gen/librdmacm/mckey.h"

#include <algorithm>
#include <array>

namespace roce::gen {

namespace {

/// The destination QP of everything that is sent to a group (IBTA vol. 1, 10.5.1).
constexpr Qpn kMulticastQpn{0xFF'FFFF};
/// How long each message may take to come once the first one has.
constexpr Duration kPatience = std::chrono::seconds{10};

/// A queue pair's membership in a group.
class Attachment {
 public:
  Attachment(live::Endpoint& endpoint, Qpn qpn, const Gid& group)
      : device_(endpoint.device()), qpn_(qpn), group_(group) {
    live::granted(device_.attach_multicast(qpn, group), "attach the queue pair to the group");
  }
  ~Attachment() { (void)device_.detach_multicast(qpn_, group_); }
  Attachment(const Attachment&) = delete;
  Attachment& operator=(const Attachment&) = delete;

 private:
  transport::Device& device_;
  Qpn qpn_;
  Gid group_;
};

}  // namespace

Gid group_gid(const Gid& address, transport::GidType type) {
  if (type == transport::GidType::roce_v2 || !address.is_ipv4_mapped()) return address;
  Gid group = address;
  group.octets[0] = 0xFF;
  group.octets[1] = 0x0E;
  return group;
}

live::Task<> mckey_receiver(live::Endpoint& endpoint, Gid group, MessageOptions options, ProgramReport& report) {
  const Time now = co_await live::this_time{};
  DatagramSide side{endpoint, options, now};
  const Attachment attachment{endpoint, side.qp().qpn(), group};
  report.begun = now;
  co_await live::until([&] { return side.qp().has_received(); });
  (void)co_await side.receive(report, kPatience);
  report.ended = co_await live::this_time{};
  report.counters = side.qp().counters();
}

live::Task<> mckey_sender(live::Endpoint& endpoint, Gid group, MessageOptions options, std::uint8_t traffic_class,
                          ProgramReport& report) {
  const Time now = co_await live::this_time{};
  DatagramSide side{endpoint, options, now};
  transport::AddressVector address{.sgid_index = endpoint.sgid_index(), .dgid = group};
  address.traffic_class = traffic_class;
  const AddressHandle ah{side.domain(), address};
  transport::DatagramAddress to;
  to.ah = ah.get();
  to.qpn = kMulticastQpn;
  to.q_key = kUdpPortSpaceQKey;
  report.begun = now;
  co_await side.send(to);
  report.messages = options.count;
  report.bytes = std::uint64_t{options.count} * options.size;
  report.ended = co_await live::this_time{};
  report.counters = side.qp().counters();
}

}  // namespace roce::gen
