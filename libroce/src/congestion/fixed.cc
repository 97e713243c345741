// SPDX-License-Identifier: BSD-2-Clause
// The controller that does not listen, and the making of each by its choice.
#include "roce/congestion/choice.h"

namespace roce::congestion {

namespace {

class Fixed final : public CongestionControl {
 public:
  explicit Fixed(const FixedParameters& parameters) : p_(parameters) {}

  void start(const Path& /*path*/, Time /*now*/) override {}
  void on_cnp(Time /*now*/) override {}
  [[nodiscard]] Output output(Time /*now*/) override {
    return {.rate_bps = p_.rate_bps, .burst_bytes = p_.burst_bytes};
  }
  [[nodiscard]] Reading reading(Time /*now*/) override {
    const auto rate = static_cast<double>(p_.rate_bps);
    return {.limited = true, .rate_bps = rate, .target_bps = rate};
  }

 private:
  FixedParameters p_;
};

struct Maker {
  std::unique_ptr<CongestionControl> operator()(std::monostate) const { return nullptr; }
  std::unique_ptr<CongestionControl> operator()(const FixedParameters& p) const { return std::make_unique<Fixed>(p); }
  std::unique_ptr<CongestionControl> operator()(const DcqcnParameters& p) const { return make_dcqcn(p); }
  std::unique_ptr<CongestionControl> operator()(const Mlx5Parameters& p) const { return make_dcqcn_mlx5(p); }
  std::unique_ptr<CongestionControl> operator()(const RttParameters& p) const { return make_rtt(p); }
};

}  // namespace

std::unique_ptr<CongestionControl> make_control(const Choice& choice) {
  return std::visit(Maker{}, choice);
}

}  // namespace roce::congestion
