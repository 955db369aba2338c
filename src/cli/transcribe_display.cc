#include "cli/transcribe_display.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <utility>

#include "base/utf8.h"
#include "cli/output.h"
#include "cli/terminal.h"
#include "transcript/split.h"
#include "transcript/writers.h"

namespace sotto::cli {
namespace {

constexpr std::string_view kReset = "\033[0m";

/// From red over yellow to green, of the 256-colour palette.
constexpr std::array<int, 9> kPalette = {196, 202, 208, 214, 220, 190, 154, 118, 46};

std::string style_of(float probability, const DisplayOptions& options) {
  if (options.colours) {
    // Nearly all tokens are above 0.5: the cube spreads them over the palette.
    const float spread =
        probability * probability * probability * static_cast<float>(kPalette.size());
    const size_t index = std::min(static_cast<size_t>(std::max(spread, 0.0f)), kPalette.size() - 1);
    return fmt::format("\033[38;5;{}m", kPalette[index]);
  }
  if (probability < 0.33f) return "\033[7m";
  if (probability < 0.66f) return "\033[4m";
  return "\033[2m";
}

}  // namespace

std::string render_text(const Segment& segment, const DisplayOptions& options) {
  const bool styled = options.colours || options.confidence;
  if ((!styled && !options.special_tokens) || segment.tokens.empty()) {
    return utf8_repair(segment.text);
  }
  std::string text;
  std::string piece;  // tokens that share a character are styled as one
  float probability = 1;
  for (const Token& token : segment.tokens) {
    if (transcript::is_special(token) && !options.special_tokens) continue;
    piece += token.text;
    probability = std::min(probability, token.probability);
    if (utf8_complete_prefix(piece) < piece.size()) continue;  // the next token has the rest
    text += styled ? style_of(probability, options) + piece + std::string(kReset) : piece;
    piece.clear();
    probability = 1;
  }
  return utf8_repair(text + piece);
}

std::string render_line(const Segment& segment, const DisplayOptions& options) {
  return fmt::format("[{} --> {}]  {}\n", transcript::format_time(segment.start, '.'),
                     transcript::format_time(segment.end, '.'), render_text(segment, options));
}

Display::Display(const DisplayOptions& options)
    : options_(options),
      has_bar_(is_terminal(stderr) && !options.quiet && !options.progress_lines) {}

void Display::begin_input() {
  fraction_ = 0;
  printed_percent_ = 0;
}

void Display::segment(const Segment& segment) {
  if (!options_.lines) return;
  if (options_.timestamps) {
    print(render_line(segment, options_));
    return;
  }
  std::string text = render_text(segment, options_);
  if (!line_open_ && text.starts_with(' ')) text.erase(0, 1);
  line_open_ = true;
  print(text);
}

void Display::progress(double done_s, double total_s) {
  if (total_s <= 0) return;
  fraction_ = std::clamp(done_s / total_s, 0.0, 1.0);
  constexpr int kStep = 5;
  const int percent = static_cast<int>(std::floor(fraction_ * 100));
  while (options_.progress_lines && printed_percent_ + kStep <= percent) {
    printed_percent_ += kStep;
    fmt::print(stderr, "sotto: progress = {:3}%\n", printed_percent_);
  }
  draw_bar();
}

void Display::end_input() {
  clear_bar();
  if (std::exchange(line_open_, false)) print("\n");
}

void Display::document(std::string_view text) {
  print(text);
  if (!text.ends_with('\n')) print("\n");
}

void Display::note(std::string_view text) {
  clear_bar();
  if (!options_.quiet) print_note(text);
}

void Display::warning(std::string_view text) {
  clear_bar();
  if (!options_.quiet) print_warning(text);
}

ExitCode Display::failure(const Status& status, ExitCode code) {
  clear_bar();
  print_error(status);
  return code;
}

void Display::print(std::string_view text) {
  if (!output_status_.ok()) return;
  clear_bar();
  output_status_ = write_stdout(text);
}

void Display::clear_bar() {
  if (std::exchange(bar_drawn_, false)) std::fputs("\r\033[K", stderr);
}

void Display::draw_bar() {
  if (!has_bar_ || line_open_)
    return;  // an unfinished line would be overdrawn where both share a terminal
  constexpr size_t kCells = 30;
  const auto filled = static_cast<size_t>(fraction_ * kCells);
  fmt::print(stderr, "\r[{}{}] {:3}%", std::string(filled, '='), std::string(kCells - filled, ' '),
             static_cast<int>(fraction_ * 100));
  bar_drawn_ = true;
}

}  // namespace sotto::cli
