// Status and Result: how every library function of sotto reports failure.
#ifndef SOTTO_STATUS_H_
#define SOTTO_STATUS_H_

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

namespace sotto {

/// Why an operation failed. The code decides what a caller does next; the message tells a person.
enum class StatusCode {
  kOk,
  kInvalidArgument,  ///< The caller's value is wrong whatever the state of the system; do not
                     ///< retry.
  kNotFound,         ///< A named thing (file, model, tensor) does not exist.
  kUnsupported,      ///< Well-formed, but this build or format version cannot do it.
  kCorrupt,  ///< Outside bytes contradict their own format (truncated, hostile, wrong checksum).
  kIo,       ///< The operating system refused a read or write.
  kNoSpace,  ///< A write failed because the disk is full.
  kPermissionDenied,   ///< The user may not do this here.
  kUnavailable,        ///< A remote or shared resource did not answer; a retry may succeed.
  kResourceExhausted,  ///< A limit of this process or machine was reached.
  kCancelled,          ///< The caller asked to stop.
  kDeadlineExceeded,   ///< The time limit passed.
  kInternal,           ///< A bug in sotto: an invariant does not hold.
};

/// Name of a code in lower case with underscores, e.g. "not_found".
std::string_view status_code_name(StatusCode code);

/// Success, or a code and a message that says what was tried, on what, and what to do next.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(StatusCode code, std::string message) : code_(code), message_(std::move(message)) {}

  [[nodiscard]] bool ok() const { return code_ == StatusCode::kOk; }
  [[nodiscard]] StatusCode code() const { return code_; }
  [[nodiscard]] const std::string& message() const { return message_; }

  /// The same failure with "context: " before its message; success stays success.
  [[nodiscard]] Status with_context(std::string_view context) const {
    return ok() ? *this : Status(code_, std::string(context) + ": " + message_);
  }

 private:
  StatusCode code_ = StatusCode::kOk;
  std::string message_;
};

inline Status invalid_argument(std::string m) {
  return {StatusCode::kInvalidArgument, std::move(m)};
}
inline Status not_found(std::string m) {
  return {StatusCode::kNotFound, std::move(m)};
}
inline Status unsupported(std::string m) {
  return {StatusCode::kUnsupported, std::move(m)};
}
inline Status corrupt(std::string m) {
  return {StatusCode::kCorrupt, std::move(m)};
}
inline Status io_error(std::string m) {
  return {StatusCode::kIo, std::move(m)};
}
inline Status unavailable(std::string m) {
  return {StatusCode::kUnavailable, std::move(m)};
}
inline Status resource_exhausted(std::string m) {
  return {StatusCode::kResourceExhausted, std::move(m)};
}
inline Status cancelled(std::string m) {
  return {StatusCode::kCancelled, std::move(m)};
}
inline Status internal_error(std::string m) {
  return {StatusCode::kInternal, std::move(m)};
}

/// A failed operating-system call: "<what>: <strerror>", with the code that fits `error_number`
/// (errno's value).
Status status_from_errno(int error_number, std::string_view what);

/// A value, or the Status that explains why there is none.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value)
      : state_(std::in_place_index<0>, std::move(value)) {}  // NOLINT: implicit by design
  Result(Status status)
      : state_(std::in_place_index<1>, std::move(status)) {}  // NOLINT: implicit by design

  [[nodiscard]] bool ok() const { return state_.index() == 0; }
  [[nodiscard]] Status status() const { return ok() ? Status() : std::get<1>(state_); }

  /// The value; only after ok() was seen to be true.
  [[nodiscard]] T& value() & { return *std::get_if<0>(&state_); }
  [[nodiscard]] const T& value() const& { return *std::get_if<0>(&state_); }
  [[nodiscard]] T&& value() && { return std::move(*std::get_if<0>(&state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

 private:
  std::variant<T, Status> state_;
};

}  // namespace sotto

#define SOTTO_CONCAT_INNER(a, b) a##b
#define SOTTO_CONCAT(a, b) SOTTO_CONCAT_INNER(a, b)

/// Returns from the enclosing function when `expr` (a Status) is a failure.
#define SOTTO_RETURN_IF_ERROR(expr)                                                     \
  do {                                                                                  \
    if (::sotto::Status sotto_status = (expr); !sotto_status.ok()) return sotto_status; \
  } while (false)

/// `SOTTO_ASSIGN_OR_RETURN(auto x, make_x());` declares x or returns the failure of make_x().
#define SOTTO_ASSIGN_OR_RETURN(decl, expr) \
  SOTTO_ASSIGN_OR_RETURN_INNER(SOTTO_CONCAT(sotto_result_, __LINE__), decl, expr)
#define SOTTO_ASSIGN_OR_RETURN_INNER(tmp, decl, expr) \
  auto tmp = (expr);                                  \
  if (!tmp.ok()) return tmp.status();                 \
  decl = std::move(tmp).value()

#endif  // SOTTO_STATUS_H_
