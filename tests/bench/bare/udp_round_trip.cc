// SPDX-License-Identifier: BSD-2-Clause
// The least that a message costs between two processes without RDMA: datagrams of 2 bytes, one at a time, to and fro
// over the loopback interface.
//   bare_udp_round_trip spin: both ends ask their sockets again and again.
//   bare_udp_round_trip wait: both ends sleep until there is a datagram.
// Prints half of the median round trip, in microseconds. It does not use any of our code.
#include <arpa/inet.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

constexpr std::size_t kRoundTrips = 20'000;
constexpr std::size_t kFirst = 1'000;  // not measured
constexpr int kPatience = 10'000;      // ms without an answer

/// Returns a socket at any port of the loopback interface.
int open_socket() {
  const int descriptor = ::socket(AF_INET, SOCK_DGRAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (descriptor < 0 || ::bind(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    throw std::runtime_error(std::string{"cannot open a UDP socket: "} + std::strerror(errno));
  }
  return descriptor;
}

void connect_to(int descriptor, int peer) {
  sockaddr_in address{};
  socklen_t length = sizeof address;
  if (::getsockname(peer, reinterpret_cast<sockaddr*>(&address), &length) != 0 ||
      ::connect(descriptor, reinterpret_cast<const sockaddr*>(&address), length) != 0) {
    throw std::runtime_error(std::string{"cannot connect a UDP socket: "} + std::strerror(errno));
  }
}

void send_datagram(int descriptor) {
  const char bytes[2] = {};
  if (::send(descriptor, bytes, sizeof bytes, 0) < 0) {
    throw std::runtime_error(std::string{"cannot send: "} + std::strerror(errno));
  }
}

void receive_datagram(int descriptor, bool spins) {
  char bytes[2];
  while (::recv(descriptor, bytes, sizeof bytes, MSG_DONTWAIT) < 0) {
    if (errno != EAGAIN) throw std::runtime_error(std::string{"cannot receive: "} + std::strerror(errno));
    if (spins) continue;
    pollfd waiting{descriptor, POLLIN, 0};
    if (::poll(&waiting, 1, kPatience) == 0) throw std::runtime_error("no answer in 10 s");
  }
}

void answer_for_ever(int descriptor, bool spins) {
  for (;;) {
    receive_datagram(descriptor, spins);
    send_datagram(descriptor);
  }
}

double half_of_median(int descriptor, bool spins) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> times;
  for (std::size_t i = 0; i < kFirst + kRoundTrips; ++i) {
    const Clock::time_point begin = Clock::now();
    send_datagram(descriptor);
    receive_datagram(descriptor, spins);
    if (i >= kFirst) times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - begin).count());
  }
  std::nth_element(times.begin(), times.begin() + kRoundTrips / 2, times.end());
  return times[kRoundTrips / 2] / 2;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string how = argc == 2 ? argv[1] : "";
  if (how != "spin" && how != "wait") {
    std::fputs("usage: bare_udp_round_trip spin|wait\n", stderr);
    return 2;
  }
  try {
    const int here = open_socket();
    const int there = open_socket();
    connect_to(here, there);
    connect_to(there, here);
    const pid_t parent = ::getpid();
    const pid_t child = ::fork();
    if (child < 0) throw std::runtime_error(std::string{"cannot fork: "} + std::strerror(errno));
    if (child == 0) {
      // A parent that dies takes the child with it, which would spin on.
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (::getppid() == parent) answer_for_ever(there, how == "spin");
      return 1;
    }
    std::printf("%.2f\n", half_of_median(here, how == "spin"));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bare_udp_round_trip: %s\n", error.what());
    return 1;
  }
}
