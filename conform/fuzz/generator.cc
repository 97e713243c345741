// SPDX-License-Identifier: BSD-2-Clause
#include "conform/fuzz/generator.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "conform/fuzz/service.h"

namespace roce::conform::fuzz {

namespace {

using transport::Access;

constexpr std::uint32_t kProbeBytes = 8;
constexpr std::uint32_t kMostPackets = 4;

/// Returns a length of a message, often one at an edge.
std::uint32_t draw_length(Random& random, std::uint32_t mtu) {
  const std::array edges{0U, 1U, 3U, 4U, 8U, mtu - 1, mtu, mtu + 1, 2 * mtu, kMostPackets * mtu};
  if (happens(random, 50)) return one_of(random, edges);
  return static_cast<std::uint32_t>(draw(random, 2 * mtu));
}

/// Places a request at `length` bytes of a region that it may use; the offset is a multiple of `multiple`.
void place(Request& request, const DeviceModel& model, Random& random, std::uint64_t length, std::uint64_t multiple) {
  std::uint64_t region = kRegionBytes;
  const std::uint64_t window = model.has_window() ? model.length_of(Key::window) : 0;
  if (window != 0 && (length <= window ? happens(random, 70) : happens(random, 10))) {
    request.key = Key::window;
    region = window;
  } else if (length <= kLentBytes && model.is_lent() && happens(random, 15)) {
    request.key = Key::lent;
    region = kLentBytes;
  }
  const std::uint64_t room = region - std::min(length, region);
  const std::uint64_t offset = happens(random, 20) ? room : draw(random, room + 1);
  request.address = static_cast<std::int64_t>(offset / multiple * multiple);
}

Request base(Opcode opcode, Random& random) {
  return {.opcode = opcode,
          .ack_request = happens(random, 70),
          .seed = draw(random, 1U << 16U),
          .immediate = static_cast<std::uint32_t>(random())};
}

/// Makes the end of a SEND one that invalidates the key of a window.
void invalidate(Request& request, Opcode opcode) {
  request.opcode = opcode;
  request.key = Key::window;
}

Request go_on_with_send(const DeviceModel& model, Random& random) {
  const std::uint32_t mtu = model.attributes().path_mtu;
  if (happens(random, 40)) {
    Request middle = base(Opcode::rc_send_middle, random);
    middle.payload = mtu;
    return middle;
  }
  Request last = base(happens(random, 30) ? Opcode::rc_send_last_imm : Opcode::rc_send_last, random);
  last.payload = 1 + static_cast<std::uint32_t>(draw(random, mtu));
  if (model.has_window() && happens(random, 20)) invalidate(last, Opcode::rc_send_last_invalidate);
  return last;
}

Request go_on_with_write(const DeviceModel& model, Random& random) {
  const std::uint32_t mtu = model.attributes().path_mtu;
  if (model.missing() > mtu) {
    Request middle = base(Opcode::rc_write_middle, random);
    middle.payload = mtu;
    return middle;
  }
  Request last = base(happens(random, 30) ? Opcode::rc_write_last_imm : Opcode::rc_write_last, random);
  last.payload = static_cast<std::uint32_t>(model.missing());
  return last;
}

Request begin_send(const DeviceModel& model, Random& random) {
  const std::uint32_t mtu = model.attributes().path_mtu;
  if (happens(random, 40)) {
    Request first = base(Opcode::rc_send_first, random);
    first.payload = mtu;
    return first;
  }
  Request only = base(happens(random, 30) ? Opcode::rc_send_only_imm : Opcode::rc_send_only, random);
  only.payload = std::min(mtu, draw_length(random, mtu));
  if (model.has_window() && happens(random, 20)) invalidate(only, Opcode::rc_send_only_invalidate);
  return only;
}

Request begin_write(const DeviceModel& model, Random& random) {
  const std::uint32_t mtu = model.attributes().path_mtu;
  const std::uint32_t length = draw_length(random, mtu);
  Request write = base(Opcode::rc_write_first, random);
  if (length <= mtu) write.opcode = happens(random, 30) ? Opcode::rc_write_only_imm : Opcode::rc_write_only;
  write.payload = std::min(mtu, length);
  write.length = length;
  place(write, model, random, length, 1);
  return write;
}

Request begin_read(const DeviceModel& model, Random& random) {
  Request read = base(Opcode::rc_read_request, random);
  read.length = draw_length(random, model.attributes().path_mtu);
  place(read, model, random, read.length, 1);
  return read;
}

Request begin_atomic(const DeviceModel& model, Random& random) {
  constexpr std::uint64_t size = 8;
  Request atomic = base(happens(random, 50) ? Opcode::rc_fetch_add : Opcode::rc_compare_swap, random);
  place(atomic, model, random, size, size);
  atomic.operand = random();
  atomic.compare = 0xA5A5'A5A5'A5A5'A5A5U;
  return atomic;
}

/// Returns the next request to a UC QP; sometimes as if packets in front of it had been lost.
Request unreliable_request(const DeviceModel& model, Random& random) {
  const OpenMessage open = model.state().open;
  const bool has_gap = happens(random, open == OpenMessage::none ? 5 : 20);
  Request request;
  if (open == OpenMessage::none || has_gap) {
    request = happens(random, 50) ? begin_send(model, random) : begin_write(model, random);
  } else {
    request = open == OpenMessage::send ? go_on_with_send(model, random) : go_on_with_write(model, random);
  }
  if (has_gap) request.psn = 1 + static_cast<std::int32_t>(draw(random, 3));
  request.opcode = with_service(request.opcode, Service::uc);
  return request;
}

Request datagram(const DeviceModel& model, Random& random) {
  constexpr std::array<std::uint32_t, 7> edges{0, 1, 3, 8, 24, 216, 217};
  Request request = base(happens(random, 30) ? Opcode::ud_send_only_imm : Opcode::ud_send_only, random);
  request.payload = happens(random, 70) ? one_of(random, edges) : draw_length(random, model.attributes().path_mtu);
  return request;
}

/// Returns a READ or atomic that the device has executed, or a READ of its rest; `executed` has to have one.
Request repeat(const DeviceModel& model, const std::deque<Executed>& executed, Random& random) {
  const Executed& old = executed[draw(random, executed.size())];
  Request again = base(Opcode::rc_read_request, random);
  again.key = model.key_of(old);
  again.psn = old.psn.distance_from(model.state().expected);
  if (old.operation == Operation::read_request) {
    const auto skipped = static_cast<std::uint32_t>(draw(random, old.psns));
    again.psn += static_cast<std::int32_t>(skipped);
    again.length = old.read.dma_length - skipped * model.attributes().path_mtu;
    again.address = model.offset_of(old) + std::int64_t{skipped} * model.attributes().path_mtu;
    return again;
  }
  again.opcode = old.operation == Operation::fetch_add ? Opcode::rc_fetch_add : Opcode::rc_compare_swap;
  again.address = model.offset_of(old);
  again.operand = old.atomic.swap_or_add;
  again.compare = old.atomic.compare;
  return again;
}

// Mutations, one function for each part of a request.

void mutate_psn(Request& request, const DeviceModel& /*model*/, Random& random) {
  constexpr std::array edges{
      1,          -1, 2, -2, 3, -4, 50, -50, 1 << 16, -(1 << 16), 1 << 22, (1 << 22) + 1, -(1 << 22), (1 << 23) - 1,
      -(1 << 23), 5,  -3};
  request.psn += one_of(random, edges);
}

void mutate_opcode(Request& request, const DeviceModel& model, Random& random) {
  if (model.attributes().type == transport::QpType::ud) {
    // The rest stays that of a datagram, so that a device that guesses would take it.
    const std::array opcodes{0x60, 0x61, 0x62, 0x63, 0x66, 0x6A, 0x7F, 0x04, 0x24, 0x44, 0xA4};
    request.changes.push_back({.field = "bth.opcode", .value = std::to_string(one_of(random, opcodes))});
    return;
  }
  using enum Opcode;
  constexpr std::array others{rc_send_first,
                              rc_send_middle,
                              rc_send_last,
                              rc_send_last_imm,
                              rc_send_only,
                              rc_send_only_imm,
                              rc_write_first,
                              rc_write_middle,
                              rc_write_last,
                              rc_write_last_imm,
                              rc_write_only,
                              rc_write_only_imm,
                              rc_read_request,
                              rc_compare_swap,
                              rc_fetch_add,
                              rc_read_response_only,
                              rc_acknowledge,
                              rc_atomic_acknowledge,
                              rc_send_last_invalidate,
                              rc_send_only_invalidate,
                              static_cast<Opcode>(0x15),
                              static_cast<Opcode>(0x18),
                              static_cast<Opcode>(0x1F),
                              uc_send_only,
                              uc_write_only,
                              ud_send_only};
  request.opcode = one_of(random, others);
  const bool keeps_service = service_of(request.opcode) != Service::rc || happens(random, 10);
  if (!keeps_service) request.opcode = with_service(request.opcode, service_of(model.attributes().type));
}

void mutate_payload(Request& request, const DeviceModel& model, Random& random) {
  const std::uint32_t mtu = model.attributes().path_mtu;
  const std::uint32_t length = request.payload;
  const std::array edges{
      length + 1, length == 0 ? 2 : length - 1, length + 4, length < 4 ? 0 : length - 4, 0U, mtu, mtu + 1, mtu + 4};
  request.payload = one_of(random, edges);
}

void mutate_length(Request& request, const DeviceModel& model, Random& random) {
  const std::uint32_t mtu = model.attributes().path_mtu;
  const std::uint32_t length = request.length;
  const std::array edges{length + 1, length - 1,      0U,           length + mtu,
                         1U << 31U,  (1U << 31U) + 1, 0xFFFF'FFFFU, 0x8000'0000U | length};
  request.length = one_of(random, edges);
}

void mutate_address(Request& request, const DeviceModel& model, Random& random) {
  const std::int64_t length = request.length;
  const auto end = static_cast<std::int64_t>(request.key == Key::window ? model.length_of(request.key) : kRegionBytes);
  const std::array<std::int64_t, 8> edges{
      -1, -8, end - length + 1, end, end - 1, request.address + 1, request.address + 8, request.address - 8};
  request.address = one_of(random, edges);
}

void mutate_key(Request& request, const DeviceModel& /*model*/, Random& random) {
  constexpr std::array keys{Key::variant, Key::index, Key::zero,   Key::other_pd, Key::closed,
                            Key::gone,    Key::lent,  Key::window, Key::foreign};
  request.key = one_of(random, keys);
  // Another SEND has none.
  if (request.opcode == Opcode::rc_send_only) request.opcode = Opcode::rc_send_only_invalidate;
  if (request.opcode == Opcode::rc_send_last) request.opcode = Opcode::rc_send_last_invalidate;
}

void mutate_ack(Request& request, const DeviceModel& /*model*/, Random& /*random*/) {
  request.ack_request = !request.ack_request;
}

void mutate_icrc(Request& request, const DeviceModel& /*model*/, Random& /*random*/) {
  request.wrong_icrc = true;
}

void mutate_operand(Request& request, const DeviceModel& /*model*/, Random& random) {
  request.operand ^= std::uint64_t{1} << draw(random, 64);
}

void mutate_qpn(Request& request, const DeviceModel& /*model*/, Random& random) {
  request.qpn_flip = 1U << draw(random, Qpn::kBits);
}

void mutate_q_key(Request& request, const DeviceModel& /*model*/, Random& random) {
  request.q_key_flip = 1U << draw(random, QKey::kBits);
}

void mutate_version(Request& request, const DeviceModel& /*model*/, Random& /*random*/) {
  request.other_version = true;
}

void mutate_field(Request& request, const DeviceModel& /*model*/, Random& random) {
  const std::array<FieldChange, 29> changes{{{"bth.tver", "1"},
                                             {"bth.tver", "15"},
                                             {"bth.p_key", "0x7fff"},
                                             {"bth.p_key", "0"},
                                             {"bth.p_key", "0x8000"},
                                             {"bth.p_key", "0x1234"},
                                             {"bth.dest_qp", "0"},
                                             {"bth.mig_req", "false"},
                                             {"bth.se", "true"},
                                             {"bth.fecn", "true"},
                                             {"bth.becn", "true"},
                                             {"bth.reserved1", "63"},
                                             {"bth.reserved2", "127"},
                                             {"bth.pad_count", std::to_string(draw(random, 4))},
                                             {"ip.ttl", "3"},
                                             {"ip.ecn", "3"},
                                             {"ip.dscp", "46"},
                                             {"ip.src", "10.0.0.77"},
                                             {"ip.checksum", "0x1234"},
                                             {"udp.srcport", "17"},
                                             {"udp.dstport", "4792"},
                                             {"ipv6.ecn", "3"},
                                             {"reth.va", "0xfffffffffffffff8"},
                                             {"trailer", "fe"},
                                             {"trailer", "abcdefabcd"},
                                             {"ipv6.hop_limit", "1"},
                                             {"ipv6.src", "fd00::77"},
                                             {"grh.hop_limit", "1"},
                                             {"grh.sgid", "fd00::77"}}};
  request.changes.push_back(one_of(random, changes));
}

Restart restart(const DeviceModel& /*model*/, Random& random) {
  constexpr std::array<std::int32_t, 6> distances{0, 1, -1, 50, 1 << 22, 1 << 23};
  return {happens(random, 50) ? 0 : one_of(random, distances)};
}

Bind draw_bind(Random& random) {
  constexpr std::array<std::uint32_t, 6> lengths{1, 8, 64, 256, 1028, kRegionBytes};
  constexpr std::array rights{Access::remote_write, Access::remote_read, Access::remote_atomic,
                              Access::remote_write | Access::remote_read};
  Bind bind{.length = one_of(random, lengths), .variant = static_cast<std::uint8_t>(1 + draw(random, 255))};
  bind.address = static_cast<std::int64_t>(draw(random, (kRegionBytes - bind.length) / 4 + 1) * 4);
  if (happens(random, 25)) bind.access = one_of(random, rights);
  if (!happens(random, 15)) return bind;
  if (happens(random, 50)) {
    bind.region = happens(random, 50) ? Key::other_pd : Key::closed;
  } else {
    bind.address = happens(random, 50) ? kRegionBytes - std::int64_t{bind.length} + 1 : -1;
  }
  return bind;
}

/// Returns a request that a device executes in any state but ERR, and that shows whether it is as it should be.
Request probe(const DeviceModel& model, std::size_t number) {
  // Other bytes than those that the regions are filled with, so that it shows if they come.
  constexpr std::uint64_t first_seed = 1000;
  Request request{
      .opcode = Opcode::rc_write_only, .payload = kProbeBytes, .seed = first_seed + number, .length = kProbeBytes};
  if (model.attributes().type == transport::QpType::ud) request.opcode = Opcode::ud_send_only;
  if (model.attributes().type == transport::QpType::uc) {
    request.opcode = Opcode::uc_write_only;
    // A packet behind a gap begins anew, whatever was open.
    request.psn = 1;
  }
  return request;
}

}  // namespace

Program new_program(Random& random, const Variety& variety) {
  Program program;
  if (!variety.other_types.empty() && happens(random, 25)) {
    program.type = variety.other_types[draw(random, variety.other_types.size())];
  }
  if (!variety.other_versions.empty() && happens(random, 20)) {
    program.version = variety.other_versions[draw(random, variety.other_versions.size())];
  }
  if (happens(random, 6)) program.state = happens(random, 50) ? transport::QpState::init : transport::QpState::rtr;
  program.path_mtu = happens(random, 80) ? 256 : 1024;
  const std::array<std::uint32_t, 4> edges{0, 1, 0xFF'FFFE, 0x7F'FFFF};
  program.first_psn = Psn{happens(random, 50) ? one_of(random, edges) : static_cast<std::uint32_t>(random())};
  program.access = Access::remote_write | Access::remote_read | Access::remote_atomic;
  if (happens(random, 10)) program.access = Access::remote_write;
  if (happens(random, 10)) program.access = Access::remote_read | Access::remote_atomic;
  // Those that wait take long on a wire.
  if (happens(random, 10)) program.retry_count = static_cast<std::uint8_t>(draw(random, 3));
  return program;
}

Request legal_request(const DeviceModel& model, Random& random) {
  const DeviceState& state = model.state();
  if (model.attributes().type == transport::QpType::uc) return unreliable_request(model, random);
  if (model.attributes().type == transport::QpType::ud) return datagram(model, random);
  if (!state.executed.empty() && happens(random, 15)) return repeat(model, state.executed, random);
  if (!state.forgotten.empty() && happens(random, 15)) return repeat(model, state.forgotten, random);
  if (state.open == OpenMessage::send) return go_on_with_send(model, random);
  if (state.open == OpenMessage::write) return go_on_with_write(model, random);
  constexpr std::array begin{begin_send, begin_write, begin_read, begin_atomic};
  return one_of(random, begin)(model, random);
}

void mutate(Request& request, const DeviceModel& model, Random& random) {
  constexpr std::array mutations{mutate_psn,     mutate_psn,     mutate_psn,     mutate_opcode, mutate_opcode,
                                 mutate_payload, mutate_length,  mutate_address, mutate_key,    mutate_ack,
                                 mutate_icrc,    mutate_operand, mutate_qpn,     mutate_field,  mutate_version};
  if (model.attributes().type == transport::QpType::ud && happens(random, 20)) {
    return mutate_q_key(request, model, random);
  }
  one_of(random, mutations)(request, model, random);
}

Generator::Generator(Random& random, std::vector<Action> begin)
    : random_(random),
      length_(1 + draw(random, kMostActions - 1)),
      is_for_deregistration_(happens(random, 3)),
      is_for_windows_(happens(random, 12)),
      begin_(random, std::move(begin)) {
  if (begin_.size() != 0) length_ = std::min(kMostActions - 1, begin_.size() + draw(random, 8));
}

std::optional<Action> Generator::next(const DeviceModel& model) {
  const std::size_t number = next_++;
  if (number < begin_.size()) {
    return begin_.take<Request>(number, [&](Request& request) { mutate(request, model, random_); });
  }
  if (number > length_) return std::nullopt;
  if (number == length_) {
    return probe(model, number);
  }
  if (happens(random_, 3)) return restart(model, random_);
  // It costs the device new regions for the next program.
  if (is_for_deregistration_ && model.is_lent() && happens(random_, 25)) return Deregister{};
  if (is_for_windows_ && model.attributes().has_windows && happens(random_, model.has_window() ? 3 : 40)) {
    return draw_bind(random_);
  }
  constexpr std::array<std::uint32_t, 6> receives{0, 1, 64, 256, 1024, kReceiveBytes};
  const bool is_reliable = model.attributes().type == transport::QpType::rc;
  // An RC QP asks for a receive when it has none; others lose what comes.
  const bool is_needed = !is_reliable && model.state().receives.empty();
  if (happens(random_, is_needed ? 50 : 15)) return Receive{one_of(random_, receives)};
  Request request = legal_request(model, random_);
  if (happens(random_, 35)) mutate(request, model, random_);
  while (happens(random_, 10)) mutate(request, model, random_);
  return request;
}

}  // namespace roce::conform::fuzz
