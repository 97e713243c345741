// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/counters/nic_statistics.h"

#include <gmock/gmock.h>

#include "analyze/counters/nic_counter_names.h"

namespace roce::analyze {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string error_of(std::string_view text) {
  const auto statistics = parse_nic_statistics(text, "file");
  return statistics ? "none" : statistics.error();
}

TEST(NicStatistics, JsonOfRdma) {
  const auto statistics =
      parse_nic_statistics(R"([{"ifname":"rxe0","port":1,"sent_pkts":125,"rcvd_pkts":42,"send_err":0}])", "file");
  ASSERT_TRUE(statistics.has_value()) << statistics.error();
  EXPECT_EQ(statistics->link, "rxe0/1");
  EXPECT_THAT(statistics->counters,
              ElementsAre(NicValue{"sent_pkts", 125}, NicValue{"rcvd_pkts", 42}, NicValue{"send_err", 0}));
}

TEST(NicStatistics, LinesInEachForm) {
  const auto statistics = parse_nic_statistics(
      "# after\n"
      "sent_pkts 7\r\n"
      "rcvd_pkts: 8\n"
      "\n"
      "send_err=9\n"
      "RNR sent:10\n"
      "Nak Sequence Error 18446744073709551615\n"
      "lifespan:12\n",
      "file");
  ASSERT_TRUE(statistics.has_value()) << statistics.error();
  EXPECT_THAT(statistics->counters,
              ElementsAre(NicValue{"sent_pkts", 7}, NicValue{"rcvd_pkts", 8}, NicValue{"send_err", 9},
                          NicValue{"RNR sent", 10}, NicValue{"Nak Sequence Error", 18446744073709551615U}));
}

TEST(NicStatistics, ListingOfSysfs) {
  const auto statistics = parse_nic_statistics(
      "/sys/class/infiniband/mlx5_0/ports/1/hw_counters/out_of_sequence:3\n"
      "/sys/class/infiniband/mlx5_0/ports/1/hw_counters/lifespan:10\n",
      "file");
  ASSERT_TRUE(statistics.has_value()) << statistics.error();
  EXPECT_EQ(statistics->link, "/sys/class/infiniband/mlx5_0/ports/1/hw_counters");
  EXPECT_THAT(statistics->counters, ElementsAre(NicValue{"out_of_sequence", 3}));
}

TEST(NicStatistics, ErrorsSayWhatAndWhere) {
  EXPECT_THAT(error_of(""), HasSubstr("no counters"));
  EXPECT_THAT(error_of("[]"), HasSubstr("no counters"));
  EXPECT_THAT(error_of("lifespan:12"), HasSubstr("no counters"));
  EXPECT_THAT(error_of("sent_pkts 7\nrcvd_pkts many\n"), HasSubstr("file: line 2"));
  EXPECT_THAT(error_of("sent_pkts -7\n"), HasSubstr("'sent_pkts -7'"));
  EXPECT_THAT(error_of("sent_pkts 18446744073709551616\n"), HasSubstr("line 1"));
  EXPECT_THAT(error_of(": 7\n"), HasSubstr("expected a name"));
  EXPECT_THAT(error_of("7\n"), HasSubstr("expected a name"));
  EXPECT_THAT(error_of("sent_pkts 7\nsent_pkts 8\n"), HasSubstr("second time"));
  EXPECT_THAT(error_of("a/sent_pkts:7\nb/rcvd_pkts:8\n"), HasSubstr("one port"));
  EXPECT_THAT(error_of("link rxe0/1 sent_pkts 1 rcvd_pkts 2\n"), HasSubstr("rdma -j statistic"));
  EXPECT_THAT(error_of(R"([{"ifname":"a","port":1,"x":1},{"ifname":"b","port":2,"x":1}])"), HasSubstr("a/1, b/2"));
  EXPECT_THAT(error_of(R"([{"ifname":"a","x":-1}])"), HasSubstr("found -1"));
  EXPECT_THAT(error_of(R"([{"ifname":"a","x":"1"}])"), HasSubstr("x: expected"));
  EXPECT_THAT(error_of("[1]"), HasSubstr("found number"));
  EXPECT_THAT(error_of(R"([{"ifname":)"), HasSubstr("begins like JSON"));
  EXPECT_THAT(error_of("\x1B[31m"), HasSubstr("?[31m"));
}

TEST(NicCounterNames, VendorIsWhoKnowsMostNames) {
  const auto vendor = [](std::vector<std::string_view> names) { return vendor_of(names); };
  EXPECT_EQ(vendor({"duplicate_request", "sent_pkts"}), NicVendor::rxe);
  EXPECT_EQ(vendor({"duplicate_request", "out_of_sequence"}), NicVendor::mlx5);
  EXPECT_EQ(vendor({"vport_out_of_buffer"}), NicVendor::mlx5);
  EXPECT_EQ(vendor({"iwInRdmaReads"}), NicVendor::irdma);
  EXPECT_EQ(vendor({"sunspots"}), std::nullopt);
}

TEST(NicCounterNames, EachNameOnceAndEachWhatCannotBeToldWithItsReason) {
  for (const NicCounter& counter : nic_counters()) {
    EXPECT_EQ(find_nic_counter(counter.vendor, counter.name), &counter) << counter.name;
    EXPECT_EQ(counter.reading == Reading::elsewhere, counter.fact == HostFact::count) << counter.name;
    if (counter.reading == Reading::elsewhere) {
      EXPECT_FALSE(counter.note.empty()) << counter.name;
    }
  }
}

}  // namespace
}  // namespace roce::analyze
