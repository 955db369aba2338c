// The work of `sotto transcribe` once its command line is read and the model is loaded: every input
// in turn.
#ifndef SOTTO_CLI_TRANSCRIBE_JOB_H_
#define SOTTO_CLI_TRANSCRIBE_JOB_H_

#include <string>
#include <vector>

#include "cli/exit_codes.h"
#include "cli/transcribe_args.h"
#include "cli/transcribe_display.h"
#include "cli/transcribe_output.h"
#include "sotto/transcribe.h"

namespace sotto::cli {

class TranscribeJob {
 public:
  /// `plan`: the documents of each input; see plan_outputs(). All references must outlive the job.
  TranscribeJob(const TranscribeArgs& args, const std::vector<std::vector<OutputFile>>& plan,
                SpeechModel& model, Display& display)
      : args_(args), plan_(plan), model_(model), display_(display) {}

  /// One input. With several inputs the caller goes on after a failure and keeps the worst code.
  ExitCode run(size_t input);

 private:
  /// What is known of an input before its transcript is complete.
  struct Progress;

  ExitCode detect_language(size_t input);
  ExitCode finish(size_t input, const Transcript& transcript);
  ExitCode fail(size_t input, const Status& status, const Progress& progress);
  ExitCode write_documents(size_t input, const Transcript& transcript, bool whole);
  [[nodiscard]] TranscribeCallbacks callbacks(size_t input, Progress& progress) const;
  [[nodiscard]] AudioSource source(size_t input) const;
  /// True when nothing that is still produced could reach anyone.
  [[nodiscard]] bool is_pointless(size_t input) const;

  const TranscribeArgs& args_;
  const std::vector<std::vector<OutputFile>>& plan_;
  SpeechModel& model_;
  Display& display_;
};

/// The worse of two ends of a run: 130 before 10 before ... before 0.
inline ExitCode worse(ExitCode a, ExitCode b) {
  return a > b ? a : b;
}

}  // namespace sotto::cli

#endif  // SOTTO_CLI_TRANSCRIBE_JOB_H_
