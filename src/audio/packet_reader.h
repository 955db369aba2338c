// Splits encoded bytes into packets for a decoder: by libav's demuxers, or for headerless samples
// by arithmetic.
#ifndef SOTTO_AUDIO_PACKET_READER_H_
#define SOTTO_AUDIO_PACKET_READER_H_

#include <memory>
#include <optional>
#include <string>

#include "audio/av_log.h"
#include "audio/byte_source.h"
#include "audio/recording.h"
#include "sotto/status.h"

extern "C" {
struct AVCodecContext;
struct AVPacket;
}

namespace sotto::audio {

struct FreeCodecContext {
  void operator()(AVCodecContext* context) const;
};
using CodecContext = std::unique_ptr<AVCodecContext, FreeCodecContext>;

class PacketReader {
 public:
  virtual ~PacketReader() = default;
  /// The next packet of the stream: 0, AVERROR_EOF at the end, another libav error where reading
  /// cannot go on.
  virtual int next(AVPacket& packet) = 0;

  std::string container;              ///< libav's name; "raw" for headerless samples
  CodecContext decoder;               ///< Open, for the stream that next() yields
  std::optional<double> announced_s;  ///< Length by the file's own header, where it says so
  bool cut_off = false;               ///< The header announces more bytes than the file has
};

/// Opens the first audio stream that can be decoded. `source` must outlive the reader; `log` gives
/// messages a reason.
Result<std::unique_ptr<PacketReader>> open_container(ByteSource& source, const AvLogCapture& log);

/// Headerless samples.
Result<std::unique_ptr<PacketReader>> open_raw(ByteSource& source, const RawFormat& format);

}  // namespace sotto::audio

#endif  // SOTTO_AUDIO_PACKET_READER_H_
