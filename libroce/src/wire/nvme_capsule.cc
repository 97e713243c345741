// SPDX-License-Identifier: BSD-2-Clause
#include "roce/wire/nvme_capsule.h"

#include "roce/wire/cma.h"

namespace roce {

namespace {

/// Loads `N` bytes, the least significant first.
template <std::size_t N>
std::uint64_t load_little_endian(Bytes bytes, std::size_t offset) {
  std::uint64_t value = 0;
  for (std::size_t i = N; i-- > 0;) value = value << 8 | std::to_integer<std::uint64_t>(bytes[offset + i]);
  return value;
}

std::uint8_t load_byte(Bytes bytes, std::size_t offset) {
  return std::to_integer<std::uint8_t>(bytes[offset]);
}
std::uint16_t load_word(Bytes bytes, std::size_t offset) {
  return static_cast<std::uint16_t>(load_little_endian<2>(bytes, offset));
}
std::uint32_t load_dword(Bytes bytes, std::size_t offset) {
  return static_cast<std::uint32_t>(load_little_endian<4>(bytes, offset));
}

constexpr std::size_t kSgl = 24;
constexpr std::size_t kSglIdentifier = kSgl + 15;

/// SGL descriptor types: the high half of the identifier.
constexpr std::uint8_t kDataBlock = 0;
constexpr std::uint8_t kKeyedDataBlock = 4;
/// The subtype of a data block whose address is an offset in the capsule.
constexpr std::uint8_t kOffset = 1;

}  // namespace

std::optional<NvmeCommand> NvmeCommand::read(Bytes payload) {
  if (payload.size() < kBytes) return std::nullopt;
  NvmeCommand command;
  command.opcode = load_byte(payload, 0);
  const unsigned psdt = load_byte(payload, 1) >> 6U;
  command.has_sgl = psdt == 1 || psdt == 2;
  command.command_id = load_word(payload, 2);
  if (command.is_fabrics()) {
    command.fabrics_type = load_byte(payload, 4);
  } else {
    command.namespace_id = load_dword(payload, 4);
  }
  const std::uint8_t identifier = load_byte(payload, kSglIdentifier);
  const std::uint8_t type = identifier >> 4U;
  if (type == kKeyedDataBlock) {
    command.data_address = load_little_endian<8>(payload, kSgl);
    command.data_length = static_cast<std::uint32_t>(load_little_endian<3>(payload, kSgl + 8));
    command.data_key = RKey{load_dword(payload, kSgl + 11)};
  } else if (type == kDataBlock && (identifier & 0x0FU) == kOffset) {
    command.data_place = NvmeDataPlace::in_capsule;
    command.data_length = load_dword(payload, kSgl + 8);
  } else {
    command.data_place = NvmeDataPlace::elsewhere;
  }
  command.dword10 = load_dword(payload, 40);
  command.dword11 = load_dword(payload, 44);
  return command;
}

std::optional<NvmeConnect> NvmeConnect::read(Bytes payload) {
  const std::optional<NvmeCommand> command = NvmeCommand::read(payload);
  if (!command || command->operation(true) != nvme::kConnect) return std::nullopt;
  NvmeConnect connect;
  connect.queue_id = load_word(payload, 42);
  connect.queue_size = load_word(payload, 44) + std::uint32_t{1};
  connect.keep_alive_ms = load_dword(payload, 48);
  return connect;
}

std::optional<NvmeCompletion> NvmeCompletion::read(Bytes payload) {
  if (payload.size() < kBytes) return std::nullopt;
  NvmeCompletion completion;
  completion.result = load_little_endian<8>(payload, 0);
  completion.head = load_word(payload, 8);
  completion.command_id = load_word(payload, 12);
  const std::uint16_t status = load_word(payload, 14);
  completion.status = {.type = static_cast<std::uint8_t>(status >> 9U & 7U),
                       .code = static_cast<std::uint8_t>(status >> 1U & 0xFFU),
                       .more = (status >> 14U & 1U) != 0,
                       .do_not_retry = (status >> 15U & 1U) != 0};
  return completion;
}

std::optional<NvmeQueueRequest> NvmeQueueRequest::read(const CmReq& request) {
  if (!has_cma(request.service_id, request.private_data)) return std::nullopt;
  const Bytes data = Bytes{request.private_data}.subspan(kSize<Cma>);
  // The record format.
  if (load_word(data, 0) != 0) return std::nullopt;
  NvmeQueueRequest queue;
  queue.queue_id = load_word(data, 2);
  queue.receive_size = load_word(data, 4);
  queue.queue_size = load_word(data, 6) + std::uint32_t{1};
  return queue;
}

}  // namespace roce
