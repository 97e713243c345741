// SPDX-License-Identifier: BSD-2-Clause
// Case files: what is read, and the place and the sentence of each mistake.
#include "conform/language/read_case.h"

#include <gmock/gmock.h>

#include "conform/language/instance.h"

namespace roce::conform {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

constexpr std::string_view kHead = "case: psn-x\ntitle: A title\nrule: [RC-RESP-02]\nlevel: must\n";

CaseResult<Case> read(const std::string& rest) {
  return read_case("psn-x.yaml", std::string{kHead} + rest);
}

/// Returns the error of a case whose lines from the fifth on are these.
std::string mistake(const std::string& rest) {
  const CaseResult<Case> one = read(rest);
  return one ? "none" : to_string(one.error());
}

std::vector<std::string> names_of(const std::string& rest) {
  const CaseResult<Case> one = read(rest + "steps: [{probe: }]\n");
  if (!one) return {to_string(one.error())};
  const CaseResult<std::vector<Instance>> instances = expand(*one);
  if (!instances) return {to_string(instances.error())};
  std::vector<std::string> names;
  for (const Instance& instance : *instances) names.push_back(instance.name());
  return names;
}

TEST(ReadCase, KnowsEachStep) {
  const CaseResult<Case> one = read(R"yaml(steps:
  - inject: {SEND_ONLY: , bth.psn: $E + 1, after_icrc: {ip.ttl: 1}}
    label: first
  - expect: {NAK: [0x60, $E, $M]}
    within: 20ms
    save: {psn: bth.psn}
  - expect_one_of: {answered: [{expect: {ACK: }}], silent: [{quiet: default}]}
  - quiet: {time: 5ms, except: [{ACK: }]}
  - completion: {of: receive, wr_id: 0, status: success}
  - memory: {at: $R.va, is: ["bytes(1, 4)", "00"]}
  - state: {qp: ERR}
  - counter: {duplicate_requests: 1..3}
  - set: {key: {by: $psn, "1": 2, else: 3}}
  - for_each: {k: [1, 4..6], steps: [{check: $k > 0}]}
  - repeat: {times: 2, steps: [{wait: 1ms}]}
  - modify: {state: ERR}
    refused: "true"
)yaml");
  ASSERT_TRUE(one) << to_string(one.error());
  ASSERT_EQ(one->steps.size(), 12U);
  EXPECT_EQ(one->group(), "psn");
  EXPECT_EQ(one->steps[0].label, "first");
  EXPECT_EQ(one->steps[0].place.line, 6);
  EXPECT_TRUE(one->steps[11].is_refused);
}

TEST(ReadCase, MakesAnInstanceOfEachCombination) {
  EXPECT_THAT(names_of("params: {a: [1, x], b: 0..4 step 2}\n"),
              ElementsAre("psn-x[a=1,b=0]", "psn-x[a=1,b=2]", "psn-x[a=1,b=4]", "psn-x[a=x,b=0]", "psn-x[a=x,b=2]",
                          "psn-x[a=x,b=4]"));
  EXPECT_THAT(names_of("params: {a: [1, 2], b: [1, 2]}\nwhen: $a < $b\n"), ElementsAre("psn-x[a=1,b=2]"));
  EXPECT_THAT(names_of("params: {f: [{name: odd, v: 3}]}\n"), ElementsAre("psn-x[f=odd]"));
  EXPECT_THAT(names_of(""), ElementsAre("psn-x"));
}

TEST(ReadCase, NamesPlaceAndWhatIsAllowed) {
  EXPECT_THAT(mistake("steps:\n  - expct: {ACK: }\n"),
              AllOf(StartsWith("psn-x.yaml:6:5: step \"expct\" is unknown; there are: inject, expect"),
                    EndsWith("for_each, wait, within, after, since, label, save, refused")));
  EXPECT_THAT(mistake("steps:\n  - inject: {SEND_ONLY: , bth.psn: ($E}\n"), HasSubstr("expected ')'"));
  EXPECT_THAT(mistake("steps: [{quiet: {tim: 3ms}}]\n"), HasSubstr("\"tim\" is unknown; there are: time, except"));
  EXPECT_THAT(mistake("steps: [{inject: {SEND_ONLY: 3}}]\n"), HasSubstr("expected nothing behind the opcode"));
  EXPECT_THAT(mistake("steps: [{inject: {NAK: [0x60, $S]}}]\n"),
              HasSubstr("NAK is a pattern of what D sends; T sends {ACKNOWLEDGE: , "));
  EXPECT_THAT(mistake("steps: [{completion: {of: both}}]\n"), HasSubstr("expected send or receive, found both"));
  EXPECT_THAT(mistake("steps: [{memory: changed}]\n"), HasSubstr("expected unchanged or {at, is}, found changed"));
  EXPECT_THAT(mistake("steps: [{memory: {at: 3}}]\n"), HasSubstr("expected at, and either is or length"));
  EXPECT_THAT(mistake("steps: [{probe: , wait: 3ms}]\n"), HasSubstr("a step has one verb; found probe and wait"));
  EXPECT_THAT(mistake("steps: [{label: x}]\n"), HasSubstr("a step needs a verb"));
  EXPECT_THAT(mistake("steps: []\n"), HasSubstr("the list is empty"));
  EXPECT_THAT(mistake("steps: [{probe: }]\nlevel: must\n"), HasSubstr("\"level\" is there twice"));
  EXPECT_THAT(mistake("steps: [{probe: }]\nneeds: [luck]\n"),
              HasSubstr("needs: \"luck\" is unknown; there are: agent"));
  EXPECT_THAT(mistake("steps: [{probe: }]\nparms: {}\n"),
              HasSubstr("member \"parms\" is unknown; there are: case, title"));
  EXPECT_THAT(mistake("steps: [{probe: }]\nparams: {a: []}\n"), HasSubstr("the list is empty"));
  EXPECT_THAT(mistake("steps: [{probe: }]\nparams: {a: 9..3}\n"), HasSubstr("expected a range such as 0..31"));
  EXPECT_THAT(mistake("steps: [{probe: }]\nsetup: {w: {cq: {}}}\n"),
              HasSubstr("object \"cq\" is unknown; there are: qp, mr, mw, srq"));
  EXPECT_THAT(mistake("steps: [{expect_one_of: {a: [{expect: {ACK: }}], b: [{completion: }]}}]\n"),
              HasSubstr("branch b begins with completion, and branch a with expect"));
  EXPECT_THAT(mistake("steps: [{expect_one_of: {a: [{wait: 1ms}]}}]\n"),
              HasSubstr("branch a has to begin with expect, completion or quiet"));
  EXPECT_THAT(mistake(""), HasSubstr("a case needs steps"));
  EXPECT_THAT(mistake("steps: [{probe: }\n"), HasSubstr("psn-x.yaml:"));
}

TEST(ReadCase, KnowsTheOpcodesAndFieldsOfFrames) {
  EXPECT_THAT(mistake("steps:\n  - expect: {SEND_ONYL: , bth.psn: $S}\n"),
              AllOf(StartsWith("psn-x.yaml:6:14: there is no opcode \"SEND_ONYL\"; there are"),
                    HasSubstr(" SEND_ONLY,"), HasSubstr(" CM_REQ,")));
  EXPECT_THAT(mistake("steps:\n  - quiet: {time: 1ms, except: [{ACKN: }]}\n"),
              StartsWith("psn-x.yaml:6:34: there is no opcode"));
  EXPECT_THAT(mistake("steps:\n  - expect: {opcode: [SEND_FIRST, MIDDLE]}\n"),
              AllOf(StartsWith("psn-x.yaml:6:"), HasSubstr("there is no opcode \"MIDDLE\"")));
  EXPECT_THAT(mistake("steps: [{repeat: {times: 0, steps: [{inject: {SEND_ALL: }}]}}]\n"),
              HasSubstr("there is no opcode \"SEND_ALL\""));
  EXPECT_THAT(mistake("steps: [{expect: {ACK: , bth.psnn: 3}}]\n"),
              HasSubstr("there is no field \"bth.psnn\"; there are: bth.opcode, "));
  EXPECT_THAT(mistake("steps: [{expect: {ACK: , paylod: 3}}]\n"),
              HasSubstr("there is no field \"paylod\"; there are: payload, payload_length, "));
  EXPECT_EQ(
      mistake("steps: [{expect: {UC_SEND_ONLY: , network.ecn: 3}}, {expect: {opcode: 0x81}}, {inject: {$x: }}]\n"),
      "none");
}

TEST(ReadCase, RefusesAFolderWithoutCases) {
  const CaseResult<std::vector<Case>> cases = read_cases("/nonexistent/folder");
  ASSERT_FALSE(cases);
  EXPECT_THAT(to_string(cases.error()), HasSubstr("/nonexistent/folder"));
}

}  // namespace
}  // namespace roce::conform
