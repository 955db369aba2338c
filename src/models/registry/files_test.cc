#include "models/registry/files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <limits>

#include "models/registry/file_lock.h"
#include "models/registry/identify.h"
#include "models/registry/manifest.h"
#include "models/registry/subprocess.h"
#include "models/registry/testing/temp_folder.h"

namespace sotto::registry {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(StoreRoot, ComesFromTheEnvironment) {
  ScopedEnvironment environment;
  environment.set("SOTTO_HOME", "/a");
  environment.set("XDG_DATA_HOME", "/b");
  environment.set("HOME", "/c");
  EXPECT_EQ(*default_store_root(), "/a");
  environment.set("SOTTO_HOME", "");
  EXPECT_EQ(*default_store_root(), "/b/sotto");
  environment.unset("XDG_DATA_HOME");
  EXPECT_EQ(*default_store_root(), "/c/.local/share/sotto");
}

TEST(Files, SizesInWords) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(999), "999 B");
  EXPECT_EQ(format_bytes(1000), "1.0 kB");
  EXPECT_EQ(format_bytes(999'949), "999.9 kB");
  EXPECT_EQ(format_bytes(999'950), "1.0 MB");
  EXPECT_EQ(format_bytes(145'217'532), "145.2 MB");
  EXPECT_EQ(format_bytes(std::numeric_limits<int64_t>::max()), "9223372.0 TB");
}

TEST(Files, SumsOfSizesDoNotOverflow) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(add_bytes(2, 3), 5);
  EXPECT_EQ(add_bytes(kMost, 0), kMost);
  EXPECT_EQ(add_bytes(kMost - 1, 5), kMost);
}

TEST(Files, AtomicWriteReplacesAll) {
  const TempFolder folder;
  folder.write("f", "a long old text");
  ASSERT_TRUE(write_file_atomically(folder / "f", "new").ok());
  EXPECT_EQ(folder.read("f"), "new");
  EXPECT_THAT(*folder_entries(folder.path()), ElementsAre("f"));
}

TEST(Files, ReadTextFileHasALimit) {
  const TempFolder folder;
  folder.write("f", "12345");
  EXPECT_EQ(*read_text_file(folder / "f", 5), "12345");
  EXPECT_EQ(read_text_file(folder / "f", 4).status().code(), StatusCode::kCorrupt);
  EXPECT_EQ(read_text_file(folder / "absent", 4).status().code(), StatusCode::kNotFound);
  EXPECT_FALSE(read_text_file(folder.path(), 4).ok());
}

TEST(Files, AvailableBytesLooksAboveWhatDoesNotExist) {
  const TempFolder folder;
  EXPECT_GT(available_bytes(folder / "not/yet/there"), 0);
  EXPECT_GT(available_bytes("not-here"), 0);
}

TEST(Files, StoreErrorsSayWhatToDo) {
  EXPECT_THAT(store_error(EROFS, "cannot create", "/x", -1).message(),
              HasSubstr("cannot create /x: Read-only file system\nset SOTTO_HOME"));
  EXPECT_EQ(store_error(EACCES, "cannot create", "/x", -1).code(), StatusCode::kPermissionDenied);
  EXPECT_EQ(store_error(EDQUOT, "cannot write", "/", 5000).code(), StatusCode::kNoSpace);
  EXPECT_THAT(store_error(ENOSPC, "cannot write", "/", 5000).message(),
              HasSubstr("5.0 kB more are needed"));
}

TEST(FileLock, IsHeldByOneAtATime) {
  const TempFolder folder;
  const std::string path = folder / "lock";
  Result<FileLock> first = FileLock::acquire(path, nullptr, nullptr);
  ASSERT_TRUE(first.ok()) << first.status().message();
  int waits = 0;
  int polls = 0;
  const Result<FileLock> second = FileLock::acquire(
      path, [&waits] { ++waits; }, [&polls] { return ++polls > 3; });
  EXPECT_EQ(second.status().code(), StatusCode::kCancelled);
  EXPECT_EQ(waits, 1);
  { const FileLock released = std::move(*first); }
  EXPECT_TRUE(FileLock::acquire(path, nullptr, nullptr).ok());
}

TEST(Identify, ByTheFirstBytes) {
  const TempFolder folder;
  using namespace std::string_literals;
  EXPECT_EQ(*identify_model(folder.write("a", "GGUF\3\0\0\0"s)), ModelKind::kLlm);
  EXPECT_EQ(*identify_model(folder.write("b", "lmgg\0\0"s)), ModelKind::kWhisper);
  EXPECT_EQ(*identify_model(folder.write("c", "\6\0\0\0\14\0WhisperSpec\0rest"s)),
            ModelKind::kWhisper);
  EXPECT_EQ(*identify_model(folder.write("d", "\x20\0\0\0\0\0\0\0{\"stft_conv.weight\":{}}"s)),
            ModelKind::kVad);
  const Result<ModelKind> text = identify_model(folder.write("e", "plain text"));
  EXPECT_EQ(text.status().code(), StatusCode::kUnsupported);
  EXPECT_EQ(identify_model(folder.write("f", "")).status().code(), StatusCode::kUnsupported);
  EXPECT_EQ(identify_model(folder / "absent").status().code(), StatusCode::kNotFound);
}

TEST(Identify, SafetensorsByTheirConfig) {
  const TempFolder folder;
  using namespace std::string_literals;
  const std::string weights = "\x08\0\0\0\0\0\0\0{\"a\":{}}"s;
  folder.write("w/model.safetensors", weights);
  EXPECT_EQ(identify_model(folder / "w").status().code(), StatusCode::kUnsupported);
  folder.write("w/config.json", R"({"model_type": "whisper"})");
  EXPECT_EQ(*identify_model(folder / "w"), ModelKind::kWhisper);
  EXPECT_EQ(*identify_model(folder / "w/model.safetensors"), ModelKind::kWhisper);
  folder.write("w/config.json", R"({"model_type": "qwen3"})");
  EXPECT_EQ(*identify_model(folder / "w"), ModelKind::kLlm);
  folder.write("w/config.json", "{");
  EXPECT_FALSE(identify_model(folder / "w").ok());
  EXPECT_EQ(identify_model(folder.path()).status().code(), StatusCode::kUnsupported);
  EXPECT_EQ(self_contained_ending(folder / "w/model.safetensors"), "");
}

TEST(ManifestText, ThereAndBack) {
  Manifest manifest;
  manifest.name = "qwen3:0.6b";
  manifest.kind = ModelKind::kLlm;
  manifest.description = "a \"quoted\" one";
  manifest.licence = "MIT";
  manifest.source = "/srv/\xff not UTF-8";
  manifest.pulled_at = "2026-01-02T03:04:05Z";
  manifest.files = {{"m.gguf", 5, std::string(64, 'a'), "hub"}};
  const Result<Manifest> back = parse_manifest(write_manifest(manifest), "f");
  ASSERT_TRUE(back.ok()) << back.status().message();
  EXPECT_EQ(back->name, manifest.name);
  EXPECT_EQ(back->kind, manifest.kind);
  EXPECT_EQ(back->description, manifest.description);
  EXPECT_EQ(back->pulled_at, manifest.pulled_at);
  ASSERT_EQ(back->files.size(), 1U);
  EXPECT_EQ(back->files[0].name, "m.gguf");
  EXPECT_EQ(back->files[0].bytes, 5);
  EXPECT_EQ(back->files[0].sha256, std::string(64, 'a'));
  EXPECT_EQ(back->files[0].hash_from, "hub");
}

TEST(ManifestText, WhatIsNoManifestIsCorrupt) {
  const std::string good_file =
      R"({"name": "a", "bytes": 1, "sha256": ")" + std::string(64, 'a') + "\"}";
  for (
      const std::string& json : std::vector<std::string>{
          "", "[]", "{}", R"({"name": "m", "kind": "llm"})",
          R"({"name": "m", "kind": "llm", "files": []})",
          R"({"name": "../m", "kind": "llm", "files": [)" + good_file + "]}",
          R"({"name": "m", "kind": "song", "files": [)" + good_file + "]}",
          R"({"name": "m", "kind": "llm", "files": [{"name": "../../x", "bytes": 1, "sha256": ")" +
              std::string(64, 'a') + "\"}]}",
          R"({"name": "m", "kind": "llm", "files": [{"name": "x", "bytes": 1, "sha256": "short"}]})",
          R"({"name": "m", "kind": "llm", "files": [7]})"}) {
    EXPECT_EQ(parse_manifest(json, "f").status().code(), StatusCode::kCorrupt) << json;
  }
}

TEST(Subprocess, OutputAndExitCode) {
  const Result<ProcessResult> result =
      run_process({"/bin/sh", "-c", "echo out; echo err >&2; exit 3"}, nullptr);
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(result->exit_code, 3);
  EXPECT_THAT(result->output, HasSubstr("out\n"));
  EXPECT_THAT(result->output, HasSubstr("err\n"));
  EXPECT_EQ(run_process({"/bin/sh", "-c", "kill -9 $$"}, nullptr)->exit_code, 128 + 9);
  EXPECT_FALSE(run_process({"/no/such/program"}, nullptr).ok());
}

TEST(Subprocess, ArgumentsAreNotReadByAShell) {
  const Result<ProcessResult> result = run_process({"/bin/echo", "$(id) ; `id` && *"}, nullptr);
  EXPECT_EQ(result->output, "$(id) ; `id` && *\n");
}

TEST(Subprocess, MuchOutputIsCutAtItsBegin) {
  const Result<ProcessResult> result =
      run_process({"/bin/sh", "-c", "yes | head -c 1000000; echo last"}, nullptr);
  EXPECT_LE(result->output.size(), 40000U);
  EXPECT_TRUE(result->output.ends_with("last\n"));
}

TEST(Subprocess, StopEndsItAndItsChildren) {
  int polls = 0;
  const Result<ProcessResult> result =
      run_process({"/bin/sh", "-c", "sleep 600 & sleep 600"}, [&polls] { return ++polls > 2; });
  EXPECT_EQ(result.status().code(), StatusCode::kCancelled);
}

TEST(Subprocess, ProgramsAreFoundOnThePath) {
  const TempFolder folder;
  ScopedEnvironment environment;
  environment.set("PATH", folder.path() + ":/usr/bin:/bin");
  EXPECT_EQ(find_program("no-such-program"), "");
  EXPECT_THAT(find_program("sh"), ::testing::EndsWith("bin/sh"));
  const std::string own = folder.write("sh", "#!/bin/sh\n");
  EXPECT_NE(find_program("sh"), own);  // not executable
  std::filesystem::permissions(own, std::filesystem::perms::owner_all);
  EXPECT_EQ(find_program("sh"), own);
}

}  // namespace
}  // namespace sotto::registry
