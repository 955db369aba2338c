#include "models/registry/partial_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "models/registry/sha256.h"
#include "models/registry/testing/temp_folder.h"

namespace sotto::registry {
namespace {

using ::testing::HasSubstr;

std::span<const std::byte> bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

std::string sum_of(const std::string& text) {
  Result<Sha256> sum = Sha256::create();
  sum->update(bytes_of(text));
  return sum->hex();
}

class PartialFileTest : public ::testing::Test {
 protected:
  PartialFile open(const std::string& sha256 = "") {
    Result<PartialFile> file = PartialFile::open(path_, sha256, nullptr);
    EXPECT_TRUE(file.ok()) << file.status().message();
    return std::move(*file);
  }
  void append(PartialFile& file, std::string_view text) {
    const Status status = file.append(bytes_of(text), -1);
    EXPECT_TRUE(status.ok()) << status.message();
  }

  TempFolder folder_;
  const std::string path_ = folder_ / "model.bin";
};

TEST_F(PartialFileTest, GrowsAndTakesItsName) {
  PartialFile file = open();
  append(file, "hello ");
  append(file, "world");
  EXPECT_EQ(file.size(), 11);
  EXPECT_EQ(file.sha256(), sum_of("hello world"));
  EXPECT_FALSE(path_exists(path_));
  ASSERT_TRUE(file.finish().ok());
  EXPECT_EQ(folder_.read("model.bin"), "hello world");
  EXPECT_FALSE(path_exists(path_ + ".part"));
}

TEST_F(PartialFileTest, GoesOnWhenTheSumIsKnown) {
  const std::string sum = sum_of("hello world");
  {
    PartialFile first = open(sum);
    append(first, "hello");
  }
  PartialFile second = open(sum);
  EXPECT_EQ(second.kept(), 5);
  append(second, " world");
  EXPECT_EQ(second.sha256(), sum);
}

TEST_F(PartialFileTest, GoesOnWithASumThatCameLater) {
  {
    PartialFile first = open();
    ASSERT_TRUE(first.promise(sum_of("hello")).ok());
    append(first, "he");
  }
  PartialFile second = open();
  EXPECT_EQ(second.promised_sha256(), sum_of("hello"));
  EXPECT_EQ(second.size(), 2);
  EXPECT_EQ(second.sha256(), sum_of("he"));
}

TEST_F(PartialFileTest, BeginsAgainWithoutASumOrWithAnother) {
  {
    PartialFile first = open();
    append(first, "no sum");
  }
  EXPECT_EQ(open().size(), 0);
  {
    PartialFile first = open(sum_of("a"));
    append(first, "a");
  }
  PartialFile other = open(sum_of("b"));
  EXPECT_EQ(other.size(), 0);
  EXPECT_EQ(other.promised_sha256(), sum_of("b"));
}

TEST_F(PartialFileTest, ANoteThatIsNoSumCountsForNothing) {
  folder_.write("model.bin.part", "half");
  folder_.write("model.bin.part.sha256", "garbage");
  EXPECT_EQ(open().size(), 0);
}

TEST_F(PartialFileTest, RestartForgetsAll) {
  PartialFile file = open(sum_of("x"));
  append(file, "wrong");
  ASSERT_TRUE(file.restart().ok());
  EXPECT_EQ(file.size(), 0);
  EXPECT_EQ(file.promised_sha256(), "");
  EXPECT_EQ(file.sha256(), sum_of(""));
  append(file, "right");
  EXPECT_EQ(folder_.read("model.bin.part"), "right");
}

TEST_F(PartialFileTest, DiscardLeavesNothing) {
  PartialFile file = open(sum_of("x"));
  append(file, "y");
  file.discard();
  EXPECT_FALSE(path_exists(path_ + ".part"));
  EXPECT_FALSE(path_exists(path_ + ".part.sha256"));
}

TEST_F(PartialFileTest, AFullDiskSaysHowMuchIsMissing) {
  PartialFile file = open(sum_of("x"));
  append(file, "12345");
  int calls = 0;
  file.set_write_function([&calls](int fd, const void* data, size_t count) -> ssize_t {
    // The disk takes three more bytes and then none, as write(2) does it.
    if (calls++ == 0) return ::write(fd, data, std::min<size_t>(count, 3));
    errno = ENOSPC;
    return -1;
  });
  const Status status = file.append(bytes_of("1234567890"), 2'000'000);
  EXPECT_EQ(status.code(), StatusCode::kNoSpace);
  EXPECT_THAT(status.message(), HasSubstr("2.0 MB more are needed"));
  EXPECT_THAT(status.message(), HasSubstr("\nmake room there, or set SOTTO_HOME"));
  // What fits stays, and the sum is that of what is there.
  EXPECT_EQ(file.size(), 8);
  EXPECT_EQ(file.sha256(), sum_of("12345123"));
  EXPECT_EQ(open(sum_of("x")).size(), 8);
}

TEST_F(PartialFileTest, AnInterruptedWriteIsRepeated) {
  PartialFile file = open();
  int calls = 0;
  file.set_write_function([&calls](int fd, const void* data, size_t count) -> ssize_t {
    if (calls++ > 0) return ::write(fd, data, count);
    errno = EINTR;
    return -1;
  });
  append(file, "all");
  EXPECT_EQ(folder_.read("model.bin.part"), "all");
}

TEST_F(PartialFileTest, AFolderThatIsNotThere) {
  const Result<PartialFile> file = PartialFile::open(folder_ / "absent/model.bin", "", nullptr);
  EXPECT_EQ(file.status().code(), StatusCode::kNotFound);
}

// FIPS 180-4 examples.
TEST(Sha256, KnownSums) {
  EXPECT_EQ(sum_of(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sum_of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sum_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

TEST(Sha256, OfAFile) {
  const TempFolder folder;
  const std::string path = folder.write("f", std::string(3'000'000, 'a'));
  EXPECT_EQ(*sha256_of_file(path, nullptr), sum_of(std::string(3'000'000, 'a')));
  EXPECT_EQ(sha256_of_file(path, [] { return true; }).status().code(), StatusCode::kCancelled);
  EXPECT_EQ(sha256_of_file(folder / "absent", nullptr).status().code(), StatusCode::kNotFound);
}

TEST(Sha256, Hex) {
  EXPECT_TRUE(is_sha256_hex(std::string(64, 'f')));
  EXPECT_FALSE(is_sha256_hex(std::string(64, 'F')));
  EXPECT_FALSE(is_sha256_hex(std::string(63, 'f')));
  EXPECT_FALSE(is_sha256_hex(""));
}

}  // namespace
}  // namespace sotto::registry
