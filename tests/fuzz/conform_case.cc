// SPDX-License-Identifier: BSD-2-Clause
#include <cstdint>
#include <cstdlib>
#include <string>

#include "conform/language/instance.h"
#include "conform/language/read_case.h"

// The input is the text of a conformance case. Required: it is read, or refused with the name of its file and a
// sentence; and its instances have names of their own.

namespace {

using namespace roce::conform;

void check(bool holds) {
  if (!holds) std::abort();
}

void check_error(const CaseError& error) {
  check(to_string(error).starts_with("fuzz.yaml") && !error.message.empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t most = 8192;
  if (size > most) return 0;
  const CaseResult<Case> one = read_case("fuzz.yaml", std::string(reinterpret_cast<const char*>(data), size));
  if (!one) {
    check_error(one.error());
    return 0;
  }
  check(!one->steps.empty());
  const CaseResult<std::vector<Instance>> instances = expand(*one);
  if (!instances) {
    check_error(instances.error());
    return 0;
  }
  for (const Instance& instance : *instances) check(instance.name().starts_with(one->id));
  return 0;
}
