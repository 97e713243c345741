// SPDX-License-Identifier: BSD-2-Clause
// Each operation, in sizes around the path MTU, at each path MTU, over each encapsulation.
#include <gmock/gmock.h>

#include <fmt/format.h>

#include <algorithm>

#include "sim/endpoint.h"
#include "sim/matchers.h"
#include "sim/profiles.h"
#include "support/sparse_memory.h"

namespace roce::sim {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using transport::Completion;
using transport::CompletionOpcode;
using transport::QpType;
using transport::WorkOpcode;

constexpr std::uint64_t kLocal = 64;
constexpr std::uint64_t kRemote = 128;
constexpr std::uint64_t kReceive = 192;
constexpr std::uint32_t kImmediate = 0x12345678;

std::vector<std::byte> copy(std::span<const std::byte> bytes) {
  return {bytes.begin(), bytes.end()};
}

std::uint64_t load(std::span<const std::byte> bytes) {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

void store(std::span<std::byte> bytes, std::uint64_t value) {
  std::memcpy(bytes.data(), &value, sizeof value);
}

std::vector<std::uint32_t> sizes(std::uint32_t mtu) {
  return {0, 1, mtu - 1, mtu, mtu + 1, 10 * mtu + 3};
}

bool is_send(WorkOpcode opcode) {
  return opcode == WorkOpcode::send || opcode == WorkOpcode::send_with_immediate ||
         opcode == WorkOpcode::send_with_invalidate;
}

/// Executes single operations and compares both memories with their expected contents.
class OneByOne {
 public:
  explicit OneByOne(Pair& pair) : pair_(pair), random_(pair.network.seed()) {}

  void send(WorkOpcode opcode, std::uint32_t size) {
    prepare();
    pair_.b.post_receive(kReceive, size, 77);
    std::copy_n(pair_.a.memory().begin() + kLocal, size, b_.begin() + kReceive);
    Work work{.opcode = opcode, .length = size, .local = kLocal, .immediate = kImmediate};
    std::optional<transport::Mr> spare;
    if (opcode == WorkOpcode::send_with_invalidate) {
      spare = must(pair_.b.device().register_memory(
          pair_.b.pd(), {.memory = pair_.b.memory(0, 64), .access = kAllAccess, .invalidatable = true}));
      work.invalidate = must(pair_.b.device().query_mr(*spare)).r_key;
    }
    run(work, CompletionOpcode::send);
    ASSERT_THAT(pair_.b.received(), ElementsAre(Succeeded(77)));
    const Completion& received = pair_.b.received().front();
    EXPECT_EQ(received.opcode, CompletionOpcode::receive);
    EXPECT_EQ(received.byte_length, size);
    EXPECT_EQ(received.has_immediate, opcode == WorkOpcode::send_with_immediate);
    EXPECT_EQ(received.immediate, received.has_immediate ? kImmediate : 0U);
    EXPECT_EQ(received.has_invalidated, opcode == WorkOpcode::send_with_invalidate);
    if (spare) {
      EXPECT_EQ(received.invalidated, work.invalidate);
      must(pair_.b.device().deregister_memory(*spare));
    }
  }

  void write(WorkOpcode opcode, std::uint32_t size) {
    prepare();
    const bool with_immediate = opcode == WorkOpcode::write_with_immediate;
    if (with_immediate) pair_.b.post_receive(kReceive, 0, 78);
    std::copy_n(pair_.a.memory().begin() + kLocal, size, b_.begin() + kRemote);
    run({.opcode = opcode, .length = size, .local = kLocal, .remote = kRemote, .immediate = kImmediate},
        CompletionOpcode::write);
    if (!with_immediate) {
      EXPECT_THAT(pair_.b.received(), IsEmpty());
      return;
    }
    ASSERT_THAT(pair_.b.received(), ElementsAre(Succeeded(78)));
    const Completion& received = pair_.b.received().front();
    EXPECT_EQ(received.opcode, CompletionOpcode::receive_write_with_immediate);
    EXPECT_EQ(received.byte_length, size);
    EXPECT_TRUE(received.has_immediate);
    EXPECT_EQ(received.immediate, kImmediate);
  }

  void read(std::uint32_t size) {
    prepare();
    std::copy_n(pair_.b.memory().begin() + kRemote, size, a_.begin() + kLocal);
    run({.opcode = WorkOpcode::read, .length = size, .local = kLocal, .remote = kRemote}, CompletionOpcode::read);
    EXPECT_EQ(pair_.a.sent().front().byte_length, size);
  }

  void atomics() {
    prepare();
    std::uint64_t before = load(pair_.b.memory(kRemote, 8));
    store(std::span(a_).subspan(kLocal, 8), before);
    store(std::span(b_).subspan(kRemote, 8), before + 41);
    run({.opcode = WorkOpcode::fetch_add, .length = 8, .local = kLocal, .remote = kRemote, .compare_add = 41},
        CompletionOpcode::fetch_add);
    for (const bool is_equal : {true, false}) {
      prepare();
      before = load(pair_.b.memory(kRemote, 8));
      store(std::span(a_).subspan(kLocal, 8), before);
      if (is_equal) store(std::span(b_).subspan(kRemote, 8), 99);
      run({.opcode = WorkOpcode::compare_swap,
           .length = 8,
           .local = kLocal,
           .remote = kRemote,
           .compare_add = is_equal ? before : before + 1,
           .swap = 99},
          CompletionOpcode::compare_swap);
    }
    prepare();
    std::copy_n(pair_.a.memory().begin() + kLocal, 8, b_.begin() + kRemote);
    run({.opcode = WorkOpcode::atomic_write, .length = 8, .local = kLocal, .remote = kRemote},
        CompletionOpcode::atomic_write);
  }

  void flush(std::uint32_t size) {
    for (const bool persistent : {false, true}) {
      prepare();
      run({.opcode = WorkOpcode::flush, .remote = kRemote, .flush = {.length = size, .persistent = persistent}},
          CompletionOpcode::flush);
    }
    prepare();
    run({.opcode = WorkOpcode::flush, .flush = {.whole_region = true}}, CompletionOpcode::flush);
  }

 private:
  /// Fills both memories with new bytes, and copies them as the basis of their expected contents.
  void prepare() {
    random_.fill(pair_.a.memory());
    random_.fill(pair_.b.memory());
    a_ = copy(pair_.a.memory());
    b_ = copy(pair_.b.memory());
    pair_.a.clear_completions();
    pair_.b.clear_completions();
  }

  void run(const Work& work, CompletionOpcode opcode) {
    const std::uint64_t id = pair_.a.post(work);
    ASSERT_TRUE(pair_.network.run_until_idle());
    ASSERT_THAT(pair_.a.sent(), ElementsAre(Succeeded(id)));
    EXPECT_EQ(pair_.a.sent().front().opcode, opcode);
    EXPECT_EQ(pair_.a.sent().front().qpn, pair_.a.qpn());
    EXPECT_TRUE(std::ranges::equal(pair_.a.memory(), a_)) << "the sender's memory";
    EXPECT_TRUE(std::ranges::equal(pair_.b.memory(), b_)) << "the receiver's memory";
    EXPECT_THAT(pair_.b.sent(), IsEmpty());
  }

  Pair& pair_;
  Random random_;
  std::vector<std::byte> a_;
  std::vector<std::byte> b_;
};

/// Calls `use` with a pair for each path MTU and each encapsulation.
template <typename Use>
void for_each_path(const transport::Profile& profile, QpType type, std::uint32_t max_segments, Use use) {
  for (const std::uint32_t mtu : {256U, 512U, 1024U, 2048U, 4096U}) {
    for (const RoceVersion version : {RoceVersion::v1, RoceVersion::v2_ipv4, RoceVersion::v2_ipv6}) {
      for (const bool vlan : {false, true}) {
        if (vlan && mtu != 1024) continue;
        Pair::Options options = Pair::with(profile);
        options.connection = {.path = {.version = version, .vlan = vlan}, .mtu = mtu};
        options.a_endpoint.type = type;
        options.a_endpoint.memory = 11 * std::size_t{mtu} + 256;
        options.a_host.caps = {.max_bytes = 65535, .max_segments = max_segments};
        Pair pair{options};
        SCOPED_TRACE(fmt::format("seed {}, MTU {}, {}{}", options.seed, mtu, to_string(version), vlan ? ", VLAN" : ""));
        use(pair, mtu);
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

void move_each(Pair& pair, std::uint32_t mtu, std::initializer_list<WorkOpcode> opcodes) {
  OneByOne each{pair};
  for (const WorkOpcode opcode : opcodes) {
    for (const std::uint32_t size : sizes(mtu)) {
      SCOPED_TRACE(fmt::format("{} of {} bytes", to_string(opcode), size));
      if (is_send(opcode)) {
        each.send(opcode, size);
      } else if (opcode == WorkOpcode::read) {
        each.read(size);
      } else if (opcode == WorkOpcode::flush) {
        each.flush(size);
      } else {
        each.write(opcode, size);
      }
      if (testing::Test::HasFailure()) return;
    }
  }
}

class Operations : public ScenarioTest {};

TEST_P(Operations, OfRcMoveEachSizeAtEachMtuOverEachEncapsulation) {
  for_each_path(profile(), QpType::rc, 1, [](Pair& pair, std::uint32_t mtu) {
    move_each(pair, mtu,
              {WorkOpcode::send, WorkOpcode::send_with_immediate, WorkOpcode::send_with_invalidate, WorkOpcode::write,
               WorkOpcode::write_with_immediate, WorkOpcode::read, WorkOpcode::flush});
    OneByOne{pair}.atomics();
  });
}

TEST_P(Operations, OfUcMoveEachSizeAtEachMtuOverEachEncapsulation) {
  for_each_path(profile(), QpType::uc, 1, [](Pair& pair, std::uint32_t mtu) {
    move_each(pair, mtu,
              {WorkOpcode::send, WorkOpcode::send_with_immediate, WorkOpcode::write, WorkOpcode::write_with_immediate});
  });
}

TEST_P(Operations, MoveTheSameInSuperFrames) {
  for_each_path(profile(), QpType::rc, 16, [](Pair& pair, std::uint32_t mtu) {
    move_each(pair, mtu, {WorkOpcode::send, WorkOpcode::write, WorkOpcode::read});
  });
}

ROCE_UNDER_EACH_PROFILE(Operations);

#ifdef NDEBUG
TEST(LargestMessage, OfTwoToThe31BytesIsWritten) {
  constexpr std::size_t size = std::size_t{1} << 31U;
  const test::SparseMemory source{size};
  const test::SparseMemory sink{size};
  Pair::Options options;
  options.a_host.caps = {.max_bytes = 65535, .max_segments = 15};
  options.connection.mtu = 4096;
  options.a_endpoint.outside_memory = source.bytes();
  options.b_endpoint = options.a_endpoint;
  options.b_endpoint->outside_memory = sink.bytes();
  Pair pair{options};
  pair.network.set_max_steps(20'000'000);
  for (const std::size_t at : {std::size_t{0}, size / 2, size - 1}) source.bytes()[at] = std::byte{0x5A};
  pair.a.post({.opcode = WorkOpcode::write, .length = static_cast<std::uint32_t>(size)});
  ASSERT_TRUE(pair.network.run_until_idle());
  ASSERT_THAT(pair.a.sent(), ElementsAre(Succeeded(1)));
  for (const std::size_t at : {std::size_t{0}, size / 2, size - 1}) EXPECT_EQ(sink.bytes()[at], std::byte{0x5A}) << at;
  EXPECT_EQ(sink.bytes()[1], std::byte{0});
}
#endif

}  // namespace
}  // namespace roce::sim
