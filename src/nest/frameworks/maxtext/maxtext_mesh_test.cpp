#include "nest/frameworks/maxtext/maxtext_mesh.hpp"

#include <gtest/gtest.h>

#include "nest/frameworks/test_exports.hpp"

namespace nest::frameworks {
namespace {

using test::degrees;

struct Made {
  explicit Made(ExportQuestion asked)
      : question(std::move(asked)),
        facts(export_facts(question, "maxtext")),
        map(make_rank_map(question, RankOrder::data_before_stage)),
        mesh(maxtext_mesh(facts, map)) {}
  Made(const Made&) = delete;
  Made& operator=(const Made&) = delete;

  ExportQuestion question;
  ExportFacts facts;
  RankMap map;
  MaxTextMesh mesh;
};

Plan sharded(const Strategy& strategy, std::int64_t data, std::int64_t shards) {
  Plan plan = degrees(strategy, 1, data);
  plan.parallelism.zero = 3;
  plan.parallelism.zero_shards = shards;
  return plan;
}

// Two slices of 256 chips: the 2 copies go between them, 128 shards of 2 tensor ranks inside.
TEST(MaxTextMesh, CopiesCrossSlices) {
  test::Planner planner("llama2-7b", "maxtext", "tpu-v5e-multislice");
  const Made made(planner.question(sharded({.tensor = 2, .sequence_parallel = true}, 256, 128)));
  EXPECT_EQ(made.mesh.slices, 2);
  EXPECT_EQ(made.mesh.slice_devices, 256);
  EXPECT_TRUE(made.mesh.whole);
  EXPECT_TRUE(made.mesh.as_planned);
  EXPECT_EQ(made.mesh.axis("data").dcn, 2);
  EXPECT_EQ(made.mesh.axis("fsdp").ici, 128);
  EXPECT_EQ(made.mesh.axis("tensor_sequence").ici, 2);
  EXPECT_EQ(made.mesh.axis("tensor").ici, 1);
  EXPECT_EQ(maxtext_topology(made.facts, made.mesh), "v5e-256");
}

// The names of v5p slices count cores, two of which are one device.
TEST(MaxTextMesh, NamesOfSlices) {
  test::Planner planner("llama2-7b", "maxtext", "tpu-v5p-128");
  const Made made(planner.question(sharded({}, 64, 64)));
  EXPECT_EQ(maxtext_topology(made.facts, made.mesh), "v5p-128");
  const Made half(planner.question(sharded({}, 32, 32)));
  EXPECT_FALSE(half.mesh.whole);
  EXPECT_EQ(maxtext_topology(half.facts, half.mesh), "");
}

TEST(MaxTextMesh, GpusAreOneSlice) {
  test::Planner planner("llama2-7b", "maxtext");
  const Made made(planner.question(degrees({}, 1, 16)));
  EXPECT_FALSE(on_tpus(made.facts));
  EXPECT_EQ(made.mesh.slices, 1);
  EXPECT_EQ(made.mesh.axis("data").ici, 16);
  EXPECT_EQ(maxtext_topology(made.facts, made.mesh), "");
}

// Expert ranks are data ranks: 16 of them are 2 copies, 2 shards and 4 expert ranks.
TEST(MaxTextMesh, ExpertsAreAnAxis) {
  test::Planner planner("mixtral-8x7b", "maxtext");
  const Made made(planner.question(sharded({.expert = 4}, 16, 8)));
  EXPECT_EQ(made.mesh.axis("data").ici, 2);
  EXPECT_EQ(made.mesh.axis("fsdp").ici, 2);
  EXPECT_EQ(made.mesh.axis("expert").ici, 4);
}

}  // namespace
}  // namespace nest::frameworks
