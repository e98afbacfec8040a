#include "nest/strategies/strategy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nest/base/document/document.hpp"
#include "nest/strategies/test_layers.hpp"
#include "support/message_of.hpp"

namespace nest::strategies {
namespace {

Strategy read(const std::string& json) {
  const Document document = parse_document("plan.json", json);
  Reader reader(document);
  return read_strategy(reader);
}

TEST(Strategy, CellIsTheLeastThatHoldsBothGrids) {
  EXPECT_EQ((Strategy{.tensor = 8, .context = 2}).cell(), 16);
  EXPECT_EQ((Strategy{.tensor = 8, .context = 2}).side(), 1);
  // Experts over 8 devices of a cell whose dense layers need 2: 4 micro-batches side by side.
  EXPECT_EQ((Strategy{.tensor = 2, .sequence_parallel = true, .expert = 8, .expert_tensor = 1}).cell(), 8);
  EXPECT_EQ((Strategy{.tensor = 2, .sequence_parallel = true, .expert = 8, .expert_tensor = 1}).side(), 4);
  EXPECT_EQ((Strategy{.tensor = 2, .expert = 8}).cell(), 16);
  // Folded: the experts lie over the tensor and context ranks.
  EXPECT_EQ((Strategy{.tensor = 4, .context = 2, .expert = 8, .expert_tensor = 1}).side(), 1);
  EXPECT_EQ((Strategy{.tensor = 2, .context = 3, .expert = 4, .expert_tensor = 1}).cell(), 12);
}

TEST(Strategy, Spelling) {
  EXPECT_EQ(spell(Strategy{}), "one device");
  EXPECT_EQ(spell({.tensor = 8, .sequence_parallel = true, .expert = 4}),
            "tensor 8, sequence parallel, expert 4");
  EXPECT_EQ(spell({.tensor = 2, .context = 4, .expert = 4, .expert_tensor = 1}),
            "tensor 2, context 4, expert 4, expert tensor 1");
  EXPECT_EQ(spell({.context = 4, .context_method = ContextMethod::all_to_all}), "context 4 (all-to-all)");
  EXPECT_EQ(spell({.context = 16, .context_method = ContextMethod::hybrid, .context_inner = 8}),
            "context 16 (all-to-all over 8, ring over 2)");
}

TEST(Strategy, EqualWhereTheySayTheSame) {
  EXPECT_EQ((Strategy{.tensor = 8}), (Strategy{.tensor = 8, .expert_tensor = 8}));
  EXPECT_EQ((Strategy{.sequence_parallel = true}), Strategy{});
  EXPECT_EQ((Strategy{.context_method = ContextMethod::all_to_all}), Strategy{});
  EXPECT_NE((Strategy{.context = 2, .context_method = ContextMethod::all_to_all}), (Strategy{.context = 2}));
  EXPECT_NE((Strategy{.tensor = 8, .expert_tensor = 1}), (Strategy{.tensor = 8}));
  const auto hybrid = [](std::int64_t context, std::int64_t inner) {
    return Strategy{.context = context, .context_method = ContextMethod::hybrid, .context_inner = inner};
  };
  EXPECT_NE(hybrid(8, 2), hybrid(8, 4));
  EXPECT_NE(hybrid(8, 2), (Strategy{.context = 8}));
  EXPECT_EQ(hybrid(1, 2), Strategy{});
  EXPECT_EQ((Strategy{.context = 8, .context_inner = 2}), (Strategy{.context = 8}));
  EXPECT_NE(hybrid(8, 2).context_key(), hybrid(8, 4).context_key());
}

TEST(Strategy, GoesThroughAFile) {
  const Strategy s{.tensor = 4,
                   .sequence_parallel = true,
                   .context = 2,
                   .context_method = ContextMethod::all_to_all,
                   .expert = 8,
                   .expert_tensor = 1};
  EXPECT_EQ(
      to_json_line(to_value(s)),
      R"({"tensor": 4, "sequence_parallel": true, "context": 2, "context_method": "all_to_all", "expert": 8, )"
      R"("expert_tensor": 1, "dispatcher": "alltoall", "expert_overlap": false})");
  EXPECT_EQ(read(to_json(to_value(s))), s);
}

TEST(Strategy, HybridGoesThroughAFile) {
  const Strategy s{.context = 16, .context_method = ContextMethod::hybrid, .context_inner = 4};
  EXPECT_THAT(to_json_line(to_value(s)),
              testing::HasSubstr(R"("context_method": "hybrid", "context_inner": 4)"));
  EXPECT_EQ(read(to_json(to_value(s))), s);
  EXPECT_EQ(s.trading_ranks(), 4);
  EXPECT_EQ(s.ring_ranks(), 4);
  const auto problem = [](const std::string& json) {
    return message_of([&] { static_cast<void>(read(json)); });
  };
  EXPECT_EQ(problem(R"({"context": 8, "context_method": "hybrid", "context_inner": 3})"),
            "plan.json: line 1, context_inner: hybrid: all-to-all groups of 3 ranks do not divide context 8");
  EXPECT_EQ(problem(R"({"context": 8, "context_method": "hybrid"})"),
            "plan.json: line 1, context_method: hybrid: all-to-all groups of 1 rank leave a ring over all 8 "
            "context ranks, which is ring");
  EXPECT_EQ(problem(R"({"context": 8, "context_inner": 4})"),
            "plan.json: line 1, context_inner: all-to-all groups of 4 context ranks are hybrid's, and the "
            "method is ring");
  EXPECT_EQ(problem(R"({"context_inner": 0})"),
            "plan.json: line 1, context_inner: 0 is outside 1 to 1,048,576");
}

TEST(Strategy, MissingKeysTakeTheDefaults) {
  EXPECT_EQ(read("{}"), Strategy{});
  const Strategy s = read(R"({"tensor": 8, "pipeline": 4})");
  EXPECT_TRUE(s.sequence_parallel);  // on where tensor is above 1
  EXPECT_EQ(s.expert_tensor_degree(), 8);
  EXPECT_FALSE(read(R"({"tensor": 8, "sequence_parallel": false})").sequence_parallel);
}

TEST(Strategy, RefusesOtherValues) {
  EXPECT_EQ(message_of([] { static_cast<void>(read(R"({"tensor": 0})")); }),
            "plan.json: line 1, tensor: 0 is outside 1 to 1,048,576");
  EXPECT_THAT(message_of([] { static_cast<void>(read(R"({"context_method": "rings"})")); }),
              testing::HasSubstr("ring"));
}

TEST(Strategy, GroupsAreAsLargeAsTheirAxis) {
  const Strategy s{.tensor = 4, .context = 2, .expert = 8, .expert_tensor = 1};
  EXPECT_EQ(degree_of(s, GroupAxis::tensor), 4);
  EXPECT_EQ(degree_of(s, GroupAxis::context), 2);
  EXPECT_EQ(degree_of(s, GroupAxis::expert), 8);
  EXPECT_EQ(degree_of(s, GroupAxis::expert_tensor), 1);
  EXPECT_EQ(degree_of(s, GroupAxis::context_inner), 1);
  EXPECT_EQ(group_axes(s).size(), 4U);
  const Strategy hybrid{.context = 12, .context_method = ContextMethod::hybrid, .context_inner = 3};
  EXPECT_EQ(degree_of(hybrid, GroupAxis::context_inner), 3);
  EXPECT_EQ(degree_of(hybrid, GroupAxis::context_outer), 4);
  EXPECT_EQ(group_axes(hybrid).size(), model::kGroupAxes);
  CollectiveCall part;
  EXPECT_EQ(group_size(s, part), 4);
  part.members = 2;
  EXPECT_EQ(group_size(s, part), 2);
}

TEST(Boundary, SplitAsTheLayersAre) {
  const Bytes whole{4096};
  EXPECT_EQ(boundary_bytes(whole, {}).value, 4096);
  EXPECT_EQ(boundary_bytes(whole, {.tensor = 8}).value, 4096);
  EXPECT_EQ(boundary_bytes(whole, {.tensor = 8, .sequence_parallel = true}).value, 512);
  EXPECT_EQ(boundary_bytes(whole, {.tensor = 8, .sequence_parallel = true, .context = 2}).value, 256);
  EXPECT_EQ(boundary_bytes(whole, {.context = 3}).value, 1366);  // rounded up
}

TEST(Boundary, IsWhatTheLayerMakes) {
  const Model m = small_model("mixtral-8x7b");
  const Strategy s{.tensor = 2, .sequence_parallel = true, .context = 2, .expert = 8, .expert_tensor = 1};
  for (const Edge& edge : m.edges)
    EXPECT_EQ(boundary_bytes(edge.bytes, s), shard_layer(m.type_of(edge.from), s).layer.output_bytes());
}

}  // namespace
}  // namespace nest::strategies
