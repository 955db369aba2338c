// Writes JSON text in a given layout, key by key.
#ifndef SOTTO_TRANSCRIPT_JSON_WRITER_H_
#define SOTTO_TRANSCRIPT_JSON_WRITER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sotto::transcript {

/// Layouts of the programs whose files are written.
struct JsonStyle {
  std::string_view comma;   ///< Between members
  std::string_view colon;   ///< Between key and value
  std::string_view indent;  ///< Once a level, each member on its own line; empty: all on one line
  bool open_empty = false;  ///< An empty list or object still takes two lines
};

inline constexpr JsonStyle kCompactJson = {",", ":", "", false};
inline constexpr JsonStyle kPythonJson = {", ", ": ", "", false};  // json.dump(x)
inline constexpr JsonStyle kPrettyPythonJson = {",", ": ", "    ",
                                                false};  // json.dump(x, indent=4)
inline constexpr JsonStyle kWhisperCliJson = {",", ": ", "\t", true};

/// The caller keeps the order right: key() before each value inside an object, and as many ends as
/// begins.
class JsonWriter {
 public:
  explicit JsonWriter(const JsonStyle& style) : style_(style) {}

  JsonWriter& key(std::string_view name);
  void begin_object() { begin('{'); }
  void end_object() { end('}'); }
  void begin_list() { begin('['); }
  void end_list() { end(']'); }
  /// Valid UTF-8; quotes, backslashes and control characters are escaped.
  void string(std::string_view value);
  void integer(int64_t value);
  void boolean(bool value);
  /// Rounded to `digits` after the point, as few of them as needed but at least one; not NaN.
  void decimal(double value, int digits);
  /// As C's "%g" writes it: what whisper-cli uses.
  void general(double value);

  /// The text so far with a line end.
  [[nodiscard]] std::string take();

 private:
  void begin(char bracket);
  void end(char bracket);
  /// What stands before a value or key: comma and line break.
  void separate();
  void break_line(size_t depth);

  JsonStyle style_;
  std::string text_;
  std::vector<bool> has_members_;  // of each open list or object
  bool after_key_ = false;
};

}  // namespace sotto::transcript

#endif  // SOTTO_TRANSCRIPT_JSON_WRITER_H_
