// What the caller of a transcription has been told, so that a second try does not tell it again.
#ifndef SOTTO_WORKER_DELIVERY_H_
#define SOTTO_WORKER_DELIVERY_H_

#include <string>
#include <vector>

#include "sotto/transcribe.h"

namespace sotto::worker {

/// Stands between the events of a worker and the callbacks of the caller. A second try decodes the
/// recording again from its beginning: what the first one had delivered is held back.
class Delivery {
 public:
  /// `callbacks` must outlive this object.
  explicit Delivery(const TranscribeCallbacks& callbacks) : callbacks_(callbacks) {}

  /// The recording is being decoded again.
  void begin_again() { first_try_ = delivered_.size(); }

  void audio(double duration_s);
  void language(const std::string& code, float probability);
  void progress(double done_s, double total_s);
  void segment(const Segment& segment);

  /// Makes the second try's transcript tell the same as the segments that were delivered, should
  /// the two tries have differed (another device, or sampling by another clock).
  void reconcile(Transcript& transcript) const;

 private:
  [[nodiscard]] bool is_repetition(const Segment& segment);

  const TranscribeCallbacks& callbacks_;
  std::vector<Segment> delivered_;
  size_t first_try_ = 0;  ///< Of `delivered_`, those of the try before
  bool tries_differ_ = false;
  bool audio_told_ = false, language_told_ = false;
  double done_s_ = 0;
};

}  // namespace sotto::worker

#endif  // SOTTO_WORKER_DELIVERY_H_
