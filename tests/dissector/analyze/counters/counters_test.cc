// SPDX-License-Identifier: BSD-2-Clause
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "dissector/analyze/program.h"
#include "support/source_tree.h"

namespace roce::analyze::test {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kServer = "10.77.0.2";
const std::string kClient = "10.77.0.3";

std::string counted(const std::string& name) {
  return roce::test::captures_folder() + "/counters/" + name;
}

class CountersTest : public ProgramTest {
 protected:
  [[nodiscard]] std::vector<json> rows(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"counters", "--json"});
    const Outcome outcome = run(std::move(arguments));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    std::vector<json> all;
    for (const std::string& line : lines(outcome.out)) all.push_back(json::parse(line));
    return all;
  }

  /// Compares the counters of rxe as the capture gives them with those of the host itself. Returns the rows by counter.
  [[nodiscard]] std::map<std::string, json> compared(const std::string& scenario, const std::string& guest,
                                                     std::vector<std::string> more) const {
    const std::string stem = counted(scenario + "." + guest);
    more.insert(more.end(), {"--before", stem + ".before.txt", "--compare", stem + ".after.json"});
    std::map<std::string, json> by_name;
    for (json& row : rows(std::move(more))) by_name[row["counter"]] = row;
    return by_name;
  }

  /// Returns the sum of a counter over all hosts of a capture.
  [[nodiscard]] std::uint64_t sum(const std::string& capture, const std::string& vendor,
                                  const std::string& name) const {
    std::uint64_t sum = 0;
    for (const json& host : rows({capture})) {
      const json& counter = host["counters"][vendor][name];
      EXPECT_EQ(counter["least"], counter["most"]) << host["host"] << " " << name;
      sum += counter["most"].get<std::uint64_t>();
    }
    return sum;
  }
};

json truth(const std::string& scenario) {
  std::ifstream in(softroce(scenario + ".truth.json"));
  return json::parse(in);
}

struct Scenario {
  std::string name;
  /// The counters that rxe raised, so that agreeing on zeros is not enough.
  std::set<std::string> counted;
};

const std::vector<Scenario> kScenarios{
    {"drop-requests",
     {"sent_pkts", "rcvd_pkts", "out_of_seq_request", "rcvd_seq_err", "completer_retry_err", "rdma_sends",
      "rdma_recvs"}},
    {"drop-responses", {"sent_pkts", "rcvd_pkts", "duplicate_request", "completer_retry_err"}},
    {"drop-atomic-ack", {"sent_pkts", "rcvd_pkts", "duplicate_request", "completer_retry_err"}},
    {"duplicate", {"sent_pkts", "rcvd_pkts", "duplicate_request"}},
    {"reorder", {"sent_pkts", "rcvd_pkts", "duplicate_request", "out_of_seq_request", "rcvd_seq_err"}},
    {"corrupt", {"sent_pkts", "rcvd_pkts", "duplicate_request", "out_of_seq_request"}},
    {"rnr", {"send_rnr_err", "rcvd_rnr_err", "retry_rnr_exceeded_err", "out_of_seq_request"}},
    {"errors", {"sent_pkts", "rcvd_pkts"}},
    {"timeout", {"sent_pkts", "retry_exceeded_err"}},
    {"blackhole", {"sent_pkts", "rcvd_pkts", "duplicate_request", "retry_exceeded_err"}},
    {"ud-mix", {"sent_pkts", "rcvd_pkts", "rdma_sends", "rdma_recvs"}},
    {"cm-rping", {"sent_pkts", "rcvd_pkts", "rdma_sends", "rdma_recvs"}},
};

/// The guest at which a capture was made, the other guest, and its own addresses as they are in the capture.
struct Guest {
  std::string name;
  std::string other;
  std::vector<std::string> addresses;
};

std::vector<Guest> guests(const std::string& scenario) {
  Guest server{"a", "b", {kServer}};
  Guest client{"b", "a", {kClient}};
  if (scenario == "ud-mix") {
    server.addresses.emplace_back("fd77::2");
    client.addresses.emplace_back("fd77::3");
  }
  return {server, client};
}

std::vector<std::string> options(const std::string& option, const Guest& guest, const std::string& capture) {
  std::vector<std::string> arguments;
  for (const std::string& address : guest.addresses) arguments.insert(arguments.end(), {option, address});
  arguments.push_back(capture);
  return arguments;
}

class CountersOfRxe : public CountersTest, public ::testing::WithParamInterface<Scenario> {};

TEST_P(CountersOfRxe, AreThoseOfACaptureAtTheHost) {
  std::set<std::string> agree;
  for (const Guest& guest : guests(GetParam().name)) {
    const std::string capture = counted(GetParam().name + "." + guest.name + ".pcap");
    for (const auto& [name, row] : compared(GetParam().name, guest.name, options("--at", guest, capture))) {
      if (row["certainty"] == "exact") {
        EXPECT_EQ(row["nic"], row["capture_least"]) << guest.name << " " << row;
      }
      EXPECT_THAT(row["result"], AnyOf("agrees", "not in the capture")) << guest.name << " " << row;
      if (row["result"] == "agrees" && row["nic"] != 0) agree.insert(name);
    }
  }
  for (const std::string& name : GetParam().counted) EXPECT_TRUE(agree.contains(name)) << name;
}

TEST_P(CountersOfRxe, AreNeverExactInACaptureAtTheOtherHost) {
  for (const Guest& guest : guests(GetParam().name)) {
    const std::string capture = counted(GetParam().name + "." + guest.other + ".pcap");
    for (const auto& [name, row] : compared(GetParam().name, guest.name, options("--host", guest, capture))) {
      EXPECT_NE(row["certainty"], "exact") << row;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Captures, CountersOfRxe, ::testing::ValuesIn(kScenarios), [](const auto& scenario) {
  std::string name = scenario.param.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST_F(CountersTest, WhatWasLostBehindTheCapturePointIsTakenOffWhatArrived) {
  // Twelve requests of b were dropped after this capture point.
  const std::string capture = counted("drop-requests.b.pcap");
  std::map<std::string, json> rows = compared("drop-requests", "a", {"--host", kServer, capture});
  for (const char* name : {"rcvd_pkts", "out_of_seq_request", "duplicate_request", "sent_pkts"}) {
    EXPECT_EQ(rows[name]["result"], "agrees") << rows[name];
    EXPECT_EQ(rows[name]["certainty"], "inferred") << rows[name];
  }
  EXPECT_EQ(rows["rcvd_pkts"]["nic"], 113);
}

TEST_F(CountersTest, WhatWasLostInFrontOfTheCapturePointIsAddedToWhatWasSent) {
  const std::string capture = counted("drop-requests.a.pcap");
  std::map<std::string, json> rows = compared("drop-requests", "b", {"--host", kClient, capture});
  EXPECT_EQ(rows["sent_pkts"]["result"], "agrees") << rows["sent_pkts"];
  EXPECT_EQ(rows["sent_pkts"]["nic"], 125);
}

TEST_F(CountersTest, WherePacketsAreInDoubtTheirBytesAreToo) {
  std::size_t in_doubt = 0;
  for (const char* name : {"rc-rnr.tx.pcap", "rc-blackhole.tx.pcap", "rc-errors.tx.pcap", "rc-drop-random.tx.pcap"}) {
    for (const json& host : rows({softroce(name)})) {
      const json& packets = host["facts"]["packets_received"];
      const json& bytes = host["facts"]["bytes_received"];
      EXPECT_EQ(packets["least"] == packets["most"], bytes["least"] == bytes["most"]) << name << " " << host["host"];
      in_doubt += packets["least"] != packets["most"] ? 1 : 0;
    }
  }
  EXPECT_GE(in_doubt, 2U) << "the captures with RNR NAKs and without answers";
}

TEST_F(CountersTest, NaksMarksAndDamagesAreThoseOfTheTruth) {
  const json rnr = truth("rc-rnr")["tx"];
  EXPECT_EQ(sum(softroce("rc-rnr.tx.pcap"), "mlx5", "rnr_nak_retry_err"), rnr["rnr_naks"].get<std::uint64_t>());
  EXPECT_EQ(sum(softroce("rc-rnr.tx.pcap"), "rxe", "send_rnr_err"), rnr["rnr_naks"].get<std::uint64_t>());
  EXPECT_EQ(sum(softroce("rc-rnr.tx.pcap"), "rxe", "out_of_seq_request"), rnr["naks"]["0x60"].get<std::uint64_t>());
  const json errors = truth("rc-errors")["tx"];
  EXPECT_EQ(sum(softroce("rc-errors.tx.pcap"), "mlx5", "req_remote_access_errors"),
            errors["naks"]["0x62"].get<std::uint64_t>());
  EXPECT_EQ(sum(softroce("rc-errors.tx.pcap"), "mlx5", "resp_remote_access_errors"),
            errors["naks"]["0x62"].get<std::uint64_t>());
  EXPECT_EQ(sum(softroce("rc-ecn-ce.rx.pcap"), "mlx5", "np_ecn_marked_roce_packets"),
            truth("rc-ecn-ce")["rx"]["ce"].get<std::uint64_t>());
  EXPECT_EQ(sum(softroce("rc-corrupt.rx.pcap"), "mlx5", "rx_icrc_encapsulated"),
            truth("rc-corrupt")["rx"]["icrc_bad"].get<std::uint64_t>());
}

TEST_F(CountersTest, RequestsAreCountedAtTheResponderByTheirOperation) {
  const json ops = truth("rc-mix-v4")["tx"]["ops"];
  const auto number = [&](const char* opcode) { return ops.value(opcode, std::uint64_t{0}); };
  const std::string capture = softroce("rc-mix-v4.tx.pcap");
  EXPECT_EQ(sum(capture, "mlx5", "rx_read_requests"), number("RC_READ_REQ"));
  EXPECT_EQ(sum(capture, "mlx5", "rx_atomic_requests"), number("RC_CMP_SWAP") + number("RC_FETCH_ADD"));
  EXPECT_EQ(sum(capture, "mlx5", "rx_write_requests"),
            number("RC_WRITE_FIRST") + number("RC_WRITE_ONLY") + number("RC_WRITE_ONLY_IMM"));
}

TEST_F(CountersTest, CnpsAreSentByTheNotificationPointAndReceivedByTheReactionPoint) {
  const std::vector<json> hosts = rows({roce::test::captures_folder() + "/made/link-control.pcapng"});
  std::uint64_t sent = 0;
  for (const json& host : hosts) {
    const json& mlx5 = host["counters"]["mlx5"];
    sent += mlx5["np_cnp_sent"]["most"].get<std::uint64_t>();
    EXPECT_EQ(mlx5["np_cnp_sent"]["most"], mlx5["cc_tx_cnp_pkts"]["most"]);
    EXPECT_EQ(mlx5["rp_cnp_handled"]["most"], mlx5["cc_rx_cnp_pkts"]["most"]);
    // A host that only asks others to slow down was not asked itself.
    if (mlx5["np_cnp_sent"]["most"] != 0) {
      EXPECT_EQ(mlx5["rp_cnp_handled"]["most"], 0) << host["host"];
    }
  }
  EXPECT_GT(sent, 0U);
}

TEST_F(CountersTest, NothingIsExactUnlessTheCaptureIsTheHosts) {
  const std::string capture = softroce("rc-mix-v4.tx.pcap");
  for (const json& host : rows({capture})) {
    for (const auto& [name, fact] : host["facts"].items()) EXPECT_EQ(fact["certainty"], "inferred") << name;
  }
  std::set<std::string> exact;
  for (const json& host : rows({"--at", kServer, capture})) {
    for (const auto& [name, fact] : host["facts"].items()) {
      if (fact["certainty"] == "exact") exact.insert(host["host"].get<std::string>() + " " + name);
    }
  }
  EXPECT_TRUE(exact.contains(kServer + " packets_sent"));
  EXPECT_TRUE(exact.contains(kServer + " packets_received"));
  EXPECT_FALSE(exact.contains(kServer + " timeouts"));
  EXPECT_FALSE(exact.contains(kClient + " packets_sent"));
}

TEST_F(CountersTest, WhatNoCaptureTellsIsListedWithItsReason) {
  const std::string capture = softroce("rc-mix-v4.tx.pcap");
  const std::string all = run({"counters", "--vendor", "mlx5", "--all", capture}).out;
  EXPECT_THAT(all, AllOf(HasSubstr("req_cqe_error"), HasSubstr("completions are not on the wire")));
  EXPECT_THAT(run({"counters", "--vendor", "mlx5", capture}).out, Not(HasSubstr("req_cqe_error")));
  const json host = rows({"--vendor", "mlx5", "--host", kServer, capture}).at(0);
  EXPECT_EQ(host["counters"].size(), 1U);
  EXPECT_EQ(host["counters"]["mlx5"]["req_cqe_error"]["certainty"], "unknowable");
  EXPECT_TRUE(host["counters"]["mlx5"]["req_cqe_error"]["least"].is_null());
}

TEST_F(CountersTest, TablesAndCsv) {
  const std::string capture = softroce("rc-drop-requests.rx.pcap");
  const Outcome table = run({"counters", capture});
  EXPECT_EQ(table.exit_code, 0);
  EXPECT_THAT(table.out, AllOf(HasSubstr(kServer), HasSubstr(kClient), HasSubstr("out_of_seq_request"),
                               HasSubstr("packet_seq_err"), Not(HasSubstr("np_cnp_sent"))));
  const std::vector<std::string> csv = lines(run({"counters", "--csv", "--vendor", "rxe", capture}).out);
  ASSERT_GT(csv.size(), 2U);
  EXPECT_EQ(csv[0], "host,vendor,counter,least,most,certainty,what,note\r");
  for (std::size_t i = 1; i < csv.size(); ++i) EXPECT_THAT(csv[i], HasSubstr(",rxe,"));
}

TEST_F(CountersTest, ComparingNeedsToKnowWhoseCountersTheyAre) {
  const std::string capture = softroce("rc-mix-v4.tx.pcap");
  const std::string values = save("after.txt", "sent_pkts:5\n");
  const Outcome nobody = run({"counters", "--compare", values, capture});
  EXPECT_EQ(nobody.exit_code, 2);
  EXPECT_THAT(nobody.err, AllOf(HasSubstr(kServer), HasSubstr(kClient), HasSubstr("--host")));
  const Outcome absent = run({"counters", "--host", "192.0.2.9", "--compare", values, capture});
  EXPECT_EQ(absent.exit_code, 2);
  EXPECT_THAT(absent.err, AllOf(HasSubstr("192.0.2.9"), HasSubstr(kServer)));
  EXPECT_EQ(run({"counters", "--host", "nowhere", capture}).exit_code, 2);
  EXPECT_EQ(run({"counters", "--vendor", "abacus", capture}).exit_code, 2);
  EXPECT_EQ(run({"counters", "--before", values, capture}).exit_code, 2);
  EXPECT_EQ(run({"counters", "--host", kServer, "--compare", path("absent"), capture}).exit_code, 1);
  const Outcome strange = run({"counters", "--host", kServer, "--compare", save("strange", "sunspots 4\n"), capture});
  EXPECT_EQ(strange.exit_code, 1);
  EXPECT_THAT(strange.err, HasSubstr("mlx5, rxe or irdma"));
}

TEST_F(CountersTest, EachNumberIsJudged) {
  const std::string capture = softroce("rc-mix-v4.tx.pcap");
  const json server = rows({"--at", kServer, "--host", kServer, capture}).at(0);
  const auto sent = server["counters"]["rxe"]["sent_pkts"]["most"].get<std::uint64_t>();
  const auto received = server["counters"]["rxe"]["rcvd_pkts"]["most"].get<std::uint64_t>();
  const auto judge = [&](const std::string& before, const std::string& after) {
    std::vector<std::string> arguments{"--at", kServer, "--compare", save("after", after)};
    if (!before.empty()) arguments.insert(arguments.end(), {"--before", save("before", before)});
    arguments.push_back(capture);
    std::map<std::string, json> by_name;
    for (json& row : rows(std::move(arguments))) by_name[row["counter"]] = row;
    return by_name;
  };
  auto result =
      judge("sent_pkts 100\nrcvd_pkts 7\nsend_err 0\nduplicate_request 9\nlink_downed 1\n",
            fmt::format("sent_pkts {}\nrcvd_pkts {}\nsend_err 3\nduplicate_request 2\nsunspots 4\nrcvd_rnr_err 0\n",
                        sent + 100, received + 9));
  EXPECT_EQ(result["sent_pkts"]["result"], "agrees");
  EXPECT_EQ(result["sent_pkts"]["nic"], sent);
  EXPECT_EQ(result["sent_pkts"]["certainty"], "exact");
  EXPECT_EQ(result["rcvd_pkts"]["result"], "differs");
  EXPECT_EQ(result["rcvd_pkts"]["difference"], 2);
  EXPECT_EQ(result["send_err"]["result"], "not in the capture");
  EXPECT_EQ(result["duplicate_request"]["result"], "cannot be told") << "it fell";
  EXPECT_EQ(result["rcvd_rnr_err"]["result"], "cannot be told") << "it was not there before";
  EXPECT_EQ(result["link_downed"]["result"], "cannot be told") << "it is gone";
  EXPECT_EQ(result["sunspots"]["result"], "unknown name");
  // Without a snapshot before, a NIC may have counted more but not less.
  result = judge("", fmt::format("sent_pkts {}\nrcvd_pkts {}\n", sent + 1, received - 1));
  EXPECT_EQ(result["sent_pkts"]["result"], "cannot be told");
  EXPECT_EQ(result["rcvd_pkts"]["result"], "differs");
  EXPECT_EQ(result["rcvd_pkts"]["difference"], -1);
}

}  // namespace
}  // namespace roce::analyze::test
