#include "nest/report/answer/whole_answer.hpp"

#include <gtest/gtest.h>

#include "nest/question/make_question.hpp"
#include "nest/report/answer/test_answers.hpp"
#include "nest/solve/ask/answer.hpp"

namespace nest::report {
namespace {

using test::eight_devices;

PlanQuestion asking(Asked asked = {}) {
  asked.global_batch = 8;
  asked.sequence = 512;
  return make_question(eight_devices(), asked);
}

TEST(WholeAnswer, APlanWithWarningsOfTheInputsFirst) {
  PlanQuestion question = asking();
  question.notes = {"of the question"};
  const Value v = whole_answer(question, solve::answer(question), {.warnings = {"of the inputs"}});
  EXPECT_EQ(*v.find("status")->as_string(), "optimal");
  EXPECT_NE(v.find("lower_bound_s"), nullptr);
  const Value::Array& warnings = *v.find("warnings")->as_array();
  ASSERT_GE(warnings.size(), 2U);
  EXPECT_EQ(*warnings[warnings.size() - 2].as_string(), "of the inputs");
  EXPECT_EQ(*warnings.back().as_string(), "of the question");
  for (const char* key : {"alternatives", "search", "cost"}) EXPECT_EQ(v.find(key), nullptr) << key;
}

TEST(WholeAnswer, AlternativesStatisticsAndCostWhereTheyAreAsked) {
  Asked asked;
  asked.top = 2;
  asked.run.prices = {{"", 2.5}};
  const PlanQuestion question = asking(asked);
  const Value v = whole_answer(question, solve::answer(question), {.stats = true});
  EXPECT_EQ(v.find("alternatives")->as_array()->size(), 1U);
  EXPECT_NE(v.find("search"), nullptr);
  EXPECT_NE(v.find("cost")->find("per_trillion_tokens"), nullptr);
}

TEST(WholeAnswer, WithoutAPlan) {
  const PlanQuestion question = asking();
  const SearchResult limit{.status = PlanStatus::limit, .lower_bound = Seconds{0.5}};
  EXPECT_EQ(
      to_json_line(whole_answer(question, limit, {})),
      R"({"status": "limit", "reason": "stopped at a limit before a plan was found", "lower_bound_s": 0.5})");
  const SearchResult unfit{.status = PlanStatus::infeasible, .reason = "too large"};
  const AdviceList advice{{{AdviceKind::devices, "16 devices", 16}}};
  EXPECT_EQ(to_json_line(whole_answer(question, unfit, {.advice = &advice})),
            R"({"status": "infeasible", "reason": "too large", "advice": [{"kind": "devices", "sentence": )"
            R"("16 devices", "devices": 16}]})");
  EXPECT_EQ(to_json_line(whole_answer(question, unfit, {})),
            R"({"status": "infeasible", "reason": "too large", "advice": []})");
  const SearchResult bug{.status = PlanStatus::disagreement, .reason = "they differ"};
  EXPECT_EQ(to_json_line(disagreement_value(bug)), R"({"status": "disagreement", "reason": "they differ"})");
}

}  // namespace
}  // namespace nest::report
