#include "nest/plan/text/plan_columns.hpp"

#include <gtest/gtest.h>

#include <set>

#include "nest/plan/text/plan_json.hpp"
#include "support/message_of.hpp"

namespace nest::plan {
namespace {

Training usual() {
  return {.global_batch = 64, .sequence = 4096, .micro_batch = 0, .micro_batches = 0};
}

PlanColumns columns() {
  return {named_recipe("megatron"), usual()};
}

// A plan whose JSON has these keys in their groups; the training of `usual` besides.
Plan read(const std::string& key, const Value& value) {
  Value training = Value::object();
  Value parallelism = Value::object();
  const bool of_training = key == "global_batch" || key == "sequence" || key.starts_with("micro_") ||
                           key == "precision" || key == "optimizer" || key.ends_with("_dtype");
  (of_training ? training : parallelism).set(key, value);
  if (key != "global_batch") training.set("global_batch", 64);
  if (key != "sequence") training.set("sequence", 4096);
  Value root = Value::object();
  root.set("training", std::move(training)).set("parallelism", std::move(parallelism));
  const Document document = parse_json("p.json", to_json(root));
  Reader reader(document);
  Warnings warnings;
  return read_plan(reader, named_recipe("megatron"), warnings);
}

void expect_equal(const Plan& one, const Plan& other, const std::string& what) {
  EXPECT_EQ(one.training, other.training) << what;
  EXPECT_EQ(one.parallelism, other.parallelism) << what;
  EXPECT_EQ(one.default_recompute, other.default_recompute) << what;
}

// read_plan and the columns have each their own reader of a key: they must not drift apart.
TEST(PlanColumns, NumbersAreReadAsInAPlanFile) {
  for (const std::string& key : PlanColumns::number_keys()) {
    const bool yes_or_no =
        key == "sequence_parallel" || key == "expert_overlap" || key == "first_stage_first";
    for (const std::int64_t number : {1, 2, 3}) {
      if (yes_or_no && number > 1) continue;
      PlanColumns one = columns();
      one.add(key, {number});
      expect_equal(one.plan(0), read(key, yes_or_no ? Value(number == 1) : Value(number)),
                   key + "=" + std::to_string(number));
    }
  }
}

TEST(PlanColumns, WordsAreReadAsInAPlanFile) {
  const std::vector<std::pair<std::string, std::string>> samples{
      {"precision", "fp8"},       {"optimizer", "sgd"},       {"context_method", "all_to_all"},
      {"dispatcher", "deepep"},   {"gradient_dtype", "bf16"}, {"reduce_dtype", "fp16"},
      {"optimizer_dtype", "fp8"}, {"recompute", "full"},      {"offload", "activations+optimizer"},
      {"reshard", "never"},       {"schedule", "zb-v"},       {"schedule", "interleaved"}};
  std::set<std::string> seen;
  for (const auto& [key, word] : samples) {
    PlanColumns one = columns();
    one.add(key, {0, 1}, {word, ""});
    expect_equal(one.plan(0), read(key, word), key);
    expect_equal(one.plan(1), read("tensor", 1), key + " left open");
    seen.insert(key);
  }
  EXPECT_EQ(seen.size(), PlanColumns::word_keys().size());
}

TEST(PlanColumns, EachRowHasItsOwn) {
  PlanColumns all = columns();
  all.add("tensor", {8, 4, 0});
  all.add("interleave", {2, 0, 1});
  all.add("recompute", {1, 0, 1}, {"none", "full"});
  PlanColumns some = columns();
  some.add("tensor", {8, 8, 8});
  some.add("sequence_parallel", {-1, 0, 1});
  EXPECT_TRUE(some.plan(0).parallelism.strategy.sequence_parallel);
  EXPECT_FALSE(some.plan(1).parallelism.strategy.sequence_parallel);
  EXPECT_TRUE(some.plan(2).parallelism.strategy.sequence_parallel);
  EXPECT_EQ(all.size(), 3U);
  EXPECT_EQ(all.plan(0).parallelism.strategy.tensor, 8);
  EXPECT_TRUE(all.plan(0).parallelism.strategy.sequence_parallel);
  EXPECT_EQ(all.plan(0).parallelism.schedule, Schedule::interleaved);
  EXPECT_EQ(all.plan(1).parallelism.schedule, Schedule::one_f_one_b);
  EXPECT_EQ(all.plan(1).default_recompute.policy, RecomputePolicy::none);
  EXPECT_EQ(all.plan(2).parallelism.strategy.tensor, 1);
  EXPECT_FALSE(all.plan(2).parallelism.strategy.sequence_parallel);
  EXPECT_EQ(all.plan(2).default_recompute.policy, RecomputePolicy::full);
}

TEST(PlanColumns, SayWhatIsWrong) {
  const auto message = [](const std::string& key, std::vector<std::int64_t> values) {
    PlanColumns all = columns();
    all.add("tensor", {1, 2});
    return message_of([&] { all.add(key, std::move(values)); });
  };
  EXPECT_EQ(message("pipelin", {1, 2}),
            "pipelin: there is no such choice of a plan; did you mean 'pipeline'?");
  EXPECT_EQ(message("tensor", {1, 2}), "tensor: is given twice");
  EXPECT_EQ(message("pipeline", {1}), "pipeline: has 1 values, columns before it 2");
  EXPECT_EQ(message("zero", {1, 4}), "zero[1]: 4 is outside 0 to 3");
  EXPECT_EQ(message("data", {-1, 4}), "data[0]: -1 is outside 0 to 16,777,216");
  EXPECT_EQ(message("schedule", {0, 0}), "schedule: words are expected, not numbers");
  PlanColumns all = columns();
  EXPECT_EQ(message_of([&] { all.add("tensor", {0}, {"two"}); }), "tensor: numbers are expected, not words");
  all.add("schedule", {0}, {"1f2b"});
  EXPECT_NE(message_of([&] { (void)all.plan(0); }).find("'1f2b' is none of"), std::string::npos);
}

}  // namespace
}  // namespace nest::plan
