#include "worker/messages.h"

#include <fmt/format.h>

#include <array>

namespace sotto::worker {
namespace {

/// Reads the alternative number `Index` of the variant.
template <size_t Index>
bool read_alternative(WireReader& reader, Message& message) {
  auto& body = message.emplace<Index>();
  reader(body);
  return reader.finished();
}

using ReadAlternative = bool (*)(WireReader&, Message&);

template <size_t... Indices>
constexpr auto make_readers(std::index_sequence<Indices...>) {
  return std::array<ReadAlternative, sizeof...(Indices)>{read_alternative<Indices>...};
}

constexpr auto kReaders = make_readers(std::make_index_sequence<std::variant_size_v<Message>>());

}  // namespace

Result<std::string> encode_message(const Message& message) {
  WireWriter body;
  std::visit([&body](const auto& alternative) { body(alternative); }, message);
  const std::string bytes = body.take();
  if (bytes.size() > kMaxBody) {
    return resource_exhausted(
        fmt::format("a message of {} bytes to the worker is too large", bytes.size()));
  }
  WireWriter head;
  head(static_cast<uint32_t>(bytes.size()), static_cast<uint8_t>(message.index()));
  return head.take() + bytes;
}

Result<FrameHead> parse_head(std::span<const std::byte, kFrameHead> bytes) {
  FrameHead head;
  WireReader reader(bytes);
  reader(head.body_bytes, head.type);
  if (head.type >= kReaders.size() || head.body_bytes > kMaxBody) {
    return corrupt(fmt::format("worker channel: message {} of {} bytes is none of the protocol's",
                               head.type, head.body_bytes));
  }
  return head;
}

Result<Message> parse_body(uint8_t type, std::span<const std::byte> bytes) {
  WireReader reader(bytes);
  Message message;
  if (type >= kReaders.size() || !kReaders[type](reader, message)) {
    return corrupt(fmt::format("worker channel: the {} bytes of message {} do not fit its type",
                               bytes.size(), type));
  }
  return message;
}

}  // namespace sotto::worker
