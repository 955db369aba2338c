// The table of every flag of `sotto transcribe`. Rows give all spellings of both families; what the
// values mean together is worked out in transcribe_args.cc.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <limits>
#include <system_error>

#include "base/log.h"
#include "cli/transcribe_args.h"

namespace sotto::cli {
namespace {

using transcript::Format;
using Takes = FlagAction::Takes;

constexpr int kAnyInt = std::numeric_limits<int>::max();
constexpr float kAny = std::numeric_limits<float>::max();

/// A switch of a feature that is not built yet: refused by name, unless it is given as False.
FlagAction refuse_switch(std::string_view feature) {
  return {Takes::kMaybeBool, [feature](const FlagUse& use) -> Status {
            if (bool_word(use.value) == false) return {};
            return unsupported(
                fmt::format("{}: {} is not available in this version", use.spelling, feature));
          }};
}

/// The same for a value; `off` is the one that asks for nothing.
FlagAction refuse_value(std::string_view feature, std::string_view off = "None") {
  return with_value([feature, off](const FlagUse& use) -> Status {
    if (use.value == off) return {};
    return unsupported(
        fmt::format("{}: {} is not available in this version", use.spelling, feature));
  });
}

/// A flag that asks for something sotto decides by itself: taken, with one note on standard error.
FlagAction no_effect(TranscribeArgs& args, Takes takes, std::string_view why) {
  return {takes, [&args, why](const FlagUse& use) -> Status {
            args.notes.push_back(fmt::format("{} has no effect: {}", use.spelling, why));
            return {};
          }};
}

FlagAction log_level(std::string_view level) {
  return {Takes::kNothing, [level](const FlagUse&) { return set_log_level(level); }};
}

FlagAction request(TranscribeArgs& args, Format format) {
  return call([&args, format] { args.outputs.push_back({format, /*keep_extension=*/true}); });
}

/// -f is whisper-cli's input and openai-whisper's output format.
FlagAction input_or_format(TranscribeArgs& args) {
  return with_value([&args](const FlagUse& use) -> Status {
    std::error_code ignored;
    if (is_format_list(use.value) && !std::filesystem::exists(use.value, ignored)) {
      return add_formats(args, use);
    }
    args.inputs.push_back(use.value);
    return {};
  });
}

/// --device is a kind of device here and the number of a GPU in whisper-cli.
FlagAction device(TranscribeArgs& args) {
  return with_value([&args](const FlagUse& use) -> Status {
    const bool is_index =
        !use.value.empty() && std::all_of(use.value.begin(), use.value.end(), ::isdigit);
    if (is_index) {
      args.notes.push_back(
          fmt::format("{} {} has no effect: devices have no numbers", use.spelling, use.value));
    } else {
      args.load.device = use.value;
    }
    return {};
  });
}

/// -p is the number of parallel parts in whisper-cli and --pretty_json in whisper-ctranslate2.
FlagAction processors_or_pretty(TranscribeArgs& args) {
  return with_value([&args](const FlagUse& use) -> Status {
    if (const std::optional<bool> pretty = bool_word(use.value)) {
      args.writer.pretty = *pretty;
      return {};
    }
    int parts = 1;
    SOTTO_RETURN_IF_ERROR(read_number(use, 1, kAnyInt, parts));
    if (parts > 1) {
      args.notes.push_back(use.spelling +
                           " has no effect: a recording is never cut into parts; see --threads");
    }
    return {};
  });
}

FlagSection input_flags(TranscribeArgs& a) {
  return {
      "Input",
      {{"-f", "FILE|FORMAT", "input file; or the output format, if the word can only be that",
        input_or_format(a)},
       {"--file", "FILE", "input file, like every argument that is no flag; '-' is standard input",
        append(a.inputs)},
       {"--raw-format", "FORMAT",
        "input is headerless samples: s16le, s24le, f32le, u8, mulaw, alaw, ...",
        store(a.raw_format)},
       {"--raw-rate", "HZ", "sample rate of headerless input (16000)",
        store(a.raw_rate, 1, 768000)},
       {"--raw-channels", "N", "channels of headerless input (1)", store(a.raw_channels, 1, 64)},
       {"-ot --offset-t", "MS", "begin this many milliseconds into the recording",
        store(a.offset_ms, 0, kAnyInt)},
       {"-d --duration", "MS", "transcribe only this many milliseconds (0: all)",
        store(a.duration_ms, 0, kAnyInt)},
       {"--clip-timestamps", "S,E,...",
        "start and end seconds of the parts to transcribe; without the last end: to "
        "the end of the recording",
        store(a.clip_timestamps)}}};
}

FlagSection model_flags(TranscribeArgs& a) {
  return {"Model and machine",
          {{"-m --model", "NAME|PATH",
            "an installed model (see 'sotto list'), a model file or a folder; default: the "
            "best installed one",
            store(a.model)},
           {"--model-dir", "DIR", "look for the model in this folder first", store(a.model_dir)},
           {"--model-directory", "DIR", "", store(a.model)},
           {"--server", "URL", "let this server do the work (sotto, or any with OpenAI's API)",
            store(a.server)},
           {"--local", "", "do the work here, even when a server of this user is running",
            turn(a.local, true)},
           {"--device", "NAME", "auto, cpu, npu or sim (auto)", device(a)},
           {"--compute --compute-type", "TYPE", "auto, f32, bf16 or int8 (auto)",
            store(a.load.compute)},
           {"-t --threads", "N", "CPU threads (0: one per physical core)",
            store(a.load.threads, 0, 1024, 0)}}};
}

FlagSection language_flags(TranscribeArgs& a) {
  return {
      "Language and task",
      {{"-l --language", "LANG",
        "spoken language: a code or an English name; auto (the default) detects it",
        store(a.language)},
       {"--languages", "L,L,...", "detect only among these", store(a.languages)},
       {"--multilingual", "BOOL", "detect the language of each window (False)",
        store(a.options.multilingual)},
       {"-dl --detect-language", "",
        "print the detected language and its probability, nothing else", turn(a.detect_only, true)},
       {"-tr --translate", "", "translate into English", turn(a.translate, true)},
       {"--task", "TASK", "transcribe or translate", store(a.task)}}};
}

FlagSection output_flags(TranscribeArgs& a) {
  return {
      "Output files",
      {{"--output-format", "FORMAT,...",
        "also -f: txt, srt, vtt, tsv, csv, lrc, json, json-full, verbose_json; all "
        "is txt,srt,vtt,tsv,csv,json. Files are named talk.srt",
        with_value([&a](const FlagUse& use) { return add_formats(a, use); })},
       {"-o --output-dir", "DIR",
        "folder of the output files, made if absent; '-' is standard output",
        store(a.output_folder)},
       {"-of --output-file", "NAME",
        "output name without extension, one for each input; '-' is standard output",
        append(a.output_names)},
       {"-otxt --output-txt", "", "write talk.mp4.txt beside the input", request(a, Format::kTxt)},
       {"-osrt --output-srt", "", "the same for srt", request(a, Format::kSrt)},
       {"-ovtt --output-vtt", "", "vtt", request(a, Format::kVtt)},
       {"-ocsv --output-csv", "", "csv", request(a, Format::kCsv)},
       {"-olrc --output-lrc", "", "lrc", request(a, Format::kLrc)},
       {"-oj --output-json", "", "json in the form of whisper-cli", request(a, Format::kJsonCli)},
       {"-ojf --output-json-full", "", "the same with tokens", request(a, Format::kJsonFull)},
       {"--json", "", "print one line of json for each input, nothing else", turn(a.json, true)},
       {"--pretty-json", "BOOL", "indent json", store(a.writer.pretty)},
       {"-on --offset-n", "N", "add N to the cue numbers of srt",
        store(a.first_index, 0, kAnyInt / 2)}}};
}

FlagSection display_flags(TranscribeArgs& a) {
  return {
      "Display",
      {{"-np --no-prints", "", "print results and errors only", turn(a.display.quiet, true)},
       {"-nt --no-timestamps", "", "print the text without times",
        turn(a.display.timestamps, false)},
       {"--verbose", "BOOL", "False: no text on standard output when files are written",
        store(a.display.lines)},
       {"-pp --print-progress", "", "print progress in steps of 5 %",
        turn(a.display.progress_lines, true)},
       {"-pc --print-colors", "BOOL", "colour tokens by their probability, red to green",
        store(a.display.colours)},
       {"--print-confidence", "", "show unsure tokens inverse, less sure ones underlined",
        turn(a.display.confidence, true)},
       {"-ps --print-special", "", "print timestamp tokens, too",
        turn(a.display.special_tokens, true)},
       {"--stats", "", "print where the time went, by stage and by operation", turn(a.stats, true)},
       {"-v", "", "say more on standard error; -vv and -vvv still more", log_level("info")},
       {"-vv -debug --debug-mode", "", "", log_level("debug")},
       {"-vvv", "", "", log_level("trace")},
       {"--log-level", "LEVEL", "trace, debug, info, warn, error or off",
        with_value([](const FlagUse& use) {
          return set_log_level(use.value).with_context(use.spelling);
        })},
       {"-h --help", "", "this text", turn(a.help, true)},
       {"--version", "", "print the version", turn(a.version, true)}}};
}

FlagSection search_flags(TranscribeArgs& a) {
  TranscribeOptions& o = a.options;
  return {
      "Search",
      {{"-bs --beam-size", "N", "beams at temperature 0; 1 is greedy (5)",
        store(o.beam_size, -1, 64, 1)},
       {"-bo --best-of", "N", "samples at temperatures above 0 (5)", store(o.best_of, -1, 64, 1)},
       {"--patience", "X", "how long the beam search goes on (1)", store(o.patience, 0.01f, 100)},
       {"--length-penalty", "X", "alpha of the length penalty; None divides by the length",
        store(o.length_penalty, -10, 10)},
       {"--repetition-penalty", "X", "above 1 penalises repeated tokens (1)",
        store(o.repetition_penalty, 0.01f, 100)},
       {"--no-repeat-ngram-size", "N", "never repeat N tokens in a row (0: off)",
        store(o.no_repeat_ngram_size, 0, 448)},
       {"-tp --temperature", "X", "first temperature (0)", store(a.first_temperature, 0, 10)},
       {"-tpi --temperature-inc --temperature-increment-on-fallback", "X",
        "step to the next temperature when a window fails, up to 1 (0.2)",
        store(a.temperature_step, 0, 10)},
       {"-nf --no-fallback", "", "use the first temperature only",
        call([&a] { a.temperature_step.reset(); })},
       {"--compression-ratio-threshold", "X",
        "a window fails when its text compresses better than this (2.4)",
        store(o.compression_ratio_threshold, -kAny, kAny)},
       {"-et --entropy-thold", "X", "a window fails when its tokens are less diverse than this",
        store(o.entropy_threshold, -kAny, kAny)},
       {"-lpt --logprob-thold --logprob-threshold", "X",
        "a window fails below this mean log-probability (-1)",
        store(o.logprob_threshold, -kAny, kAny)},
       {"-nth --no-speech-thold --no-speech-threshold", "X",
        "a failed window is silent above this probability (0.6)",
        store(o.no_speech_threshold, -kAny, kAny)},
       {"--suppress-tokens", "ID,...",
        "tokens that are never sampled; -1: all that are not speech (-1)",
        store(a.suppress_tokens)},
       {"-sns --suppress-nst", "", "the same as --suppress-tokens -1",
        call([&a] { a.suppress_tokens = "-1"; })},
       {"--suppress-regex", "REGEX", "never sample tokens that match", store(o.suppress_regex)},
       {"--suppress-blank", "BOOL", "no blank at the beginning of a window (True)",
        store(o.suppress_blank)},
       {"-ac --audio-ctx", "N",
        "encoder positions of 20 ms (0: all 1500); auto: what a short recording needs",
        with_value([&o](const FlagUse& use) -> Status {
          if (use.value != "auto") return read_number(use, 0, 1500, o.audio_ctx);
          o.audio_ctx = TranscribeOptions::kAudioCtxAuto;
          return {};
        })}}};
}

FlagSection context_flags(TranscribeArgs& a) {
  TranscribeOptions& o = a.options;
  return {"Context",
          {{"--prompt --initial-prompt", "TEXT",
            "text that comes before the recording: names, style", store(o.initial_prompt)},
           {"--carry-initial-prompt", "BOOL", "put the prompt before every window",
            store(o.carry_initial_prompt)},
           {"--hotwords", "TEXT", "words to expect, put before every window", store(o.hotwords)},
           {"--vocabulary", "FILE", "the same, one a line", store(a.vocabulary)},
           {"--prefix", "TEXT", "beginning of the first window's text", store(o.prefix)},
           {"--condition-on-previous-text", "BOOL",
            "the text so far is context of the next window (True)",
            store(o.condition_on_previous_text)},
           {"--prompt-reset-on-temperature", "X", "not after windows above this temperature (0.5)",
            store(o.prompt_reset_on_temperature, 0, 10)},
           {"-mc --max-context", "N", "tokens of context (-1: half of the text window)",
            store(o.max_context_tokens, -1, kAnyInt)}}};
}

FlagSection word_flags(TranscribeArgs& a) {
  TranscribeOptions& o = a.options;
  return {
      "Words and speakers",
      {{"--word-timestamps", "BOOL", "give each word its time (json, srt, vtt)",
        store(o.word_timestamps)},
       {"-ml --max-len", "N", "cut segments between words into pieces of N characters (0: off)",
        store(a.max_segment_length, 0, kAnyInt)},
       {"-sow --split-on-word", "", "", call([] {})},  // words are never cut here
       {"--highlight-words", "BOOL", "srt and vtt: a cue for each word, underlined in its line",
        store(a.writer.highlight_words)},
       {"--max-line-width", "N", "srt and vtt: break lines after N characters",
        store(a.writer.max_line_width, 1, kAnyInt, 0)},
       {"--max-line-count", "N", "srt and vtt: lines in a cue",
        store(a.writer.max_line_count, 1, kAnyInt, 0)},
       {"--max-words-per-line", "N", "srt and vtt: words in a cue",
        store(a.writer.max_words_per_line, 1, kAnyInt, 0)},
       {"--prepend-punctuations", "TEXT", "marks that belong to the next word",
        store(o.prepend_punctuations)},
       {"--append-punctuations", "TEXT", "marks that belong to the word before",
        store(o.append_punctuations)},
       {"-di --diarize", "BOOL", "stereo: label segments by the louder channel", store(o.diarize)},
       {"--hallucination-silence-threshold", "S",
        "skip silences longer than this around text that was probably made up",
        store(o.hallucination_silence_threshold, 0, kAny)}}};
}

/// --vad as whisper-cli has it, --vad_filter True as whisper-ctranslate2.
FlagAction vad_mode(TranscribeArgs& args) {
  return {Takes::kMaybeBool, [&args](const FlagUse& use) -> Status {
            const bool is_off = bool_word(use.value) == false;
            args.options.vad_mode = is_off ? VadMode::kOff : VadMode::kOn;
            return {};
          }};
}

FlagSection silence_flags(TranscribeArgs& a) {
  std::vector<Flag> flags = {
      {"--vad --vad-filter", "BOOL",
       "leave out what holds no speech (on when the detector is installed; False: off)",
       vad_mode(a)},
      {"--drop-made-up-text", "BOOL", "drop text that was probably made up, and leave loops (True)",
       store(a.options.drop_made_up_text)},
      {"--no-vad", "", "the same as --vad False",
       call([&a] { a.options.vad_mode = VadMode::kOff; })}};
  for (Flag& flag : vad_flags(a.vad))
    flags.push_back(std::move(flag));
  return {"Silence", std::move(flags)};
}

/// Taken for the sake of existing scripts; none is in the help.
FlagSection foreign_flags(TranscribeArgs& a) {
  constexpr std::string_view kDevice = "the device is chosen with --device";
  constexpr std::string_view kPrecision = "the precision is chosen with --compute";
  return {"",
          {{"-p --processors", "N", "", processors_or_pretty(a)},
           {"-ng --no-gpu", "", "", no_effect(a, Takes::kNothing, kDevice)},
           {"-dev --device-index", "N", "", no_effect(a, Takes::kValue, kDevice)},
           {"-oved --ov-e-device", "D", "", no_effect(a, Takes::kValue, kDevice)},
           {"-fa --flash-attn", "", "",
            no_effect(a, Takes::kNothing, "attention is always computed in blocks")},
           {"-nfa --no-flash-attn", "", "",
            no_effect(a, Takes::kNothing, "attention is always computed in blocks")},
           {"-ls --log-score", "", "",
            no_effect(a, Takes::kNothing, "token probabilities are in json-full")},
           {"-fp --font-path", "FILE", "", no_effect(a, Takes::kValue, "no video is made")},
           {"--fp16", "BOOL", "", no_effect(a, Takes::kMaybeBool, kPrecision)},
           {"--local-files-only", "BOOL", "",
            no_effect(a, Takes::kMaybeBool, "transcribe never downloads")},
           {"--batched", "BOOL", "",
            no_effect(a, Takes::kMaybeBool, "windows are decoded one after the other")},
           {"--batch-size", "N", "",
            no_effect(a, Takes::kValue, "windows are decoded one after the other")}}};
}

/// Features that are not built yet. A row moves to its section when the feature works.
FlagSection refused_flags() {
  constexpr std::string_view kSpeakers = "speaker labelling";
  constexpr std::string_view kGrammar = "grammar-guided decoding";
  constexpr std::string_view kLive = "live transcription";
  return {"",
          {{"-wt --word-thold", "X", "", refuse_value("a threshold of token times", "0.01")},
           {"-dtw --dtw", "MODEL", "", refuse_value("timing of tokens")},
           {"-owts --output-words", "", "", refuse_switch("karaoke output")},
           {"-tdrz --tinydiarize", "", "", refuse_switch(kSpeakers)},
           {"--hf-token", "TOKEN", "", refuse_value(kSpeakers, "")},
           {"--speaker-name", "NAME", "", refuse_value(kSpeakers)},
           {"--grammar", "GRAMMAR", "", refuse_value(kGrammar)},
           {"--grammar-rule", "RULE", "", refuse_value(kGrammar)},
           {"--grammar-penalty", "X", "", refuse_value(kGrammar)},
           {"--live-transcribe", "BOOL", "", refuse_switch(kLive)},
           {"--live-volume-threshold", "X", "", refuse_value(kLive)},
           {"--live-input-device", "N", "", refuse_value(kLive)}}};
}

}  // namespace

std::vector<FlagSection> transcribe_flags(TranscribeArgs& args) {
  return {input_flags(args),   model_flags(args),   language_flags(args), output_flags(args),
          display_flags(args), search_flags(args),  context_flags(args),  word_flags(args),
          silence_flags(args), foreign_flags(args), refused_flags()};
}

}  // namespace sotto::cli
