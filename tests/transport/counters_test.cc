// SPDX-License-Identifier: BSD-2-Clause
#include "roce/transport/counters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string_view>

namespace roce::transport {
namespace {

TEST(CounterNames, NameEachMemberOnce) {
  Counters counters;
  for (const CounterName& row : counter_names()) ++(counters.*row.member);
  for (const CounterName& row : counter_names()) EXPECT_EQ(counters.*row.member, 1U) << row.name;
  EXPECT_EQ(counter_names().size() * sizeof(std::uint64_t), sizeof(Counters));
}

TEST(CounterNames, AreUniqueWithinEachVocabulary) {
  for (const auto vocabulary : {&CounterName::name, &CounterName::rxe, &CounterName::mlx5}) {
    std::set<std::string_view> seen;
    for (const CounterName& row : counter_names()) {
      const std::string_view name = row.*vocabulary;
      EXPECT_TRUE(name.empty() || seen.insert(name).second) << name;
    }
  }
  for (const CounterName& row : counter_names()) EXPECT_FALSE(row.name.empty());
}

TEST(CounterNames, AreThoseThatOperatorsKnow) {
  std::map<std::string_view, std::uint64_t Counters::*> rxe;
  std::map<std::string_view, std::uint64_t Counters::*> mlx5;
  for (const CounterName& row : counter_names()) {
    rxe[row.rxe] = row.member;
    mlx5[row.mlx5] = row.member;
  }
  EXPECT_EQ(rxe["duplicate_request"], &Counters::duplicate_requests);
  EXPECT_EQ(rxe["out_of_seq_request"], &Counters::out_of_sequence);
  EXPECT_EQ(rxe["send_rnr_err"], &Counters::rnr_naks_sent);
  EXPECT_EQ(rxe["rcvd_rnr_err"], &Counters::rnr_naks_received);
  EXPECT_EQ(rxe["rcvd_seq_err"], &Counters::sequence_naks_received);
  EXPECT_EQ(mlx5["packet_seq_err"], &Counters::sequence_naks_received);
  EXPECT_EQ(mlx5["rnr_nak_retry_err"], &Counters::rnr_naks_received);
  EXPECT_EQ(mlx5["implied_nak_seq_err"], &Counters::implied_naks);
  EXPECT_EQ(mlx5["local_ack_timeout_err"], &Counters::timeouts);
  EXPECT_EQ(mlx5["np_ecn_marked_roce_packets"], &Counters::ce_received);
  EXPECT_EQ(mlx5["rx_icrc_encapsulated"], &Counters::icrc_errors);
}

}  // namespace
}  // namespace roce::transport
