// SPDX-License-Identifier: BSD-2-Clause
// AF_XDP links on veth pairs in network namespaces of the test's own.
#include "roce/link/xdp_link.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ethernet_link_fixture.h"

namespace roce::link::test {
namespace {

using ::testing::HasSubstr;
using Mode = XdpLinkOptions::Mode;

[[maybe_unused]] const bool kOnTheHost = [] {
  roce::test::NetworkNamespace::stay_on_the_host();
  return true;
}();

LinkResult<std::unique_ptr<Link>> open_xdp(const std::string& interface, Room room, Mode mode) {
  XdpLinkOptions options;
  options.interface = interface;
  options.mode = mode;
  if (room == Room::little) options.ring_bytes = 1;
  return XdpLink::open(options);
}

INSTANTIATE_TEST_SUITE_P(
    Xdp, EthernetLink,
    ::testing::Values(
        EthernetLinkKind{"Native", [](const auto& name, Room room) { return open_xdp(name, room, Mode::native); }},
        EthernetLinkKind{"Generic", [](const auto& name, Room room) { return open_xdp(name, room, Mode::generic); }}),
    [](const auto& which) { return which.param.name; });

}  // namespace
}  // namespace roce::link::test
