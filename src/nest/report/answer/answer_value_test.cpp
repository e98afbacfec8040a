#include "nest/report/answer/answer_value.hpp"

#include <gtest/gtest.h>

#include "nest/report/answer/test_answers.hpp"

namespace nest::report {
namespace {

using test::answer;
using test::answer_plan;

TEST(AnswerValue, APlanWithWhatTheSearchAdds) {
  const SearchResult found = answer({answer_plan({1, 1, 1}, 2, Seconds{0.9}, Seconds{0.1}),
                                     answer_plan({3}, 8, Seconds{1.05}, Seconds{0})});
  const Value v = answer_value(found, test::eight_devices(), {}, {"one more"});
  for (const char* key :
       {"nest", "inputs", "model", "cluster", "training", "parallelism", "stages", "predicted"})
    EXPECT_NE(v.find(key), nullptr) << key;
  EXPECT_EQ(v.find("search"), nullptr);
  const Value::Array& others = *v.find("runners_up")->as_array();
  ASSERT_EQ(others.size(), 1U);
  EXPECT_EQ(to_json_line(*others[0].find("loses_most_by")),
            R"({"name": "compute", "change_s": 0.15000000000000002})");
  EXPECT_EQ(*v.find("idle")->find("devices")->as_int(), 2);
  EXPECT_EQ(to_json_line(*v.find("warnings")), R"(["one more"])");
  EXPECT_EQ(alternatives_value(found, test::eight_devices()).as_array()->size(), 1U);
}

TEST(AnswerValue, TheStrictOptimumBesideTheSimplerPlan) {
  SearchResult found = answer({answer_plan({1, 2}, 4, Seconds{0.9}, Seconds{0.1}),
                               answer_plan({3}, 8, Seconds{1.003}, Seconds{0}),
                               answer_plan({3}, 4, Seconds{1.05}, Seconds{0})});
  found.simpler = answer_plan({3}, 8, Seconds{1.003}, Seconds{0});
  found.avoids = {"pipeline parallelism"};
  const Value v = answer_value(found, test::eight_devices(), {});
  EXPECT_EQ(*v.find("predicted")->find("step_s")->as_real(), 1.003);
  const Value& strict = *v.find("strict");
  EXPECT_EQ(*strict.find("step_s")->as_real(), 1);
  EXPECT_EQ(to_json_line(*strict.find("taken_loses_most_by")),
            R"({"name": "compute", "change_s": 0.10299999999999987})");
  const Value::Array& others = *v.find("runners_up")->as_array();
  ASSERT_EQ(others.size(), 1U);  // neither the plan itself nor the strict optimum
  EXPECT_EQ(*others[0].find("step_s")->as_real(), 1.05);
  const Value whole = alternatives_value(found, test::eight_devices());
  ASSERT_EQ(whole.as_array()->size(), 2U);  // the strict optimum, then the runner-up
  EXPECT_EQ(*(*whole.as_array())[0].find("predicted")->find("step_s")->as_real(), 1);
}

TEST(AnswerValue, SaysThatTheClockCutItShort) {
  SearchResult found = answer({answer_plan({3}, 8, Seconds{1}, Seconds{0})});
  found.further_stopped = true;
  EXPECT_TRUE(*answer_value(found, test::eight_devices(), {}).find("further_stopped")->as_bool());
}

TEST(AnswerValue, NothingThatIsNotThere) {
  const Value v =
      answer_value(answer({answer_plan({3}, 8, Seconds{1}, Seconds{0})}), test::eight_devices(), {});
  for (const char* key : {"runners_up", "idle", "warnings", "alternatives", "strict", "further_stopped"})
    EXPECT_EQ(v.find(key), nullptr) << key;
}

// Plans within 2 % of the best that the search came across are told without a ranking; the plan that is taken is none.
TEST(AnswerValue, NearTies) {
  SearchResult found = answer({answer_plan({3}, 8, Seconds{1}, Seconds{0})});
  found.simpler = answer_plan({1, 2}, 4, Seconds{1.004}, Seconds{0});
  found.avoids = {"nothing"};
  found.near_ties = {*found.simpler, answer_plan({1, 1, 1}, 2, Seconds{1.01}, Seconds{0})};
  const Value v = answer_value(found, test::eight_devices(), {});
  const Value::Array& near = *v.find("near_ties")->as_array();
  ASSERT_EQ(near.size(), 1U);
  EXPECT_EQ(*near[0].find("step_s")->as_real(), 1.01);
  EXPECT_NEAR(*near[0].find("share")->as_real(), 0.01, 1e-12);
  EXPECT_EQ(v.find("runners_up"), nullptr);
  // In a ranking it does not stand twice either.
  found.near_ties.clear();
  found.plans.push_back(*found.simpler);
  found.plans.push_back(answer_plan({1, 1, 1}, 2, Seconds{1.5}, Seconds{0}));
  const Value ranked = answer_value(found, test::eight_devices(), {});
  EXPECT_EQ(ranked.find("runners_up")->as_array()->size(), 1U);
  EXPECT_EQ(ranked.find("near_ties"), nullptr);
  // Steps of the cheapest and the fewest devices tell nothing.
  SearchOptions cost;
  cost.objective = Objective::cost;
  found.near_ties = {answer_plan({1, 1, 1}, 2, Seconds{1.01}, Seconds{0})};
  EXPECT_EQ(answer_value(found, test::eight_devices(), cost).find("near_ties"), nullptr);
}

TEST(AnswerValue, SeveralBatches) {
  SearchResult found = answer({answer_plan({3}, 8, Seconds{1}, Seconds{0})});
  found.batches = BatchesProof{.asked = 3, .bounded = 2, .most_per_s = 9};
  EXPECT_EQ(to_json_line(*answer_value(found, test::eight_devices(), {}).find("batches")),
            R"({"asked": 3, "bounded": 2, "upper_bound_tokens_per_s": 4608})");
}

TEST(AnswerValue, Unfit) {
  SearchResult none;
  none.reason = "too large";
  none.least_memory = Bytes{100};
  EXPECT_EQ(
      to_json_line(unfit_value(none, {.all = {{AdviceKind::memory, "more memory", 128, std::nullopt}}})),
      R"({"status": "infeasible", "reason": "too large", "least_memory_bytes": 100, )"
      R"("advice": [{"kind": "memory", "sentence": "more memory", "memory_bytes": 128}]})");
  EXPECT_EQ(to_json_line(unfit_value(none, {.stopped = true})),
            R"({"status": "infeasible", "reason": "too large", "least_memory_bytes": 100, "advice": [], )"
            R"("advice_stopped": true})");
}

TEST(AnswerValue, Stats) {
  SearchStats stats;
  stats.work = 5;
  stats.pruned = {{"memory", 7}};
  stats.times = {{"bounds", Seconds{0.25}}};
  EXPECT_EQ(to_json_line(to_value(stats)),
            R"({"strategies": 0, "configurations": 0, "networks": 0, "fills": 0, "labels": 0, "work": 5, )"
            R"("pruned": {"memory": 7}, "seconds": {"bounds": 0.25}})");
}

TEST(PricedValue, AnInvalidPlanHasAReasonAndNoStages) {
  PricedPlan priced;
  priced.status = PriceStatus::invalid;
  priced.reason = "so it is";
  EXPECT_EQ(to_json_line(priced_value(priced)), R"({"status": "invalid", "reason": "so it is"})");
  priced.status = PriceStatus::infeasible;
  priced.stages.resize(2);
  for (StageCost& stage : priced.stages) stage.chunks.resize(1);
  EXPECT_EQ(priced_value(priced).find("stages")->as_array()->size(), 2U);
}

}  // namespace
}  // namespace nest::report
