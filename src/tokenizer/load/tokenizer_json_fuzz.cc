// Any text as tokenizer.json; what loads must encode and decode any bytes without loss.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tokenizer/load/load.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto tokenizer = sotto::tokenizer::from_tokenizer_json(text);
  if (!tokenizer.ok()) return 0;
  const std::string_view sample = text.substr(0, 2000);
  if ((*tokenizer)->decode((*tokenizer)->encode(sample)) != sample) std::abort();
  return 0;
}
