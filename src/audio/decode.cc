// decode_file and decode_memory: bytes -> packets -> frames -> mix -> 16 kHz.
#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "audio/av_log.h"
#include "audio/byte_source.h"
#include "audio/mixdown.h"
#include "audio/packet_reader.h"
#include "audio/recording.h"

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavutil/error.h>
#include <libavutil/frame.h>
}

namespace sotto::audio {
namespace {

struct FreeFrame {
  void operator()(AVFrame* frame) const { av_frame_free(&frame); }
};
struct FreePacket {
  void operator()(AVPacket* packet) const { av_packet_free(&packet); }
};

std::string tenths(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f", value);
  return text.data();
}

class Decoding {
 public:
  Decoding(ByteSource& source, const DecodeOptions& options)
      : source_(source), options_(options), sink_(options, recording_) {}

  Result<Recording> run() {
    if (frame_ == nullptr || packet_ == nullptr) return resource_exhausted("out of memory");
    auto opened = options_.raw ? open_raw(source_, *options_.raw) : open_container(source_, log_);
    if (!opened.ok()) return opened.status();
    reader_ = std::move(opened).value();
    recording_.container = reader_->container;
    recording_.codec = avcodec_get_name(reader_->decoder->codec_id);
    SOTTO_RETURN_IF_ERROR(decode_packets());
    SOTTO_RETURN_IF_ERROR(finish_mix());
    if (frames_ == 0 && (damaged_ > 0 || !source_.failure().ok())) {
      if (!source_.failure().ok()) return source_.failure();
      return corrupt("nothing could be decoded from this " + recording_.container + " (" +
                     recording_.codec + ")" + reason());
    }
    add_warnings();
    return std::move(recording_);
  }

 private:
  [[nodiscard]] std::string reason() const {
    return log_.last_error().empty() ? "" : ": " + log_.last_error();
  }

  Status decode_packets() {
    // libav keeps the order: a packet in, all its frames out.
    while (!sink_.full()) {
      if (options_.should_stop && options_.should_stop())
        return cancelled("stopped while decoding");
      const int error = reader_->next(*packet_);
      if (error == AVERROR_EXIT) return cancelled("stopped while reading");
      if (error == AVERROR_EOF) break;
      if (error < 0) {
        ++damaged_;
        break;
      }
      const Status status = decode(packet_.get());
      av_packet_unref(packet_.get());
      SOTTO_RETURN_IF_ERROR(status);
    }
    return sink_.full() ? Status() : decode(nullptr);
  }

  // A file of plain samples may end inside one; that is no damage worth a word.
  void drop_half_sample(AVPacket& packet) const {
    const AVCodecContext& decoder = *reader_->decoder;
    const int frame_bytes =
        av_get_exact_bits_per_sample(decoder.codec_id) / 8 * decoder.ch_layout.nb_channels;
    if (frame_bytes > 0) av_shrink_packet(&packet, packet.size - packet.size % frame_bytes);
  }

  // Null flushes the decoder. Damage is counted, not returned: what follows may be sound.
  Status decode(AVPacket* packet) {
    AVCodecContext* decoder = reader_->decoder.get();
    if (packet != nullptr) {
      drop_half_sample(*packet);
      if (packet->size == 0) return {};
    }
    if (avcodec_send_packet(decoder, packet) < 0) {
      ++damaged_;
      return {};
    }
    for (;;) {
      const int error = avcodec_receive_frame(decoder, frame_.get());
      if (error == AVERROR(EAGAIN) || error == AVERROR_EOF) return {};
      if (error < 0) {
        ++damaged_;
        return {};
      }
      const Status status = take_frame();
      av_frame_unref(frame_.get());
      SOTTO_RETURN_IF_ERROR(status);
    }
  }

  Status take_frame() {
    SOTTO_RETURN_IF_ERROR(mixer_.convert(*frame_, mixed_));
    if (frames_++ == 0) {
      recording_.source_rate = frame_->sample_rate;
      recording_.source_channels = frame_->ch_layout.nb_channels;
    }
    if (frame_->sample_rate != rate_ ||
        mixed_.channels != channels_) {  // some files change on the way
      SOTTO_RETURN_IF_ERROR(flush_resampler());
      rate_ = frame_->sample_rate;
      channels_ = mixed_.channels;
      SOTTO_RETURN_IF_ERROR(resampler_.configure(rate_, channels_));
    }
    resampled_.clear();
    SOTTO_RETURN_IF_ERROR(resampler_.convert(mixed_, resampled_));
    sink_.append(resampled_);
    if (static_cast<double>(sink_.seen()) > options_.limit_s * kSampleRate) {
      return resource_exhausted("longer than the limit of " + tenths(options_.limit_s / 3600) +
                                " hours; ask for a part of it");
    }
    return {};
  }

  Status flush_resampler() {
    if (rate_ == 0) return {};
    resampled_.clear();
    SOTTO_RETURN_IF_ERROR(resampler_.flush(resampled_));
    if (resampled_.samples() > 0) sink_.append(resampled_);
    return {};
  }

  Status finish_mix() {
    SOTTO_RETURN_IF_ERROR(flush_resampler());
    sink_.finish();
    // Left and right are only of use when they run along the whole recording.
    if (recording_.left.size() != recording_.mono.size()) {
      recording_.left = SampleBuffer();
      recording_.right = SampleBuffer();
    }
    return {};
  }

  void add_warnings() {
    const double decoded_s = static_cast<double>(sink_.seen()) / kSampleRate;
    const auto warn = [this](std::string text) { recording_.warnings.push_back(std::move(text)); };
    if (!source_.failure().ok()) {
      warn("reading stopped after " + tenths(decoded_s) + " s: " + source_.failure().message());
    }
    if (damaged_ > 0) {
      warn(std::to_string(damaged_) + " damaged parts were skipped; " + tenths(decoded_s) +
           " s decoded" + reason());
    }
    constexpr double kSlackS = 0.3;  // encoder delay and padding
    constexpr double kSlackShare = 0.01;
    if (reader_->announced_s && !sink_.full() &&
        decoded_s < *reader_->announced_s * (1 - kSlackShare) - kSlackS) {
      warn("the file seems to be cut off: it announces " + tenths(*reader_->announced_s) +
           " s, but only " + tenths(decoded_s) + " s are there");
    } else if (reader_->cut_off && !sink_.full()) {
      warn("the file seems to be cut off: its header announces more than the " + tenths(decoded_s) +
           " s that are there");
    }
    if (sink_.seen() == 0) warn("the recording holds no samples");
    if (mixer_.cleaned() > 0) {
      warn(std::to_string(mixer_.cleaned()) + " samples were not numbers and are taken as silence");
    }
    if (mixer_.beyond() > mixer_.total() / 100) {
      warn(tenths(100.0 * static_cast<double>(mixer_.beyond()) /
                  static_cast<double>(mixer_.total())) +
           " % of the samples lie outside -1..1 and were clipped; floating-point files should be "
           "scaled to -1..1");
    }
  }

  AvLogCapture log_;
  ByteSource& source_;
  const DecodeOptions& options_;
  Recording recording_;
  RecordingSink sink_;
  std::unique_ptr<PacketReader> reader_;
  std::unique_ptr<AVFrame, FreeFrame> frame_{av_frame_alloc()};
  std::unique_ptr<AVPacket, FreePacket> packet_{av_packet_alloc()};
  ChannelMixer mixer_;
  Resampler resampler_;
  Planes mixed_, resampled_;
  int rate_ = 0, channels_ = 0;  // what resampler_ is configured for
  int64_t frames_ = 0;
  int64_t damaged_ = 0;
};

Result<Recording> decode(ByteSource& source, const std::string& label,
                         const DecodeOptions& options) {
  try {
    Decoding decoding(source, options);
    Result<Recording> result = decoding.run();
    if (!result.ok()) return result.status().with_context(label);
    return result;
  } catch (const std::bad_alloc&) {
    return resource_exhausted(label +
                              ": not enough memory for this recording; transcribe it in parts");
  }
}

}  // namespace

Result<Recording> decode_file(const std::string& path, const DecodeOptions& options) {
  auto source = open_file_source(path, options.should_stop);
  if (!source.ok()) return source.status();
  return decode(**source, path == "-" ? "standard input" : path, options);
}

Result<Recording> decode_memory(std::span<const std::byte> bytes, const std::string& label,
                                const DecodeOptions& options) {
  return decode(*memory_source(bytes), label, options);
}

}  // namespace sotto::audio
