// SPDX-License-Identifier: BSD-2-Clause
#include <gmock/gmock.h>

#include <functional>
#include <ostream>

#include "roce/fabric/fabric.h"

namespace roce::fabric {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::StartsWith;

/// The parts of a fabric: a right one, to be broken.
struct Parts {
  Topology topology = star(3, {});
  Config config{.switches = {.red = Red{}, .pfc = Pfc{}}};
  std::vector<Flow> flows{{.from = 0, .to = 1, .bytes = 1000}};
};

struct Mistake {
  std::function<void(Parts&)> make;
  const char* where;
  const char* what;
};

void PrintTo(const Mistake& mistake, std::ostream* out) {
  *out << mistake.where;
}

class Mistakes : public testing::TestWithParam<Mistake> {};

TEST_P(Mistakes, AreNamedWithTheirPlace) {
  Parts parts;
  ASSERT_TRUE(Fabric::make(parts.topology, parts.config, parts.flows).has_value());
  GetParam().make(parts);
  const Result<Fabric> made = Fabric::make(parts.topology, parts.config, parts.flows);
  ASSERT_FALSE(made.has_value());
  EXPECT_EQ(made.error().where, GetParam().where);
  EXPECT_THAT(made.error().what, HasSubstr(GetParam().what));
  EXPECT_THAT(to_string(made.error()), StartsWith(GetParam().where));
}

// NOLINTNEXTLINE(cert-err58-cpp)
INSTANTIATE_TEST_SUITE_P(
    OfTopologies, Mistakes,
    testing::Values(Mistake{[](Parts& p) { p.topology = star(1, {}); }, "hosts", "at least 2, found 1"},
                    Mistake{[](Parts& p) { p.topology.links.pop_back(); }, "links", "no link of h2"},
                    Mistake{[](Parts& p) { p.topology.links[1].b = 9; }, "links[1]", "no such node"},
                    Mistake{[](Parts& p) {
                              p.topology.links.push_back({0, 3, {}});
                            },
                            "links[3]", "h0 is linked already"},
                    Mistake{[](Parts& p) { p.topology.links[2].b = 2; }, "links[2]", "h2 is linked with itself"},
                    Mistake{[](Parts& p) { p.topology.links[0].spec.rate_bps = 0; }, "links[0].rate", "found 0"},
                    Mistake{[](Parts& p) { p.topology.links[0].spec.delay = -1ns; }, "links[0].delay", "found -1 ns"},
                    Mistake{[](Parts& p) { p.topology.links[0].spec.loss = 1.5; }, "links[0].loss", "found 1.5"},
                    Mistake{[](Parts& p) { p.topology = ring(2, 1, Routing::clockwise, {}, {}); }, "switches",
                            "at least 3"},
                    Mistake{[](Parts& p) {
                              p.topology = dumbbell(2, 1, {}, {});
                              p.topology.links.pop_back();
                            },
                            "links", "no route from h0 to h2"}));

// NOLINTNEXTLINE(cert-err58-cpp)
INSTANTIATE_TEST_SUITE_P(
    OfParameters, Mistakes,
    testing::Values(
        Mistake{[](Parts& p) { p.config.hosts.path_mtu = 1500; }, "hosts.mtu", "found 1500"},
        Mistake{[](Parts& p) { p.config.hosts.timeout = 32; }, "hosts.timeout", "found 32"},
        Mistake{[](Parts& p) {
                  p.config.hosts.congestion = congestion::DcqcnParameters{};
                  p.config.switches.red.reset();
                },
                "hosts.congestion", "no switches.red"},
        Mistake{[](Parts& p) {
                  p.config.hosts.congestion = congestion::DcqcnParameters{};
                  p.config.hosts.sends_cnps = false;
                },
                "hosts.congestion", "hosts.cnps is off"},
        Mistake{[](Parts& p) { p.config.switches.red->kmin = 300'000; }, "switches.red.kmax", "kmin (300000 bytes)"},
        Mistake{[](Parts& p) { p.config.switches.red->pmax = 2; }, "switches.red.pmax", "found 2"},
        Mistake{[](Parts& p) { p.config.switches.pfc->alpha = 0; }, "switches.pfc.alpha", "above 0"},
        Mistake{[](Parts& p) { p.config.switches.pfc->priorities = 0; }, "switches.pfc.priorities", "no priority"},
        Mistake{[](Parts& p) { p.config.switches.pfc->xoff = 2'000; }, "switches.pfc.xon_offset", "xoff (2000 bytes)"},
        Mistake{[](Parts& p) { p.config.switches.pfc->xoff = 20'000'000; }, "switches.pfc.xoff", "switches.buffer"},
        Mistake{[](Parts& p) { p.config.switches.buffer = 38'000; }, "switches.buffer", "headrooms of s0 take"},
        Mistake{[](Parts& p) { p.config.switches.buffer = 1'000; }, "switches.buffer", "at least one frame"},
        Mistake{[](Parts& p) {
                  p.config.switches.pfc.reset();
                  p.config.switches.watchdog = Watchdog{};
                },
                "switches.watchdog", "no switches.pfc"},
        Mistake{[](Parts& p) { p.config.switches.watchdog = Watchdog{.detection = 0ns}; },
                "switches.watchdog.detection", "more than 0"},
        Mistake{[](Parts& p) { p.config.switches.weights[0] = 5000; }, "switches.weights", "found 5000"},
        Mistake{[](Parts& p) {
                  p.config.hosts.traffic_classes.selection[3] = transport::TransmissionSelection::ets;
                  p.config.hosts.traffic_classes.percent[3] = 90;
                },
                "hosts.shares", "expected shares that add up to 100, found 90"},
        Mistake{[](Parts& p) { p.config.hosts.traffic_classes.percent[3] = 90; }, "hosts.shares",
                "expected a strict class to have 0, found 90"},
        Mistake{[](Parts& p) { p.config.hosts.traffic_classes.class_of[3] = 8; }, "hosts.shares",
                "expected at most 7, found 8"},
        Mistake{[](Parts& p) {
                  p.config.storms = {{.host = 1}, {.host = 9}};
                },
                "storms[1].host", "no host 9; the last one is 2"},
        Mistake{[](Parts& p) { p.config.storms = {{.priority = 8}}; }, "storms[0].priority", "found 8"},
        Mistake{[](Parts& p) { p.config.storms = {{.start = -1ns}}; }, "storms[0].start", "0 to 1000 s"},
        Mistake{[](Parts& p) { p.config.storms = {{.start = 1001s}}; }, "storms[0].start", "0 to 1000 s"},
        Mistake{[](Parts& p) { p.config.storms = {{.duration = 0ns}}; }, "storms[0].duration", "more than 0"},
        Mistake{[](Parts& p) { p.config.storms = {{.duration = 9'223'373s}}; }, "storms[0].duration", "at most 1000 s"},
        Mistake{[](Parts& p) { p.topology = pair({}); }, "switches.red", "no switch"}));

// NOLINTNEXTLINE(cert-err58-cpp)
INSTANTIATE_TEST_SUITE_P(
    OfFlows, Mistakes,
    testing::Values(Mistake{[](Parts& p) { p.flows[0].to = 3; }, "flows[0].to", "no host 3; the last one is 2"},
                    Mistake{[](Parts& p) { p.flows[0].from = 1; }, "flows[0].to", "h1 would send to itself"},
                    Mistake{[](Parts& p) { p.flows[0].bytes = 0; }, "flows[0].size", "found 0"},
                    Mistake{[](Parts& p) { p.flows[0].priority = 8; }, "flows[0].priority", "found 8"},
                    Mistake{[](Parts& p) { p.flows[0].mtu = 1000; }, "flows[0].mtu", "found 1000"},
                    Mistake{[](Parts& p) { p.flows[0].after = 0; }, "flows[0].after", "lower number"},
                    Mistake{[](Parts& p) {
                              p.flows[0].bytes = kEndless;
                              p.flows.push_back(p.flows[0]);
                            },
                            "flows[1].connection", "behind an endless flow"}));

}  // namespace
}  // namespace roce::fabric
