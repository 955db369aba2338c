#include <cstdint>
#include <cstdlib>

#include "wyoming/session.h"

// A connection's bytes, in two pieces, through the reader and a session.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sotto::wyoming;
  Session session({[](const Event& event) {
                     EventReader back;
                     back.feed(encode_event(event));
                     if (!back.next().ok()) std::abort();
                   },
                   [] { return describe_answer("1", {}); },
                   [](const Utterance& utterance) {
                     if (!(utterance.seconds() >= 0)) std::abort();
                   }});
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  EventReader reader;
  for (const std::string_view piece : {bytes.substr(0, size / 2), bytes.substr(size / 2)}) {
    reader.feed(piece);
    for (;;) {
      const auto event = reader.next();
      if (!event.ok()) return 0;
      if (!event->has_value()) break;
      static_cast<void>(session.handle(**event));
    }
  }
  return 0;
}
