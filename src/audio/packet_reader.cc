#include "audio/packet_reader.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "audio/sniff.h"

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/channel_layout.h>
#include <libavutil/error.h>
#include <libavutil/mem.h>
}

namespace sotto::audio {

void FreeCodecContext::operator()(AVCodecContext* context) const {
  avcodec_free_context(&context);
}

namespace {

constexpr int kIoBuffer = 1 << 16;
constexpr size_t kHeadBytes = 512;

int read_callback(void* opaque, uint8_t* buffer, int size) {
  auto& source = *static_cast<ByteSource*>(opaque);
  const ByteSource::Read got =
      source.read({reinterpret_cast<std::byte*>(buffer), static_cast<size_t>(size)});
  switch (got.outcome) {
    case ByteSource::Outcome::kBytes:
      return static_cast<int>(got.count);
    case ByteSource::Outcome::kEnd:
      return AVERROR_EOF;
    case ByteSource::Outcome::kStopped:
      return AVERROR_EXIT;
    case ByteSource::Outcome::kFailed:
      break;
  }
  return AVERROR(EIO);
}

/// libav's byte stream over a ByteSource, with the position that libav seeks by kept here.
class IoContext {
 public:
  explicit IoContext(ByteSource& source) : source_(source) {
    auto* buffer = static_cast<unsigned char*>(av_malloc(kIoBuffer));
    if (buffer == nullptr) return;
    const bool seekable = source.size() >= 0;
    context_ = avio_alloc_context(buffer, kIoBuffer, 0, this, &IoContext::read, nullptr,
                                  seekable ? &IoContext::seek : nullptr);
    if (context_ == nullptr) {
      av_free(buffer);
      return;
    }
    context_->seekable = seekable ? AVIO_SEEKABLE_NORMAL : 0;
  }
  ~IoContext() {
    if (context_ != nullptr) av_freep(&context_->buffer);
    avio_context_free(&context_);
  }
  IoContext(const IoContext&) = delete;
  IoContext& operator=(const IoContext&) = delete;

  [[nodiscard]] AVIOContext* get() const { return context_; }

 private:
  static int read(void* opaque, uint8_t* buffer, int size) {
    auto& self = *static_cast<IoContext*>(opaque);
    const int n = read_callback(&self.source_, buffer, size);
    if (n > 0) self.position_ += n;
    return n;
  }
  static int64_t seek(void* opaque, int64_t offset, int whence) {
    auto& self = *static_cast<IoContext*>(opaque);
    const int64_t size = self.source_.size();
    int64_t target = 0;
    switch (whence & ~AVSEEK_FORCE) {
      case AVSEEK_SIZE:
        return size;
      case SEEK_SET:
        target = offset;
        break;
      case SEEK_CUR:
        target = self.position_ + offset;
        break;
      case SEEK_END:
        target = size + offset;
        break;
      default:
        return AVERROR(EINVAL);
    }
    if (target < 0 || !self.source_.seek(target)) return AVERROR(EINVAL);
    self.position_ = target;
    return target;
  }

  ByteSource& source_;
  AVIOContext* context_ = nullptr;
  int64_t position_ = 0;
};

// Playlists and manifests would make libav open other files or addresses by name.
int refuse_to_open(AVFormatContext* /*context*/, AVIOContext** /*io*/, const char* /*url*/,
                   int /*flags*/, AVDictionary** /*options*/) {
  return AVERROR(EPERM);
}

std::string with_reason(std::string message, const std::string& reason) {
  return reason.empty() ? std::move(message) : std::move(message) + " (" + reason + ")";
}

/// Whether a RIFF header (wav, avi) announces more than the `size` bytes that are there. Programs
/// that write to a pipe announce nothing (0) or about the largest number there is; that is no
/// fault.
bool riff_is_cut_off(std::span<const std::byte> head, int64_t size) {
  constexpr uint32_t kStreaming = 0x7FFF0000;
  if (size < 0 || head.size() < 8 || std::memcmp(head.data(), "RIFF", 4) != 0) return false;
  uint32_t announced = 0;
  for (int i = 3; i >= 0; --i)
    announced = announced << 8 | std::to_integer<uint32_t>(head[4 + static_cast<size_t>(i)]);
  return announced < kStreaming && int64_t{announced} + 8 > size;
}

/// libav reads the header of a RIFX file (a wav with its bytes in the other order) but takes the
/// samples for little-endian.
AVCodecID big_endian(AVCodecID codec) {
  switch (codec) {
    case AV_CODEC_ID_PCM_S16LE:
      return AV_CODEC_ID_PCM_S16BE;
    case AV_CODEC_ID_PCM_S24LE:
      return AV_CODEC_ID_PCM_S24BE;
    case AV_CODEC_ID_PCM_S32LE:
      return AV_CODEC_ID_PCM_S32BE;
    case AV_CODEC_ID_PCM_F32LE:
      return AV_CODEC_ID_PCM_F32BE;
    case AV_CODEC_ID_PCM_F64LE:
      return AV_CODEC_ID_PCM_F64BE;
    default:
      return codec;
  }
}

class ContainerReader final : public PacketReader {
 public:
  ContainerReader(ByteSource& source, const AvLogCapture& log) : log_(log), source_(&source) {}
  ~ContainerReader() override { avformat_close_input(&format_); }
  ContainerReader(const ContainerReader&) = delete;
  ContainerReader& operator=(const ContainerReader&) = delete;

  Status open() {
    io_.emplace(*source_);
    if (io_->get() == nullptr) return resource_exhausted("out of memory");
    SOTTO_RETURN_IF_ERROR(look_at_head());
    SOTTO_RETURN_IF_ERROR(open_format());
    return open_stream();
  }

  int next(AVPacket& packet) override {
    for (;;) {
      const int error = av_read_frame(format_, &packet);
      if (error < 0) return error;
      if (packet.stream_index == stream_) return 0;
      av_packet_unref(&packet);
    }
  }

 private:
  // The first bytes decide: nothing at all, surely no sound, or an mp4 that a pipe cannot deliver
  // out of order.
  Status look_at_head() {
    std::array<unsigned char, kHeadBytes> head{};
    const int got = avio_read(io_->get(), head.data(), static_cast<int>(head.size()));
    if (got == AVERROR_EXIT) return cancelled("stopped while reading");
    if (!source_->failure().ok()) return source_->failure();
    if (got <= 0) return invalid_argument("the file is empty");
    const auto bytes = std::as_bytes(std::span(head)).first(static_cast<size_t>(got));
    const std::string_view what = describe_non_audio(bytes);
    if (!what.empty()) return unsupported("not audio: this is " + std::string(what));
    big_endian_wav_ = std::memcmp(head.data(), "RIFX", 4) == 0;
    cut_off = riff_is_cut_off(bytes, source_->size());
    const std::string_view text(reinterpret_cast<const char*>(head.data()),
                                static_cast<size_t>(got));
    if (source_->size() < 0 && text.size() >= 8 && text.substr(4, 4) == "ftyp") return slurp(bytes);
    // Within libav's buffer, so that this works on pipes too.
    return avio_seek(io_->get(), 0, SEEK_SET) < 0 ? internal_error("cannot go back to the start")
                                                  : Status();
  }

  // The index of an mp4 usually stands at its end.
  Status slurp(std::span<const std::byte> head) {
    constexpr size_t kLimit = size_t{2} << 30;
    whole_.assign(head.begin(), head.end());
    // What libav has read ahead beyond the head comes first.
    AVIOContext* io = io_->get();
    const auto ahead = std::as_bytes(std::span(io->buf_ptr, io->buf_end));
    whole_.insert(whole_.end(), ahead.begin(), ahead.end());
    SOTTO_ASSIGN_OR_RETURN(const std::vector<std::byte> rest, read_all(*source_, kLimit));
    whole_.insert(whole_.end(), rest.begin(), rest.end());
    memory_ = memory_source(whole_);
    source_ = memory_.get();
    io_.emplace(*source_);
    return io_->get() == nullptr ? resource_exhausted("out of memory") : Status();
  }

  Status open_format() {
    // libav gives a picture or noise 1 where two mp3 frames in a row give 5.
    constexpr int kLowestScore = 5;
    const AVInputFormat* input = nullptr;
    const int score = av_probe_input_buffer2(io_->get(), &input, "", nullptr, 0, 0);
    if (score == AVERROR_EXIT) return cancelled("stopped while reading");
    if (!source_->failure().ok()) return source_->failure();
    if (score < kLowestScore || input == nullptr) {
      return unsupported("not audio: the bytes match no known sound or video format");
    }
    container = input->name;
    format_ = avformat_alloc_context();
    if (format_ == nullptr) return resource_exhausted("out of memory");
    format_->pb = io_->get();
    format_->flags |= AVFMT_FLAG_CUSTOM_IO;
    format_->io_open = &refuse_to_open;
    if (avformat_open_input(&format_, "", input, nullptr) < 0) {  // frees format_ on failure
      return open_failure("cannot be opened as " + container);
    }
    if (avformat_find_stream_info(format_, nullptr) < 0)
      return open_failure("no streams can be read from " + container);
    return {};
  }

  Status open_failure(std::string message) const {
    if (!source_->failure().ok()) return source_->failure();
    return corrupt(with_reason("damaged or not audio: " + std::move(message), log_.last_error()));
  }

  Status open_stream() {
    std::string seen;
    bool has_audio = false;
    for (unsigned i = 0; i < format_->nb_streams; ++i) {
      AVStream* stream = format_->streams[i];
      stream->discard = AVDISCARD_ALL;
      const char* type = av_get_media_type_string(stream->codecpar->codec_type);
      const char* codec = avcodec_get_name(stream->codecpar->codec_id);
      if (stream_ >= 0) continue;
      if (stream->codecpar->codec_type == AVMEDIA_TYPE_AUDIO) {
        has_audio = true;
        if (open_decoder(*stream)) {
          stream->discard = AVDISCARD_DEFAULT;
          stream_ = static_cast<int>(i);
          announced_s = announced_length(*stream);
          continue;
        }
      }
      seen +=
          (seen.empty() ? "" : ", ") + std::string(type != nullptr ? type : "data") + ": " + codec;
    }
    if (stream_ >= 0) return {};
    if (has_audio) {
      return unsupported(with_reason(
          "no decoder for the audio in this " + container + " (" + seen + ")", log_.last_error()));
    }
    return invalid_argument("no audio stream in this " + container +
                            (seen.empty() ? "" : " (" + seen + ")"));
  }

  bool open_decoder(const AVStream& stream) {
    if (big_endian_wav_) stream.codecpar->codec_id = big_endian(stream.codecpar->codec_id);
    const AVCodec* codec = avcodec_find_decoder(stream.codecpar->codec_id);
    if (codec == nullptr) return false;
    decoder.reset(avcodec_alloc_context3(codec));
    if (decoder == nullptr || avcodec_parameters_to_context(decoder.get(), stream.codecpar) < 0)
      return false;
    decoder->pkt_timebase = stream.time_base;  // needed to cut off an encoder's delay and padding
    decoder->thread_count =
        1;  // audio decoders gain nothing, and their messages stay in this thread
    return avcodec_open2(decoder.get(), codec, nullptr) >= 0;
  }

  std::optional<double> announced_length(const AVStream& stream) const {
    if (format_->duration_estimation_method == AVFMT_DURATION_FROM_BITRATE)
      return {};  // a guess from the file's size
    if (stream.duration == AV_NOPTS_VALUE || stream.duration <= 0) return {};
    return static_cast<double>(stream.duration) * av_q2d(stream.time_base);
  }

  const AvLogCapture& log_;
  ByteSource* source_;
  std::vector<std::byte> whole_;        // a piped mp4
  std::unique_ptr<ByteSource> memory_;  // over whole_
  std::optional<IoContext> io_;
  AVFormatContext* format_ = nullptr;
  int stream_ = -1;
  bool big_endian_wav_ = false;
};

class RawReader final : public PacketReader {
 public:
  RawReader(ByteSource& source, int frame_bytes) : source_(source), frame_bytes_(frame_bytes) {
    container = "raw";
  }

  int next(AVPacket& packet) override {
    constexpr int kFrames = 4096;
    const int error = av_new_packet(&packet, kFrames * frame_bytes_);
    if (error < 0) return error;
    int have = 0;
    while (have < packet.size) {
      const int n = read_callback(&source_, packet.data + have, packet.size - have);
      if (n == AVERROR_EOF) break;
      if (n < 0) {
        av_packet_unref(&packet);
        return n;
      }
      have += n;
    }
    have -= have % frame_bytes_;  // half a sample at the end is no sample
    if (have == 0) {
      av_packet_unref(&packet);
      return AVERROR_EOF;
    }
    av_shrink_packet(&packet, have);
    return 0;
  }

 private:
  ByteSource& source_;
  int frame_bytes_;
};

}  // namespace

Result<std::unique_ptr<PacketReader>> open_container(ByteSource& source, const AvLogCapture& log) {
  auto reader = std::make_unique<ContainerReader>(source, log);
  SOTTO_RETURN_IF_ERROR(reader->open());
  return std::unique_ptr<PacketReader>(std::move(reader));
}

Result<std::unique_ptr<PacketReader>> open_raw(ByteSource& source, const RawFormat& format) {
  constexpr int kMostChannels = 64;
  if (format.channels < 1 || format.channels > kMostChannels) {
    return invalid_argument("raw samples with " + std::to_string(format.channels) +
                            " channels; 1 to 64 are possible");
  }
  const AVCodec* codec = avcodec_find_decoder_by_name(("pcm_" + format.format).c_str());
  const int bits = codec != nullptr ? av_get_exact_bits_per_sample(codec->id) : 0;
  if (bits < 8 || bits % 8 != 0) {
    return invalid_argument(
        "unknown raw format \"" + format.format +
        "\"; use for example u8, s16le, s16be, s24le, s32le, f32le, f64le, mulaw or alaw");
  }
  auto reader = std::make_unique<RawReader>(source, bits / 8 * format.channels);
  reader->decoder.reset(avcodec_alloc_context3(codec));
  if (reader->decoder == nullptr) return resource_exhausted("out of memory");
  AVCodecContext& decoder = *reader->decoder;
  decoder.sample_rate = format.rate;
  decoder.thread_count = 1;
  decoder.ch_layout.order = AV_CHANNEL_ORDER_UNSPEC;
  decoder.ch_layout.nb_channels = format.channels;
  if (avcodec_open2(&decoder, codec, nullptr) < 0) {
    return invalid_argument("raw samples " + format.format + ", " + std::to_string(format.rate) +
                            " Hz, " + std::to_string(format.channels) +
                            " channels cannot be decoded");
  }
  return std::unique_ptr<PacketReader>(std::move(reader));
}

}  // namespace sotto::audio
