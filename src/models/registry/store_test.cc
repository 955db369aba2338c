#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/registry/files.h"
#include "models/registry/testing/temp_folder.h"
#include "sotto/models.h"

namespace sotto {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using namespace std::string_literals;

const std::string kGguf = "GGUF\3\0\0\0 weights"s;
const std::string kGgml = "lmgg\0\0\0\0 weights"s;

class StoreTest : public ::testing::Test {
 protected:
  StoreTest() {
    environment_.unset("SOTTO_CATALOGUE");
    environment_.unset("SOTTO_ALIASES");
    environment_.set("XDG_CONFIG_HOME", folder_ / "config");
  }

  ModelStore store() {
    Result<ModelStore> store = ModelStore::open(folder_ / "store");
    EXPECT_TRUE(store.ok()) << store.status().message();
    return *store;
  }

  /// Installs a model under `name` from a file made here.
  void install(const std::string& name, const std::string& content) {
    PullRequest request;
    request.path = folder_.write("made/" + name, content);
    request.name = name;
    PullOptions options;
    options.with_vad = false;
    const Result<PullResult> result = store().pull(request, options);
    ASSERT_TRUE(result.ok()) << result.status().message();
  }

  registry::TempFolder folder_;
  registry::ScopedEnvironment environment_;
};

TEST_F(StoreTest, AnEmptyStoreIsNotCreatedByLooking) {
  const ModelStore store = this->store();
  EXPECT_TRUE(store.installed()->empty());
  EXPECT_GT(store.list()->size(), 20U);
  const Result<ModelInfo> best = store.best(ModelKind::kWhisper);
  EXPECT_EQ(best.status().code(), StatusCode::kNotFound);
  EXPECT_EQ(best.status().message(), "no speech model is installed\nsotto pull base");
  EXPECT_FALSE(registry::path_exists(store.root()));
}

TEST_F(StoreTest, FindKnowsEverySpelling) {
  const ModelStore store = this->store();
  for (const char* name : {"large-v3-turbo", "turbo", "whisper-v3", "whisper-v3:turbo",
                           "Whisper-Large-v3-Turbo", "deepdml/faster-whisper-large-v3-turbo-ct2",
                           "openai/whisper-large-v3-turbo", "ggml-large-v3-turbo.bin"}) {
    const Result<ModelInfo> found = store.find(name);
    ASSERT_TRUE(found.ok()) << name << ": " << found.status().message();
    EXPECT_EQ(found->name, "large-v3-turbo") << name;
    EXPECT_FALSE(found->installed);
  }
  EXPECT_EQ(store.find("Systran/faster-distil-whisper-large-v3")->name, "distil-large-v3");
  EXPECT_EQ(store.find("whisper-1")->name, "base");
}

TEST_F(StoreTest, UnknownNamesGetASuggestion) {
  const Result<ModelInfo> typo = store().find("large-v3-trubo");
  EXPECT_EQ(typo.status().code(), StatusCode::kNotFound);
  EXPECT_THAT(typo.status().message(), HasSubstr("did you mean 'large-v3-turbo'?"));
  EXPECT_THAT(store().find("o/unheard-of").status().message(),
              HasSubstr("sotto pull --hf o/unheard-of"));
  EXPECT_THAT(store().find("xyzzyxyzzy").status().message(), Not(HasSubstr("did you mean")));
}

TEST_F(StoreTest, ResolveTakesNamesAndPaths) {
  install("tiny.en", kGgml);
  const ModelStore store = this->store();
  const std::string path = store.root() + "/models/tiny.en";
  for (const char* name : {"tiny.en", "whisper-tiny.en", "models/ggml-tiny.en.bin", "whisper-1"}) {
    const Result<std::string> found = store.resolve(name, ModelKind::kWhisper);
    ASSERT_TRUE(found.ok()) << name << ": " << found.status().message();
    EXPECT_EQ(*found, path) << name;
  }
  const std::string file = folder_.write("elsewhere.bin", kGgml);
  EXPECT_EQ(*store.resolve(file, ModelKind::kWhisper), file);
  // A path that exists wins over a name that it happens to contain.
  const std::string same = folder_.write("other/ggml-tiny.en.bin", kGgml);
  EXPECT_EQ(*store.resolve(same, ModelKind::kWhisper), same);
}

TEST_F(StoreTest, ResolveExplainsWhatIsMissing) {
  install("chatty", kGguf);
  const ModelStore store = this->store();
  const Status absent = store.resolve("small", ModelKind::kWhisper).status();
  EXPECT_EQ(absent.code(), StatusCode::kNotFound);
  EXPECT_EQ(absent.message(), "the model 'small' is not installed\nsotto pull small");
  const Status other = store.resolve("chatty", ModelKind::kWhisper).status();
  EXPECT_EQ(other.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(other.message(), HasSubstr("'chatty' is a language model, not a speech model"));
  EXPECT_EQ(store.resolve("/no/such/file.bin", ModelKind::kWhisper).status().code(),
            StatusCode::kNotFound);
  EXPECT_EQ(store.resolve("", ModelKind::kWhisper).status().code(), StatusCode::kNotFound);
}

TEST_F(StoreTest, BestIsTheHighestRank) {
  install("tiny.en", kGgml);
  EXPECT_EQ(store().best(ModelKind::kWhisper)->name, "tiny.en");
  install("tiny", kGgml);
  EXPECT_EQ(store().best(ModelKind::kWhisper)->name, "tiny");
  install("my-own", kGgml);
  install("small", kGgml);
  EXPECT_EQ(store().best(ModelKind::kWhisper)->name, "small");
  EXPECT_FALSE(store().best(ModelKind::kLlm).ok());
}

TEST_F(StoreTest, FoldersPutThereByHandCount) {
  folder_.write("store/models/court/model.bin", kGgml);
  folder_.write("store/models/rubbish/notes.txt", "no model");
  const Result<std::vector<ModelInfo>> installed = store().installed();
  ASSERT_EQ(installed->size(), 1U);
  EXPECT_EQ(installed->front().name, "court");
  EXPECT_EQ(installed->front().kind, ModelKind::kWhisper);
  EXPECT_EQ(store().verify("court", nullptr).code(), StatusCode::kUnsupported);
}

TEST_F(StoreTest, ABrokenManifestDoesNotHideTheOthers) {
  install("mine", kGguf);
  folder_.write("store/models/broken/sotto-manifest.json", "{");
  EXPECT_EQ(store().installed()->size(), 1U);
}

TEST_F(StoreTest, VerifyAndRemove) {
  install("mine", kGguf);
  EXPECT_TRUE(store().verify("mine", nullptr).ok());
  std::string changed = kGguf;
  changed.back() = '?';
  folder_.write("store/models/mine/mine.gguf", changed);
  EXPECT_EQ(store().verify("mine", nullptr).code(), StatusCode::kCorrupt);
  EXPECT_EQ(store().verify("mine", [] { return true; }).code(), StatusCode::kCancelled);
  EXPECT_EQ(store().verify("small", nullptr).code(), StatusCode::kNotFound);
  const Result<int64_t> freed = store().remove("mine");
  ASSERT_TRUE(freed.ok()) << freed.status().message();
  EXPECT_GT(*freed, static_cast<int64_t>(kGguf.size()));
  EXPECT_TRUE(store().installed()->empty());
  EXPECT_EQ(store().remove("small").status().code(), StatusCode::kNotFound);
}

TEST_F(StoreTest, TheUsersAliases) {
  const std::string file = folder_.write("elsewhere.bin", kGgml);
  folder_.write("config/sotto/aliases", "court = " + file + "\nfast = tiny\n");
  EXPECT_EQ(*store().resolve("Court", ModelKind::kWhisper), file);
  EXPECT_EQ(store().find("fast")->name, "tiny");
  folder_.write("config/sotto/aliases", "fast");
  EXPECT_EQ(ModelStore::open(folder_ / "store").status().code(), StatusCode::kInvalidArgument);
}

TEST_F(StoreTest, RequestsThatContradictThemselves) {
  PullRequest request;
  request.hub = "o/m";
  request.path = "/x";
  EXPECT_EQ(store().pull(request, {}).status().code(), StatusCode::kInvalidArgument);
  request = {};
  EXPECT_EQ(store().pull(request, {}).status().code(), StatusCode::kNotFound);
}

}  // namespace
}  // namespace sotto
