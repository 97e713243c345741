// SPDX-License-Identifier: BSD-2-Clause
#include "roce/transport/verb_error.h"

#include "roce/transport/verbs.h"

namespace roce::transport {
namespace {

// Describes the value found, in words if it is the number of a state or a type.
std::string found(const VerbError& error) {
  switch (error.code) {
    case VerbErrorCode::unknown_handle:
      return std::to_string(error.found) + " is unknown";
    case VerbErrorCode::missing_attribute:
      return "missing";
    case VerbErrorCode::unexpected_attribute:
      return "not allowed here";
    case VerbErrorCode::wrong_state:
      if (error.found > static_cast<std::uint64_t>(QpState::err)) break;
      return "found " + std::string{to_string(static_cast<QpState>(error.found))};
    case VerbErrorCode::wrong_type:
      if (error.found > static_cast<std::uint64_t>(QpType::xrc_target)) break;
      return "found " + std::string{to_string(static_cast<QpType>(error.found))};
    case VerbErrorCode::invalid_argument:
    case VerbErrorCode::no_resources:
    case VerbErrorCode::in_use:
      break;
  }
  return "found " + std::to_string(error.found);
}

bool counts(VerbErrorCode code) {
  return code == VerbErrorCode::invalid_argument || code == VerbErrorCode::no_resources;
}

}  // namespace

std::string to_string(const VerbError& error) {
  std::string text{error.subject};
  text += ": ";
  text += found(error);
  if (!error.needs.empty()) {
    text += ", needs ";
    text += error.needs;
    if (counts(error.code) && error.expected != 0) text += " (" + std::to_string(error.expected) + ")";
  }
  return text;
}

std::string expectation(const VerbError& error) {
  std::string text{"expected "};
  text += error.needs;
  if (error.expected != 0) text += " " + std::to_string(error.expected);
  return text + ", found " + std::to_string(error.found);
}

}  // namespace roce::transport
