#include "models/registry/names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/registry/testing/temp_folder.h"

namespace sotto::registry {
namespace {

using ::testing::HasSubstr;

TEST(NormaliseName, SpellingsOfOneModelAreOne) {
  for (const char* name : {"base", "Base", "whisper-base", "Whisper-Base", "openai/whisper-base",
                           "Systran/faster-whisper-base", "ggml-base.bin", "models/ggml-base.bin",
                           "/srv/ggml-base.bin"}) {
    EXPECT_EQ(normalise_name(name), "base") << name;
  }
  for (const char* name : {"large-v3-turbo", "deepdml/faster-whisper-large-v3-turbo-ct2",
                           "openai/whisper-large-v3-turbo", "ggml-large-v3-turbo.bin"}) {
    EXPECT_EQ(normalise_name(name), "large-v3-turbo") << name;
  }
  EXPECT_EQ(normalise_name("whisper-v3:turbo"), "v3-turbo");
  EXPECT_EQ(normalise_name("qwen3:0.6b"), "qwen3-0.6b");
  EXPECT_EQ(normalise_name("Qwen3_0.6B"), "qwen3-0.6b");
}

TEST(NormaliseName, WhatIsOnlyAPrefixStays) {
  EXPECT_EQ(normalise_name("whisper-"), "whisper-");
  EXPECT_EQ(normalise_name(".bin"), ".bin");
  EXPECT_EQ(normalise_name(""), "");
  EXPECT_EQ(normalise_name("a/"), "");
}

TEST(ModelNames, ClientsDefaults) {
  EXPECT_TRUE(means_default_speech_model("whisper-1"));
  EXPECT_TRUE(means_default_speech_model("GPT-4o-Transcribe"));
  EXPECT_FALSE(means_default_speech_model("whisper-base"));
}

TEST(ModelNames, UsableNames) {
  for (const char* name : {"base", "large-v3.5", "qwen2.5-coder:0.5b", "a_b"}) {
    EXPECT_TRUE(is_model_name(name)) << name;
  }
  for (const char* name : {"", ".", "..", "-x", ":x", "a/b", "a b", "a\n", "\xc3\xa4"}) {
    EXPECT_FALSE(is_model_name(name)) << name;
  }
  EXPECT_FALSE(is_model_name(std::string(101, 'a')));
  EXPECT_EQ(folder_name("qwen3:0.6b"), "qwen3-0.6b");
}

TEST(ModelNames, PlainFileNames) {
  EXPECT_TRUE(is_plain_file_name("model.bin"));
  EXPECT_TRUE(is_plain_file_name("My Model (1).gguf"));
  for (const char* name : {"", ".", "..", ".hidden", "a/b", "../a", "/etc/passwd", "a\\b", "a\n"}) {
    EXPECT_FALSE(is_plain_file_name(name)) << name;
  }
  EXPECT_FALSE(is_plain_file_name(std::string("a\0b", 3)));
  EXPECT_FALSE(is_plain_file_name(std::string(300, 'a')));
}

TEST(ModelNames, HubRepositories) {
  EXPECT_TRUE(is_hub_repository("Systran/faster-whisper-base.en"));
  for (const char* name :
       {"", "a", "/a", "a/", "a/b/c", "../a", "a/..", "a b/c", "a/b?c", "a/b#c"}) {
    EXPECT_FALSE(is_hub_repository(name)) << name;
  }
}

TEST(ModelKinds, NamesAndBack) {
  for (const ModelKind kind : {ModelKind::kWhisper, ModelKind::kLlm, ModelKind::kVad}) {
    const Result<ModelKind> back = parse_model_kind(model_kind_name(kind));
    ASSERT_TRUE(back.ok());
    EXPECT_EQ(*back, kind);
  }
  EXPECT_EQ(parse_model_kind("song").status().code(), StatusCode::kInvalidArgument);
}

TEST(Aliases, LinesOfNameAndTarget) {
  const Result<Aliases> aliases =
      parse_aliases("# mine\n\n  Court = /srv/models/court  # long one\r\nfast=base", "f");
  ASSERT_TRUE(aliases.ok()) << aliases.status().message();
  EXPECT_EQ(aliases->size(), 2U);
  EXPECT_EQ(find_alias(*aliases, "COURT"), "/srv/models/court");
  EXPECT_EQ(find_alias(*aliases, "fast"), "base");
  EXPECT_EQ(find_alias(*aliases, "slow"), std::nullopt);
}

TEST(Aliases, WrongLinesAreNamed) {
  for (const char* text : {"ok = base\nnonsense", "ok = base\n= base", "ok = base\nx ="}) {
    const Result<Aliases> aliases = parse_aliases(text, "my-aliases");
    ASSERT_FALSE(aliases.ok()) << text;
    EXPECT_THAT(aliases.status().message(), HasSubstr("my-aliases:2"));
  }
}

TEST(Aliases, TheFileMayBeAbsentUnlessItWasNamed) {
  const TempFolder folder;
  ScopedEnvironment environment;
  environment.unset("SOTTO_ALIASES");
  environment.set("XDG_CONFIG_HOME", folder.path());
  ASSERT_TRUE(load_aliases().ok());
  EXPECT_TRUE(load_aliases()->empty());
  folder.write("sotto/aliases", "mine = base");
  EXPECT_EQ(load_aliases()->size(), 1U);
  environment.set("SOTTO_ALIASES", folder / "absent");
  EXPECT_EQ(load_aliases().status().code(), StatusCode::kNotFound);
}

}  // namespace
}  // namespace sotto::registry
