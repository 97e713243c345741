// SPDX-License-Identifier: BSD-2-Clause
#include "roce/transport/verb_error.h"

#include <gtest/gtest.h>

#include "roce/transport/verbs.h"

namespace roce::transport {
namespace {

TEST(VerbErrorText, NamesWhatWasFoundAndTheLimit) {
  EXPECT_EQ(to_string(VerbError{VerbErrorCode::invalid_argument, "sges", "at most max_send_sge", 5, 4}),
            "sges: found 5, needs at most max_send_sge (4)");
  EXPECT_EQ(to_string(VerbError{VerbErrorCode::no_resources, "mr", "at most max_mr", 9, 8}),
            "mr: found 9, needs at most max_mr (8)");
  EXPECT_EQ(to_string(VerbError{VerbErrorCode::invalid_argument, "port", "1", 2, 0}), "port: found 2, needs 1");
  EXPECT_EQ(to_string(VerbError{VerbErrorCode::in_use, "pd", "no object in it", 3, 0}),
            "pd: found 3, needs no object in it");
}

TEST(VerbErrorText, SaysStatesAndTypesInWords) {
  const auto init = static_cast<std::uint64_t>(QpState::init);
  EXPECT_EQ(to_string(VerbError{VerbErrorCode::wrong_state, "post_send", "RTS, SQD, SQE or ERR", init, 3}),
            "post_send: found INIT, needs RTS, SQD, SQE or ERR");
  const auto ud = static_cast<std::uint64_t>(QpType::ud);
  EXPECT_EQ(to_string(VerbError{VerbErrorCode::wrong_type, "read", "RC", ud, 0}), "read: found UD, needs RC");
  EXPECT_EQ(to_string(VerbError{VerbErrorCode::wrong_state, "qp", "a state", 77, 0}), "qp: found 77, needs a state");
}

TEST(VerbErrorText, SaysWhatIsMissingUnknownOrTooMuch) {
  EXPECT_EQ(to_string(VerbError{VerbErrorCode::missing_attribute, "dest_qp", "a QPN from INIT to RTR", 0, 0}),
            "dest_qp: missing, needs a QPN from INIT to RTR");
  EXPECT_EQ(to_string(VerbError{VerbErrorCode::unexpected_attribute, "sq_psn", "to be set from RTR to RTS", 0, 0}),
            "sq_psn: not allowed here, needs to be set from RTR to RTS");
  EXPECT_EQ(to_string(VerbError{VerbErrorCode::unknown_handle, "mr", "an object that exists", 5, 0}),
            "mr: 5 is unknown, needs an object that exists");
}

TEST(VerbErrorText, DoesWithoutAdvice) {
  EXPECT_EQ(to_string(VerbError{VerbErrorCode::invalid_argument, "length", "", 7, 0}), "length: found 7");
}

}  // namespace
}  // namespace roce::transport
