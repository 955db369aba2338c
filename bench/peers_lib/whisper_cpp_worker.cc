// Runs whisper.cpp for bench/peers, over its C API.
//   whisper_cpp_worker MODEL SAMPLES.f32 THREADS CASE MODE
// SAMPLES: 16 kHz mono floats. CASE: encode, beam5 or greedy. MODE: "paced" does one run for each
// line of standard input; "once" is a single run. Prints a JSON object for the loading and one for
// each run.
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "whisper.h"

namespace {

double milliseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

std::vector<float> read_samples(const char* path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const std::streamoff bytes = file ? std::streamoff(file.tellg()) : 0;
  std::vector<float> samples(static_cast<size_t>(bytes) / sizeof(float));
  file.seekg(0);
  file.read(reinterpret_cast<char*>(samples.data()),
            static_cast<std::streamsize>(samples.size() * sizeof(float)));
  return samples;
}

std::string json_string(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out + '"';
}

struct Work {
  whisper_context* context;
  std::vector<float> samples;
  int threads;
  std::string kind;
};

// The parameters that whisper-cli has when it is given none, apart from the beam.
std::string transcribe(const Work& work) {
  const bool greedy = work.kind == "greedy";
  whisper_full_params params =
      whisper_full_default_params(greedy ? WHISPER_SAMPLING_GREEDY : WHISPER_SAMPLING_BEAM_SEARCH);
  params.n_threads = work.threads;
  params.language = "en";
  params.print_progress = params.print_realtime = params.print_timestamps = false;
  params.greedy.best_of = 5;
  params.beam_search.beam_size = 5;
  if (whisper_full(work.context, params, work.samples.data(),
                   static_cast<int>(work.samples.size())) != 0)
    return "";
  std::string text;
  for (int i = 0; i < whisper_full_n_segments(work.context); ++i)
    text += whisper_full_get_segment_text(work.context, i);
  return text;
}

void run(const Work& work) {
  if (work.kind == "encode" &&
      whisper_pcm_to_mel(work.context, work.samples.data(), static_cast<int>(work.samples.size()),
                         work.threads) != 0) {
    return;
  }
  const auto start = std::chrono::steady_clock::now();
  std::string text;
  if (work.kind == "encode") {
    whisper_encode(work.context, 0, work.threads);
  } else {
    text = transcribe(work);
  }
  std::printf("{\"ms\": %.3f, \"text\": %s}\n", milliseconds_since(start),
              json_string(text).c_str());
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) return 2;
  whisper_log_set([](ggml_log_level, const char*, void*) {}, nullptr);
  const auto start = std::chrono::steady_clock::now();
  whisper_context* context =
      whisper_init_from_file_with_params(argv[1], whisper_context_default_params());
  if (context == nullptr) return 3;
  const Work work{context, read_samples(argv[2]), std::stoi(argv[3]), argv[4]};
  std::printf("{\"load_ms\": %.3f}\n", milliseconds_since(start));
  std::fflush(stdout);
  if (std::string(argv[5]) == "once") {
    run(work);
  } else {
    for (std::string line; std::getline(std::cin, line);)
      run(work);
  }
  whisper_free(context);
  return 0;
}
