#include "models/formats/testing/reader_checks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <random>

#include "models/formats/testing/index_problem.h"

namespace sotto::models::testing {
namespace {

/// Reads a copy on the heap of exactly this size, so that the address sanitizer sees every read
/// beyond its end.
Status read_exact_copy(Reader reader, std::span<const std::byte> bytes, std::string& problem) {
  const auto copy = std::make_unique<std::byte[]>(bytes.size());
  std::copy(bytes.begin(), bytes.end(), copy.get());
  const std::span<const std::byte> exact(copy.get(), bytes.size());
  ModelFile out;
  const Status status = reader(exact, out);
  problem = status.ok()                ? index_problem(out, exact)
            : status.message().empty() ? "a failure without message"
                                       : "";
  return status;
}

void mutate(std::vector<std::byte>& bytes, std::mt19937& random) {
  // Values at which lengths and counts go wrong.
  constexpr std::array<uint8_t, 8> kInteresting = {0, 1, 2, 0x7f, 0x80, 0xfe, 0xff, 0x20};
  const auto below = [&](size_t n) {
    return std::uniform_int_distribution<size_t>(0, n - 1)(random);
  };
  const size_t at = below(bytes.size());
  switch (below(4)) {
    case 0:
      bytes[at] = static_cast<std::byte>(below(256));
      break;
    case 1:
      bytes[at] = static_cast<std::byte>(kInteresting[below(kInteresting.size())]);
      break;
    case 2:
      bytes.insert(bytes.begin() + static_cast<ptrdiff_t>(at), static_cast<std::byte>(below(256)));
      break;
    default:
      if (bytes.size() > 1) bytes.erase(bytes.begin() + static_cast<ptrdiff_t>(at));
      break;
  }
}

}  // namespace

Status failure(Reader reader, std::span<const std::byte> bytes) {
  ModelFile out;
  return reader(bytes, out);
}

void expect_every_truncation_fails(Reader reader, const std::vector<std::byte>& valid) {
  ASSERT_EQ(failure(reader, valid).message(), "");
  std::string problem;
  for (size_t length = 0; length < valid.size(); ++length) {
    const Status status = read_exact_copy(reader, std::span(valid).first(length), problem);
    ASSERT_EQ(status.code(), StatusCode::kCorrupt)
        << "cut to " << length << " bytes: " << status.message();
    ASSERT_EQ(problem, "") << "cut to " << length << " bytes";
  }
}

void expect_mutations_are_harmless(Reader reader, const std::vector<std::byte>& valid, int rounds) {
  std::mt19937 random(20260731);
  std::string problem;
  int accepted = 0, refused = 0;
  for (int round = 0; round < rounds; ++round) {
    std::vector<std::byte> bytes = valid;
    for (int i = 0; i <= round % 4; ++i)
      mutate(bytes, random);
    (read_exact_copy(reader, bytes, problem).ok() ? accepted : refused) += 1;
    ASSERT_EQ(problem, "") << "round " << round;
  }
  // Both sides of the reader's checks were reached.
  EXPECT_GT(accepted, 0);
  EXPECT_GT(refused, 0);
}

}  // namespace sotto::models::testing
