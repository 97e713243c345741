// SPDX-License-Identifier: BSD-2-Clause
// The controller that docs/congestion.md shows is the one that is compiled here, and it works.
#include "congestion/own_control.h"

#include <gmock/gmock.h>

#include <fstream>
#include <iterator>
#include <string>

#include "congestion/bottleneck.h"
#include "support/source_tree.h"

namespace roce::sim {
namespace {

using namespace std::chrono_literals;

std::string text_of(const std::string& name) {
  std::ifstream file{test::source_folder() + name};
  return {std::istreambuf_iterator<char>{file}, {}};
}

TEST(OwnControl, TheGuideShowsWhatIsCompiled) {
  const std::string source = text_of("/tests/congestion/own_control.h");
  const std::string begin = "// --- own_control.h\n";
  const std::size_t from = source.find(begin) + begin.size();
  const std::string shown = source.substr(from, source.find("// --- end") - from);
  EXPECT_LE(std::ranges::count(shown, '\n'), 55);
  EXPECT_THAT(text_of("/docs/congestion.md"), testing::HasSubstr("```cpp\n" + shown + "```\n"));
}

TEST(OwnControl, TwoFlowsShareAPort) {
  Bottleneck bottleneck{{.make = [] { return std::make_unique<HalveAndAdd>(); }, .last_joins = 5ms}};
  bottleneck.run_until(Time{30ms});
  const Bottleneck::Figures figures = bottleneck.measure_until(Time{60ms});
  EXPECT_GT(figures.utilisation, 0.85);
  EXPECT_GT(figures.jain, 0.98);
  EXPECT_LT(figures.queue_mean, 100e3);
  EXPECT_GT(figures.cnps, 0);
}

}  // namespace
}  // namespace roce::sim
