// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "ethernet_link_fixture.h"
#include "roce/link/xdp_link.h"

namespace roce::link::test {

/// A test with a wire of its own, skipped if BPF programs may not be loaded.
class XdpLinkTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto& reason = roce::test::NetworkNamespace::unavailable();
    if (reason) GTEST_SKIP() << *reason;
    wire_.emplace();
    const auto trial = wire_->a.in([] { return XdpLink::open({.interface = "va", .copies = {}}); });
    if (!trial && trial.error().no_permission) GTEST_SKIP() << trial.error().message;
  }
  /// Returns nullptr, and fails the test, if the link cannot be opened.
  [[nodiscard]] std::unique_ptr<XdpLink> open_a(XdpLinkOptions options) const {
    return open(wire_->a, "va", std::move(options));
  }
  [[nodiscard]] std::unique_ptr<XdpLink> open_b(XdpLinkOptions options) const {
    return open(wire_->b, "vb", std::move(options));
  }
  /// Returns the error of opening a link on side a; "no error" if it opens.
  [[nodiscard]] std::string error_of(XdpLinkOptions options) const {
    if (options.interface.empty()) options.interface = "va";
    const auto opened = wire_->a.in([&] { return XdpLink::open(options); });
    return opened ? "no error" : opened.error().message;
  }
  /// True if there is any XDP program on an interface.
  [[nodiscard]] static bool has_program(const roce::test::NetworkNamespace& space, const std::string& interface) {
    return space.ip("-d link show dev " + interface).find("xdp") != std::string::npos;
  }

  std::optional<Wire> wire_;

 private:
  static std::unique_ptr<XdpLink> open(const roce::test::NetworkNamespace& space, const char* name,
                                       XdpLinkOptions options) {
    options.interface = name;
    auto opened = space.in([&] { return XdpLink::open(options); });
    if (opened) return std::move(*opened);
    ADD_FAILURE() << opened.error().message;
    return nullptr;
  }
};

}  // namespace roce::link::test
