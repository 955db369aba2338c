#include "base/mapped_file.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

namespace sotto {
namespace {

std::string write_file(const std::string& name, const std::string& content) {
  const std::string path = testing::TempDir() + name;
  std::ofstream(path, std::ios::binary) << content;
  return path;
}

TEST(MappedFile, ShowsTheBytesAndSurvivesMoves) {
  Result<MappedFile> file = MappedFile::open(write_file("mapped.bin", "hello"));
  ASSERT_TRUE(file.ok()) << file.status().message();
  MappedFile moved = std::move(file).value();
  ASSERT_EQ(moved.bytes().size(), 5U);
  EXPECT_EQ(static_cast<char>(moved.bytes()[1]), 'e');
  MappedFile::release_pages(moved.bytes());
  EXPECT_EQ(static_cast<char>(moved.bytes()[4]), 'o');
}

TEST(MappedFile, EmptyFileHasNoBytes) {
  Result<MappedFile> file = MappedFile::open(write_file("empty.bin", ""));
  ASSERT_TRUE(file.ok());
  EXPECT_TRUE(file->bytes().empty());
}

TEST(MappedFile, MissingFileAndFolderAreErrorsThatNameThem) {
  Result<MappedFile> missing = MappedFile::open("/nonexistent/model.bin");
  EXPECT_EQ(missing.status().code(), StatusCode::kNotFound);
  EXPECT_NE(missing.status().message().find("/nonexistent/model.bin"), std::string::npos);
  EXPECT_EQ(MappedFile::open(testing::TempDir()).status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace sotto
