#include "worker/delivery.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sotto::worker {
namespace {

using ::testing::ElementsAre;

Segment segment(int id, double start, double end, const std::string& text) {
  Segment result;
  result.id = id;
  result.start = start;
  result.end = end;
  result.text = text;
  return result;
}

class DeliveryTest : public ::testing::Test {
 protected:
  DeliveryTest() {
    callbacks_.on_segment = [this](const Segment& s) { told_.push_back(s.text); };
  }
  TranscribeCallbacks callbacks_;
  std::vector<std::string> told_;
};

TEST_F(DeliveryTest, HoldsBackWhatWasDelivered) {
  Delivery delivery(callbacks_);
  delivery.segment(segment(0, 0, 2, " a"));
  delivery.segment(segment(1, 2, 2, " b"));  // takes no time
  delivery.begin_again();
  delivery.segment(segment(0, 0, 2, " a"));
  delivery.segment(segment(1, 2, 2, " b"));
  delivery.segment(segment(2, 2, 3, " c"));
  EXPECT_THAT(told_, ElementsAre(" a", " b", " c"));
  Transcript transcript;
  transcript.text = "as decoded";
  delivery.reconcile(transcript);
  EXPECT_EQ(transcript.text, "as decoded");
}

TEST_F(DeliveryTest, GoesByTheClockWhenTheTriesDiffer) {
  Delivery delivery(callbacks_);
  delivery.segment(segment(0, 0, 2, " a"));
  delivery.segment(segment(1, 2, 4, " b"));
  delivery.begin_again();
  delivery.segment(segment(0, 0, 4, " a B"));
  delivery.segment(segment(1, 4, 6, " c"));
  EXPECT_THAT(told_, ElementsAre(" a", " b", " c"));
  Transcript transcript;
  delivery.reconcile(transcript);
  EXPECT_EQ(transcript.text, "a b c");
  ASSERT_EQ(transcript.segments.size(), 3U);
  EXPECT_EQ(transcript.segments[2].id, 2);
}

}  // namespace
}  // namespace sotto::worker
