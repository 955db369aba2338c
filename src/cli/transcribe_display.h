// What `sotto transcribe` shows while it works: segments on standard output, progress on standard
// error.
#ifndef SOTTO_CLI_TRANSCRIBE_DISPLAY_H_
#define SOTTO_CLI_TRANSCRIBE_DISPLAY_H_

#include <string>
#include <string_view>

#include "cli/exit_codes.h"
#include "cli/transcribe_args.h"
#include "sotto/status.h"
#include "sotto/transcript.h"

namespace sotto::cli {

/// Text of a segment as the options want it, with its leading space: plain, coloured, or with
/// special tokens.
std::string render_text(const Segment& segment, const DisplayOptions& options);

/// "[00:00:00.000 --> 00:00:10.660]   text\n", the line that scripts around whisper-cli parse.
std::string render_line(const Segment& segment, const DisplayOptions& options);

class Display {
 public:
  /// A progress bar is drawn when standard error is a terminal.
  explicit Display(const DisplayOptions& options);
  ~Display() { clear_bar(); }
  Display(const Display&) = delete;
  Display& operator=(const Display&) = delete;

  void begin_input();
  void segment(const Segment& segment);
  void progress(double done_s, double total_s);
  void end_input();

  /// A whole document on standard output; a final newline is added where it lacks one.
  void document(std::string_view text);
  /// On standard error, unless --no-prints asks for results only.
  void note(std::string_view text);
  void warning(std::string_view text);
  /// Prints the failure and returns `code`.
  ExitCode failure(const Status& status, ExitCode code);

  /// Why standard output takes no more text (reader gone, disk full), once it does not.
  [[nodiscard]] const Status& output_status() const { return output_status_; }

 private:
  void print(std::string_view text);
  void clear_bar();
  void draw_bar();

  DisplayOptions options_;
  bool has_bar_;
  bool bar_drawn_ = false;
  bool line_open_ = false;  ///< Text without times is being continued on one line
  double fraction_ = 0;
  int printed_percent_ = 0;
  Status output_status_;
};

}  // namespace sotto::cli

#endif  // SOTTO_CLI_TRANSCRIBE_DISPLAY_H_
