// SPDX-License-Identifier: BSD-2-Clause
// Random verbs and random accesses; each result is compared with that of a linear search through a list.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <vector>

#include "transport/memory.h"

namespace roce::transport::detail {
namespace {

struct Known {
  bool window = false;
  MwType type = MwType::type1;
  Mr mr{};
  Mw mw{};
  std::uint32_t key = 0;
  std::uint32_t pd = 0;
  bool open = false;  // valid, or bound
  bool invalidatable = false;
  std::uint32_t rights = 0;
  std::uint64_t start = 0;
  std::uint64_t length = 0;
  std::byte* base = nullptr;
  std::uint32_t qpn = 0;
  Mr of{};  // the region a window is bound to
};

class Model {
 public:
  explicit Model(std::uint64_t seed) : generator_(seed) {}

  void step() {
    switch (below(8)) {
      case 0:
        return add_region();
      case 1:
        return add_window();
      case 2:
        return remove();
      case 3:
        return renew();
      case 4:
        return invalidate();
      default:
        return bind();
    }
  }

  void probe() {
    const Known* const entry = any();
    const std::uint32_t key = key_near(entry);
    const std::uint32_t pd = below(2);
    const std::uint32_t qpn = 2 + below(2);
    const std::uint64_t address = address_near(below(4) == 0 ? any() : entry);
    const std::uint64_t length = any_length();
    const std::uint32_t needed = 1U << (1 + below(3));
    std::byte* const remote = table_.remote(RKey{key}, pd, Qpn{qpn}, address, length, static_cast<Access>(needed));
    EXPECT_EQ(remote, expected(key, pd, qpn, address, length, needed, false));
    opened_ += remote != nullptr ? 1 : 0;
    const bool write = below(2) == 0;
    if (length == 0) return;
    EXPECT_EQ(table_.local(LKey{key}, pd, address, length, write),
              expected(key, pd, qpn, address, length, write ? 1 : 0, true));
  }

  [[nodiscard]] int opened() const { return opened_; }

 private:
  static constexpr std::uint64_t kTop = ~std::uint64_t{0};

  std::uint32_t below(std::uint32_t end) { return static_cast<std::uint32_t>(generator_() % end); }
  Known* any() { return known_.empty() ? nullptr : &known_[below(static_cast<std::uint32_t>(known_.size()))]; }

  std::uint32_t key_near(const Known* entry) {
    std::uint32_t key = entry != nullptr ? entry->key : 0;
    if (below(8) == 0 && !stale_.empty()) key = stale_[below(static_cast<std::uint32_t>(stale_.size()))];
    if (below(16) == 0) key ^= 1U << below(32);
    return key;
  }
  std::uint64_t address_near(const Known* entry) {
    const std::uint64_t start = entry != nullptr ? entry->start : 0;
    const std::uint64_t length = entry != nullptr ? entry->length : 0;
    return (below(2) == 0 ? start : start + length) + below(9) - 4;
  }
  std::uint64_t any_length() { return below(8) == 0 ? kTop - below(0x2000) : below(20); }

  std::byte* expected(std::uint32_t key, std::uint32_t pd, std::uint32_t qpn, std::uint64_t address,
                      std::uint64_t length, std::uint32_t needed, bool local) const {
    __extension__ using Wide = unsigned __int128;
    for (const Known& k : known_) {
      if (k.key != key || !k.open || k.pd != pd || (k.rights & needed) != needed) continue;
      if (k.window && (local || (k.type == MwType::type2 && k.qpn != qpn))) continue;
      if (address < k.start || Wide{address} + length > Wide{k.start} + k.length) continue;
      return k.base + (address - k.start);
    }
    return nullptr;
  }

  void add_region() {
    const std::uint32_t rights = below(32) | 1;
    const std::uint32_t size = 1 + below(40);
    const std::array<std::uint64_t, 3> starts{0, 0x1000, kTop - size};
    const std::uint64_t start = starts[below(3)];
    const std::uint32_t pd = below(2);
    const bool invalidatable = below(2) == 0;
    const std::uint32_t offset = below(20);
    const VerbResult<Mr> mr = table_.register_region(
        pd, {std::span{memory_}.subspan(offset, size), static_cast<Access>(rights), start, invalidatable});
    ASSERT_EQ(mr.has_value(), known_.size() < kCapacity);
    if (!mr) return;
    known_.push_back({.mr = *mr,
                      .key = table_.query(*mr)->r_key.value(),
                      .pd = pd,
                      .open = true,
                      .invalidatable = invalidatable,
                      .rights = rights,
                      .start = start,
                      .length = size,
                      .base = memory_.data() + offset});
  }

  void add_window() {
    const MwType type = below(2) == 0 ? MwType::type1 : MwType::type2;
    const std::uint32_t pd = below(2);
    const VerbResult<Mw> mw = table_.create_window(pd, type);
    ASSERT_EQ(mw.has_value(), known_.size() < kCapacity);
    if (mw) {
      known_.push_back({.window = true, .type = type, .mw = *mw, .key = table_.query(*mw)->value(), .pd = pd});
    }
  }

  [[nodiscard]] bool has_windows(const Known& region) const {
    return std::any_of(known_.begin(), known_.end(),
                       [&](const Known& k) { return k.window && k.open && k.of == region.mr; });
  }

  void remove() {
    Known* entry = any();
    if (entry == nullptr) return;
    const bool allowed = entry->window || !has_windows(*entry);
    const VerbResult<std::uint32_t> pd = entry->window ? table_.destroy(entry->mw) : table_.deregister(entry->mr);
    ASSERT_EQ(pd.has_value(), allowed);
    if (!pd) return;
    EXPECT_EQ(*pd, entry->pd);
    stale_.push_back(entry->key);
    *entry = known_.back();
    known_.pop_back();
  }

  void renew() {
    Known* entry = any();
    if (entry == nullptr || entry->window) return;
    stale_.push_back(entry->key);
    entry->key = table_.renew_key(entry->mr, static_cast<std::uint8_t>(below(256)))->r_key.value();
    entry->open = true;
    std::erase(stale_, entry->key);
  }

  void invalidate() {
    Known* entry = any();
    if (entry == nullptr) return;
    const std::uint32_t pd = below(2);
    const std::uint32_t qpn = 2 + below(2);
    const bool right_one = entry->window ? entry->type == MwType::type2 && entry->qpn == qpn
                                         : entry->invalidatable && !has_windows(*entry);
    const bool allowed = entry->open && entry->pd == pd && right_one;
    ASSERT_EQ(table_.invalidate(RKey{entry->key}, pd, Qpn{qpn}), allowed);
    if (allowed) entry->open = false;
  }

  void bind() {
    Known* window = any();
    const Known* region = any();
    if (window == nullptr || !window->window || region->window) return;
    const std::uint32_t pd = window->pd;
    const std::uint32_t qpn = 2 + below(2);
    const MwBinding request{.mw = window->mw,
                            .mr = region->mr,
                            .address = region->start + below(6) - 1,
                            .length = below(30),
                            .access = static_cast<Access>(below(8) << 1),
                            .variant = static_cast<std::uint8_t>(below(256))};
    const auto access = static_cast<std::uint32_t>(request.access);
    const bool type2 = window->type == MwType::type2;
    const bool unbinds = request.length == 0;
    bool allowed = type2 ? !window->open && !unbinds : true;
    if (!unbinds) {
      __extension__ using Wide = unsigned __int128;
      allowed = allowed && region->open && region->pd == pd && (region->rights & 1U << 4) != 0 &&
                request.address >= region->start &&
                Wide{request.address} + request.length <= Wide{region->start} + region->length;
    }
    ASSERT_EQ(table_.bind(request, pd, Qpn{qpn}), allowed);
    if (!allowed) return;
    stale_.push_back(window->key);
    window->key = table_.query(window->mw)->value();
    std::erase(stale_, window->key);
    window->open = !unbinds;
    window->rights = access;
    window->start = request.address;
    window->length = request.length;
    // An unbind does not name a place in the region.
    window->base = unbinds ? nullptr : region->base + (request.address - region->start);
    window->qpn = qpn;
    window->of = region->mr;
  }

  static constexpr std::uint32_t kCapacity = 12;
  std::mt19937_64 generator_;
  RandomSource random_ = [this] { return generator_(); };
  std::array<std::byte, 64> memory_{};
  MemoryTable table_{1, kCapacity, random_};
  std::vector<Known> known_;
  std::vector<std::uint32_t> stale_;
  int opened_ = 0;
};

TEST(MemoryModel, NoAccessThatTheListDoesNotAllow) {
  int opened = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Model model{seed};
    for (int i = 0; i < 300 && !testing::Test::HasFailure(); ++i) {
      model.step();
      for (int j = 0; j < 10; ++j) model.probe();
    }
    opened += model.opened();
    if (testing::Test::HasFailure()) break;
  }
  EXPECT_GT(opened, 10'000) << "most probes must not be of the trivial kind";
}

}  // namespace
}  // namespace roce::transport::detail
