// SPDX-License-Identifier: BSD-2-Clause
#include "port/netlink.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>

namespace roce::port {
namespace {

// The kernel fills at most 32 KiB with the parts of one dump; a single message may be longer, but not by that much.
constexpr std::size_t kBufferBytes = 128 * 1024;

constexpr std::size_t aligned(std::size_t size) {
  return (size + 3) / 4 * 4;
}

/// Takes the first message off `datagram`; nullopt if the rest is not a message.
std::optional<std::pair<nlmsghdr, Bytes>> take_message(Bytes& datagram) {
  const std::optional<nlmsghdr> header = read_header<nlmsghdr>(datagram);
  if (!header || header->nlmsg_len < sizeof(nlmsghdr) || header->nlmsg_len > datagram.size()) return std::nullopt;
  const Bytes body = datagram.subspan(NLMSG_HDRLEN, header->nlmsg_len - NLMSG_HDRLEN);
  datagram = datagram.subspan(std::min(datagram.size(), aligned(header->nlmsg_len)));
  return std::pair{*header, body};
}

/// Returns the errno that an NLMSG_ERROR or NLMSG_DONE message carries.
int errno_of(Bytes body) {
  return -read_header<int>(body).value_or(-EBADMSG);
}

}  // namespace

NetlinkRequest::NetlinkRequest(std::uint16_t type, unsigned flags) {
  nlmsghdr header{};
  header.nlmsg_type = type;
  header.nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | flags);
  append(std::as_bytes(std::span{&header, 1}));
}

void NetlinkRequest::append(Bytes bytes) {
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  bytes_.resize(aligned(bytes_.size()));
}

void NetlinkRequest::add(std::uint16_t type, Bytes value) {
  const rtattr header{static_cast<std::uint16_t>(sizeof(rtattr) + value.size()), type};
  append(std::as_bytes(std::span{&header, 1}));
  append(value);
}

Bytes NetlinkRequest::numbered(std::uint32_t sequence) {
  nlmsghdr header{};
  std::memcpy(&header, bytes_.data(), sizeof header);
  header.nlmsg_len = static_cast<std::uint32_t>(bytes_.size());
  header.nlmsg_seq = sequence;
  std::memcpy(bytes_.data(), &header, sizeof header);
  return bytes_;
}

std::optional<Bytes> find_attribute(Bytes body, std::size_t header_bytes, std::uint16_t type) {
  Bytes rest = body.subspan(std::min(header_bytes, body.size()));
  while (const std::optional<rtattr> header = read_header<rtattr>(rest)) {
    if (header->rta_len < sizeof(rtattr) || header->rta_len > rest.size()) break;
    if ((header->rta_type & NLA_TYPE_MASK) == type) {
      return rest.subspan(sizeof(rtattr), header->rta_len - sizeof(rtattr));
    }
    rest = rest.subspan(std::min(rest.size(), aligned(header->rta_len)));
  }
  return std::nullopt;
}

NetlinkSocket::NetlinkSocket(link::FileDescriptor socket) : socket_(std::move(socket)), buffer_(kBufferBytes) {}

Result<NetlinkSocket> NetlinkSocket::open(std::uint32_t groups) {
  link::FileDescriptor socket{::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE)};
  sockaddr_nl address{};
  address.nl_family = AF_NETLINK;
  address.nl_groups = groups;
  if (!socket || ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return tl::unexpected(
        link::LinkError{std::string{"cannot ask the kernel about its network interfaces (netlink): "} +
                            std::strerror(errno) + "; a sandbox around the program has to allow AF_NETLINK sockets",
                        errno == EPERM || errno == EACCES});
  }
  return NetlinkSocket{std::move(socket)};
}

tl::expected<Bytes, int> NetlinkSocket::read_datagram() {
  for (;;) {
    sockaddr_nl sender{};
    socklen_t sender_size = sizeof sender;
    const ssize_t size = ::recvfrom(socket_.get(), buffer_.data(), buffer_.size(), MSG_TRUNC,
                                    reinterpret_cast<sockaddr*>(&sender), &sender_size);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return tl::unexpected(errno);
    if (static_cast<std::size_t>(size) > buffer_.size()) return tl::unexpected(EMSGSIZE);
    // Other programs may send here too; port 0 is the kernel.
    if (sender.nl_pid == 0) return Bytes{buffer_}.first(static_cast<std::size_t>(size));
  }
}

int NetlinkSocket::request(NetlinkRequest& request, const NetlinkHandler& handle) {
  const std::uint32_t sequence = ++sequence_;
  const Bytes bytes = request.numbered(sequence);
  const std::uint16_t flags = read_header<nlmsghdr>(bytes)->nlmsg_flags;
  const bool is_dump = (flags & NLM_F_DUMP) == NLM_F_DUMP;
  // A request with NLM_F_ACK is done only when its acknowledgement comes, with or without an answer before it.
  const bool is_acknowledged = (flags & NLM_F_ACK) != 0;
  while (::send(socket_.get(), bytes.data(), bytes.size(), 0) < 0) {
    if (errno != EINTR) return errno;
  }
  bool is_torn = false;
  for (;;) {
    tl::expected<Bytes, int> datagram = read_datagram();
    if (!datagram) return datagram.error();
    while (const auto message = take_message(*datagram)) {
      const auto& [header, body] = *message;
      if (header.nlmsg_seq != sequence) continue;
      is_torn = is_torn || (header.nlmsg_flags & NLM_F_DUMP_INTR) != 0;
      if (header.nlmsg_type == NLMSG_ERROR) return errno_of(body);
      if (header.nlmsg_type == NLMSG_DONE) return is_torn ? EINTR : errno_of(body);
      handle({header.nlmsg_type, body});
      if (!is_dump && !is_acknowledged) return 0;
    }
  }
}

bool NetlinkSocket::receive(const NetlinkHandler& handle) {
  bool is_complete = true;
  for (;;) {
    tl::expected<Bytes, int> datagram = read_datagram();
    if (!datagram) {
      if (datagram.error() != ENOBUFS && datagram.error() != EMSGSIZE) return is_complete;
      is_complete = false;
      continue;
    }
    while (const auto message = take_message(*datagram)) handle({message->first.nlmsg_type, message->second});
  }
}

}  // namespace roce::port
