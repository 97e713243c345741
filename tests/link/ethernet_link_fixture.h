// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>

#include "link_tools.h"
#include "roce/link/link.h"
#include "support/network_namespace.h"

namespace roce::link::test {

/// Two namespaces with a veth pair, `va` in a and `vb` in b.
struct Wire {
  roce::test::NetworkNamespace a;
  roce::test::NetworkNamespace b;
  Wire() { roce::test::connect_by_veth(a, "va", b, "vb"); }
};

inline constexpr std::uint16_t kRoceV1Type = 0x8915;
/// An EtherType that nobody knows.
inline constexpr std::uint16_t kOtherType = 0x88b5;

/// Returns a broadcast frame of `size` bytes.
inline Bytes frame(std::size_t size, unsigned seed, std::uint16_t type = kRoceV1Type) {
  Bytes bytes = pattern(size, seed);
  std::fill_n(bytes.begin(), 6, std::byte{0xff});
  bytes[6] = std::byte{0x02};
  bytes[12] = static_cast<std::byte>(type >> 8);
  bytes[13] = static_cast<std::byte>(type & 0xff);
  return bytes;
}

struct Tag {
  std::uint16_t tpid;
  std::uint16_t tci;
};

/// Returns the frame with one more VLAN tag in front.
inline Bytes tagged(Bytes bytes, Tag tag) {
  const std::array<std::byte, 4> inserted{static_cast<std::byte>(tag.tpid >> 8),
                                          static_cast<std::byte>(tag.tpid & 0xff), static_cast<std::byte>(tag.tci >> 8),
                                          static_cast<std::byte>(tag.tci & 0xff)};
  bytes.insert(bytes.begin() + 12, inserted.begin(), inserted.end());
  return bytes;
}

enum class Room : std::uint8_t { usual, little };

/// A way to open a link on an interface of the calling thread's namespace.
struct EthernetLinkKind {
  std::string name;
  std::function<LinkResult<std::unique_ptr<Link>>(const std::string& interface, Room room)> open;

  // Its bytes differ from run to run, and ctest would show them.
  friend void PrintTo(const EthernetLinkKind& kind, std::ostream* out) { *out << kind.name; }
};

/// A test with a wire of its own, for each kind that the program instantiates it with.
class EthernetLink : public ::testing::TestWithParam<EthernetLinkKind> {
 protected:
  void SetUp() override {
    const auto& reason = roce::test::NetworkNamespace::unavailable();
    if (reason) GTEST_SKIP() << *reason;
    wire_.emplace();
    const auto trial = wire_->a.in([] { return GetParam().open("va", Room::little); });
    if (!trial && trial.error().no_permission) GTEST_SKIP() << trial.error().message;
  }
  /// Returns nullptr, and fails the test, if the link cannot be opened.
  [[nodiscard]] std::unique_ptr<Link> open_a(Room room = Room::usual) const { return open(wire_->a, "va", room); }
  [[nodiscard]] std::unique_ptr<Link> open_b(Room room = Room::usual) const { return open(wire_->b, "vb", room); }

  std::optional<Wire> wire_;

 private:
  static std::unique_ptr<Link> open(const roce::test::NetworkNamespace& space, const char* name, Room room) {
    auto opened = space.in([&] { return GetParam().open(name, room); });
    if (opened) return std::move(*opened);
    ADD_FAILURE() << opened.error().message;
    return nullptr;
  }
};

}  // namespace roce::link::test
