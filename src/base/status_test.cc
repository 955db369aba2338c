#include "sotto/status.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>

namespace sotto {
namespace {

TEST(Status, DefaultIsSuccess) {
  Status status;
  EXPECT_TRUE(status.ok());
  EXPECT_TRUE(status.with_context("loading").ok());
}

TEST(Status, ContextGoesBeforeTheMessage) {
  Status status = not_found("no tensor x").with_context("model.bin");
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_EQ(status.message(), "model.bin: no tensor x");
}

TEST(Status, ErrnoKeepsTheCauseApart) {
  EXPECT_EQ(status_from_errno(ENOENT, "open x").code(), StatusCode::kNotFound);
  EXPECT_EQ(status_from_errno(EROFS, "open x").code(), StatusCode::kPermissionDenied);
  EXPECT_EQ(status_from_errno(ENOSPC, "write x").code(), StatusCode::kNoSpace);
  EXPECT_EQ(status_from_errno(EIO, "read x").message(), "read x: Input/output error");
}

Result<std::unique_ptr<int>> make(bool good) {
  if (!good) return invalid_argument("not good");
  return std::make_unique<int>(7);
}

Result<int> use(bool good) {
  SOTTO_ASSIGN_OR_RETURN(std::unique_ptr<int> p, make(good));
  return *p;
}

TEST(Result, CarriesMoveOnlyValuesAndFailures) {
  EXPECT_EQ(use(true).value(), 7);
  EXPECT_EQ(use(false).status().code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(use(true).status().ok());
}

}  // namespace
}  // namespace sotto
