// SPDX-License-Identifier: BSD-2-Clause
// What somebody outside does with libroce: parse a frame and check its ICRC, then do so with each packet of a capture.
#include <array>
#include <cstddef>
#include <cstdio>
#include <span>

#include "roce/link/capture_file.h"
#include "roce/live/endpoint.h"
#include "roce/wire/icrc.h"
#include "roce/wire/packet.h"

namespace {

// An RC ACK of RoCE v1: Ethernet, GRH, BTH, AETH, ICRC. From the tests of scapy, captured from a ConnectX-4 Lx.
constexpr auto kAck = std::to_array<unsigned char>(
    {0x7c, 0xfe, 0x90, 0x75, 0x3c, 0xd8, 0x7c, 0xfe, 0x90, 0x75, 0x3c, 0xd8, 0x89, 0x15, 0x60, 0x20, 0x00, 0x00, 0x00,
     0x14, 0x1b, 0x40, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xff, 0xff, 0x0f, 0x00, 0x00, 0x02,
     0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xff, 0xff, 0x0f, 0x00, 0x00, 0x02, 0x11, 0x40, 0xff,
     0xff, 0x00, 0x00, 0x01, 0x09, 0x00, 0xa7, 0x88, 0xc0, 0x00, 0x00, 0x00, 0x05, 0x25, 0xf0, 0xc0, 0x38});

roce::IcrcStatus verdict(std::span<const std::byte> frame, roce::LinkType link_type) {
  return roce::check_icrc(roce::parse_frame(frame, link_type)).status;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: consumer CAPTURE\n", stderr);
    return 2;
  }
  auto frame = kAck;
  if (verdict(std::as_bytes(std::span(frame)), roce::LinkType::ethernet) != roce::IcrcStatus::good) {
    std::fputs("the ICRC of the vector is not good\n", stderr);
    return 1;
  }
  frame[kAck.size() - 5] ^= 1;
  if (verdict(std::as_bytes(std::span(frame)), roce::LinkType::ethernet) != roce::IcrcStatus::bad) {
    std::fputs("the ICRC of the damaged vector is not bad\n", stderr);
    return 1;
  }

  const auto nowhere = roce::live::Endpoint::open({.interface = "no-such-device"});
  if (nowhere || nowhere.error().has_begun) {
    std::fputs("an endpoint was opened on an interface that does not exist\n", stderr);
    return 1;
  }

  auto reader = roce::link::CaptureReader::open(argv[1]);
  if (!reader) {
    std::fprintf(stderr, "%s\n", reader.error().message.c_str());
    return 1;
  }
  unsigned good = 0;
  unsigned others = 0;
  for (roce::link::CaptureRecord record; reader->next(record);) {
    const auto link_type = static_cast<roce::LinkType>(record.link_type);
    ++(verdict(record.bytes, link_type) == roce::IcrcStatus::good ? good : others);
  }
  std::printf("%u packets with a good ICRC, %u others\n", good, others);
  return good > 0 ? 0 : 1;
}
