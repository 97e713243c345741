// SPDX-License-Identifier: BSD-2-Clause
// Requests to the kernel's routing netlink (RFC 3549), and its notifications.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "roce/link/file_descriptor.h"
#include "roce/port/result.h"
#include "roce/wire/types.h"

namespace roce::port {

/// A message to the kernel: type and flags, the header of the family, attributes.
class NetlinkRequest {
 public:
  template <typename Header>
  NetlinkRequest(std::uint16_t type, unsigned flags, const Header& header) : NetlinkRequest(type, flags) {
    static_assert(std::is_trivially_copyable_v<Header>);
    append(std::as_bytes(std::span{&header, 1}));
  }

  void add(std::uint16_t type, Bytes value);
  void add(std::uint16_t type, std::uint32_t value) { add(type, std::as_bytes(std::span{&value, 1})); }

  /// Returns the complete message, with its length and this sequence number.
  [[nodiscard]] Bytes numbered(std::uint32_t sequence);

 private:
  NetlinkRequest(std::uint16_t type, unsigned flags);
  void append(Bytes bytes);

  std::vector<std::byte> bytes_;
};

/// A message from the kernel.
struct NetlinkMessage {
  std::uint16_t type = 0;
  Bytes body;  ///< the bytes behind the netlink header; valid during the call of the handler
};

using NetlinkHandler = std::function<void(const NetlinkMessage&)>;

/// Returns the header of the family at the start of a message; nullopt if the message is too short for it.
template <typename Header>
[[nodiscard]] std::optional<Header> read_header(Bytes body) {
  static_assert(std::is_trivially_copyable_v<Header>);
  Header header{};
  if (body.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, body.data(), sizeof header);
  return header;
}
/// Returns the value of the first attribute of this type among those that begin `header_bytes` into `body`.
[[nodiscard]] std::optional<Bytes> find_attribute(Bytes body, std::size_t header_bytes, std::uint16_t type);
/// Returns this value as a number; nullopt also if it has another size.
template <typename Number>
[[nodiscard]] std::optional<Number> find_number(Bytes body, std::size_t header_bytes, std::uint16_t type) {
  const std::optional<Bytes> value = find_attribute(body, header_bytes, type);
  return value && value->size() == sizeof(Number) ? read_header<Number>(*value) : std::nullopt;
}
/// The size of a family's header, with the padding in front of the first attribute.
template <typename Header>
inline constexpr std::size_t kAttributesAt = (sizeof(Header) + 3) / 4 * 4;

/// A routing netlink socket. No call waits: when the kernel has taken a request, it has answered it.
class NetlinkSocket {
 public:
  /// `groups`: the notifications that are wanted (RTMGRP_…); 0 for a socket that is only used for requests.
  [[nodiscard]] static Result<NetlinkSocket> open(std::uint32_t groups = 0);

  /// Sends a request and calls `handle` with each message of the answer. Returns 0, or the kernel's errno.
  [[nodiscard]] int request(NetlinkRequest& request, const NetlinkHandler& handle);
  /// Calls `handle` with each notification that has come; false if some were lost for want of room.
  [[nodiscard]] bool receive(const NetlinkHandler& handle);
  [[nodiscard]] int fd() const { return socket_.get(); }

 private:
  explicit NetlinkSocket(link::FileDescriptor socket);
  /// Returns one datagram, or an errno if there is none.
  [[nodiscard]] tl::expected<Bytes, int> read_datagram();

  link::FileDescriptor socket_;
  std::uint32_t sequence_ = 0;
  std::vector<std::byte> buffer_;
};

}  // namespace roce::port
