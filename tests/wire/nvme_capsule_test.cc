// SPDX-License-Identifier: BSD-2-Clause
#include "roce/wire/nvme_capsule.h"

#include <gtest/gtest.h>

#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "roce/wire/cma.h"

namespace roce {
namespace {

std::vector<std::byte> capsule(std::initializer_list<std::pair<std::size_t, std::uint8_t>> bytes,
                               std::size_t size = NvmeCommand::kBytes) {
  std::vector<std::byte> made(size);
  for (const auto& [at, value] : bytes) made[at] = std::byte{value};
  return made;
}

TEST(NvmeCapsule, HasTheFieldsOfAReadInHostMemory) {
  const auto bytes = capsule({{0, 0x02},
                              {1, 0x40},
                              {2, 0x34},
                              {3, 0x12},
                              {4, 7},
                              {24, 0xEF},
                              {31, 0x01},
                              {33, 0x10},
                              {35, 0x78},
                              {36, 0x56},
                              {37, 0x34},
                              {38, 0x12},
                              {39, 0x4F},
                              {40, 9},
                              {44, 8}});
  const auto command = NvmeCommand::read(bytes);
  ASSERT_TRUE(command.has_value());
  EXPECT_TRUE(command->has_sgl);
  EXPECT_EQ(command->command_id, 0x1234);
  EXPECT_EQ(command->namespace_id, 7U);
  EXPECT_EQ(command->data_place, NvmeDataPlace::host_memory);
  EXPECT_EQ(command->data_address, 0x01000000000000EFU);
  EXPECT_EQ(command->data_length, 0x1000U);
  EXPECT_EQ(command->data_key, RKey{0x12345678});
  EXPECT_EQ(command->dword10, 9U);
  EXPECT_EQ(command->dword11, 8U);
  EXPECT_EQ(nvme_operation_name(command->operation(false)), "Read");
  EXPECT_EQ(nvme_operation_name(command->operation(true)), "Get Log Page");
  EXPECT_EQ(nvme_data_way(command->operation(false)), NvmeDataWay::to_host);
}

TEST(NvmeCapsule, TellsWhereItsDataAre) {
  const auto in_capsule = NvmeCommand::read(capsule({{0, 1}, {32, 0x00}, {33, 0x10}, {39, 0x01}}));
  EXPECT_EQ(in_capsule->data_place, NvmeDataPlace::in_capsule);
  EXPECT_EQ(in_capsule->data_length, 0x1000U);
  const auto segment = NvmeCommand::read(capsule({{0, 1}, {32, 16}, {39, 0x31}}));
  EXPECT_EQ(segment->data_place, NvmeDataPlace::elsewhere);
  EXPECT_EQ(segment->data_length, 0U);
  EXPECT_FALSE(segment->has_sgl);
}

TEST(NvmeCapsule, OfAConnectHasTheQueue) {
  const auto bytes = capsule({{0, 0x7F}, {4, 1}, {42, 3}, {44, 0xFF}, {45, 0xFF}, {48, 0x10}, {49, 0x27}});
  const auto connect = NvmeConnect::read(bytes);
  ASSERT_TRUE(connect.has_value());
  EXPECT_EQ(connect->queue_id, 3);
  EXPECT_EQ(connect->queue_size, 65'536U);
  EXPECT_EQ(connect->keep_alive_ms, 10'000U);
  EXPECT_EQ(NvmeCommand::read(bytes)->namespace_id, 0U);
  EXPECT_FALSE(NvmeConnect::read(capsule({{0, 0x7F}, {4, 4}})).has_value());
  EXPECT_FALSE(NvmeConnect::read(capsule({{0, 0x01}, {4, 1}})).has_value());
}

TEST(NvmeCapsule, ThatIsTooShortIsNone) {
  EXPECT_FALSE(NvmeCommand::read(capsule({}, 63)).has_value());
  EXPECT_FALSE(NvmeConnect::read(capsule({}, 0)).has_value());
  EXPECT_FALSE(NvmeCompletion::read(capsule({}, 15)).has_value());
}

TEST(NvmeCompletion, HasTheStatusWithoutThePhase) {
  // LBA Out of Range, Do Not Retry; the phase bit is not part of it.
  const auto completion =
      NvmeCompletion::read(capsule({{0, 1}, {8, 5}, {12, 0x34}, {13, 0x12}, {14, 0x01}, {15, 0x81}}, 16));
  ASSERT_TRUE(completion.has_value());
  EXPECT_EQ(completion->result, 1U);
  EXPECT_EQ(completion->head, 5);
  EXPECT_EQ(completion->command_id, 0x1234);
  EXPECT_EQ(completion->status, (NvmeStatus{.type = 0, .code = 0x80, .do_not_retry = true}));
  EXPECT_EQ(nvme_status_name(completion->status, NvmeCommandSet::io), "LBA Out of Range");
  const auto path = NvmeCompletion::read(capsule({{14, 0x06}, {15, 0x46}}, 16));
  EXPECT_EQ(path->status, (NvmeStatus{.type = 3, .code = 3, .more = true}));
  EXPECT_EQ(nvme_status_name(path->status, NvmeCommandSet::io), "Asymmetric Access Transition");
}

TEST(NvmeCompletion, NamesDependOnTheCommandWhereCodesAreUsedTwice) {
  const NvmeStatus status{.type = 1, .code = 0x82};
  EXPECT_EQ(nvme_status_name(status, NvmeCommandSet::io), "Attempted Write to Read Only Range");
  EXPECT_EQ(nvme_status_name(status, NvmeCommandSet::fabrics), "Connect Invalid Parameters");
  EXPECT_EQ(nvme_status_name({.type = 1, .code = 0x01}, NvmeCommandSet::fabrics), "Invalid Queue Identifier");
  EXPECT_EQ(nvme_status_name({.type = 7, .code = 0x01}, NvmeCommandSet::io), "");
  EXPECT_TRUE(NvmeStatus{}.is_success());
  EXPECT_FALSE(status.is_success());
}

TEST(NvmeNames, AreUniqueInTheirSet) {
  for (const NvmeCommandSet set : {NvmeCommandSet::admin, NvmeCommandSet::io, NvmeCommandSet::fabrics}) {
    std::set<std::string_view> names;
    std::size_t count = 0;
    for (unsigned code = 0; code < 256; ++code) {
      const std::string_view name = nvme_operation_name({set, static_cast<std::uint8_t>(code)});
      if (name.empty()) continue;
      ++count;
      names.insert(name);
    }
    EXPECT_EQ(names.size(), count);
    EXPECT_GE(count, 6U);
  }
}

CmReq request(std::initializer_list<std::pair<std::size_t, std::uint8_t>> bytes) {
  CmReq made;
  made.service_id = ServiceId{PortSpace::tcp, kNvmePort};
  const Cma header{.source_address = Cma::from_ipv4({{10, 0, 0, 1}}),
                   .destination_address = Cma::from_ipv4({{10, 0, 0, 2}})};
  write(header, made.private_data.data());
  for (const auto& [at, value] : bytes) made.private_data[kSize<Cma> + at] = std::byte{value};
  return made;
}

TEST(NvmeQueueRequest, IsInThePrivateDataOfARequest) {
  const auto queue = NvmeQueueRequest::read(request({{2, 0x02}, {3, 0x01}, {4, 0x80}, {6, 0x7F}}));
  ASSERT_TRUE(queue.has_value());
  EXPECT_EQ(queue->queue_id, 0x0102);
  EXPECT_EQ(queue->receive_size, 128);
  EXPECT_EQ(queue->queue_size, 128U);
  EXPECT_FALSE(NvmeQueueRequest::read(request({{0, 1}})).has_value());
  CmReq other = request({});
  other.service_id = ServiceId{0x1234};
  EXPECT_FALSE(NvmeQueueRequest::read(other).has_value());
}

}  // namespace
}  // namespace roce
