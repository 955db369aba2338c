// One function a format; each takes a tidied transcript (tidy.h).
#ifndef SOTTO_TRANSCRIPT_FORMATS_H_
#define SOTTO_TRANSCRIPT_FORMATS_H_

#include <string>

#include "sotto/transcript.h"
#include "transcript/writers.h"

namespace sotto::transcript {

std::string write_txt(const Transcript& transcript);
std::string write_srt(const Transcript& transcript, const WriterOptions& options);
std::string write_vtt(const Transcript& transcript, const WriterOptions& options);
std::string write_tsv(const Transcript& transcript);
std::string write_csv(const Transcript& transcript);
std::string write_lrc(const Transcript& transcript);

std::string write_json(const Transcript& transcript, const WriterOptions& options);
std::string write_verbose_json(const Transcript& transcript, const WriterOptions& options);
/// `full`: with tokens.
std::string write_cli_json(const Transcript& transcript, const WriterOptions& options, bool full);

}  // namespace sotto::transcript

#endif  // SOTTO_TRANSCRIPT_FORMATS_H_
