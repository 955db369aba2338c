// Where the documents of `sotto transcribe` go: names, folders, and writing that never leaves half
// a file behind.
#ifndef SOTTO_CLI_TRANSCRIBE_OUTPUT_H_
#define SOTTO_CLI_TRANSCRIBE_OUTPUT_H_

#include <string>
#include <string_view>
#include <vector>

#include "cli/transcribe_args.h"
#include "sotto/status.h"
#include "transcript/writers.h"

namespace sotto::cli {

inline constexpr std::string_view kStandardStream = "-";

/// One document of one input.
struct OutputFile {
  transcript::Format format = transcript::Format::kTxt;
  std::string path;  ///< "-" is standard output
};

/// The documents of every input, in the order of args.inputs. An error if two documents would have
/// the same name, or a document that of an input: nothing is overwritten without having been named.
Result<std::vector<std::vector<OutputFile>>> plan_outputs(const TranscribeArgs& args);

/// Makes the folders and proves that files can be created there, so that a faulty -o is known
/// before hours of work.
Status prepare_outputs(const std::vector<std::vector<OutputFile>>& plan);

/// Writes a new file beside `path` and renames it over `path`, which thus holds either its old or
/// its whole new content.
Status write_file(const std::string& path, std::string_view content);

/// "out/talk.srt" -> "out/talk.partial.srt": what an interrupted run leaves, apart from the name of
/// a whole result.
std::string partial_path(const std::string& path);

}  // namespace sotto::cli

#endif  // SOTTO_CLI_TRANSCRIBE_OUTPUT_H_
