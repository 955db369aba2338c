// Our lowering against what the real compiler made of the same designs. Lock ids may differ
// (nothing outside the array sees them); channels, descriptors, walks, addresses and connections
// may not.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <tuple>

#include "npu/design/testing/golden.h"
#include "npu/emit/parse.h"

namespace sotto::npu {
namespace {

class GoldenLowering : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    Result<Design> design = parse_design(testing::golden_text(GetParam()));
    ASSERT_TRUE(design.ok()) << design.status().message();
    Result<LoweredArray> lowered = lower(*design);
    ASSERT_TRUE(lowered.ok()) << lowered.status().message();
    ours_ = *lowered;
    theirs_ = testing::golden_lowered(GetParam());
  }
  LoweredArray ours_, theirs_;
};

TEST_P(GoldenLowering, ShimChannelsAndConnectionsAgree) {
  ASSERT_EQ(ours_.shim.size(), theirs_.shim.size());
  for (const auto& [fifo, channel] : theirs_.shim) {
    ASSERT_EQ(ours_.shim.count(fifo), 1U) << fifo;
    EXPECT_EQ(ours_.shim[fifo].tile, channel.tile) << fifo;
    EXPECT_EQ(ours_.shim[fifo].direction, channel.direction) << fifo;
    EXPECT_EQ(ours_.shim[fifo].channel, channel.channel) << fifo;
  }
  EXPECT_EQ(std::set<Flow>(ours_.flows.begin(), ours_.flows.end()),
            std::set<Flow>(theirs_.flows.begin(), theirs_.flows.end()));
}

TEST_P(GoldenLowering, BuffersStandAtTheSameAddresses) {
  ASSERT_EQ(ours_.buffers.size(), theirs_.buffers.size());
  for (const PlacedBuffer& theirs : theirs_.buffers) {
    const PlacedBuffer* mine = ours_.buffer(theirs.name);
    ASSERT_NE(mine, nullptr) << theirs.name;
    EXPECT_EQ(mine->tile, theirs.tile) << theirs.name;
    EXPECT_EQ(mine->address, theirs.address) << theirs.name;
    EXPECT_EQ(mine->bytes, theirs.bytes) << theirs.name;
  }
}

TEST_P(GoldenLowering, DescriptorsWalkTheSameWords) {
  ASSERT_EQ(ours_.descriptors.size(), theirs_.descriptors.size());
  std::map<std::pair<Tile, int>, const BufferDescriptor*> mine;
  for (const BufferDescriptor& bd : ours_.descriptors)
    mine[{bd.tile, bd.id}] = &bd;
  // A lock is known by its role: the same pairing of ids must hold for all descriptors of a tile.
  std::map<std::pair<Tile, int>, int> lock_of;
  for (const BufferDescriptor& theirs : theirs_.descriptors) {
    const BufferDescriptor* own = mine[{theirs.tile, theirs.id}];
    ASSERT_NE(own, nullptr) << tile_name(theirs.tile) << " bd " << theirs.id;
    EXPECT_EQ(own->direction, theirs.direction);
    EXPECT_EQ(own->channel, theirs.channel);
    EXPECT_EQ(own->next, theirs.next);
    EXPECT_EQ(own->buffer, theirs.buffer);
    EXPECT_EQ(own->base_bytes, theirs.base_bytes);
    EXPECT_EQ(own->length_words, theirs.length_words);
    EXPECT_EQ(own->words, theirs.words);
    for (const auto& [a, b] :
         {std::pair(theirs.acquire, own->acquire), std::pair(theirs.release, own->release)}) {
      EXPECT_EQ(a.value, b.value);
      const auto [it, fresh] = lock_of.try_emplace({theirs.tile, a.id}, b.id);
      EXPECT_EQ(it->second, b.id) << tile_name(theirs.tile) << " lock " << a.id;
    }
  }
}

TEST_P(GoldenLowering, LocksHaveTheSameNamesAndStarts) {
  std::set<std::tuple<std::string, Tile, int>> ours;
  std::set<std::tuple<std::string, Tile, int>> theirs;
  for (const Lock& lock : ours_.locks)
    ours.insert({lock.name, lock.tile, lock.init});
  for (const Lock& lock : theirs_.locks) {
    if (tile_kind(lock.tile) != TileKind::kShim) theirs.insert({lock.name, lock.tile, lock.init});
  }
  EXPECT_EQ(ours, theirs);
}

INSTANTIATE_TEST_SUITE_P(All, GoldenLowering, ::testing::ValuesIn(testing::golden_names()),
                         [](const auto& param) { return param.param; });

}  // namespace
}  // namespace sotto::npu
