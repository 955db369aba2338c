// The form of a request: its fields, and the file that came with them.
#ifndef SOTTO_SERVE_FORM_H_
#define SOTTO_SERVE_FORM_H_

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

#include "serve/api_error.h"
#include "serve/http/exchange.h"
#include "serve/http/multipart.h"
#include "serve/spool.h"

namespace sotto::serve {

struct FormFile {
  std::string filename, content_type;
  std::shared_ptr<Spool> bytes;
};

struct Form {
  std::vector<std::pair<std::string, std::string>> fields;  ///< As sent, in order
  std::optional<FormFile> file;                             ///< Of the field "file"
};

/// Collects a multipart body.
class FormSink final : public PartSink {
 public:
  static constexpr size_t kMaxFieldBytes = size_t{1} << 20;  ///< All fields but the file

  Status begin_part(const PartHeader& header) override;
  Status part_data(std::string_view bytes) override;
  Status end_part() override { return {}; }
  [[nodiscard]] Form take() { return std::move(form_); }

 private:
  Form form_;
  bool in_file_ = false;
  bool in_field_ = false;
  size_t field_bytes_ = 0;
};

/// A form that came as multipart/form-data, or without a file as application/x-www-form-urlencoded.
/// nullopt: the client has gone.
using FormOrError = std::variant<Form, ApiError>;
Task<std::optional<FormOrError>> read_form(Exchange& exchange);

/// A whole body of at most `limit` bytes.
Task<Result<std::string>> read_whole_body(Exchange& exchange, size_t limit);

/// Typed access to fields. The first fault is kept and later values are defaults, so that a parser
/// reads straight on and asks once at its end.
class FieldReader {
 public:
  explicit FieldReader(const Form& form);

  bool has(std::string_view name);
  /// Takes a field that changes nothing here.
  void accept(std::string_view name) { asked_.emplace(name); }
  /// The last value of that name; "" when there is none.
  std::string text(std::string_view name);
  bool flag(std::string_view name, bool otherwise);
  /// Nothing for an absent or empty field.
  std::optional<double> number(std::string_view name, double minimum, double maximum);
  std::optional<int> integer(std::string_view name, int minimum, int maximum);
  /// `name`, `name[]` and lists joined by commas, together.
  std::vector<std::string> list(std::string_view name);
  /// `name[key]` fields, or a JSON object in `name`; null for an absent field.
  nlohmann::json object(std::string_view name);

  void fail(ApiError error);
  [[nodiscard]] const std::optional<ApiError>& error() const { return error_; }
  /// Names that nobody asked for, joined by ", ".
  [[nodiscard]] std::string ignored() const;

 private:
  struct Field {
    std::string name, key, value;
    bool is_member = false;  ///< name[key]
  };
  std::vector<Field> fields_;
  std::set<std::string, std::less<>> asked_;
  std::optional<ApiError> error_;
};

}  // namespace sotto::serve

#endif  // SOTTO_SERVE_FORM_H_
