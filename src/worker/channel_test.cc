#include "worker/channel.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <thread>

namespace sotto::worker {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kPatience = std::chrono::seconds(60);

TEST(WorkerChannel, CarriesMessagesLargerThanTheSocketAndFiles) {
  auto ends = make_socket_pair();
  ASSERT_TRUE(ends.ok());
  Channel a(std::move(ends->first)), b(std::move(ends->second));
  const std::string content(1000, 'x');
  const Result<OwnedFd> file = make_memory_file(std::as_bytes(std::span(content)));
  ASSERT_TRUE(file.ok()) << file.status().message();
  TranscribeRequest request;
  request.options.initial_prompt.assign(5'000'000, 'p');
  std::thread sender([&] { EXPECT_TRUE(a.send(request, file->get()).ok()); });
  const auto received = b.receive(Clock::now() + kPatience);
  sender.join();
  ASSERT_TRUE(received.ok() && received->has_value());
  const auto& got = std::get<TranscribeRequest>((*received)->message);
  EXPECT_EQ(got.options.initial_prompt.size(), 5'000'000U);
  const auto mapped = MappedMemoryFile::map((*received)->file, content.size());
  ASSERT_TRUE(mapped.ok()) << mapped.status().message();
  EXPECT_EQ(mapped->bytes()[999], std::byte{'x'});
  EXPECT_FALSE(MappedMemoryFile::map((*received)->file, content.size() + 1).ok());
}

TEST(WorkerChannel, RefusesFilesThatCouldShrink) {
  OwnedFd file(::memfd_create("test", MFD_CLOEXEC));
  ASSERT_EQ(::ftruncate(file.get(), 100), 0);
  EXPECT_EQ(MappedMemoryFile::map(file, 100).status().code(), StatusCode::kCorrupt);
  EXPECT_EQ(MappedMemoryFile::map(OwnedFd(), 100).status().code(), StatusCode::kCorrupt);
}

TEST(WorkerChannel, TellsSilenceFromTheEnd) {
  auto ends = make_socket_pair();
  Channel a(std::move(ends->first));
  auto b = std::make_unique<Channel>(std::move(ends->second));
  EXPECT_FALSE(a.readable());
  const auto nothing = a.receive(Clock::now());
  ASSERT_TRUE(nothing.ok());
  EXPECT_FALSE(nothing->has_value());
  b.reset();
  EXPECT_TRUE(a.readable());
  EXPECT_EQ(a.receive(Clock::now() + kPatience).status().code(), StatusCode::kUnavailable);
  EXPECT_EQ(a.send(StopRequest{}).code(), StatusCode::kUnavailable);
}

}  // namespace
}  // namespace sotto::worker
