#include "serve/form.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/json.h"
#include "base/utf8.h"
#include "serve/http/message.h"

namespace sotto::serve {
namespace {

std::string_view trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

std::optional<bool> parse_flag(std::string_view text) {
  const std::string word = to_lower(trim(text));
  for (const char* yes : {"true", "1", "yes", "y", "on"})
    if (word == yes) return true;
  for (const char* no : {"false", "0", "no", "n", "off", ""})
    if (word == no) return false;
  return std::nullopt;
}

template <typename Number>
bool parse_number(std::string_view text, Number& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size();
}

std::string shown(std::string_view text) {
  constexpr size_t kLongest = 80;
  return "'" + utf8_repair(text.substr(0, kLongest)) + (text.size() > kLongest ? "…'" : "'");
}

}  // namespace

Status FormSink::begin_part(const PartHeader& header) {
  // Programs differ in whether they give the file a name, so the field's name decides.
  in_file_ = header.name == "file";
  in_field_ = !in_file_ && !header.has_filename;
  if (in_file_) {
    form_.file = FormFile{header.filename, header.content_type, std::make_shared<Spool>()};
  } else if (in_field_) {
    form_.fields.emplace_back(header.name, "");
    field_bytes_ += header.name.size();
  }
  return {};
}

Status FormSink::part_data(std::string_view bytes) {
  if (in_file_) return form_.file->bytes->append(bytes);
  if (!in_field_) return {};
  field_bytes_ += bytes.size();
  if (field_bytes_ > kMaxFieldBytes) return resource_exhausted("the form's fields exceed 1 MiB");
  form_.fields.back().second.append(bytes);
  return {};
}

Task<Result<std::string>> read_whole_body(Exchange& exchange, size_t limit) {
  std::string body;
  for (;;) {
    const Result<std::string_view> piece = co_await exchange.read_body();
    if (!piece.ok()) co_return piece.status();
    if (piece->empty()) co_return body;
    if (body.size() + piece->size() > limit) {
      co_return resource_exhausted(
          fmt::format("the body is larger than the limit of {} bytes for this route", limit));
    }
    body.append(*piece);
  }
}

Task<std::optional<FormOrError>> read_form(Exchange& exchange) {
  const std::string_view type = exchange.request().headers.get("Content-Type");
  const auto failed = [](const Status& status) -> std::optional<FormOrError> {
    if (status.code() == StatusCode::kUnavailable) return std::nullopt;
    return FormOrError(body_error(status));
  };
  if (parse_parameterised(type).value == "application/x-www-form-urlencoded") {
    Result<std::string> body = co_await read_whole_body(exchange, FormSink::kMaxFieldBytes);
    if (!body.ok()) co_return failed(body.status());
    Form form;
    form.fields = parse_urlencoded(*body);
    co_return FormOrError(std::move(form));
  }
  const Result<std::string> boundary = MultipartParser::boundary_of(type);
  if (!boundary.ok()) co_return failed(boundary.status());
  FormSink sink;
  MultipartParser parser(*boundary, sink);
  for (;;) {
    const Result<std::string_view> piece = co_await exchange.read_body();
    if (!piece.ok()) co_return failed(piece.status());
    const Status status = piece->empty() ? parser.finish() : parser.feed(*piece);
    if (!status.ok()) co_return failed(status);
    if (piece->empty()) break;
  }
  co_return FormOrError(sink.take());
}

FieldReader::FieldReader(const Form& form) {
  for (const auto& [name, value] : form.fields) {
    const size_t bracket = name.find('[');
    const bool is_member = bracket != std::string::npos && bracket > 0 && name.back() == ']';
    Field field;
    field.name = is_member ? name.substr(0, bracket) : name;
    field.key = is_member ? name.substr(bracket + 1, name.size() - bracket - 2) : "";
    field.is_member = is_member;
    field.value = value;
    if (!utf8_valid(value) || !utf8_valid(name)) {
      fail(bad_request("invalid_value", "the field is not valid UTF-8", utf8_repair(name)));
    }
    fields_.push_back(std::move(field));
  }
}

void FieldReader::fail(ApiError error) {
  if (!error_) error_ = std::move(error);
}

bool FieldReader::has(std::string_view name) {
  asked_.emplace(name);
  return std::any_of(fields_.begin(), fields_.end(),
                     [&](const Field& field) { return field.name == name; });
}

std::string FieldReader::text(std::string_view name) {
  asked_.emplace(name);
  std::string value;
  for (const Field& field : fields_)
    if (field.name == name) value = field.value;
  return value;
}

bool FieldReader::flag(std::string_view name, bool otherwise) {
  if (!has(name)) return otherwise;
  const std::string value = text(name);
  const std::optional<bool> parsed = parse_flag(value);
  if (!parsed) {
    fail(bad_request("invalid_value", fmt::format("{} is not true or false", shown(value)),
                     std::string(name)));
  }
  return parsed.value_or(otherwise);
}

std::optional<double> FieldReader::number(std::string_view name, double minimum, double maximum) {
  const std::string value = text(name);
  const std::string_view digits = trim(value);
  if (digits.empty()) return std::nullopt;
  double number = 0;
  if (parse_number(digits, number) && std::isfinite(number) && number >= minimum &&
      number <= maximum) {
    return number;
  }
  fail(bad_request("invalid_value",
                   fmt::format("{} is not a number from {} to {}", shown(value), minimum, maximum),
                   std::string(name)));
  return std::nullopt;
}

std::optional<int> FieldReader::integer(std::string_view name, int minimum, int maximum) {
  const std::optional<double> value = number(name, minimum, maximum);
  if (!value) return std::nullopt;
  if (*value == std::floor(*value)) return static_cast<int>(*value);
  fail(bad_request("invalid_value", fmt::format("{} is not a whole number", *value),
                   std::string(name)));
  return std::nullopt;
}

std::vector<std::string> FieldReader::list(std::string_view name) {
  asked_.emplace(name);
  std::vector<std::string> values;
  for (const Field& field : fields_) {
    if (field.name != name) continue;
    std::string_view rest = field.value;
    while (!rest.empty()) {
      const size_t end = std::min(rest.find(','), rest.size());
      const std::string_view value = trim(rest.substr(0, end));
      if (!value.empty()) values.emplace_back(value);
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  return values;
}

nlohmann::json FieldReader::object(std::string_view name) {
  asked_.emplace(name);
  nlohmann::json members = nlohmann::json::object();
  std::string plain;
  for (const Field& field : fields_) {
    if (field.name != name) continue;
    if (field.is_member && !field.key.empty()) {
      members[field.key] = field.value;
    } else {
      plain = field.value;
    }
  }
  if (!members.empty()) return members;
  if (trim(plain).empty()) return nullptr;
  if (trim(plain).front() != '{')
    return trim(plain) == "null" ? nlohmann::json() : nlohmann::json(plain);
  Result<nlohmann::json> parsed = parse_json(plain, name);
  if (parsed.ok()) return *parsed;
  fail(bad_request("invalid_json", parsed.status().message(), std::string(name)));
  return nullptr;
}

std::string FieldReader::ignored() const {
  std::set<std::string, std::less<>> names;
  for (const Field& field : fields_)
    if (!asked_.contains(field.name)) names.insert(field.name);
  std::string joined;
  for (const std::string& name : names)
    joined += (joined.empty() ? "" : ", ") + name;
  return joined;
}

}  // namespace sotto::serve
