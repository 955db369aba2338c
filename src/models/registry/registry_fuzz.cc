// Texts that come from outside: a server's headers and listings, a user's catalogue and aliases, a
// manifest. The first byte says which parser gets the rest. What they accept must keep its
// promises.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "models/registry/catalogue.h"
#include "models/registry/fetch.h"
#include "models/registry/http.h"
#include "models/registry/manifest.h"
#include "models/registry/names.h"
#include "models/registry/sha256.h"

namespace sotto::registry {
namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

void check_catalogue(std::string_view text) {
  const Result<std::vector<CatalogueEntry>> entries = parse_catalogue(text, "fuzz");
  if (!entries.ok()) return;
  for (const CatalogueEntry& entry : *entries) {
    require(is_model_name(entry.name) && !entry.sources.empty());
    require(entry.bytes() >= -1);
    for (const Source& source : entry.sources) {
      require(!source.files.empty() && !describe(source).empty());
      for (const SourceFile& file : source.files)
        require(is_plain_file_name(file.name));
    }
  }
}

void check_manifest(std::string_view text) {
  const Result<Manifest> manifest = parse_manifest(text, "fuzz");
  if (!manifest.ok()) return;
  const Result<Manifest> again = parse_manifest(write_manifest(*manifest), "fuzz");
  require(again.ok() && again->name == manifest->name && again->source == manifest->source);
  require(again->files.size() == manifest->files.size());
  for (const ModelFile& file : manifest->files) {
    require(is_plain_file_name(file.name) && is_sha256_hex(file.sha256) && file.bytes >= 0);
  }
}

void check_listing(std::string_view text) {
  const Result<std::vector<HubFile>> listing = parse_hub_listing(text);
  if (!listing.ok()) return;
  const Result<std::vector<HubFile>> chosen = choose_files(*listing, "owner/name");
  require(!chosen.ok() || !chosen->empty());
}

void check_headers(std::string_view text) {
  HeaderParser parser;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    parser.add_line(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  constexpr int64_t kOffset = 1000;
  const HttpHeaders headers = parser.headers(kOffset);
  require(headers.total >= -1);
  require(headers.sha256.empty() || is_sha256_hex(headers.sha256));
  require(parser.range_fits(kOffset) || headers.status == 206);
}

void check_names(std::string_view text) {
  const std::string once = normalise_name(text);
  require(once.size() <= text.size() && once.find('/') == std::string::npos);
  if (is_model_name(text)) require(is_plain_file_name(folder_name(text)));
  require(url_origin(encode_url_path(text)).find(' ') == std::string::npos);
}

}  // namespace
}  // namespace sotto::registry

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sotto::registry;
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0]) {
    case 'c':
      check_catalogue(text);
      break;
    case 'm':
      check_manifest(text);
      break;
    case 'l':
      check_listing(text);
      break;
    case 'h':
      check_headers(text);
      break;
    case 'a':
      static_cast<void>(parse_aliases(text, "fuzz").ok());
      break;
    default:
      check_names(text);
      break;
  }
  return 0;
}
