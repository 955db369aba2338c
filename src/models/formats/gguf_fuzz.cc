#include "models/formats/testing/fuzz_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return sotto::models::testing::fuzz_reader(sotto::models::read_gguf, data, size);
}
