// Hub repositories and plain URLs.
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "models/registry/fetch.h"
#include "models/registry/files.h"
#include "models/registry/partial_file.h"

namespace sotto::registry {
namespace {

constexpr int kAttempts = 4;  // without a single byte of progress between them

/// The pull of one file. Begins again from zero at most once, when what an earlier pull left turns
/// out not to belong to what is offered now.
class FileDownload {
 public:
  FileDownload(const SourceFile& file, std::string url, std::string token, FetchContext& context)
      : file_(file), url_(std::move(url)), token_(std::move(token)), context_(context) {}

  struct Outcome {
    HttpOutcome http;
    Status status;
    ModelFile file;
  };

  Outcome run() {
    Result<PartialFile> opened =
        PartialFile::open(context_.staging + "/" + file_.name, file_.sha256,
                          [this] { return context_.progress.should_stop(); });
    if (!opened.ok()) return {{}, opened.status(), {}};
    partial_ = &*opened;
    const bool had_kept = partial_->kept() > 0;
    Outcome outcome = transfer_and_check();
    // Wrong bytes after a resume may come from the part that was kept: once more without it.
    if (had_kept && outcome.status.code() == StatusCode::kCorrupt) {
      if (Status status = partial_->restart(); !status.ok()) return {{}, status, {}};
      outcome = transfer_and_check();
    }
    if (outcome.status.code() == StatusCode::kCorrupt) partial_->discard();
    return outcome;
  }

 private:
  Outcome transfer_and_check() {
    Outcome outcome;
    if (file_.bytes >= 0 && partial_->size() == file_.bytes && file_.bytes > 0) {
      context_.progress.begin_file(file_.name, expected(), file_.bytes);
    } else {
      outcome.http = transfer();
      outcome.status = outcome.http.status;
    }
    if (outcome.status.ok()) outcome.status = check(outcome.file);
    return outcome;
  }

  HttpOutcome transfer() {
    int attempts = 0;
    for (;;) {
      const int64_t before = partial_->size();
      HttpOutcome outcome = request();
      if (outcome.end == HttpEnd::kRefused && outcome.headers.status == kRangeNotSatisfiable) {
        // Nothing after what is there: it is complete, or it is too long and check() finds that.
        outcome.end = HttpEnd::kDone;
        outcome.status = Status();
      }
      if (outcome.end != HttpEnd::kBroken) return outcome;
      // Without a promised sum the rest may be that of another file: what came is no progress.
      const bool can_resume = !partial_->promised_sha256().empty();
      attempts = can_resume && partial_->size() > before ? 1 : attempts + 1;
      if (attempts >= kAttempts || !wait(attempts, outcome.retry_after_s)) return outcome;
      if (context_.progress.should_stop()) {
        outcome.end = HttpEnd::kStopped;
        outcome.status = cancelled("interrupted; what has arrived is kept for the next pull");
        return outcome;
      }
      if (Status status = can_resume ? Status() : partial_->restart(); !status.ok()) {
        outcome.end = HttpEnd::kSink;
        outcome.status = status;
        return outcome;
      }
    }
  }

  HttpOutcome request() {
    HttpRequest request;
    request.url = url_;
    request.bearer_token = token_;
    request.offset = partial_->size();
    request.connect_timeout_ms = context_.connect_timeout_ms;
    HttpSink sink;
    sink.should_stop = [this] { return context_.progress.should_stop(); };
    sink.on_headers = [this](const HttpHeaders& headers) { return on_headers(headers); };
    sink.on_data = [this](std::span<const std::byte> bytes) { return on_data(bytes); };
    return context_.http.get(request, sink);
  }

  Status on_headers(const HttpHeaders& headers) {
    if (!headers.sha256.empty() && !file_.sha256.empty() && headers.sha256 != file_.sha256) {
      return corrupt(fmt::format("{}: the server offers a file with sha256 {}, not {}", file_.name,
                                 headers.sha256, file_.sha256));
    }
    if (file_.bytes >= 0 && headers.total >= 0 && headers.total != file_.bytes) {
      return corrupt(fmt::format("{}: the server offers {} bytes instead of {}", file_.name,
                                 headers.total, file_.bytes));
    }
    const bool is_other_file = !headers.sha256.empty() && !partial_->promised_sha256().empty() &&
                               headers.sha256 != partial_->promised_sha256();
    if (is_other_file && headers.first > 0) {
      return corrupt(file_.name + ": the file on the server changed since it was begun");
    }
    if (headers.first != partial_->size()) SOTTO_RETURN_IF_ERROR(partial_->restart());
    const std::string& promised = file_.sha256.empty() ? headers.sha256 : file_.sha256;
    if (!promised.empty()) SOTTO_RETURN_IF_ERROR(partial_->promise(promised));
    total_ = headers.total >= 0 ? headers.total : file_.bytes;
    if (total_ >= 0) SOTTO_RETURN_IF_ERROR(check_space(total_ - partial_->size(), context_));
    context_.progress.begin_file(file_.name, expected(), total_);
    return {};
  }

  Status on_data(std::span<const std::byte> bytes) {
    const int64_t size = partial_->size() + static_cast<int64_t>(bytes.size());
    if (total_ >= 0 && size > total_) {
      return corrupt(
          fmt::format("{}: more than the {} bytes that were announced came", file_.name, total_));
    }
    SOTTO_RETURN_IF_ERROR(partial_->append(bytes, total_ < 0 ? -1 : total_ - size));
    context_.progress.advance(partial_->size());
    return {};
  }

  Status check(ModelFile& file) {
    const std::string sum = partial_->sha256();
    if (!expected().empty() && sum != expected()) {
      return corrupt(fmt::format("{}: the bytes that came have sha256 {} instead of {}", file_.name,
                                 sum, expected()));
    }
    if (file_.bytes >= 0 && partial_->size() != file_.bytes) {
      return corrupt(fmt::format("{}: {} bytes came instead of {}", file_.name, partial_->size(),
                                 file_.bytes));
    }
    const char* hash_from = !file_.sha256.empty()                  ? "catalogue"
                            : !partial_->promised_sha256().empty() ? "hub"
                                                                   : "first pull";
    file = ModelFile{file_.name, partial_->size(), sum, hash_from};
    context_.progress.end_file(file.bytes);
    return partial_->finish();
  }

  /// The sum that the bytes must have; "": nobody said.
  [[nodiscard]] const std::string& expected() const {
    return file_.sha256.empty() ? partial_->promised_sha256() : file_.sha256;
  }

  /// Waits before attempt number `attempts`, less when interrupted; false when the server wants too
  /// long a pause.
  bool wait(int attempts, int retry_after_s) {
    constexpr int kLongestWish_s = 30;
    if (retry_after_s > kLongestWish_s) return false;
    auto left = std::chrono::milliseconds(250 << (attempts - 1));
    left = std::max(left, std::chrono::milliseconds(1000 * std::max(0, retry_after_s)));
    constexpr auto kStep = std::chrono::milliseconds(50);
    for (; left.count() > 0; left -= kStep) {
      if (context_.progress.should_stop()) break;
      std::this_thread::sleep_for(std::min(left, kStep));
    }
    return true;
  }

  static constexpr int kRangeNotSatisfiable = 416;

  const SourceFile& file_;
  std::string url_, token_;
  FetchContext& context_;
  PartialFile* partial_ = nullptr;
  int64_t total_ = -1;
};

std::string hub_token() {
  const char* token = std::getenv("HF_TOKEN");
  return token == nullptr ? "" : token;
}

std::string file_url(const Source& source, const SourceFile& file) {
  if (source.kind == Source::Kind::kUrl) return source.where + "/" + encode_url_path(file.path);
  return hub_endpoint() + "/" + source.where + "/resolve/" + encode_url_path(source.revision) +
         "/" + encode_url_path(file.path);
}

}  // namespace

std::string hub_endpoint() {
  const char* endpoint = std::getenv("HF_ENDPOINT");
  std::string url = endpoint == nullptr || *endpoint == '\0' ? "https://huggingface.co" : endpoint;
  while (url.ends_with('/'))
    url.pop_back();
  return url;
}

FetchOutcome fetch_over_http(const Source& source, FetchContext& context) {
  constexpr int kNotFound = 404;
  FetchOutcome result;
  result.status = check_space(missing_bytes(source, context), context);
  if (!result.status.ok()) return result;
  const std::string token = source.kind == Source::Kind::kHub ? hub_token() : "";
  for (const SourceFile& file : source.files) {
    const Result<std::optional<ModelFile>> staged = take_staged_file(file, context);
    result.status = staged.status();
    if (!result.status.ok()) return result;
    if (staged->has_value()) {
      result.files.push_back(**staged);
      continue;
    }
    const std::string url = file_url(source, file);
    const FileDownload::Outcome outcome = FileDownload(file, url, token, context).run();
    if (outcome.status.ok()) {
      result.files.push_back(outcome.file);
      continue;
    }
    const bool is_absent =
        outcome.http.end == HttpEnd::kRefused && outcome.http.headers.status == kNotFound;
    if (is_absent && file.optional) continue;
    if (outcome.http.end == HttpEnd::kUnreachable) {
      result.unreachable_origin = url_origin(url);
      result.timed_out = outcome.http.timed_out;
      result.status = outcome.status;
    } else if (outcome.http.end == HttpEnd::kSink || outcome.http.end == HttpEnd::kStopped) {
      result.status = outcome.status;
    } else {
      result.status = outcome.status.with_context(url);
    }
    return result;
  }
  return result;
}

}  // namespace sotto::registry
