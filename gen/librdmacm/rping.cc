// SPDX-License-Identifier: BSD-2-Clause
#include "gen/librdmacm/rping.h"

#include <fmt/format.h>

#include <algorithm>

#include "roce/wire/field.h"

namespace roce::gen {

namespace {

using transport::Access;
using transport::WorkOpcode;

/// The message that both sides send: the place of a buffer. Big-endian: address 8, R_Key 4, size 4 bytes.
struct BufferInfo {
  static constexpr std::uint32_t kBytes = 16;
  std::uint64_t address = 0;
  RKey r_key{};
  std::uint32_t size = 0;
};

/// A side of the conversation: its queue pair, and one buffer for each kind of message.
class Side {
 public:
  Side(live::RdmaCm& cm, live::CmConnection& connection, std::uint32_t data_bytes, Access access, Time now)
      : connection_(connection),
        domain_(cm.endpoint().device()),
        messages_(domain_, 2 * BufferInfo::kBytes),
        data_(domain_, data_bytes, Access::local_write | access),
        qp_(cm.endpoint(), domain_, {.max_send = 4, .max_receive = 4}) {
    prepare(qp_, now);
    post_receive();
  }

  [[nodiscard]] live::QueuePair& qp() { return qp_; }
  [[nodiscard]] live::Memory& data() { return data_; }

  /// Returns the next message, or nothing if the connection ends before it.
  live::Task<std::optional<BufferInfo>> receive() {
    co_await live::until([&] { return qp_.has_received() || connection_.is_over(); });
    if (!qp_.has_received()) co_return std::nullopt;
    const transport::Completion completion = qp_.take_received();
    if (completion.byte_length != BufferInfo::kBytes) {
      throw live::ScriptFailure(
          fmt::format("a message of {} bytes came, expected the {} of rping; is the peer another program?",
                      completion.byte_length, BufferInfo::kBytes));
    }
    const std::span<const std::byte> bytes = messages_.bytes(0, BufferInfo::kBytes);
    BufferInfo info;
    info.address = load_big_endian<8>(bytes.data());
    info.r_key = RKey{static_cast<std::uint32_t>(load_big_endian<4>(bytes.data() + 8))};
    info.size = static_cast<std::uint32_t>(load_big_endian<4>(bytes.data() + 12));
    post_receive();
    co_return info;
  }

  /// Sends the place of the data, `size` bytes from `offset`, and waits until the message is acknowledged.
  live::Task<> send(std::size_t offset, std::uint32_t size) {
    const std::span<std::byte> bytes = messages_.bytes(BufferInfo::kBytes, BufferInfo::kBytes);
    store_big_endian<8>(bytes.data(), data_.info().address + offset);
    store_big_endian<4>(bytes.data() + 8, data_.info().r_key.value());
    store_big_endian<4>(bytes.data() + 12, size);
    const transport::Sge sge = messages_.sge(BufferInfo::kBytes, BufferInfo::kBytes);
    transport::SendRequest request;
    request.sges = {&sge, 1};
    co_await carry_out(request);
  }

  /// Moves data from or to the peer's buffer.
  live::Task<> move(WorkOpcode opcode, const BufferInfo& remote, std::uint32_t size) {
    const transport::Sge sge = data_.sge(0, size);
    transport::SendRequest request;
    request.opcode = opcode;
    request.sges = {&sge, 1};
    request.remote = {.address = remote.address, .r_key = remote.r_key};
    co_await carry_out(request);
  }

 private:
  live::Task<> carry_out(const transport::SendRequest& request) {
    qp_.post_send(request);
    co_await connection_.sent(qp_);
  }
  void post_receive() { qp_.post_receive(0, messages_.sge(0, BufferInfo::kBytes)); }

  live::CmConnection& connection_;
  live::Domain domain_;
  live::Memory messages_;  // the received message, then the sent one
  live::Memory data_;
  live::QueuePair qp_;
};

}  // namespace

std::string rping_text(std::uint32_t number, std::uint32_t size) {
  constexpr std::uint32_t kFirst = 'A';
  constexpr std::uint32_t kCharacters = 'z' - 'A' + 1;
  std::string text = fmt::format("rdma-ping-{}: ", number);
  for (std::uint32_t next = number % kCharacters; text.size() + 1 < size; next = (next + 1) % kCharacters) {
    text += static_cast<char>(kFirst + next);
  }
  text.resize(size - 1);
  text += '\0';
  return text;
}

live::Task<> rping_server(live::RdmaCm& cm, CommId wanted, ProgramReport& report) {
  live::CmConnection connection{cm, wanted};
  const Time now = co_await live::this_time{};
  Side side{cm, connection, kRpingMaxSize, Access::none, now};
  connection.accept(side.qp().qpn(), 1, 7, now);
  co_await connection.established(side.qp());
  report.begun = co_await live::this_time{};
  while (true) {
    const std::optional<BufferInfo> ping = co_await side.receive();
    if (!ping) break;
    if (ping->size == 0 || ping->size > kRpingMaxSize) {
      throw live::ScriptFailure(
          fmt::format("the client has a ping of {} bytes, rping's are 1 to {}", ping->size, kRpingMaxSize));
    }
    co_await side.move(WorkOpcode::read, *ping, ping->size);
    co_await side.send(0, ping->size);
    const std::optional<BufferInfo> echo = co_await side.receive();
    if (!echo) throw live::ScriptFailure("the client ended the connection between a ping and its echo");
    const std::span<const std::byte> text = side.data().bytes(0, ping->size);
    // The echo is copied as a string: up to the first zero.
    const auto zero = std::ranges::find(text, std::byte{0});
    const auto length = static_cast<std::uint32_t>(std::min<std::ptrdiff_t>(zero - text.begin() + 1, std::ssize(text)));
    co_await side.move(WorkOpcode::write, *echo, length);
    co_await side.send(0, length);
    ++report.messages;
    report.bytes += ping->size;
    report.ended = co_await live::this_time{};
    report.counters = side.qp().counters();
  }
  if (report.ended == kNever) report.ended = report.begun;
}

live::Task<> rping_client(live::RdmaCm& cm, live::ConnectPlan plan, RpingOptions options, ProgramReport& report) {
  const Time now = co_await live::this_time{};
  // The data of the client's side: the ping, then its echo.
  live::CmConnection connection{cm};
  Side side{cm, connection, 2 * options.size, Access::remote_read | Access::remote_write, now};
  co_await connection.connect(side.qp().qpn(), plan);
  report.begun = co_await live::this_time{};
  report.is_compared = true;
  const std::span<std::byte> ping = side.data().bytes(0, options.size);
  const std::span<std::byte> echo = side.data().bytes(options.size, options.size);
  for (std::uint32_t number = 0; number < options.count; ++number) {
    const std::string text = rping_text(number, options.size);
    std::ranges::copy(std::as_bytes(std::span{text}), ping.begin());
    std::ranges::fill(echo, std::byte{0xEE});
    co_await side.send(0, options.size);
    const std::optional<BufferInfo> was_read = co_await side.receive();
    if (!was_read)
      throw live::ScriptFailure(fmt::format("the server ended the connection before it had READ ping {}", number));
    co_await side.send(options.size, options.size);
    const std::optional<BufferInfo> was_written = co_await side.receive();
    if (!was_written)
      throw live::ScriptFailure(fmt::format("the server ended the connection before the echo of ping {}", number));
    const auto differs = std::ranges::mismatch(ping, echo);
    if (differs.in1 != ping.end()) {
      throw live::ScriptFailure(fmt::format("wrong data in the echo of ping {}: byte {} is 0x{:02x}, expected 0x{:02x}",
                                            number, differs.in1 - ping.begin(), std::to_integer<unsigned>(*differs.in2),
                                            std::to_integer<unsigned>(*differs.in1)));
    }
    ++report.messages;
    report.bytes += options.size;
    report.ended = co_await live::this_time{};
    report.counters = side.qp().counters();
  }
  co_await connection.disconnect();
}

}  // namespace roce::gen
