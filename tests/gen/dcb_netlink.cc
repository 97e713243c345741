// SPDX-License-Identifier: BSD-2-Clause
// A network card with DCB for a program that asks for one over netlink, where the kernel has none (veth): to be
// preloaded into lldpad, whose state machines are the judge of ours. Questions of RTM_GETDCB and RTM_SETDCB that IEEE
// DCBX asks are answered here, all others by the kernel. What is set is printed.
#include <dlfcn.h>
#include <linux/dcbnl.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <deque>
#include <map>
#include <vector>

namespace {

using Datagram = std::vector<char>;

std::map<int, std::deque<Datagram>> answers;  // by socket

template <typename F>
F* next(const char* name) {
  return reinterpret_cast<F*>(dlsym(RTLD_NEXT, name));
}

void add(Datagram& to, const void* bytes, std::size_t size) {
  const auto* const first = static_cast<const char*>(bytes);
  to.insert(to.end(), first, first + size);
  to.resize((to.size() + 3) & ~std::size_t{3});
}

void add_attribute(Datagram& to, unsigned short type, const void* value, std::size_t size) {
  const rtattr attribute{static_cast<unsigned short>(sizeof(rtattr) + size), type};
  add(to, &attribute, sizeof attribute);
  add(to, value, size);
}

void finish(Datagram& message) {
  const auto length = static_cast<__u32>(message.size());
  std::memcpy(message.data(), &length, sizeof length);
}

/// Returns the acknowledgement that the kernel adds to an answer if it was asked to.
Datagram acknowledgement(const nlmsghdr& asked) {
  Datagram message;
  const nlmsghdr header{0, NLMSG_ERROR, 0, asked.nlmsg_seq, asked.nlmsg_pid};
  const nlmsgerr error{0, asked};
  add(message, &header, sizeof header);
  add(message, &error, sizeof error);
  finish(message);
  return message;
}

/// Prints a line for each setting.
void print_settings(const rtattr* attribute, unsigned length) {
  for (; RTA_OK(attribute, length); attribute = RTA_NEXT(attribute, length)) {
    const char* const data = static_cast<const char*>(RTA_DATA(attribute));
    if (attribute->rta_type == DCB_ATTR_IEEE_ETS) {
      ieee_ets ets{};
      std::memcpy(&ets, data, std::min<std::size_t>(RTA_PAYLOAD(attribute), sizeof ets));
      std::printf("card: class of priority 3: %u, percent of class 1: %u\n", ets.prio_tc[3], ets.tc_tx_bw[1]);
    } else if (attribute->rta_type == DCB_ATTR_IEEE_PFC) {
      ieee_pfc pfc{};
      std::memcpy(&pfc, data, std::min<std::size_t>(RTA_PAYLOAD(attribute), sizeof pfc));
      std::printf("card: pfc 0x%02x\n", pfc.pfc_en);
    }
  }
  std::fflush(stdout);
}

/// Answers a question of a socket; false if it is for the kernel.
bool answer(int socket, const char* bytes, std::size_t size) {
  if (size < NLMSG_LENGTH(sizeof(dcbmsg))) return false;
  nlmsghdr asked;
  std::memcpy(&asked, bytes, sizeof asked);
  if (asked.nlmsg_type != RTM_GETDCB && asked.nlmsg_type != RTM_SETDCB) return false;
  dcbmsg dcb;
  std::memcpy(&dcb, bytes + NLMSG_HDRLEN, sizeof dcb);
  Datagram message;
  const nlmsghdr header{0, asked.nlmsg_type, 0, asked.nlmsg_seq, asked.nlmsg_pid};
  add(message, &header, sizeof header);
  add(message, &dcb, sizeof dcb);
  const auto* attribute = reinterpret_cast<const rtattr*>(bytes + NLMSG_SPACE(sizeof(dcbmsg)));
  auto length = static_cast<unsigned>(size - NLMSG_SPACE(sizeof(dcbmsg)));
  const __u8 none = 0;
  const __u8 host_ieee = DCB_CAP_DCBX_HOST | DCB_CAP_DCBX_VER_IEEE;
  switch (dcb.cmd) {
    case DCB_CMD_GDCBX:
      add_attribute(message, DCB_ATTR_DCBX, &host_ieee, 1);
      break;
    case DCB_CMD_SDCBX:
      add_attribute(message, DCB_ATTR_DCBX, &none, 1);
      break;
    case DCB_CMD_IEEE_SET:
    case DCB_CMD_IEEE_DEL:
      for (; RTA_OK(attribute, length); attribute = RTA_NEXT(attribute, length)) {
        if (attribute->rta_type != DCB_ATTR_IEEE && attribute->rta_type != (DCB_ATTR_IEEE | NLA_F_NESTED)) continue;
        print_settings(static_cast<const rtattr*>(RTA_DATA(attribute)), static_cast<unsigned>(RTA_PAYLOAD(attribute)));
      }
      add_attribute(message, DCB_ATTR_IEEE, &none, 1);
      break;
    default:
      return false;
  }
  finish(message);
  // Answers that nobody has read belong to another socket that had this number.
  answers[socket].assign(1, message);
  if ((asked.nlmsg_flags & NLM_F_ACK) != 0) answers[socket].push_back(acknowledgement(asked));
  return true;
}

}  // namespace

extern "C" {

ssize_t sendmsg(int socket, const msghdr* message, int flags) {
  if (message->msg_iovlen == 1 &&
      answer(socket, static_cast<const char*>(message->msg_iov[0].iov_base), message->msg_iov[0].iov_len)) {
    return static_cast<ssize_t>(message->msg_iov[0].iov_len);
  }
  return next<decltype(sendmsg)>("sendmsg")(socket, message, flags);
}

ssize_t recvmsg(int socket, msghdr* message, int flags) {
  const auto found = answers.find(socket);
  if (found == answers.end() || found->second.empty()) {
    return next<decltype(recvmsg)>("recvmsg")(socket, message, flags);
  }
  const Datagram& first = found->second.front();
  const std::size_t size = std::min(first.size(), message->msg_iov[0].iov_len);
  std::memcpy(message->msg_iov[0].iov_base, first.data(), size);
  const bool is_cut = size < first.size();
  const auto result = static_cast<ssize_t>((flags & MSG_TRUNC) != 0 ? first.size() : size);
  if (message->msg_name != nullptr && message->msg_namelen >= sizeof(sockaddr_nl)) {
    sockaddr_nl kernel{};
    kernel.nl_family = AF_NETLINK;
    std::memcpy(message->msg_name, &kernel, sizeof kernel);
    message->msg_namelen = sizeof kernel;
  }
  message->msg_controllen = 0;
  message->msg_flags = is_cut ? MSG_TRUNC : 0;
  if ((flags & MSG_PEEK) == 0) found->second.pop_front();
  return result;
}
}
