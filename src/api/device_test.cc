#include "api/device.h"

#include <gtest/gtest.h>

namespace sotto::api {
namespace {

TEST(ChooseDevice, AutoIsTheCpu) {
  const Result<DeviceChoice> choice = choose_device({}, "");
  ASSERT_TRUE(choice.ok()) << choice.status().message();
  EXPECT_EQ(choice->name, "cpu");
}

TEST(ChooseDevice, EnvironmentCountsOnlyForAuto) {
  EXPECT_EQ(choose_device({}, "npu").status().code(), StatusCode::kUnsupported);
  LoadOptions cpu;
  cpu.device = "cpu";
  EXPECT_TRUE(choose_device(cpu, "npu").ok());
}

TEST(ChooseDevice, AbsentDevicesAreUnsupportedAndUnknownOnesInvalid) {
  LoadOptions npu;
  npu.device = "npu";
  const Status status = choose_device(npu, "").status();
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_NE(status.message().find("npu"), std::string::npos);
  LoadOptions cuda;
  cuda.device = "cuda";
  EXPECT_EQ(choose_device(cuda, "").status().code(), StatusCode::kInvalidArgument);
}

TEST(ChooseDevice, TheSimulatorCanBeOpened) {
  const Result<DeviceChoice> choice = choose_device({}, "sim");
  ASSERT_TRUE(choice.ok()) << choice.status().message();
  EXPECT_EQ(choice->name, "sim");
  const auto backend = open_device(*choice);
  ASSERT_TRUE(backend.ok()) << backend.status().message();
  EXPECT_EQ((*backend)->description().substr(0, 3), "sim");
}

TEST(ChooseDevice, ReadsComputeAndThreads) {
  LoadOptions options;
  options.compute = "f32";
  options.threads = 3;
  const Result<DeviceChoice> choice = choose_device(options, "");
  ASSERT_TRUE(choice.ok());
  EXPECT_EQ(choice->cpu.compute, ops::ComputeType::kF32);
  EXPECT_EQ(choice->cpu.threads, 3);
  options.compute = "float17";
  EXPECT_EQ(choose_device(options, "").status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace sotto::api
