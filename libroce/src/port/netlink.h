// SPDX-License-Identifier: BSD-2-Clause
// Requests to the kernel's routing netlink (RFC 3549) and what it says by itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "link/file_descriptor.h"
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

  /// The message, complete with its length and this number.
  [[nodiscard]] Bytes numbered(std::uint32_t sequence);

 private:
  NetlinkRequest(std::uint16_t type, unsigned flags);
  void append(Bytes bytes);

  std::vector<std::byte> bytes_;
};

/// A message from the kernel.
struct NetlinkMessage {
  std::uint16_t type = 0;
  Bytes body;  ///< behind the netlink header; valid during the call that hands it over
};

using NetlinkHandler = std::function<void(const NetlinkMessage&)>;

/// The header of the family at the start of a message; none if the message is too short for it.
template <typename Header>
[[nodiscard]] std::optional<Header> read_header(Bytes body) {
  static_assert(std::is_trivially_copyable_v<Header>);
  Header header{};
  if (body.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, body.data(), sizeof header);
  return header;
}
/// The value of the first attribute of this type among those that begin `header_bytes` into `body`.
[[nodiscard]] std::optional<Bytes> find_attribute(Bytes body, std::size_t header_bytes, std::uint16_t type);
/// The same as a number; none also if it has another size.
template <typename Number>
[[nodiscard]] std::optional<Number> find_number(Bytes body, std::size_t header_bytes, std::uint16_t type) {
  const std::optional<Bytes> value = find_attribute(body, header_bytes, type);
  return value && value->size() == sizeof(Number) ? read_header<Number>(*value) : std::nullopt;
}
/// The size of a family's header with what stands between it and the first attribute.
template <typename Header>
inline constexpr std::size_t kAttributesAt = (sizeof(Header) + 3) / 4 * 4;

/// A routing netlink socket. No call waits: the kernel has answered when it has taken the request.
class NetlinkSocket {
 public:
  /// `groups`: what to be told by itself (RTMGRP_…), 0 for a socket that only asks.
  [[nodiscard]] static Result<NetlinkSocket> open(std::uint32_t groups = 0);

  /// Sends a request and hands each message of the answer over. Returns 0, or the kernel's errno.
  [[nodiscard]] int request(NetlinkRequest& request, const NetlinkHandler& handle);
  /// Hands what has come by itself over. False: some of it was lost, because there was more than room for it.
  [[nodiscard]] bool receive(const NetlinkHandler& handle);
  [[nodiscard]] int fd() const { return socket_.get(); }

 private:
  explicit NetlinkSocket(link::FileDescriptor socket);
  /// One datagram; an errno when there is none.
  [[nodiscard]] tl::expected<Bytes, int> read_datagram();

  link::FileDescriptor socket_;
  std::uint32_t sequence_ = 0;
  std::vector<std::byte> buffer_;
};

}  // namespace roce::port
