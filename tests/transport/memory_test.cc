// SPDX-License-Identifier: BSD-2-Clause
#include "transport/memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <random>
#include <set>
#include <vector>

namespace roce::transport::detail {
namespace {

constexpr std::uint32_t kPd = 3;
constexpr std::uint32_t kOtherPd = 4;
constexpr Qpn kQp{0x11};
constexpr Qpn kOtherQp{0x12};
constexpr Access kAll = Access::local_write | Access::remote_write | Access::remote_read | Access::remote_atomic |
                        Access::mw_bind | Access::flush_global | Access::flush_persistent;

LKey local_key(RKey key) {
  return LKey{key.value()};
}

class MemoryTest : public testing::Test {
 protected:
  Mr add(Access access, std::uint64_t address = 0x1000, bool invalidatable = false) {
    return *table.register_region(kPd, {memory, access, address, invalidatable});
  }
  RKey key(Mr mr) const { return table.query(mr)->r_key; }
  RKey key(Mw mw) const { return *table.query(mw); }
  std::byte* read(RKey r_key, std::uint64_t address, std::uint64_t length) const {
    return table.remote(r_key, kPd, kQp, address, length, Access::remote_read);
  }
  std::byte* at(std::size_t offset) { return memory.data() + offset; }
  // Returns a binding of 16 bytes from offset 32 on, readable.
  static MwBinding binding(Mw mw, Mr mr) {
    return {.mw = mw, .mr = mr, .address = 0x1020, .length = 16, .access = Access::remote_read, .variant = 0x77};
  }

  std::mt19937_64 generator{7};
  RandomSource random = [this] { return generator(); };
  std::array<std::byte, 64> memory{};
  MemoryTable table{9, 16, random};
};

TEST_F(MemoryTest, RegionHasOneKeyAndTheAddressesAskedFor) {
  const MrInfo info = *table.query(add(Access::remote_read));
  EXPECT_EQ(info.l_key.value(), info.r_key.value());
  EXPECT_EQ(info.address, 0x1000U);
  EXPECT_EQ(info.length, memory.size());
}

TEST_F(MemoryTest, WithoutAnAddressTheRegionBeginsAtItsPointer) {
  const Mr mr = *table.register_region(kPd, {.memory = memory});
  EXPECT_EQ(table.query(mr)->address, reinterpret_cast<std::uintptr_t>(memory.data()));
}

TEST_F(MemoryTest, ZeroBasedRegionBeginsAtZero) {
  const Mr mr = *table.register_region(kPd, {.memory = memory, .access = Access::zero_based | Access::remote_read});
  EXPECT_EQ(table.query(mr)->address, 0U);
  EXPECT_EQ(read(key(mr), 10, 4), at(10));
}

TEST_F(MemoryTest, RefusesWhatIsNoRegion) {
  const auto refused = [this](const MrInit& init) {
    const VerbResult<Mr> mr = table.register_region(kPd, init);
    return mr ? VerbError{} : mr.error();
  };
  const auto names = [](std::string_view subject) {
    return testing::AllOf(testing::Field(&VerbError::code, VerbErrorCode::invalid_argument),
                          testing::Field(&VerbError::subject, subject));
  };
  EXPECT_THAT(refused({.memory = {}}), names("memory"));
  EXPECT_THAT(refused({.memory = memory, .access = Access::remote_write}), names("access"));
  EXPECT_THAT(refused({.memory = memory, .access = Access::remote_atomic}), names("access"));
  EXPECT_THAT(refused({.memory = memory, .access = static_cast<Access>(1U << 31)}), names("access"));
  EXPECT_THAT(refused({.memory = memory, .access = Access::zero_based, .address = 1}), names("address"));
  constexpr std::uint64_t kTop = std::numeric_limits<std::uint64_t>::max();
  EXPECT_THAT(refused({.memory = memory, .address = kTop - memory.size() + 1}), names("address"));
  EXPECT_TRUE(table.register_region(kPd, {.memory = memory, .address = kTop - memory.size()}));
}

TEST_F(MemoryTest, ARegionOfNoBytesOpensNothing) {
  const Mr mr = *table.register_region(
      kPd, {.memory = std::span{memory}.first(0), .access = Access::remote_read, .address = 0x1000});
  EXPECT_NE(read(key(mr), 0x1000, 0), nullptr);
  EXPECT_EQ(read(key(mr), 0x1000, 1), nullptr);
  EXPECT_EQ(read(key(mr), 0xFFF, 0), nullptr);
}

TEST_F(MemoryTest, AChangedRegionKeepsItsKeysAndNothingElse) {
  const Mr mr = add(Access::remote_read, 0x1000, true);
  const RKey before = key(mr);
  ASSERT_TRUE(table.invalidate(before, kPd, kQp));
  EXPECT_EQ(*table.change_region(
                mr, kPd + 1, {.memory = std::span{memory}.last(16), .access = Access::local_write, .address = 0x9000}),
            kPd);
  EXPECT_EQ(key(mr), before);
  EXPECT_EQ(read(before, 0x9000, 16), nullptr);
  const LKey l_key = table.query(mr)->l_key;
  EXPECT_EQ(table.local(l_key, kPd + 1, 0x9000, 16, true), at(memory.size() - 16));
  EXPECT_EQ(table.local(l_key, kPd, 0x9000, 16, false), nullptr);
  EXPECT_EQ(table.local(l_key, kPd + 1, 0x1000, 16, false), nullptr);
  EXPECT_EQ(*table.deregister(mr), kPd + 1);
}

TEST_F(MemoryTest, ARefusedChangeLeavesTheRegionAsItWas) {
  const Mr mr = add(Access::remote_read | Access::mw_bind);
  EXPECT_FALSE(table.change_region(mr, kPd + 1, {.memory = memory, .access = Access::remote_write}));
  const Mw mw = *table.create_window(kPd, MwType::type1);
  ASSERT_TRUE(table.bind(binding(mw, mr), kPd, kQp));
  EXPECT_EQ(table.change_region(mr, kPd + 1, {.memory = memory}).error().code, VerbErrorCode::in_use);
  EXPECT_EQ(read(key(mr), 0x1000, memory.size()), at(0));
}

TEST_F(MemoryTest, EachRightOpensWhatItSaysAndNothingElse) {
  constexpr std::array kRights{Access::remote_write, Access::remote_read, Access::remote_atomic, Access::flush_global,
                               Access::flush_persistent};
  for (const Access given : kRights) {
    const Mr mr = add(given | Access::local_write);
    for (const Access asked : kRights) {
      EXPECT_EQ(table.remote(key(mr), kPd, kQp, 0x1000, 1, asked) != nullptr, given == asked)
          << static_cast<unsigned>(given) << ' ' << static_cast<unsigned>(asked);
    }
  }
}

TEST_F(MemoryTest, AllRightsAskedForAreNeeded) {
  const Access both = Access::flush_global | Access::flush_persistent;
  EXPECT_EQ(table.remote(key(add(Access::flush_global)), kPd, kQp, 0x1000, 1, both), nullptr);
  EXPECT_NE(table.remote(key(add(both)), kPd, kQp, 0x1000, 1, both), nullptr);
}

TEST_F(MemoryTest, LocalAccessReadsAlwaysAndWritesWithTheRight) {
  const LKey readable = local_key(key(add(Access::none)));
  const LKey writable = local_key(key(add(Access::local_write)));
  EXPECT_EQ(table.local(readable, kPd, 0x1000, 64, false), at(0));
  EXPECT_EQ(table.local(readable, kPd, 0x1000, 64, true), nullptr);
  EXPECT_EQ(table.local(writable, kPd, 0x1000, 64, true), at(0));
  EXPECT_EQ(table.local(writable, kOtherPd, 0x1000, 64, true), nullptr);
  EXPECT_EQ(table.local(LKey{writable.value() ^ 1}, kPd, 0x1000, 64, true), nullptr);
}

TEST_F(MemoryTest, LocalAccessToNothingNeedsTheKeyOnly) {
  const LKey l_key = local_key(key(add(Access::none)));
  EXPECT_NE(table.local(l_key, kPd, 0, 0, false), nullptr);
  EXPECT_EQ(table.local(l_key, kPd, 0, 0, true), nullptr);
  EXPECT_EQ(table.local(LKey{l_key.value() ^ 1}, kPd, 0, 0, false), nullptr);
}

struct Range {
  std::uint64_t address;
  std::uint64_t length;
  bool inside;
};

class MemoryRangeTest : public MemoryTest, public testing::WithParamInterface<Range> {};

TEST_P(MemoryRangeTest, IsCheckedFromAfarAndLocally) {
  const Range& range = GetParam();
  const RKey r_key = key(add(Access::remote_read));
  std::byte* const expected = range.inside ? at(range.address - 0x1000) : nullptr;
  EXPECT_EQ(read(r_key, range.address, range.length), expected);
  if (range.length != 0) {
    EXPECT_EQ(table.local(local_key(r_key), kPd, range.address, range.length, false), expected);
  }
}

constexpr std::uint64_t kHuge = std::numeric_limits<std::uint64_t>::max();
INSTANTIATE_TEST_SUITE_P(Boundaries, MemoryRangeTest,
                         testing::Values(Range{0x1000, 64, true}, Range{0x1000, 65, false}, Range{0x0FFF, 1, false},
                                         Range{0x0FFF, 2, false}, Range{0x103F, 1, true}, Range{0x103F, 2, false},
                                         Range{0x1040, 1, false}, Range{0x1040, 0, true}, Range{0x1041, 0, false},
                                         Range{0x0FFF, 0, false}, Range{0x1000, kHuge, false},
                                         Range{0x1001, kHuge, false}, Range{0x1010, kHuge - 0x100F, false},
                                         Range{kHuge, 1, false}, Range{kHuge, 0x1011, false}, Range{0, 0x1001, false}));

TEST_F(MemoryTest, RegionAtTheTopOfTheAddressSpaceDoesNotWrap) {
  const RKey r_key = key(add(Access::remote_read, kHuge - 64));
  EXPECT_EQ(read(r_key, kHuge - 64, 64), at(0));
  EXPECT_EQ(read(r_key, kHuge - 1, 1), at(63));
  EXPECT_EQ(read(r_key, kHuge - 1, 2), nullptr);
  EXPECT_EQ(read(r_key, kHuge, 1), nullptr);
  EXPECT_EQ(read(r_key, 0, 0), nullptr);
  EXPECT_EQ(read(r_key, 0, 1), nullptr);
}

TEST_F(MemoryTest, RemoteAccessNeedsWholeKeyAndPd) {
  const RKey r_key = key(add(kAll));
  for (unsigned bit = 0; bit < 32; ++bit) {
    EXPECT_EQ(read(RKey{r_key.value() ^ 1U << bit}, 0x1000, 1), nullptr) << bit;
  }
  EXPECT_EQ(table.remote(r_key, kOtherPd, kQp, 0x1000, 1, Access::remote_read), nullptr);
  EXPECT_NE(table.remote(r_key, kPd, kOtherQp, 0x1000, 1, Access::remote_read), nullptr);
}

TEST_F(MemoryTest, WholeRegionIsToldToThoseWhoMayUseIt) {
  const RKey r_key = key(add(Access::flush_global));
  std::uint64_t address = 0;
  std::uint64_t length = 0;
  EXPECT_FALSE(table.remote_range(r_key, kPd, kQp, Access::flush_persistent, address, length));
  EXPECT_FALSE(table.remote_range(r_key, kOtherPd, kQp, Access::flush_global, address, length));
  EXPECT_EQ(length, 0U);
  ASSERT_TRUE(table.remote_range(r_key, kPd, kQp, Access::flush_global, address, length));
  EXPECT_EQ(address, 0x1000U);
  EXPECT_EQ(length, 64U);
}

TEST_F(MemoryTest, RenewedKeyReplacesTheOldOne) {
  const Mr mr = add(Access::remote_read);
  const RKey before = key(mr);
  const auto variant = static_cast<std::uint8_t>(before.value() + 1);
  const MrInfo after = *table.renew_key(mr, variant);
  EXPECT_EQ(after.r_key.value(), (before.value() & ~0xFFU) | variant);
  EXPECT_EQ(after.l_key.value(), after.r_key.value());
  EXPECT_EQ(read(before, 0x1000, 1), nullptr);
  EXPECT_EQ(read(after.r_key, 0x1000, 1), at(0));
}

TEST_F(MemoryTest, InvalidatedRegionIsClosedUntilItsKeyIsRenewed) {
  const Mr mr = add(Access::remote_read | Access::local_write, 0x1000, true);
  const RKey before = key(mr);
  EXPECT_FALSE(table.invalidate(RKey{before.value() ^ 1}, kPd, kQp));
  EXPECT_FALSE(table.invalidate(before, kOtherPd, kQp));
  ASSERT_NE(read(before, 0x1000, 1), nullptr);
  ASSERT_TRUE(table.invalidate(before, kPd, kQp));
  EXPECT_EQ(read(before, 0x1000, 1), nullptr);
  EXPECT_EQ(table.local(local_key(before), kPd, 0x1000, 1, false), nullptr);
  EXPECT_EQ(table.local(local_key(before), kPd, 0x1000, 0, false), nullptr);
  EXPECT_FALSE(table.invalidate(before, kPd, kQp));
  EXPECT_NE(read(table.renew_key(mr, 5)->r_key, 0x1000, 1), nullptr);
}

TEST_F(MemoryTest, OrdinaryRegionCannotBeInvalidated) {
  const RKey r_key = key(add(kAll));
  EXPECT_FALSE(table.invalidate(r_key, kPd, kQp));
  EXPECT_NE(read(r_key, 0x1000, 1), nullptr);
}

TEST_F(MemoryTest, DeregisteredRegionIsClosedAndItsHandleStale) {
  const Mr mr = add(kAll);
  const RKey r_key = key(mr);
  EXPECT_EQ(*table.deregister(mr), kPd);
  EXPECT_EQ(read(r_key, 0x1000, 1), nullptr);
  EXPECT_EQ(table.local(local_key(r_key), kPd, 0x1000, 1, false), nullptr);
  const Mr next = add(kAll);
  ASSERT_EQ(next.index, mr.index) << "the slot is to be used again";
  EXPECT_EQ(read(r_key, 0x1000, 1), nullptr);
  EXPECT_EQ(table.query(mr).error().code, VerbErrorCode::unknown_handle);
  EXPECT_EQ(table.renew_key(mr, 1).error().code, VerbErrorCode::unknown_handle);
  EXPECT_EQ(table.deregister(mr).error().code, VerbErrorCode::unknown_handle);
  EXPECT_NE(read(key(next), 0x1000, 1), nullptr);
}

TEST_F(MemoryTest, HandlesOfOthersNameNothing) {
  const Mr mr = add(kAll);
  const Mw mw = *table.create_window(kPd, MwType::type1);
  const auto code = [](const auto& result) { return result ? VerbErrorCode::in_use : result.error().code; };
  EXPECT_EQ(code(table.query(Mr{})), VerbErrorCode::unknown_handle);
  EXPECT_EQ(code(table.query(Mr{mr.index, 0, mr.device})), VerbErrorCode::unknown_handle);
  EXPECT_EQ(code(table.query(Mr{mr.index, mr.generation, 8})), VerbErrorCode::unknown_handle);
  EXPECT_EQ(code(table.query(Mr{99, 1, mr.device})), VerbErrorCode::unknown_handle);
  EXPECT_EQ(code(table.query(Mr{mw.index, mw.generation, mw.device})), VerbErrorCode::unknown_handle);
  EXPECT_EQ(code(table.query(Mw{mr.index, mr.generation, mr.device})), VerbErrorCode::unknown_handle);
  EXPECT_EQ(code(table.destroy(Mw{mr.index, mr.generation, mr.device})), VerbErrorCode::unknown_handle);
}

TEST_F(MemoryTest, GenerationIsNeverZero) {
  for (int i = 0; i < 66000; ++i) {
    const Mr mr = add(Access::none);
    ASSERT_EQ(mr.index, 0U);
    ASSERT_NE(mr.generation, 0U);
    ASSERT_TRUE(table.deregister(mr));
  }
}

TEST_F(MemoryTest, CapacityIsKept) {
  MemoryTable small{9, 3, random};
  std::set<std::uint32_t> keys;
  Mr first{};
  for (int i = 0; i < 3; ++i) {
    first = *small.register_region(kPd, {.memory = memory});
    keys.insert(small.query(first)->r_key.value());
  }
  EXPECT_EQ(keys.size(), 3U);
  EXPECT_EQ(small.register_region(kPd, {.memory = memory}).error().code, VerbErrorCode::no_resources);
  EXPECT_EQ(small.create_window(kPd, MwType::type2).error().code, VerbErrorCode::no_resources);
  ASSERT_TRUE(small.deregister(first));
  EXPECT_TRUE(small.create_window(kPd, MwType::type2));
}

TEST_F(MemoryTest, KeysDependOnTheRandomSource) {
  std::mt19937_64 other_generator{8};
  RandomSource other_random = [&] { return other_generator(); };
  MemoryTable other{9, 16, other_random};
  EXPECT_NE(other.query(*other.register_region(kPd, {.memory = memory}))->r_key, key(add(Access::none)));
}

TEST_F(MemoryTest, ANewOwnerOfASlotGetsANewKeyWhateverTheSourceSays) {
  for (const std::uint64_t value : {std::uint64_t{0}, std::uint64_t{1}, kHuge}) {
    RandomSource same = [value] { return value; };
    MemoryTable stuck{9, 16, same};
    std::uint32_t last = 0;
    for (int i = 0; i < 4; ++i) {
      const Mr mr = *stuck.register_region(kPd, {.memory = memory});
      const std::uint32_t now = stuck.query(mr)->r_key.value();
      EXPECT_NE(now, last);
      EXPECT_NE(now, 0U);
      last = now;
      ASSERT_TRUE(stuck.deregister(mr));
    }
  }
}

TEST_F(MemoryTest, WindowIsOfNoUseUntilBound) {
  const Mr mr = add(kAll);
  const Mw mw = *table.create_window(kPd, MwType::type1);
  EXPECT_EQ(read(key(mw), 0x1020, 1), nullptr);
  ASSERT_TRUE(table.bind(binding(mw, mr), kPd, kQp));
  EXPECT_EQ(read(key(mw), 0x1020, 16), at(32));
  EXPECT_EQ(read(key(mw), 0x1020, 17), nullptr);
  EXPECT_EQ(read(key(mw), 0x101F, 1), nullptr);
  EXPECT_EQ(table.remote(key(mw), kPd, kQp, 0x1020, 1, Access::remote_write), nullptr);
  EXPECT_EQ(table.remote(key(mw), kOtherPd, kQp, 0x1020, 1, Access::remote_read), nullptr);
}

TEST_F(MemoryTest, WindowOpensWhatItsRegionDoesNot) {
  const Mr mr = add(Access::mw_bind);
  const Mw mw = *table.create_window(kPd, MwType::type1);
  ASSERT_TRUE(table.bind(binding(mw, mr), kPd, kQp));
  EXPECT_EQ(read(key(mr), 0x1020, 1), nullptr);
  EXPECT_EQ(read(key(mw), 0x1020, 1), at(32));
}

TEST_F(MemoryTest, WindowIsNoLocalKey) {
  const Mw mw = *table.create_window(kPd, MwType::type1);
  ASSERT_TRUE(table.bind(binding(mw, add(kAll)), kPd, kQp));
  EXPECT_EQ(table.local(local_key(key(mw)), kPd, 0x1020, 1, false), nullptr);
}

TEST_F(MemoryTest, ZeroBasedWindowCountsFromItsStart) {
  const Mw mw = *table.create_window(kPd, MwType::type2);
  MwBinding request = binding(mw, add(kAll));
  request.access = Access::remote_read | Access::zero_based;
  ASSERT_TRUE(table.bind(request, kPd, kQp));
  EXPECT_EQ(read(key(mw), 0, 16), at(32));
  EXPECT_EQ(read(key(mw), 0x1020, 1), nullptr);
  std::uint64_t address = 1;
  std::uint64_t length = 0;
  ASSERT_TRUE(table.remote_range(key(mw), kPd, kQp, Access::remote_read, address, length));
  EXPECT_EQ(address, 0U);
  EXPECT_EQ(length, 16U);
}

TEST_F(MemoryTest, BindRefusesWhatTheRegionDoesNotAllow) {
  const Mw mw = *table.create_window(kPd, MwType::type1);
  const Mw type2 = *table.create_window(kPd, MwType::type2);
  const Mr all = add(kAll);
  const RKey before = key(mw);
  const auto refused = [&](MwBinding request, std::uint32_t pd = kPd) { return !table.bind(request, pd, kQp); };

  EXPECT_TRUE(refused(binding(mw, add(Access::local_write)))) << "no mw_bind";
  EXPECT_TRUE(refused(binding(mw, all), kOtherPd)) << "QP of another PD";
  EXPECT_TRUE(refused(binding(*table.create_window(kOtherPd, MwType::type1), all))) << "window of another PD";
  EXPECT_TRUE(refused(binding(mw, *table.register_region(kOtherPd, {memory, kAll, 0x1000})))) << "region of another PD";
  EXPECT_TRUE(refused(binding(mw, Mr{}))) << "no region";
  EXPECT_TRUE(refused(binding(Mw{}, all))) << "no window";
  EXPECT_TRUE(refused(binding(mw, *table.register_region(kPd, {memory, kAll | Access::zero_based}))))
      << "zero-based region";

  MwBinding request = binding(mw, add(Access::mw_bind));
  request.access = Access::remote_write;
  EXPECT_TRUE(refused(request)) << "remote write without local write";
  request.access = Access::remote_atomic;
  EXPECT_TRUE(refused(request)) << "remote atomic without local write";
  request.access = Access::flush_global;
  EXPECT_TRUE(refused(request)) << "flush that the region does not allow";

  request = binding(mw, all);
  request.access = Access::local_write;
  EXPECT_TRUE(refused(request)) << "local right";
  request.access = Access::remote_read | Access::zero_based;
  EXPECT_TRUE(refused(request)) << "zero-based type 1";

  request = binding(mw, all);
  request.length = 33;
  EXPECT_TRUE(refused(request)) << "beyond the region";
  request.address = 0xFFF;
  request.length = 1;
  EXPECT_TRUE(refused(request)) << "before the region";
  request.length = kHuge;
  request.address = 0x1001;
  EXPECT_TRUE(refused(request)) << "around the address space";

  request = binding(type2, all);
  request.length = 0;
  EXPECT_TRUE(refused(request)) << "type 2 of no length";

  const Mr invalid = add(kAll, 0x1000, true);
  ASSERT_TRUE(table.invalidate(key(invalid), kPd, kQp));
  EXPECT_TRUE(refused(binding(mw, invalid))) << "invalidated region";

  EXPECT_EQ(key(mw), before) << "a refused bind changes nothing";
  EXPECT_TRUE(table.deregister(all)) << "no refused bind counts as a window";
}

TEST_F(MemoryTest, Type1WindowIsReboundFreelyWithANewKeyEachTime) {
  const Mr mr = add(kAll);
  const Mw mw = *table.create_window(kPd, MwType::type1);
  ASSERT_TRUE(table.bind(binding(mw, mr), kPd, kQp));
  const RKey first = key(mw);
  MwBinding request = binding(mw, mr);
  request.address = 0x1000;
  ASSERT_TRUE(table.bind(request, kPd, kOtherQp));
  const RKey second = key(mw);
  EXPECT_NE(second, first);
  EXPECT_EQ(second.value() & ~0xFFU, first.value() & ~0xFFU);
  EXPECT_EQ(read(first, 0x1020, 1), nullptr);
  EXPECT_EQ(read(second, 0x1020, 1), nullptr);
  EXPECT_EQ(read(second, 0x1000, 16), at(0));
  EXPECT_FALSE(table.invalidate(second, kPd, kQp));

  request.length = 0;
  ASSERT_TRUE(table.bind(request, kPd, kQp));
  EXPECT_EQ(read(second, 0x1000, 1), nullptr);
  EXPECT_EQ(read(key(mw), 0x1000, 0), nullptr);
  EXPECT_TRUE(table.deregister(mr)) << "the unbound window still counts";
}

TEST_F(MemoryTest, Type2WindowBelongsToItsQpAndHasToBeInvalidatedFirst) {
  const Mr mr = add(kAll);
  const Mw mw = *table.create_window(kPd, MwType::type2);
  ASSERT_TRUE(table.bind(binding(mw, mr), kPd, kQp));
  const RKey bound = key(mw);
  EXPECT_EQ(bound.value() & 0xFF, 0x77U);
  EXPECT_EQ(read(bound, 0x1020, 1), at(32));
  EXPECT_EQ(table.remote(bound, kPd, kOtherQp, 0x1020, 1, Access::remote_read), nullptr);
  std::uint64_t address = 0;
  std::uint64_t length = 0;
  EXPECT_FALSE(table.remote_range(bound, kPd, kOtherQp, Access::remote_read, address, length));

  EXPECT_FALSE(table.bind(binding(mw, mr), kPd, kQp)) << "still bound";
  EXPECT_FALSE(table.invalidate(bound, kPd, kOtherQp)) << "by another QP";
  EXPECT_FALSE(table.invalidate(bound, kOtherPd, kQp)) << "by another PD";
  ASSERT_NE(read(bound, 0x1020, 1), nullptr);
  ASSERT_TRUE(table.invalidate(bound, kPd, kQp));
  EXPECT_EQ(read(bound, 0x1020, 1), nullptr);
  EXPECT_FALSE(table.invalidate(bound, kPd, kQp)) << "twice";

  MwBinding request = binding(mw, mr);
  request.variant = 0x78;
  ASSERT_TRUE(table.bind(request, kPd, kOtherQp));
  EXPECT_EQ(read(bound, 0x1020, 1), nullptr);
  EXPECT_NE(table.remote(key(mw), kPd, kOtherQp, 0x1020, 1, Access::remote_read), nullptr);
}

TEST_F(MemoryTest, RegionStaysWhileAWindowIsBoundToIt) {
  const Mr mr = add(kAll, 0x1000, true);
  const Mw first = *table.create_window(kPd, MwType::type1);
  const Mw second = *table.create_window(kPd, MwType::type2);
  ASSERT_TRUE(table.bind(binding(first, mr), kPd, kQp));
  ASSERT_TRUE(table.bind(binding(first, mr), kPd, kQp));
  ASSERT_TRUE(table.bind(binding(second, mr), kPd, kQp));
  const VerbResult<std::uint32_t> refused = table.deregister(mr);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, VerbErrorCode::in_use);
  EXPECT_EQ(refused.error().found, 2U);
  EXPECT_FALSE(table.invalidate(key(mr), kPd, kQp));
  EXPECT_NE(read(key(mr), 0x1000, 1), nullptr);

  const RKey of_first = key(first);
  EXPECT_EQ(*table.destroy(first), kPd);
  EXPECT_EQ(read(of_first, 0x1020, 1), nullptr);
  EXPECT_EQ(table.query(first).error().code, VerbErrorCode::unknown_handle);
  EXPECT_FALSE(table.deregister(mr));
  ASSERT_TRUE(table.invalidate(key(second), kPd, kQp));
  EXPECT_TRUE(table.deregister(mr));
}

TEST_F(MemoryTest, WindowsOfADestroyedQpAreUnbound) {
  const Mr mr = add(kAll);
  const Mw type1 = *table.create_window(kPd, MwType::type1);
  const Mw its = *table.create_window(kPd, MwType::type2);
  const Mw other = *table.create_window(kPd, MwType::type2);
  ASSERT_TRUE(table.bind(binding(type1, mr), kPd, kQp));
  ASSERT_TRUE(table.bind(binding(its, mr), kPd, kQp));
  ASSERT_TRUE(table.bind(binding(other, mr), kPd, kOtherQp));
  table.unbind_windows_of(kQp);
  EXPECT_EQ(read(key(its), 0x1020, 1), nullptr);
  EXPECT_NE(read(key(type1), 0x1020, 1), nullptr);
  EXPECT_NE(table.remote(key(other), kPd, kOtherQp, 0x1020, 1, Access::remote_read), nullptr);
  EXPECT_EQ(table.deregister(mr).error().found, 2U);
}

}  // namespace
}  // namespace roce::transport::detail
