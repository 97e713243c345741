// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>

#include "roce/wire/types.h"
#include "support/network_namespace.h"

namespace roce::port::test {

using nlohmann::json;
using roce::test::NetworkNamespace;

/// A test that needs network namespaces of its own.
class NamespaceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (NetworkNamespace::unavailable()) GTEST_SKIP() << *NetworkNamespace::unavailable();
  }
};

/// Returns the output of `ip -j`.
inline json ip_json(const NetworkNamespace& space, const std::string& arguments) {
  return json::parse(space.ip("-j " + arguments));
}

inline MacAddress mac_from(const std::string& text) {
  std::istringstream in(text);
  MacAddress mac;
  for (std::uint8_t& octet : mac.octets) {
    std::string digits;
    std::getline(in, digits, ':');
    octet = static_cast<std::uint8_t>(std::stoul(digits, nullptr, 16));
  }
  return mac;
}

/// Returns the MAC address that `ip` shows for an interface.
inline MacAddress mac_of(const NetworkNamespace& space, const std::string& name) {
  return mac_from(ip_json(space, "link show dev " + name).at(0).at("address"));
}

}  // namespace roce::port::test
