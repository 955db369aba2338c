#include "whisper/testing/fake_model.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace sotto::whisper::testing {
namespace {

const std::vector<std::string>& words() {
  static const std::vector<std::string> kWords = {
      " hello",   " world",       " one", " two", " three", " four", " five", " six",
      "\xE4\xBD", "\xE5\xA5\xBD", " -",   " '",   "ly",     " \"",   " you",  " 42"};
  return kWords;
}

struct FakeWindow : EncodedWindow {
  int index = 0;
  int positions = 0;
};

}  // namespace

/// Keeps the token history of every sequence and checks that callers keep to Decoder's contract.
class FakeDecoder : public Decoder {
 public:
  FakeDecoder(FakeModel& model, int sequences)
      : model_(model), slots_(static_cast<size_t>(sequences)) {}

  Status step(const DecodeBatch& batch, std::span<float> logits,
              std::vector<float>* alignment) override {
    const size_t rows = batch.tokens.size();
    model_.log_.batch_rows.push_back(rows);
    expect(batch.rows.size() == rows && batch.windows.size() == rows,
           "batch arrays differ in length");
    const auto vocabulary = static_cast<size_t>(model_.config_.n_vocab);
    expect(logits.size() == batch.logit_rows.size() * vocabulary, "logits have the wrong size");
    if (alignment != nullptr) {
      const auto* window = static_cast<const FakeWindow*>(batch.windows.front());
      alignment->assign(
          model_.config_.alignment_heads.size() * rows * static_cast<size_t>(window->positions),
          0.0f);
    }
    if (cleared_) model_.log_.prompts.push_back(batch.tokens);
    cleared_ = false;
    for (size_t row = 0, wanted = 0; row < rows; ++row) {
      std::vector<int>& slot = slots_.at(static_cast<size_t>(batch.rows[row].sequence));
      expect(batch.rows[row].position == static_cast<int64_t>(slot.size()),
             "position does not continue its sequence");
      expect(slot.size() < static_cast<size_t>(model_.config_.n_text_ctx),
             "position beyond the text context");
      slot.push_back(batch.tokens[row]);
      if (alignment != nullptr) fill_attention(batch, row, rows, *alignment);
      if (wanted < batch.logit_rows.size() &&
          batch.logit_rows[wanted] == static_cast<int64_t>(row)) {
        const std::span<float> out = logits.subspan(wanted * vocabulary, vocabulary);
        std::fill(out.begin(), out.end(), 0.0f);
        model_.script_(call(batch, row), out);
        ++wanted;
      }
    }
    return {};
  }

  Status reorder(std::span<const int> parents, int64_t length) override {
    std::vector<std::vector<int>> next = slots_;
    expect(parents.size() <= slots_.size(), "more parents than sequences");
    for (size_t i = 0; i < parents.size(); ++i) {
      const std::vector<int>& parent = slots_.at(static_cast<size_t>(parents[i]));
      expect(static_cast<int64_t>(parent.size()) >= length,
             "parent is shorter than the length to keep");
      next[i].assign(parent.begin(), parent.begin() + length);
    }
    slots_ = std::move(next);
    return {};
  }

  void clear() override {
    for (std::vector<int>& slot : slots_)
      slot.clear();
    cleared_ = true;
  }

 private:
  void expect(bool holds, const char* what) {
    if (!holds && model_.log_.misuse.empty()) model_.log_.misuse = what;
  }

  FakeCall call(const DecodeBatch& batch, size_t row) {
    const std::vector<int>& slot = slots_[static_cast<size_t>(batch.rows[row].sequence)];
    FakeCall result{static_cast<const FakeWindow*>(batch.windows[row])->index, slot, {}};
    const auto& tokens = model_.tokens_;
    auto at = std::find(slot.begin(), slot.end(), tokens.sot);
    while (at != slot.end() && *at >= tokens.sot && *at <= tokens.no_timestamps)
      ++at;
    result.text = std::span(slot).subspan(static_cast<size_t>(at - slot.begin()));
    return result;
  }

  void fill_attention(const DecodeBatch& batch, size_t row, size_t rows,
                      std::vector<float>& alignment) {
    if (!model_.attention_) return;
    const auto positions =
        static_cast<size_t>(static_cast<const FakeWindow*>(batch.windows[row])->positions);
    for (size_t head = 0; head < model_.config_.alignment_heads.size(); ++head) {
      model_.attention_(call(batch, row), static_cast<int>(head),
                        std::span(alignment).subspan((head * rows + row) * positions, positions));
    }
  }

  FakeModel& model_;
  std::vector<std::vector<int>> slots_;
  bool cleared_ = true;
};

FakeModel::FakeModel(Script script, const FakeOptions& options) : script_(std::move(script)) {
  tokenizer::BpeData data;
  for (int byte = 0; byte < 256; ++byte)
    data.tokens.emplace_back(1, static_cast<char>(byte));
  data.tokens.insert(data.tokens.end(), words().begin(), words().end());
  const auto add_special = [&data](const std::string& literal) {
    const int id = static_cast<int>(data.tokens.size());
    data.special[literal] = id;
    data.tokens.push_back(literal);
    return id;
  };
  tokens_.eot = add_special("<|endoftext|>");
  tokens_.sot = add_special("<|startoftranscript|>");
  tokens_.first_language = tokens_.sot + 1;
  tokens_.language_count = options.languages;
  for (int i = 0; i < options.languages; ++i) {
    add_special("<|" + std::string(tokenizer::languages()[static_cast<size_t>(i)].code) + "|>");
  }
  tokens_.translate = add_special("<|translate|>");
  tokens_.transcribe = add_special("<|transcribe|>");
  tokens_.sot_lm = add_special("<|startoflm|>");
  tokens_.sot_prev = add_special("<|startofprev|>");
  tokens_.no_speech = add_special("<|nospeech|>");
  tokens_.no_timestamps = add_special("<|notimestamps|>");
  tokens_.timestamp_begin = static_cast<int>(data.tokens.size());
  tokens_.multilingual = options.multilingual;
  for (int i = 0; i <= 1500; ++i)
    add_special("<|t" + std::to_string(i) + "|>");

  config_.n_text_ctx = options.n_text_ctx;
  config_.n_vocab = static_cast<int>(data.tokens.size());
  config_.encoder_layers = config_.decoder_layers = 2;
  for (int head = 0; head < options.heads; ++head)
    config_.alignment_heads.emplace_back(1, head);
  tokenizer_ = std::move(tokenizer::Tokenizer::create(std::move(data))).value();
}

Result<std::unique_ptr<EncodedWindow>> FakeModel::encode(std::span<const float> mel,
                                                         int positions) {
  auto window = std::make_unique<FakeWindow>();
  window->index = log_.encodes++;
  window->positions = positions;
  log_.positions.push_back(positions);
  log_.mels.emplace_back(mel.begin(), mel.end());
  if (mel.size() != static_cast<size_t>(2 * positions * config_.n_mels))
    log_.misuse = "mel has the wrong size";
  return std::unique_ptr<EncodedWindow>(std::move(window));
}

Result<std::unique_ptr<Decoder>> FakeModel::create_decoder(int sequences) {
  return std::unique_ptr<Decoder>(std::make_unique<FakeDecoder>(*this, sequences));
}

ops::Backend& FakeModel::backend() {
  std::abort();
}

int FakeModel::word(std::string_view text) const {
  if (text.size() == 1) return static_cast<unsigned char>(text[0]);
  const auto at = std::find(words().begin(), words().end(), text);
  if (at == words().end()) std::abort();
  return 256 + static_cast<int>(at - words().begin());
}

int FakeModel::time(double seconds) const {
  return tokens_.timestamp_begin + static_cast<int>(std::lround(seconds / 0.02));
}

Script write_windows(std::vector<std::vector<int>> windows, int eot) {
  return [windows = std::move(windows), eot](const FakeCall& call, std::span<float> logits) {
    const auto window = static_cast<size_t>(call.window);
    const bool scripted = window < windows.size() && call.text.size() < windows[window].size();
    logits[static_cast<size_t>(scripted ? windows[window][call.text.size()] : eot)] = 10.0f;
  };
}

audio::LogMel silent_mel(double seconds) {
  audio::SampleBuffer samples;
  samples.append(
      std::vector<float>(static_cast<size_t>(std::lround(seconds * audio::kSampleRate))));
  ThreadPool pool(1);
  return std::move(audio::LogMel::compute(samples, 80, pool)).value();
}

}  // namespace sotto::whisper::testing
