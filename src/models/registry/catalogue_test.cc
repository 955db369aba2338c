#include "models/registry/catalogue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "models/registry/names.h"
#include "models/registry/testing/temp_folder.h"

namespace sotto::registry {
namespace {

using ::testing::HasSubstr;

std::vector<CatalogueEntry> builtin() {
  Result<std::vector<CatalogueEntry>> entries =
      parse_catalogue(builtin_catalogue_json(), "built in");
  EXPECT_TRUE(entries.ok()) << entries.status().message();
  return entries.ok() ? *entries : std::vector<CatalogueEntry>();
}

const CatalogueEntry* find(const std::vector<CatalogueEntry>& entries, const std::string& name) {
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [&name](const CatalogueEntry& e) { return e.name == name; });
  return found == entries.end() ? nullptr : &*found;
}

TEST(BuiltinCatalogue, HasWhatUsersAskFor) {
  const std::vector<CatalogueEntry> entries = builtin();
  for (const char* name : {"tiny",
                           "tiny.en",
                           "base",
                           "base.en",
                           "small",
                           "small.en",
                           "medium",
                           "medium.en",
                           "large-v2",
                           "large-v3",
                           "large-v3-turbo",
                           "distil-large-v3",
                           "silero-vad",
                           "smollm2:135m",
                           "gemma3:270m",
                           "gemma3:1b",
                           "qwen2.5-coder:0.5b",
                           "qwen3:0.6b",
                           "qwen3:1.7b",
                           "qwen3:4b",
                           "llama3.2:1b",
                           "llama3.2:3b",
                           "phi4-mini-it:4b",
                           "deepseek-r1:8b",
                           "gpt-oss:20b"}) {
    EXPECT_NE(find(entries, name), nullptr) << name;
  }
}

TEST(BuiltinCatalogue, NoSpellingMeansTwoModels) {
  std::map<std::string, std::string> owner;
  for (const CatalogueEntry& entry : builtin()) {
    std::vector<std::string> names = entry.aliases;
    names.push_back(entry.name);
    for (const std::string& name : names) {
      const std::string& first = owner.emplace(normalise_name(name), entry.name).first->second;
      EXPECT_EQ(first, entry.name) << name;
    }
  }
}

TEST(BuiltinCatalogue, EntriesAreComplete) {
  for (const CatalogueEntry& entry : builtin()) {
    EXPECT_FALSE(entry.description.empty()) << entry.name;
    EXPECT_FALSE(entry.licence.empty()) << entry.name;
    EXPECT_GT(entry.rank, 0) << entry.name;
    for (const Source& source : entry.sources) {
      std::set<std::string> names;
      for (const SourceFile& file : source.files) {
        EXPECT_TRUE(names.insert(file.name).second) << entry.name << ": " << file.name << " twice";
        // Code of a stranger's package is trusted only with its sum.
        if (source.kind != Source::Kind::kHub) {
          EXPECT_FALSE(file.sha256.empty()) << entry.name << ": " << file.name;
          EXPECT_GE(file.bytes, 0) << entry.name << ": " << file.name;
        }
        // A pinned revision is what a pinned sum belongs to.
        if (source.kind == Source::Kind::kHub && source.revision == "main" &&
            entry.name != "qwen2.5-coder:0.5b") {
          EXPECT_TRUE(file.sha256.empty()) << entry.name << ": " << file.name;
        }
      }
    }
  }
}

TEST(BuiltinCatalogue, SourcesAgreeOnFilesOfOneName) {
  for (const CatalogueEntry& entry : builtin()) {
    std::map<std::string, std::string> sums;
    for (const Source& source : entry.sources) {
      for (const SourceFile& file : source.files) {
        if (file.sha256.empty() || !file.name.starts_with("model.bin")) continue;
        EXPECT_EQ(sums.emplace(file.name, file.sha256).first->second, file.sha256) << entry.name;
      }
    }
  }
}

TEST(BuiltinCatalogue, MultilingualModelsRankAboveEnglishOnes) {
  int best_english = 0, worst_multilingual = 1000;
  for (const CatalogueEntry& entry : builtin()) {
    if (entry.kind != ModelKind::kWhisper) continue;
    if (entry.description.find("English only") != std::string::npos) {
      best_english = std::max(best_english, entry.rank);
    } else {
      worst_multilingual = std::min(worst_multilingual, entry.rank);
    }
  }
  EXPECT_LT(best_english, worst_multilingual);
}

TEST(BuiltinCatalogue, KnownSizes) {
  const std::vector<CatalogueEntry> entries = builtin();
  EXPECT_EQ(find(entries, "tiny.en")->bytes(), 75537502 + 2317 + 2128466 + 422309);
  EXPECT_EQ(find(entries, "qwen3:4b")->bytes(), -1);
}

TEST(ParseCatalogue, ReadsEveryKindOfSource) {
  const Result<std::vector<CatalogueEntry>> entries = parse_catalogue(R"({"models": [
    {"name": "m:1b", "kind": "llm", "aliases": ["mm"], "rank": 7, "sources": [
      {"hub": "o/m", "files": [{"name": "m.gguf", "path": "sub/m.gguf", "bytes": 5}]},
      {"url": "https://example.org/m", "files": [{"name": "a"}, {"name": "b", "optional": true}]},
      {"pypi": true, "files": [{"name": "m.gguf", "parts": [
        {"package": "p", "version": "1", "member": "d/m"}]}]}]}]})",
                                                                      "f");
  ASSERT_TRUE(entries.ok()) << entries.status().message();
  const CatalogueEntry& entry = entries->front();
  EXPECT_EQ(entry.rank, 7);
  EXPECT_EQ(entry.bytes(), 5);
  ASSERT_EQ(entry.sources.size(), 3U);
  EXPECT_EQ(entry.sources[0].revision, "main");
  EXPECT_EQ(entry.sources[0].files[0].path, "sub/m.gguf");
  EXPECT_EQ(describe(entry.sources[0]), "hub o/m");
  EXPECT_EQ(describe(entry.sources[1]), "https://example.org/m");
  EXPECT_TRUE(entry.sources[1].files[1].optional);
  EXPECT_EQ(describe(entry.sources[2]), "PyPI p");
  EXPECT_EQ(entry.sources[2].files[0].parts[0].member, "d/m");
}

TEST(ParseCatalogue, SaysWhatIsWrong) {
  const std::string sum(64, 'a');
  const auto entry = [](const std::string& rest) {
    return R"({"models": [{"name": "m", "kind": "llm", )" + rest + "}]}";
  };
  const auto file = [&entry](const std::string& text) {
    return entry(R"("sources": [{"hub": "o/m", "files": [)" + text + "]}]");
  };
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "not valid JSON"},
      {"[]", "not an object"},
      {"{}", "models is missing"},
      {R"({"models": []})", "models is empty"},
      {R"({"models": [5]})", "not an object"},
      {R"({"models": [{"name": "../x"}]})", "not a usable name"},
      {R"({"models": [{"name": "m", "kind": 3}]})", "kind"},
      {entry(R"("sources": [])"), "sources is empty"},
      {entry(R"("sources": [{"files": []}])"), "exactly one of hub, url and pypi"},
      {entry(R"("sources": [{"hub": "o/m", "url": "https://x", "files": []}])"), "exactly one"},
      {entry(R"("sources": [{"hub": "../m", "files": [{"name": "a"}]}])"), "OWNER/NAME"},
      {entry(R"("sources": [{"url": "file:///etc", "files": [{"name": "a"}]}])"), "https://"},
      {entry(R"("sources": [{"pypi": true, "files": [{"name": "a"}]}])"), "parts is missing"},
      {entry(R"("sources": [{"pypi": true, "files": [{"name": "a", "parts": [
         {"package": "--upgrade", "version": "1", "member": "m"}]}]}])"),
       "not a package name"},
      {file(R"({"name": "../../etc/passwd"})"), "not a plain file name"},
      {file(R"({"name": "a", "sha256": "xyz"})"), "64 lower-case hex digits"},
      {file(R"({"name": "a", "bytes": -7})"), "negative"},
      {file(R"({"name": "a", "bytes": "many"})"), "not an integer"},
      {file(R"({"name": "a", "optional": 1})"), "true or false"},
  };
  for (const auto& [json, words] : cases) {
    const Result<std::vector<CatalogueEntry>> entries = parse_catalogue(json, "my.json");
    ASSERT_FALSE(entries.ok()) << json;
    EXPECT_EQ(entries.status().code(), StatusCode::kInvalidArgument) << json;
    EXPECT_THAT(entries.status().message(), HasSubstr(words)) << json;
  }
}

TEST(LoadCatalogue, TheUsersFileAddsAndReplaces) {
  const TempFolder folder;
  ScopedEnvironment environment;
  environment.unset("SOTTO_CATALOGUE");
  environment.set("XDG_CONFIG_HOME", folder.path());
  const Result<std::vector<CatalogueEntry>> without = load_catalogue();
  ASSERT_TRUE(without.ok()) << without.status().message();
  folder.write("sotto/catalogue.json", R"({"models": [
    {"name": "base", "kind": "whisper", "sources": [{"hub": "o/base", "files": [{"name": "model.bin"}]}]},
    {"name": "court", "kind": "whisper", "sources": [{"hub": "o/court", "files": [{"name": "model.bin"}]}]}]})");
  const Result<std::vector<CatalogueEntry>> with = load_catalogue();
  ASSERT_TRUE(with.ok()) << with.status().message();
  EXPECT_EQ(with->size(), without->size() + 1);
  EXPECT_EQ(find(*with, "base")->sources.front().where, "o/base");
  EXPECT_NE(find(*with, "court"), nullptr);
  environment.set("SOTTO_CATALOGUE", folder / "absent.json");
  EXPECT_EQ(load_catalogue().status().code(), StatusCode::kNotFound);
}

}  // namespace
}  // namespace sotto::registry
