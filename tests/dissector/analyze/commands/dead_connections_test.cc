// SPDX-License-Identifier: BSD-2-Clause
// The first lines of the summary when a connection died, from before the fault and from behind it. The completions are
// those that the applications got (captures/softroce/*.truth.json).
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "dissector/analyze/program.h"

namespace roce::analyze::test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class DeadConnections : public ProgramTest {
 protected:
  [[nodiscard]] std::string summary(const std::string& name) const { return run({"summary", softroce(name)}).out; }
  [[nodiscard]] std::string headline(const std::string& name) const {
    return json::parse(run({"summary", "--json", softroce(name)}).out)["verdict"];
  }
};

TEST_F(DeadConnections, OfSilenceSeenBeforeTheFault) {
  EXPECT_EQ(headline("rc-blackhole.tx.pcap"),
            "1 of 1 connection died of silence: the application gets completion 12 (transport retry counter exceeded)");
  EXPECT_THAT(
      summary("rc-blackhole.tx.pcap"),
      HasSubstr("10.77.0.2 has been silent since 0.263349 s: RC_SEND_ONLY PSN 2384788 of 10.77.0.3 sent 3 times in "
                "72.8 ms, ACK timeout 13 (33.6 ms), retry count 2"));
}

TEST_F(DeadConnections, OfSilenceSeenBehindTheFault) {
  EXPECT_THAT(headline("rc-blackhole.rx.pcap"), StartsWith("1 of 1 connection may have died"));
  EXPECT_THAT(summary("rc-blackhole.rx.pcap"),
              HasSubstr("10.77.0.2 owes 10.77.0.3 an answer to RC_SEND_ONLY PSN 2384788"));
}

TEST_F(DeadConnections, OrOneDirectionIsNotInTheCapture) {
  EXPECT_THAT(headline("rc-timeout.tx.pcap"), HasSubstr("or the answers alone are not in the capture"));
  EXPECT_THAT(summary("rc-timeout.tx.pcap"), HasSubstr("ACK timeout 12 (16.8 ms), retry count 2"));
}

TEST_F(DeadConnections, OfRnrNaks) {
  EXPECT_EQ(headline("rc-rnr.tx.pcap"),
            "2 of 3 connections died of RNR NAKs: the application gets completion 13 (RNR retry counter exceeded)");
  const std::string text = summary("rc-rnr.tx.pcap");
  EXPECT_THAT(text, HasSubstr("RNR retry count 3"));
  EXPECT_THAT(text, HasSubstr("RNR retry count 1"));
  EXPECT_THAT(text, Not(HasSubstr("no_answer")));
}

TEST_F(DeadConnections, AreNotThoseThatEndWell) {
  for (const char* name : {"rc-mix-v4.tx.pcap", "rc-drop-requests.tx.pcap", "rc-drop-responses.tx.pcap",
                           "rc-errors.tx.pcap", "rc-drop-responses.rx.pcap", "uc-mix.tx.pcap"}) {
    EXPECT_THAT(summary(name), Not(HasSubstr("died"))) << name;
  }
}

}  // namespace
}  // namespace roce::analyze::test
