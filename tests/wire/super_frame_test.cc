// SPDX-License-Identifier: BSD-2-Clause
#include "roce/wire/super_frame.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <random>
#include <string>

#include "roce/wire/packet_spec.h"
#include "support/coalesce.h"

namespace roce {
namespace {

using test::coalesce;
using test::Frame;

struct Case {
  std::string_view name;
  RoceVersion version;
  Opcode opcode;
  std::size_t payload;
  std::size_t last_payload;
  int count;
  unsigned ip_id_step;

  friend void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }
};

std::vector<Frame> packets_of(const Case& c) {
  std::mt19937 random{7};
  std::vector<Frame> frames;
  for (int i = 0; i < c.count; ++i) {
    PacketSpec spec = PacketSpec::for_opcode(c.opcode, c.version);
    const auto set = [&](std::string_view name, std::string_view value) {
      EXPECT_TRUE(spec.set(name, value).has_value()) << name << ' ' << value;
    };
    std::string payload;
    const std::size_t length = i + 1 == c.count ? c.last_payload : c.payload;
    for (std::size_t k = 0; k < length; ++k) payload += random() % 2 == 0 ? "00" : "a5";
    set("payload", payload);
    set("bth.psn", std::to_string(100 + i));
    set("bth.dest_qp", "17");
    if (c.version == RoceVersion::v2_ipv4) {
      set("ip.id", std::to_string(500 + c.ip_id_step * static_cast<unsigned>(i)));
    }
    frames.push_back(*spec.build());
  }
  return frames;
}

class IcrcOfSuperFrame : public testing::TestWithParam<Case> {};

TEST_P(IcrcOfSuperFrame, ProvesTheCut) {
  const Case& c = GetParam();
  const Frame frame = coalesce(packets_of(c));
  const Packet packet = parse_frame(frame, LinkType::ethernet);
  const std::optional<SuperFrame> found = find_super_frame(packet);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->count, static_cast<std::uint32_t>(c.count));
  if (c.version == RoceVersion::v2_ipv4) {
    EXPECT_EQ(found->ip_id_step, c.ip_id_step);
  }
  std::uint32_t psn = 100;
  for_each_packet(packet, [&](const Packet& part, const IcrcVerdict& verdict) {
    EXPECT_EQ(part.bth().psn.value(), psn++);
    EXPECT_EQ(verdict.status, IcrcStatus::good);
    const bool is_last = psn == 100 + static_cast<std::uint32_t>(c.count);
    EXPECT_EQ(part.payload_length(), is_last ? c.last_payload : c.payload);
  });
  EXPECT_EQ(psn, 100 + static_cast<std::uint32_t>(c.count));
}

TEST_P(IcrcOfSuperFrame, ShowsADamagedPacketAmongGoodOnes) {
  Frame frame = coalesce(packets_of(GetParam()));
  const Packet whole = parse_frame(frame, LinkType::ethernet);
  const std::optional<SuperFrame> before = find_super_frame(whole);
  ASSERT_TRUE(before.has_value());
  frame[whole.bth_offset() + 9] ^= std::byte{1};  // a PSN bit of the first packet
  const Packet packet = parse_frame(frame, LinkType::ethernet);
  EXPECT_EQ(find_super_frame(packet), before);
  int bad = 0;
  for_each_packet(packet, [&](const Packet& part, const IcrcVerdict& verdict) {
    if (verdict.status != IcrcStatus::bad) return;
    ++bad;
    const IcrcExplanation explanation = explain_icrc(part);
    EXPECT_EQ(explanation.mistake_count, 0);
    EXPECT_EQ(explanation.damaged_offset, 9U);
    EXPECT_EQ(explanation.damaged_bits, 1);
  });
  EXPECT_EQ(bad, 1);
}

TEST_P(IcrcOfSuperFrame, IsCutIntoTheFramesThatItWasMadeOf) {
  const Case& c = GetParam();
  const std::vector<Frame> frames = packets_of(c);
  Frame all = coalesce(frames);
  const Packet whole = parse_frame(all, LinkType::ethernet);
  const auto segment_size = static_cast<std::uint32_t>(frames.front().size() - whole.bth_offset());
  // Stands for the checksum that segmentation offload leaves; those of the parts are not known when a frame is cut.
  for (const std::size_t i : {2U, 1U}) all[whole.bth_offset() - i] = std::byte{0x5a};
  const Packet packet = parse_frame(all, LinkType::ethernet);
  const std::optional<SuperFrame> parts = super_frame_of(packet, segment_size);
  ASSERT_TRUE(parts.has_value());
  EXPECT_EQ(*parts,
            (SuperFrame{segment_size, static_cast<std::uint32_t>(c.count), static_cast<std::uint16_t>(c.ip_id_step)}));
  std::vector<std::byte> cut;
  for (std::uint32_t i = 0; i < parts->count; ++i) {
    cut_frame(packet, *parts, i, cut);
    EXPECT_EQ(cut, frames[i]) << i;
  }
}

TEST_P(IcrcOfSuperFrame, IsCutAsToldWhereNoIcrcIsGood) {
  const Case& c = GetParam();
  std::vector<Frame> frames = packets_of(c);
  for (Frame& frame : frames) frame.back() ^= std::byte{1};
  const Frame all = coalesce(frames);
  const Packet packet = parse_frame(all, LinkType::ethernet);
  const auto segment_size = static_cast<std::uint32_t>(frames.front().size() - packet.bth_offset());
  const std::optional<SuperFrame> parts = super_frame_of(packet, segment_size);
  ASSERT_TRUE(parts.has_value());
  EXPECT_EQ(parts->count, static_cast<std::uint32_t>(c.count));
  EXPECT_EQ(parts->ip_id_step, c.version == RoceVersion::v2_ipv4 ? 1 : 0);
  EXPECT_FALSE(super_frame_of(packet, static_cast<std::uint32_t>(all.size())).has_value()) << "one packet";
  EXPECT_FALSE(super_frame_of(packet, 0).has_value());
}

TEST_P(IcrcOfSuperFrame, FindsThePacketsThatACutCaptureStillHolds) {
  const Frame frame = coalesce(packets_of(GetParam()));
  const Packet whole = parse_frame(frame, LinkType::ethernet);
  const std::optional<SuperFrame> found = find_super_frame(whole);
  ASSERT_TRUE(found.has_value());
  const std::size_t kept = whole.bth_offset() + 2 * std::size_t{found->segment_size} - 3;
  if (kept >= frame.size() || GetParam().count < 3) return;
  const Packet cut =
      parse_frame(Bytes{frame}.first(kept), LinkType::ethernet, static_cast<std::uint32_t>(frame.size()));
  int good = 0;
  int unchecked = 0;
  for_each_packet(cut, [&](const Packet&, const IcrcVerdict& verdict) {
    good += verdict.status == IcrcStatus::good;
    unchecked += verdict.status == IcrcStatus::not_checked;
    EXPECT_NE(verdict.status, IcrcStatus::bad);
  });
  EXPECT_EQ(good, 1);
  EXPECT_EQ(unchecked, GetParam().count - 1);
  EXPECT_EQ(captured_count(cut, *found), 2U);
  EXPECT_EQ(captured_count(whole, *found), found->count);
}

INSTANTIATE_TEST_SUITE_P(
    Frames, IcrcOfSuperFrame,
    testing::Values(Case{"middles", RoceVersion::v2_ipv4, Opcode::rc_send_middle, 1024, 1024, 8, 1},
                    Case{"coalesced", RoceVersion::v2_ipv4, Opcode::rc_write_middle, 256, 256, 20, 0},
                    Case{"only_with_short_last", RoceVersion::v2_ipv4, Opcode::rc_send_only, 100, 37, 5, 1},
                    Case{"acks", RoceVersion::v2_ipv4, Opcode::rc_acknowledge, 0, 0, 30, 1},
                    Case{"writes", RoceVersion::v2_ipv4, Opcode::rc_write_only, 4096, 4096, 3, 1},
                    Case{"ipv6", RoceVersion::v2_ipv6, Opcode::rc_read_response_middle, 4096, 4096, 4, 0}),
    [](const auto& c) { return std::string{c.param.name}; });

TEST(IcrcOfOneFrame, CutInsideItsHeadersIsNotSearched) {
  PacketSpec spec = PacketSpec::for_opcode(Opcode::rc_write_only);
  ASSERT_TRUE(spec.set("payload_length", "4096").has_value());
  const Frame frame = *spec.build();
  for (std::size_t kept = 0; kept < 70; ++kept) {
    const Packet packet =
        parse_frame(Bytes{frame}.first(kept), LinkType::ethernet, static_cast<std::uint32_t>(frame.size()));
    EXPECT_FALSE(find_super_frame(packet).has_value()) << kept;
  }
}

TEST(IcrcOfOneFrame, IsNotTakenForSeveral) {
  for (const char* icrc : {"auto", "wrong"}) {
    PacketSpec spec = PacketSpec::for_opcode(Opcode::rc_send_only);
    ASSERT_TRUE(spec.set("payload_length", "4096").has_value());
    ASSERT_TRUE(spec.set("icrc", icrc).has_value());
    const Frame frame = *spec.build();
    const Packet packet = parse_frame(frame, LinkType::ethernet);
    EXPECT_FALSE(find_super_frame(packet).has_value());
    int count = 0;
    for_each_packet(packet, [&](const Packet&, const IcrcVerdict&) { ++count; });
    EXPECT_EQ(count, 1);
  }
}

/// Returns `count` frames with the PSN and the IPv4 identification counting up, each changed by `change`.
std::vector<Frame> counting_frames(RoceVersion version, int count,
                                   const std::function<void(PacketSpec&, int)>& change = {}) {
  std::vector<Frame> frames;
  for (int i = 0; i < count; ++i) {
    PacketSpec spec = PacketSpec::for_opcode(Opcode::rc_send_only, version);
    EXPECT_TRUE(spec.set("payload_length", "100").has_value());
    EXPECT_TRUE(spec.set("bth.psn", std::to_string(100 + i)).has_value());
    if (version == RoceVersion::v2_ipv4) {
      EXPECT_TRUE(spec.set("ip.id", std::to_string((0xFFFE + i) & 0xFFFF)).has_value());
    }
    if (change) change(spec, i);
    frames.push_back(*spec.build());
  }
  return frames;
}

/// Returns how many frames each super-frame has if as many as fit are put together.
std::vector<std::uint32_t> together(const std::vector<Frame>& frames, std::uint32_t max_packets = 64,
                                    std::size_t max_bytes = 65535) {
  std::vector<std::uint32_t> counts;
  SuperFrameBuilder builder;
  for (const Frame& frame : frames) {
    if (!counts.empty() && builder.add(frame, max_packets, max_bytes)) {
      ++counts.back();
      EXPECT_EQ(builder.count(), counts.back());
      continue;
    }
    builder.begin(frame);
    counts.push_back(1);
  }
  return counts;
}

TEST(SuperFrameBuilder, MakesWhatIsCutIntoTheSameFrames) {
  for (const RoceVersion version : {RoceVersion::v2_ipv4, RoceVersion::v2_ipv6}) {
    for (const char* vlan : {"", "vlan "}) {
      const std::string ip = version == RoceVersion::v2_ipv4 ? "ip" : "ipv6";
      const auto frames = counting_frames(version, 5, [&](PacketSpec& spec, int) {
        const std::string id = version == RoceVersion::v2_ipv4 ? *spec.get("ip.id") : "";
        const std::string psn = *spec.get("bth.psn");
        EXPECT_TRUE(spec.set("headers", "eth " + std::string{vlan} + ip + " udp bth").has_value());
        EXPECT_TRUE(spec.set("bth.psn", psn).has_value());
        if (!id.empty()) {
          EXPECT_TRUE(spec.set("ip.id", id).has_value());
        }
      });
      SuperFrameBuilder builder;
      builder.begin(frames.front());
      EXPECT_EQ(builder.segment_size(), 0U);
      EXPECT_TRUE(std::ranges::equal(builder.finish(), frames.front()));
      for (std::size_t i = 1; i < frames.size(); ++i) ASSERT_TRUE(builder.add(frames[i], 64, 65535)) << i;
      EXPECT_EQ(builder.wire_bytes(), 5 * frames.front().size());
      const Bytes whole = builder.finish();
      const Packet packet = parse_frame(whole, LinkType::ethernet);
      const auto parts = super_frame_of(packet, builder.segment_size());
      ASSERT_TRUE(parts.has_value());
      EXPECT_EQ(parts->count, 5U);
      Frame frame;
      for (std::uint32_t i = 0; i < 5; ++i) {
        cut_frame(packet, *parts, i, frame);
        EXPECT_EQ(frame, frames[i]) << vlan << ip << " packet " << i;
      }
    }
  }
}

/// Checks super-frames of `count` frames each, all made by one builder; each frame comes with its kind in `kinds`.
void expect_cut_into(const std::vector<Frame>& frames, const std::vector<const FrameKind*>& kinds, std::uint32_t count,
                     SuperFrameBuilder& builder) {
  for (std::size_t first = 0; first < frames.size(); first += count) {
    const std::size_t end = std::min<std::size_t>(first + count, frames.size());
    builder.begin(frames[first], kinds[first]);
    for (std::size_t i = first + 1; i < end; ++i) ASSERT_TRUE(builder.add(frames[i], count, 65535, kinds[i])) << i;
    const Packet packet = parse_frame(builder.finish(), LinkType::ethernet);
    const auto parts = super_frame_of(packet, builder.segment_size());
    ASSERT_TRUE(parts.has_value());
    ASSERT_EQ(parts->count, end - first);
    Frame frame;
    for (std::uint32_t i = 0; i < parts->count; ++i) {
      cut_frame(packet, *parts, i, frame);
      EXPECT_EQ(frame, frames[first + i]) << "super-frame at " << first << ", packet " << i;
    }
  }
}

TEST(SuperFrameBuilder, KeepsFramesOfOneKindApartFromOthers) {
  // The two kinds differ in a byte that varies in neither of them.
  std::vector<Frame> a = counting_frames(RoceVersion::v2_ipv4, 24);
  std::vector<Frame> b = counting_frames(RoceVersion::v2_ipv4, 24);
  for (Frame& frame : b) frame[60] ^= std::byte{0xff};
  FrameKind kind;
  for (std::size_t at = 0; at < a[0].size(); ++at) {
    if (std::ranges::any_of(a, [&](const Frame& frame) { return frame[at] != a[0][at]; })) kind.varying.push_back(at);
  }
  const FrameKind other = kind;
  const std::vector<const FrameKind*> first(24, &kind);
  const std::vector<const FrameKind*> second(24, &other);
  std::vector<Frame> mixed;
  std::vector<const FrameKind*> kinds;
  for (std::size_t i = 0; i < 24; ++i) {
    const std::size_t choice = i / 2 % 3;
    mixed.push_back(choice == 0 ? a[i] : b[i]);
    kinds.push_back(choice == 0 ? &kind : choice == 1 ? &other : nullptr);
  }
  SuperFrameBuilder builder;
  for (const std::uint32_t count : {6U, 8U, 3U, 24U}) {
    expect_cut_into(a, first, count, builder);
    expect_cut_into(b, second, count, builder);
    expect_cut_into(mixed, kinds, count, builder);
    expect_cut_into(a, first, count, builder);
    std::vector<Frame> longer = counting_frames(RoceVersion::v2_ipv6, 24);
    expect_cut_into(longer, std::vector<const FrameKind*>(24), count, builder);
  }
}

TEST(SuperFrameBuilder, PutsNoFramesOfOneKindTogetherThatSegmentationWouldChange) {
  for (const char* field : {"", "udp.srcport", "eth.src", "ip.checksum"}) {
    // Identifications that stay the same, and ones that count up while a field changes that should not.
    const auto frames = counting_frames(RoceVersion::v2_ipv4, 3, [&](PacketSpec& spec, int i) {
      const std::string name{field};
      if (name.empty()) {
        EXPECT_TRUE(spec.set("ip.id", "5").has_value());
      }
      if (name == "ip.checksum") {
        EXPECT_TRUE(spec.set(name, "7").has_value());
      }
      if (name == "udp.srcport") {
        EXPECT_TRUE(spec.set(name, std::to_string(1000 + i)).has_value());
      }
      if (name == "eth.src") {
        EXPECT_TRUE(spec.set(name, "02:00:00:00:00:0" + std::to_string(i)).has_value());
      }
    });
    FrameKind kind;
    for (std::size_t at = 0; at < frames[0].size(); ++at) {
      if (std::ranges::any_of(frames, [&](const Frame& f) { return f[at] != frames[0][at]; })) {
        kind.varying.push_back(at);
      }
    }
    SuperFrameBuilder builder;
    for (int round = 0; round < 2; ++round) {
      builder.begin(frames[0], &kind);
      EXPECT_FALSE(builder.add(frames[1], 64, 65535, &kind)) << field;
      EXPECT_TRUE(std::ranges::equal(builder.finish(), frames[0])) << field;
    }
  }
}

TEST(SuperFrameBuilder, KeepsToTheLimits) {
  const auto frames = counting_frames(RoceVersion::v2_ipv4, 10);
  const std::size_t segment = frames.front().size() - 42;
  EXPECT_EQ(together(frames, 4), (std::vector<std::uint32_t>{4, 4, 2}));
  EXPECT_EQ(together(frames, 1), std::vector<std::uint32_t>(10, 1));
  EXPECT_EQ(together(frames, 64, 42 + 3 * segment), (std::vector<std::uint32_t>{3, 3, 3, 1}));
  EXPECT_EQ(together(frames, 64, 42 + 3 * segment - 1), std::vector<std::uint32_t>(5, 2));
}

TEST(SuperFrameBuilder, LeavesAloneWhatSegmentationWouldChange) {
  const std::vector<std::uint32_t> alone(3, 1);
  EXPECT_EQ(together(counting_frames(RoceVersion::v1, 3)), alone);
  for (const auto& [name, value] : std::vector<std::pair<std::string, std::string>>{{"ip.id", "7"},
                                                                                    {"udp.checksum", "0x1234"},
                                                                                    {"ip.checksum", "0x1234"},
                                                                                    {"udp.length", "40"},
                                                                                    {"ip.total_length", "140"},
                                                                                    {"ip.mf", "true"},
                                                                                    {"trailer", "00"},
                                                                                    {"udp.dstport", "4792"}}) {
    const auto frames =
        counting_frames(RoceVersion::v2_ipv4, 3, [&, name = name, value = value](PacketSpec& spec, int) {
          EXPECT_TRUE(spec.set(name, value).has_value()) << name;
        });
    EXPECT_EQ(together(frames), alone) << name;
  }
  for (const auto& [name, values] : std::vector<std::pair<std::string, std::array<const char*, 3>>>{
           {"udp.srcport", {"1", "2", "3"}},
           {"eth.dst", {"02:00:00:00:00:01", "02:00:00:00:00:02", "02:00:00:00:00:03"}},
           {"ip.ttl", {"1", "2", "3"}},
           {"payload_length", {"8", "12", "16"}}}) {
    const auto frames =
        counting_frames(RoceVersion::v2_ipv4, 3, [&, name = name, values = values](PacketSpec& spec, int i) {
          EXPECT_TRUE(spec.set(name, values[static_cast<std::size_t>(i)]).has_value()) << name;
        });
    EXPECT_EQ(together(frames), alone) << name;
  }
}

TEST(SuperFrameBuilder, TakesWrongIcrcsAsTheyAre) {
  EXPECT_EQ(
      together(counting_frames(RoceVersion::v2_ipv4, 3,
                               [](PacketSpec& spec, int) { EXPECT_TRUE(spec.set("icrc", "wrong").has_value()); })),
      std::vector<std::uint32_t>{3});
}

}  // namespace
}  // namespace roce
