// Which files of a hub repository make a model.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "models/registry/fetch.h"
#include "models/registry/files.h"
#include "models/registry/names.h"
#include "models/registry/sha256.h"

namespace sotto::registry {
namespace {

using Json = nlohmann::json;

constexpr int64_t kLargestListing = int64_t{16} << 20;

bool has_directory(const HubFile& file) {
  return file.path.find('/') != std::string::npos;
}

const HubFile* find_file(const std::vector<HubFile>& listing, std::string_view path) {
  const auto found = std::find_if(listing.begin(), listing.end(),
                                  [path](const HubFile& file) { return file.path == path; });
  return found == listing.end() ? nullptr : &*found;
}

/// The weights, and of the small files beside them those that are there.
std::vector<HubFile> with_companions(const std::vector<HubFile>& listing,
                                     std::vector<HubFile> weights) {
  for (const char* name : {"config.json", "generation_config.json", "tokenizer.json",
                           "tokenizer_config.json", "vocabulary.json", "vocabulary.txt",
                           "vocab.json", "merges.txt", "preprocessor_config.json"}) {
    if (const HubFile* file = find_file(listing, name)) weights.push_back(*file);
  }
  return weights;
}

std::vector<HubFile> top_level_files_ending_in(const std::vector<HubFile>& listing,
                                               std::string_view ending) {
  std::vector<HubFile> files;
  for (const HubFile& file : listing) {
    if (!has_directory(file) && file.path.ends_with(ending)) files.push_back(file);
  }
  return files;
}

Status ask_for_choice(const std::vector<HubFile>& files, const std::string& repository) {
  std::string message = repository + ": has several models\nname one of them, e.g. --hf " +
                        repository + ":" + files.front().path + "\n";
  for (const HubFile& file : files) {
    message += "  " + file.path;
    if (file.bytes >= 0) message += "  (" + format_bytes(file.bytes) + ")";
    message += "\n";
  }
  message.pop_back();
  return invalid_argument(std::move(message));
}

Result<std::string> fetch_text(const std::string& url, FetchContext& context) {
  std::string text;
  HttpRequest request;
  request.url = url;
  if (const char* token = std::getenv("HF_TOKEN")) request.bearer_token = token;
  request.connect_timeout_ms = context.connect_timeout_ms;
  HttpSink sink;
  sink.should_stop = [&context] { return context.progress.should_stop(); };
  sink.on_headers = [&text](const HttpHeaders&) {
    text.clear();
    return Status();
  };
  sink.on_data = [&](std::span<const std::byte> bytes) -> Status {
    text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (static_cast<int64_t>(text.size()) <= kLargestListing) return {};
    return corrupt(url + ": the answer is too long");
  };
  const HttpOutcome outcome = context.http.get(request, sink);
  if (outcome.end == HttpEnd::kDone) return text;
  return outcome.end == HttpEnd::kRefused ? outcome.status.with_context(url) : outcome.status;
}

Result<HubFile> parse_sibling(const Json& sibling) {
  const auto name = sibling.is_object() ? sibling.find("rfilename") : sibling.end();
  if (!sibling.is_object() || name == sibling.end() || !name->is_string()) {
    return corrupt("the hub's listing has a file without a name");
  }
  HubFile file;
  file.path = name->get<std::string>();
  const auto size = sibling.find("size");
  if (size != sibling.end() && size->is_number_integer() && size->get<int64_t>() >= 0) {
    file.bytes = size->get<int64_t>();
  }
  const auto lfs = sibling.find("lfs");
  if (lfs != sibling.end() && lfs->is_object()) {
    const auto sum = lfs->find("sha256");
    if (sum != lfs->end() && sum->is_string() && is_sha256_hex(sum->get<std::string>())) {
      file.sha256 = sum->get<std::string>();
    }
  }
  return file;
}

}  // namespace

Result<std::vector<HubFile>> parse_hub_listing(std::string_view json) {
  const Json document = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  const auto siblings = document.is_object() ? document.find("siblings") : document.end();
  if (!document.is_object() || siblings == document.end() || !siblings->is_array()) {
    return corrupt("the hub's listing of the repository is not understood");
  }
  std::vector<HubFile> files;
  for (const Json& sibling : *siblings) {
    SOTTO_ASSIGN_OR_RETURN(files.emplace_back(), parse_sibling(sibling));
  }
  return files;
}

Result<std::vector<HubFile>> choose_files(const std::vector<HubFile>& listing,
                                          const std::string& repository) {
  if (const HubFile* weights = find_file(listing, "model.bin");
      weights != nullptr && find_file(listing, "config.json") != nullptr) {
    return with_companions(listing, {*weights});
  }
  if (const HubFile* weights = find_file(listing, "model.safetensors")) {
    return with_companions(listing, {*weights});
  }
  if (const HubFile* index = find_file(listing, "model.safetensors.index.json")) {
    std::vector<HubFile> shards = top_level_files_ending_in(listing, ".safetensors");
    shards.push_back(*index);
    return with_companions(listing, std::move(shards));
  }
  const std::vector<HubFile> gguf = top_level_files_ending_in(listing, ".gguf");
  if (gguf.size() == 1) return gguf;
  for (const HubFile& file : gguf) {
    std::string upper = file.path;
    std::transform(upper.begin(), upper.end(), upper.begin(), [](char c) {
      return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    });
    if (upper.ends_with("Q4_K_M.GGUF")) return std::vector<HubFile>{file};
  }
  if (!gguf.empty()) return ask_for_choice(gguf, repository);
  std::vector<HubFile> ggml = top_level_files_ending_in(listing, ".bin");
  std::erase_if(ggml, [](const HubFile& file) { return !file.path.starts_with("ggml"); });
  if (ggml.size() == 1) return ggml;
  if (!ggml.empty()) return ask_for_choice(ggml, repository);
  return unsupported(repository +
                     ": has no model that sotto reads\n"
                     "CTranslate2, whisper.cpp ggml, GGUF and safetensors are read");
}

Result<Source> choose_hub_files(const std::string& repository, const std::string& revision,
                                const std::string& file, FetchContext& context) {
  Source source;
  source.where = repository;
  source.revision = revision.empty() ? "main" : revision;
  std::vector<HubFile> files = {HubFile{file, -1, ""}};
  if (file.empty()) {
    context.progress.step("pulling manifest");
    SOTTO_ASSIGN_OR_RETURN(const std::string json,
                           fetch_text(hub_endpoint() + "/api/models/" + repository + "/revision/" +
                                          encode_url_path(source.revision) + "?blobs=true",
                                      context));
    SOTTO_ASSIGN_OR_RETURN(const std::vector<HubFile> listing, parse_hub_listing(json));
    SOTTO_ASSIGN_OR_RETURN(files, choose_files(listing, repository));
  }
  for (const HubFile& chosen : files) {
    SourceFile wanted;
    wanted.path = chosen.path;
    wanted.name = chosen.path.substr(chosen.path.rfind('/') + 1);
    wanted.bytes = chosen.bytes;
    wanted.sha256 = chosen.sha256;
    if (!is_plain_file_name(wanted.name)) {
      return invalid_argument(repository + ": '" + chosen.path + "' is not a usable file name");
    }
    source.files.push_back(std::move(wanted));
  }
  return source;
}

}  // namespace sotto::registry
