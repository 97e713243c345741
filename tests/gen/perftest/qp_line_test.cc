// SPDX-License-Identifier: BSD-2-Clause
#include "perftest/qp_line.h"

#include <gmock/gmock.h>

#include <array>
#include <string>

namespace roce::gen {
namespace {

using ::testing::HasSubstr;

/// Returns the message that an ib_read_lat 6.06 (Debian 12) sent.
std::string real_message() {
  std::string text =
      "0000:0080:00001b:d6f7b4:00000c62:000055b983276000:00:00:00:00:00:00:00:00:00:00:ff:ff:0a:4d:00:02:00000000:";
  text.push_back('\0');
  return text;
}

TEST(PerftestKeys, AreThoseOfARealMessage) {
  const auto keys = parse_perftest_keys(real_message());
  ASSERT_TRUE(keys) << keys.error();
  EXPECT_EQ(keys->lid, 0);
  EXPECT_EQ(keys->out_reads, 128);
  EXPECT_EQ(keys->qpn, Qpn{0x1B});
  EXPECT_EQ(keys->psn, Psn{0xD6F7B4});
  EXPECT_EQ(keys->r_key, RKey{0xC62});
  EXPECT_EQ(keys->address, 0x55B983276000U);
  EXPECT_EQ(keys->gid, (Gid{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 10, 77, 0, 2}}));
  EXPECT_EQ(keys->srqn, 0U);
  EXPECT_EQ(to_text(*keys), real_message());
}

TEST(PerftestKeys, SurviveTheWayToTextAndBack) {
  PerftestKeys keys;
  keys.lid = 0xFFFF;
  keys.out_reads = 0x1234;
  keys.qpn = Qpn{0xFFFFFE};
  keys.psn = Psn{0xFFFFFF};
  keys.r_key = RKey{0xFFFFFFFF};
  keys.address = 0xFFFFFFFFFFFFFFFF;
  keys.gid.octets.fill(0xFF);
  keys.srqn = 0x00ABCDEF;
  const std::string text = to_text(keys);
  EXPECT_EQ(text.size(), PerftestKeys::kSize);
  EXPECT_EQ(parse_perftest_keys(text), keys);
}

TEST(PerftestKeys, NeedEveryByteOfTheMessage) {
  for (std::size_t at = 0; at < PerftestKeys::kSize; ++at) {
    for (const char wrong : {'z', '-', ' ', '\n', '\xFF'}) {
      std::string text = real_message();
      text[at] = wrong;
      EXPECT_FALSE(parse_perftest_keys(text)) << "byte " << at;
    }
  }
}

TEST(PerftestKeys, SayWhatIsWrongWithAMessage) {
  EXPECT_THAT(parse_perftest_keys("").error(), HasSubstr("has 0 bytes, not 108"));
  EXPECT_THAT(parse_perftest_keys(real_message() + "x").error(), HasSubstr("has 109 bytes"));
  std::string text = real_message();
  text.replace(10, 6, "00z01b");
  EXPECT_EQ(parse_perftest_keys(text).error(), "has no QPN of 6 hexadecimal digits and a colon at byte 10");
  text = real_message();
  text[16] = '0';
  EXPECT_EQ(parse_perftest_keys(text).error(), "has no QPN of 6 hexadecimal digits and a colon at byte 10");
  text = real_message();
  text.back() = 'x';
  EXPECT_EQ(parse_perftest_keys(text).error(), "does not end with a NUL");
  EXPECT_FALSE(parse_perftest_keys(std::string(PerftestKeys::kSize, '\0')));
}

/// Returns the message that an ib_read_lat 6.06 (Debian 12) sent with -R.
std::string real_binary() {
  constexpr std::array<unsigned char, PerftestKeys::kBinarySize> kBytes{
      0x00, 0x00, 0x00, 0x00,                          // LID
      0x00, 0x00, 0x00, 0x80,                          // outstanding READs
      0x00, 0x00, 0x00, 0x2B,                          // QPN
      0x00, 0x3C, 0xCB, 0xD6,                          // PSN
      0x00, 0x00, 0x15, 0xFC,                          // R_Key
      0x00, 0x00, 0x00, 0x00,                          // zeros
      0x00, 0x00, 0x56, 0x39, 0xDB, 0xDF, 0x50, 0x00,  // address
      0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0x0A, 0x4D, 0x00, 0x02,  // GID
      0x00, 0x00, 0x00, 0x00,                                                                          // SRQN
      0x00, 0x00, 0x00, 0x01};                                                                         // GID index
  return {kBytes.begin(), kBytes.end()};
}

TEST(PerftestKeys, AreThoseOfARealBinaryMessage) {
  const auto keys = parse_binary_perftest_keys(real_binary());
  ASSERT_TRUE(keys) << keys.error();
  EXPECT_EQ(keys->lid, 0);
  EXPECT_EQ(keys->out_reads, 128);
  EXPECT_EQ(keys->qpn, Qpn{0x2B});
  EXPECT_EQ(keys->psn, Psn{0x3CCBD6});
  EXPECT_EQ(keys->r_key, RKey{0x15FC});
  EXPECT_EQ(keys->address, 0x5639DBDF5000U);
  EXPECT_EQ(keys->gid, (Gid{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 10, 77, 0, 2}}));
  EXPECT_EQ(keys->srqn, 0U);
  std::string without_index = real_binary();
  without_index.back() = 0;
  EXPECT_EQ(to_binary(*keys), without_index);
}

TEST(PerftestKeys, SurviveTheWayToBinaryAndBack) {
  PerftestKeys keys;
  keys.lid = 0xFEDC;
  keys.out_reads = 0x1234;
  keys.qpn = Qpn{0xFFFFFE};
  keys.psn = Psn{0xFFFFFF};
  keys.r_key = RKey{0xFFFFFFFF};
  keys.address = 0xFFFFFFFFFFFFFFFE;
  keys.gid.octets.fill(0xFF);
  keys.srqn = 0x00ABCDEF;
  for (const std::size_t size : {PerftestKeys::kBinarySize, PerftestKeys::kLongBinarySize}) {
    const std::string bytes = to_binary(keys, size);
    EXPECT_EQ(bytes.size(), size);
    EXPECT_EQ(parse_binary_perftest_keys(bytes), keys) << size;
  }
}

TEST(PerftestKeys, HaveAnotherAddressBehindTheFirstInTheLongMessage) {
  const auto keys = parse_binary_perftest_keys(real_binary());
  ASSERT_TRUE(keys) << keys.error();
  std::string bytes = real_binary();
  bytes.insert(32, "12345678");
  EXPECT_EQ(parse_binary_perftest_keys(bytes), keys);
}

TEST(PerftestKeys, AreAllZerosInTheFirstBarrierOfABinaryPeer) {
  EXPECT_EQ(parse_binary_perftest_keys(std::string(PerftestKeys::kBinarySize, '\0')), (PerftestKeys{.out_reads = 0}));
}

TEST(PerftestKeys, SayWhatIsWrongWithABinaryMessage) {
  EXPECT_EQ(parse_binary_perftest_keys("").error(), "has 0 bytes, not 56 or 64");
  EXPECT_EQ(parse_binary_perftest_keys(real_binary() + "1234").error(), "has 60 bytes, not 56 or 64");
  std::string bytes = real_binary();
  bytes[8] = 1;
  EXPECT_EQ(parse_binary_perftest_keys(bytes).error(), "has QPN 0x100002b, which is above 0xffffff");
  bytes = real_binary();
  bytes[1] = 1;
  EXPECT_EQ(parse_binary_perftest_keys(bytes).error(), "has LID 0x10000, which is above 0xffff");
}

}  // namespace
}  // namespace roce::gen
