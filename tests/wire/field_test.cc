// SPDX-License-Identifier: BSD-2-Clause
#include "roce/wire/fields.h"

#include <gtest/gtest.h>

#include <set>

#include "support/frame_stack.h"
#include "support/hex.h"

namespace roce {
namespace {

/// Returns the bits of a field, by the plainest possible loop.
std::vector<bool> bits_of(const FieldInfo& field, Bytes header) {
  std::vector<bool> bits;
  for (std::size_t bit = field.bit_offset; bit < std::size_t{field.bit_offset} + field.bit_width; ++bit) {
    bits.push_back((std::to_integer<unsigned>(header[bit / 8]) >> (7 - bit % 8) & 1) != 0);
  }
  return bits;
}

std::uint64_t number_of(const std::vector<bool>& bits) {
  std::uint64_t value = 0;
  for (const bool bit : bits) value = value << 1 | (bit ? 1 : 0);
  return value;
}

std::vector<std::byte> with_bits(const FieldInfo& field, std::vector<std::byte> header, const std::vector<bool>& bits) {
  for (std::size_t i = 0; i < bits.size(); ++i) {
    const std::size_t bit = field.bit_offset + i;
    const auto mask = static_cast<std::byte>(0x80 >> bit % 8);
    header[bit / 8] = bits[i] ? header[bit / 8] | mask : header[bit / 8] & ~mask;
  }
  return header;
}

using Copy = void (*)(std::byte* to, const std::byte* from);

// The code instantiated for each of the several hundred fields is as small as possible; the tests work on these tables.

/// Two ways to copy one field between two headers that go through the field's own type.
struct FieldAccess {
  const FieldInfo* info;
  Copy by_field;   ///< `Field::get` and `Field::set`
  Copy by_member;  ///< `read`, the struct's member, `write`
};

struct HeaderAccess {
  HeaderName name;
  Copy rewrite;  ///< `read` and `write`
  bool (*equal)(const std::byte*, const std::byte*);
  // Their errors; the reason is `none` if they succeed.
  ParseError (*parse)(Bytes);
  ParseError (*emit)(std::span<std::byte>);
  std::vector<FieldAccess> fields;
};

template <typename H>
[[gnu::noinline]] H read_here(const std::byte* bytes) {
  return read<H>(bytes);
}
template <typename H>
[[gnu::noinline]] void write_here(const H& header, std::byte* out) {
  write(header, out);
}

template <typename Row>
void copy_by_field(std::byte* to, const std::byte* from) {
  Row::field::set(to, Row::field::get(from));
}
template <typename Row>
void copy_by_member(std::byte* to, const std::byte* from) {
  using H = typename Row::header_type;
  H header = read_here<H>(to);
  header.*Row::kMember = read_here<H>(from).*Row::kMember;
  write_here(header, to);
}

template <typename T>
ParseError error_of(const Result<T>& result) {
  return result ? ParseError{} : result.error();
}

template <typename H, typename... Rows>
HeaderAccess make_access(const FieldList<Rows...>&) {
  HeaderAccess access{kHeader<H>,
                      [](std::byte* to, const std::byte* from) { write_here(read_here<H>(from), to); },
                      [](const std::byte* a, const std::byte* b) { return read_here<H>(a) == read_here<H>(b); },
                      [](Bytes bytes) { return error_of(parse<H>(bytes)); },
                      [](std::span<std::byte> out) { return error_of(emit(H{}, out)); },
                      {}};
  constexpr std::array<Copy, sizeof...(Rows)> by_field{copy_by_field<Rows>...};
  constexpr std::array<Copy, sizeof...(Rows)> by_member{copy_by_member<Rows>...};
  for (std::size_t i = 0; i < sizeof...(Rows); ++i) {
    access.fields.push_back({&kFieldInfos<H>[i], by_field[i], by_member[i]});
  }
  return access;
}

std::vector<HeaderAccess> all_headers() {
  std::vector<HeaderAccess> all;
  AllHeaders::for_each([&]<typename H>() { all.push_back(make_access<H>(kFields<H>)); });
  return all;
}

void check_every_bit(const HeaderAccess& header) {
  const std::size_t size = header.name.size;
  std::mt19937 random(10);
  for (int round = 0; round < 100; ++round) {
    const auto bytes = test::random_bytes(size, random);
    auto copy = test::random_bytes(size, random);
    header.rewrite(copy.data(), bytes.data());
    ASSERT_EQ(test::to_hex(copy), test::to_hex(bytes));
    ASSERT_TRUE(header.equal(copy.data(), bytes.data()));
    copy[random() % size] ^= static_cast<std::byte>(1U << random() % 8);
    ASSERT_FALSE(header.equal(copy.data(), bytes.data()));
  }
}

void check_setting(const HeaderAccess& header) {
  const std::size_t size = header.name.size;
  std::mt19937 random(11);
  for (const FieldAccess& access : header.fields) {
    const FieldInfo& field = *access.info;
    SCOPED_TRACE(field.name);
    for (int round = 0; round < 20; ++round) {
      const auto before = test::random_bytes(size, random);
      const auto from = test::random_bytes(size, random);
      const auto bits = bits_of(field, from);
      const auto expected = test::to_hex(with_bits(field, before, bits));

      auto by_field = before;
      access.by_field(by_field.data(), from.data());
      ASSERT_EQ(test::to_hex(by_field), expected);
      auto by_member = before;
      access.by_member(by_member.data(), from.data());
      ASSERT_EQ(test::to_hex(by_member), expected);

      if (is_octets(field)) {
        const Bytes octets = field_octets(field, from);
        ASSERT_EQ(octets.size() * 8, field.bit_width);
        ASSERT_EQ(octets.data(), from.data() + field.byte_offset());
      } else {
        ASSERT_EQ(field_number(field, from), number_of(bits));
        auto by_number = before;
        // Bits above the field's width are ignored.
        const std::uint64_t above = field.bit_width < 64 ? ~std::uint64_t{0} << field.bit_width : 0;
        set_field_number(field, by_number, number_of(bits) | above);
        ASSERT_EQ(test::to_hex(by_number), expected);
      }
    }
  }
}

void check_text(const HeaderAccess& header) {
  const std::size_t size = header.name.size;
  std::mt19937 random(12);
  for (const FieldAccess& access : header.fields) {
    const FieldInfo& field = *access.info;
    SCOPED_TRACE(field.name);
    std::vector<std::vector<std::byte>> values{std::vector<std::byte>(size),
                                               std::vector<std::byte>(size, std::byte{0xFF})};
    for (int i = 0; i < 20; ++i) values.push_back(test::random_bytes(size, random));
    for (const auto& value : values) {
      const std::string text = field_text(field, value);
      const auto before = test::random_bytes(size, random);
      auto after = before;
      const auto result = set_field_text(field, after, text);
      ASSERT_TRUE(result) << result.error();
      ASSERT_EQ(test::to_hex(after), test::to_hex(with_bits(field, before, bits_of(field, value)))) << text;
    }
    for (const ValueName& row : field.value_names) {
      std::vector<std::byte> named(size);
      ASSERT_TRUE(set_field_text(field, named, row.name)) << row.name;
      EXPECT_EQ(field_number(field, named), row.value) << row.name;
      EXPECT_EQ(field.value_name(row.value), row.name);
    }
  }
}

void check_bad_text(const HeaderAccess& header) {
  const std::size_t size = header.name.size;
  std::mt19937 random(13);
  for (const FieldAccess& access : header.fields) {
    const FieldInfo& field = *access.info;
    SCOPED_TRACE(field.name);
    std::vector<std::string> bad{"zebra", "-", "1 ", " 1", "1.2.3", "::1::2", "0xg", "1g3", "\xFF"};
    const bool is_address =
        field.format == FieldFormat::mac || field.format == FieldFormat::ipv4 || field.format == FieldFormat::gid;
    if (is_octets(field)) {
      bad.push_back(std::string(field.bit_width / 4 + 2, '0'));
      bad.emplace_back("0x0");
    } else {
      if (field.bit_width < 64) bad.push_back(std::to_string(std::uint64_t{1} << field.bit_width));
      bad.emplace_back("18446744073709551616");
      bad.emplace_back("0x10000000000000000");
      const bool is_signed = field.format == FieldFormat::signed_decimal;
      bad.push_back(is_signed ? "-" + std::to_string((std::uint64_t{1} << (field.bit_width - 1)) + 1) : "-1");
    }
    // The text may have fewer bytes than the field, even none.
    if (is_address || !is_octets(field)) bad.insert(bad.end(), {"", "0x"});
    const auto before = test::random_bytes(size, random);
    for (const std::string& text : bad) {
      auto after = before;
      const auto result = set_field_text(field, after, text);
      ASSERT_FALSE(result) << "took '" << text << "'";
      EXPECT_NE(result.error().find("expected "), std::string::npos) << result.error();
      EXPECT_NE(result.error().find("found '" + text + "'"), std::string::npos) << result.error();
      EXPECT_EQ(after, before) << text;
    }
  }
}

void check_short_bytes(const HeaderAccess& header) {
  const std::size_t size = header.name.size;
  for (std::size_t count = 0; count < size; ++count) {
    const ParseError expected{ParseReason::truncated, header.name.id, 0, static_cast<std::uint32_t>(size),
                              static_cast<std::uint32_t>(count)};
    // Exactly this size, so that a sanitizer notices any access beyond it.
    const std::vector<std::byte> given(count);
    ASSERT_EQ(header.parse(given), expected);
    std::vector<std::byte> room(count, std::byte{0xA5});
    ASSERT_EQ(header.emit(room), expected);
    ASSERT_EQ(room, std::vector<std::byte>(count, std::byte{0xA5}));
  }
  std::vector<std::byte> bytes(size);
  EXPECT_EQ(header.parse(bytes), ParseError{});
  EXPECT_EQ(header.emit(bytes), ParseError{});
}

void check_table(const HeaderAccess& header) {
  const std::size_t size = header.name.size;
  const HeaderInfo& info = header_info(header.name.id);
  EXPECT_EQ(info.id, header.name.id);
  EXPECT_EQ(info.name, header.name.name);
  EXPECT_EQ(info.title, header.name.title);
  EXPECT_EQ(info.size, size);
  EXPECT_EQ(find_header(info.name), &info);
  std::set<std::string_view> names;
  std::size_t next = 0;
  for (const FieldInfo& field : info.fields) {
    EXPECT_EQ(find_field(info, field.name), &field);
    EXPECT_TRUE(names.insert(field.name).second) << field.name << " twice";
    EXPECT_FALSE(field.title.empty()) << field.name;
    EXPECT_EQ(field.bit_offset, next) << field.name;
    next += field.bit_width;
  }
  EXPECT_EQ(next, size * 8);
  EXPECT_EQ(find_field(info, "no such field"), nullptr);
}

void for_each_header(void (*check)(const HeaderAccess&)) {
  for (const HeaderAccess& header : all_headers()) {
    SCOPED_TRACE(header.name.name);
    ASSERT_NO_FATAL_FAILURE(check(header));
  }
}

TEST(EveryHeader, ReadAndWriteKeepEveryBit) {
  for_each_header(check_every_bit);
}

TEST(EveryHeader, SettingAFieldChangesItsBitsAndNoOther) {
  for_each_header(check_setting);
}

TEST(EveryHeader, TextGoesThereAndBack) {
  for_each_header(check_text);
}

TEST(EveryHeader, BadTextIsRefusedWithoutAChange) {
  for_each_header(check_bad_text);
}

TEST(EveryHeader, ShortBytesAreRefused) {
  for_each_header(check_short_bytes);
}

TEST(EveryHeader, IsInTheTable) {
  for_each_header(check_table);
}

TEST(FieldTable, HasEveryHeaderOnceInOrder) {
  std::set<std::string_view> names;
  const auto table = header_table();
  ASSERT_EQ(table.size(), static_cast<std::size_t>(HeaderId::count));
  for (std::size_t i = 0; i < table.size(); ++i) {
    EXPECT_EQ(static_cast<std::size_t>(table[i].id), i);
    EXPECT_TRUE(names.insert(table[i].name).second) << table[i].name << " twice";
  }
  EXPECT_EQ(find_header("no such header"), nullptr);
}

/// The places of fields, written down from the specifications.
struct Place {
  std::string_view header;
  std::string_view field;
  unsigned byte;
  unsigned bit;  ///< in that byte; 7 comes first
  unsigned width;
};

constexpr std::array kPlaces{
    Place{"eth", "dst", 0, 7, 48},
    Place{"eth", "src", 6, 7, 48},
    Place{"eth", "type", 12, 7, 16},
    Place{"vlan", "pcp", 0, 7, 3},
    Place{"vlan", "dei", 0, 4, 1},
    Place{"vlan", "vid", 0, 3, 12},
    Place{"ip", "version", 0, 7, 4},
    Place{"ip", "header_length", 0, 3, 4},
    Place{"ip", "dscp", 1, 7, 6},
    Place{"ip", "ecn", 1, 1, 2},
    Place{"ip", "total_length", 2, 7, 16},
    Place{"ip", "id", 4, 7, 16},
    Place{"ip", "df", 6, 6, 1},
    Place{"ip", "mf", 6, 5, 1},
    Place{"ip", "fragment_offset", 6, 4, 13},
    Place{"ip", "ttl", 8, 7, 8},
    Place{"ip", "protocol", 9, 7, 8},
    Place{"ip", "checksum", 10, 7, 16},
    Place{"ip", "src", 12, 7, 32},
    Place{"ip", "dst", 16, 7, 32},
    Place{"ipv6", "version", 0, 7, 4},
    Place{"ipv6", "dscp", 0, 3, 6},
    Place{"ipv6", "ecn", 1, 5, 2},
    Place{"ipv6", "flow_label", 1, 3, 20},
    Place{"ipv6", "payload_length", 4, 7, 16},
    Place{"ipv6", "next_header", 6, 7, 8},
    Place{"ipv6", "hop_limit", 7, 7, 8},
    Place{"ipv6", "src", 8, 7, 128},
    Place{"ipv6", "dst", 24, 7, 128},
    Place{"grh", "flow_label", 1, 3, 20},
    Place{"grh", "payload_length", 4, 7, 16},
    Place{"grh", "next_header", 6, 7, 8},
    Place{"grh", "hop_limit", 7, 7, 8},
    Place{"grh", "sgid", 8, 7, 128},
    Place{"grh", "dgid", 24, 7, 128},
    Place{"udp", "srcport", 0, 7, 16},
    Place{"udp", "dstport", 2, 7, 16},
    Place{"udp", "length", 4, 7, 16},
    Place{"udp", "checksum", 6, 7, 16},
    Place{"bth", "opcode", 0, 7, 8},
    Place{"bth", "se", 1, 7, 1},
    Place{"bth", "mig_req", 1, 6, 1},
    Place{"bth", "pad_count", 1, 5, 2},
    Place{"bth", "tver", 1, 3, 4},
    Place{"bth", "p_key", 2, 7, 16},
    Place{"bth", "fecn", 4, 7, 1},
    Place{"bth", "becn", 4, 6, 1},
    Place{"bth", "reserved1", 4, 5, 6},
    Place{"bth", "dest_qp", 5, 7, 24},
    Place{"bth", "ack_req", 8, 7, 1},
    Place{"bth", "reserved2", 8, 6, 7},
    Place{"bth", "psn", 9, 7, 24},
    Place{"rdeth", "ee_context", 1, 7, 24},
    Place{"deth", "q_key", 0, 7, 32},
    Place{"deth", "src_qp", 5, 7, 24},
    Place{"xrceth", "xrcsrq", 1, 7, 24},
    Place{"reth", "va", 0, 7, 64},
    Place{"reth", "r_key", 8, 7, 32},
    Place{"reth", "dma_length", 12, 7, 32},
    Place{"atomiceth", "va", 0, 7, 64},
    Place{"atomiceth", "r_key", 8, 7, 32},
    Place{"atomiceth", "swap_or_add", 12, 7, 64},
    Place{"atomiceth", "compare", 20, 7, 64},
    Place{"aeth", "syndrome", 0, 7, 8},
    Place{"aeth", "msn", 1, 7, 24},
    Place{"atomicacketh", "original", 0, 7, 64},
    Place{"immdt", "data", 0, 7, 32},
    Place{"ieth", "r_key", 0, 7, 32},
    Place{"feth", "sel", 3, 5, 2},
    Place{"feth", "persistence", 3, 1, 1},
    Place{"feth", "visibility", 3, 0, 1},
    Place{"vxlan", "vni", 4, 7, 24},
    Place{"geneve", "option_length", 0, 5, 6},
    Place{"geneve", "protocol", 2, 7, 16},
    Place{"geneve", "vni", 4, 7, 24},
    Place{"gre", "checksum_present", 0, 7, 1},
    Place{"gre", "key_present", 0, 5, 1},
    Place{"gre", "sequence_present", 0, 4, 1},
    Place{"gre", "version", 1, 2, 3},
    Place{"gre", "protocol", 2, 7, 16},
    Place{"mpls", "label", 0, 7, 20},
    Place{"mpls", "tc", 2, 3, 3},
    Place{"mpls", "bottom", 2, 0, 1},
    Place{"mpls", "ttl", 3, 7, 8},
    Place{"sll", "type", 14, 7, 16},
    Place{"sll2", "type", 0, 7, 16},
    Place{"sll2", "interface_index", 4, 7, 32},
};

TEST(FieldTable, FieldsLieWhereTheSpecificationsSay) {
  for (const Place& place : kPlaces) {
    const HeaderInfo* header = find_header(place.header);
    ASSERT_NE(header, nullptr) << place.header;
    const FieldInfo* field = find_field(*header, place.field);
    ASSERT_NE(field, nullptr) << place.header << '.' << place.field;
    EXPECT_EQ(field->bit_offset, place.byte * 8 + 7 - place.bit) << place.header << '.' << place.field;
    EXPECT_EQ(field->bit_width, place.width) << place.header << '.' << place.field;
  }
}

std::string text_of(std::string_view header, std::string_view field, std::string_view hex) {
  return field_text(*find_field(*find_header(header), field), test::from_hex(hex));
}

TEST(FieldText, ShowsEachFormat) {
  const std::string_view bth = "042fabcd4000012380ffffff";
  EXPECT_EQ(text_of("bth", "psn", bth), "16777215");
  EXPECT_EQ(text_of("bth", "opcode", bth), "0x04");
  EXPECT_EQ(text_of("bth", "se", bth), "false");
  EXPECT_EQ(text_of("bth", "becn", bth), "true");
  EXPECT_EQ(text_of("bth", "p_key", bth), "0xabcd");
  EXPECT_EQ(text_of("bth", "dest_qp", bth), "0x000123");
  EXPECT_EQ(text_of("bth", "reserved1", bth), "0x00");
  EXPECT_EQ(text_of("bth", "pad_count", bth), "2");
  EXPECT_EQ(text_of("eth", "dst", "0200000000010a0b0c0d0e0f0800"), "02:00:00:00:00:01");
  EXPECT_EQ(text_of("eth", "type", "0200000000010a0b0c0d0e0f8915"), "0x8915");
  EXPECT_EQ(text_of("cnp", "reserved", "000102030405060708090a0b0c0d0eff"), "000102030405060708090a0b0c0d0eff");
  EXPECT_EQ(text_of("ip", "src", "4500003c123440004011a477c0000201c0000202"), "192.0.2.1");
  EXPECT_EQ(text_of("reth", "va", "00007f001234567800001a2b00000004"), "0x00007f0012345678");
}

TEST(FieldText, TakesWhatAPersonWrites) {
  const HeaderInfo& bth = *find_header("bth");
  std::vector<std::byte> bytes(12);
  const auto set = [&](std::string_view field, std::string_view text) {
    const auto result = set_field_text(*find_field(bth, field), bytes, text);
    EXPECT_TRUE(result) << result.error();
  };
  set("opcode", "rc_send_only");
  set("psn", "0xABCDEF");
  set("dest_qp", "17");
  set("ack_req", "true");
  set("p_key", "0XffFF");
  set("becn", "1");
  EXPECT_EQ(test::to_hex(bytes), "0400ffff4000001180abcdef");

  std::vector<std::byte> cnp(16, std::byte{0xEE});
  ASSERT_TRUE(set_field_text(*find_field(*find_header("cnp"), "reserved"), cnp, "0xAbCd"));
  EXPECT_EQ(test::to_hex(cnp), "abcd" + std::string(28, '0'));
}

TEST(FieldText, ErrorsSayWhatIsExpected) {
  std::vector<std::byte> bytes(40);
  const auto error = [&](std::string_view header, std::string_view field, std::string_view text) {
    const auto result = set_field_text(*find_field(*find_header(header), field), bytes, text);
    return result ? std::string{"no error"} : result.error();
  };
  EXPECT_EQ(error("bth", "psn", "16777216"), "expected 0 … 16777215, found '16777216'");
  EXPECT_EQ(error("bth", "se", "yes"), "expected true or false, found 'yes'");
  EXPECT_EQ(error("eth", "dst", "02:00"), "expected a MAC address such as 02:00:00:00:00:01, found '02:00'");
  EXPECT_EQ(error("ip", "src", "1.2.3.256"), "expected an IPv4 address such as 192.0.2.1, found '1.2.3.256'");
  EXPECT_EQ(error("ipv6", "src", "1:2"), "expected an IPv6 or IPv4 address, found '1:2'");
  EXPECT_EQ(error("bth", "opcode", "RC_SEND_OLNY"),
            "expected 0 … 255 or a name such as 'RC_SEND_FIRST', found 'RC_SEND_OLNY'");
}

}  // namespace
}  // namespace roce
