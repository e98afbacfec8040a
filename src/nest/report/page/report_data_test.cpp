#include "nest/report/page/report_data.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nest/plan/test_example.hpp"
#include "nest/plan/text/plan_json.hpp"
#include "support/message_of.hpp"

namespace nest::report {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// A plan file for the example, with more keys before its end.
Document plan_file(const Plan& plan, const std::string& more = "") {
  std::string text = to_json(plan_value(plan, test::example_inputs()));
  text.insert(text.rfind('}'), more);
  return parse_json("plan.json", text);
}

const Value& at(const Value& v, const std::string& key) {
  const Value* found = v.find(key);
  if (found == nullptr) throw std::runtime_error("no " + key);
  return *found;
}

std::string text(const Value& v, const std::string& key) {
  return *at(v, key).as_string();
}

TEST(ReportData, GathersWhatThePageShows) {
  const Value v =
      report_value(plan_file(test::example_plan({{0, 1}, {2}}, 2, 2)), {.command = "nest report x"});
  EXPECT_EQ(text(v, "title"), "three on four");
  EXPECT_EQ(text(v, "headline"), "4 x x; global batch 8 of 512 tokens; bf16, sgd");
  EXPECT_EQ(text(v, "degrees"), "pipeline 2 (1f1b), data 2, ZeRO 0");
  EXPECT_EQ(text(v, "batches"), "4 micro-batches of 1");
  EXPECT_EQ(text(v, "status"), "feasible");
  EXPECT_EQ(text(v, "proof"), "");
  EXPECT_EQ(text(v, "command"), "nest report x");
  EXPECT_EQ(text(v, "file"), "plan.json");
  EXPECT_EQ(at(v, "stages").as_array()->size(), 2U);
  EXPECT_EQ((*at(v, "stages").as_array())[0].find("devices"), nullptr);
  EXPECT_NE((*at(v, "stages").as_array())[0].find("memory"), nullptr);
  EXPECT_EQ(to_json_line(at(v, "placement")),
            R"({"used": 4, "stages": [{"cell": 1, "starts": [2, 3]}, {"cell": 1, "starts": [0, 1]}]})");
  EXPECT_EQ(at(v, "levels").as_array()->size(), 2U);
  EXPECT_EQ(text((*at(v, "levels").as_array())[1], "name"), "rack");
  EXPECT_EQ(*at((*at(v, "levels").as_array())[0], "domains").as_int(), 2);
  EXPECT_EQ(at(at(v, "sensitivity"), "effects").as_array()->size(), 5U);
  EXPECT_EQ(at(at(v, "timeline"), "rows").as_array()->size(), 2U);
  EXPECT_EQ(at(at(v, "traffic"), "levels").as_array()->size(), 2U);
  EXPECT_TRUE(at(v, "alternatives").as_array()->empty());
  EXPECT_NEAR(*at(at(v, "simulated"), "priced_s").as_real(), *at(at(v, "predicted"), "step_s").as_real(),
              1e-15);
}

TEST(ReportData, FillsInWhatThePlanLeavesOpen) {
  Plan plan = test::example_plan({}, 2, 2);
  plan.parallelism.pipeline = 2;
  const Value v = report_value(plan_file(plan));
  EXPECT_EQ(at(v, "stages").as_array()->size(), 2U);
  EXPECT_NE(v.find("predicted"), nullptr);
}

TEST(ReportData, BelievesAProofOnlyWhileThePriceHolds) {
  Plan plan = test::example_plan({{0, 1, 2}}, 2, 2);
  Pricer pricer(test::example_inputs());
  plan.status = PlanStatus::optimal;
  plan.lower_bound = pricer.price(plan).predicted.step;
  const Value proved = report_value(plan_file(plan));
  EXPECT_EQ(text(proved, "status"), "optimal");
  EXPECT_THAT(text(proved, "proof"), StartsWith("optimal: no plan of the space takes less than"));
  plan.lower_bound = *plan.lower_bound * 0.9;
  const Value changed = report_value(plan_file(plan));
  EXPECT_EQ(text(changed, "status"), "feasible");
  EXPECT_EQ(text(changed, "proof"), "");
  EXPECT_THAT(to_json_line(at(changed, "notes")), HasSubstr("the file calls its plan optimal"));
}

// Why the step is above the bound, and what is kept free: both are said by the file's own search.
TEST(ReportData, KeepsWhatTheSearchSaidOfThePlan) {
  Plan plan = test::example_plan({{0, 1, 2}}, 2, 2);
  Pricer pricer(test::example_inputs());
  const PricedPlan priced = pricer.price(plan);
  const double step = priced.predicted.step.value;
  plan = with_results(std::move(plan), priced);
  plan.stages[0].memory->margin = Bytes{12345};
  plan.status = PlanStatus::optimal;
  plan.lower_bound = Seconds{step * 0.997};
  const std::string more = fmt::format(
      R"(, "strict": {{"step_s": {}, "parallelism": {{}}, "why": "longer, but simpler"}},
      "safety": {{"why": "the margin costs this much"}}, "better_batch": {{"why": "7 are better"}})",
      step * 0.997);
  const Value v = report_value(plan_file(plan, more));
  EXPECT_EQ(text(v, "status"), "optimal");
  EXPECT_EQ(text(v, "simpler"), "longer, but simpler");
  EXPECT_THAT(to_json_line(at(v, "notes")), HasSubstr("the margin costs this much"));
  EXPECT_THAT(to_json_line(at(v, "notes")), HasSubstr("7 are better"));
  EXPECT_EQ(*(*at(v, "stages").as_array())[0].find("memory")->find("margin_bytes")->as_int(), 12345);
  EXPECT_TRUE(*(*at(v, "alternatives").as_array())[0].find("strict")->as_bool());
  plan.lower_bound = Seconds{step * 0.9};  // no longer what the file says
  const Value changed = report_value(plan_file(plan, more));
  EXPECT_EQ(text(changed, "simpler"), "");
  EXPECT_THAT(to_json_line(at(changed, "notes")), testing::Not(HasSubstr("the margin costs")));
}

// A margin that the plan does not leave makes it no plan that does not fit: that is for the estimate to say.
TEST(ReportData, AMarginDecidesNothing) {
  Plan plan = test::example_plan({{0, 1, 2}}, 2, 2);
  Pricer pricer(test::example_inputs());
  const PricedPlan priced = pricer.price(plan);
  plan = with_results(std::move(plan), priced);
  plan.stages[0].memory->margin = plan.stages[0].memory->capacity;
  EXPECT_EQ(text(report_value(plan_file(plan)), "status"), "feasible");
}

TEST(ReportData, ShowsAPlanThatDoesNotFit) {
  Document file = plan_file(test::example_plan({{0, 1, 2}}, 2, 2));
  std::string json = file.text;
  const std::string memory = "\"memory\": ";
  const std::size_t from = json.find(memory) + memory.size();
  json.replace(from, json.find_first_of(",}", from) - from, "1000000000");
  const Value v = report_value(parse_json("plan.json", json));
  EXPECT_EQ(text(v, "status"), "infeasible");
  EXPECT_THAT(text(v, "reason"), HasSubstr("stage 0"));
  EXPECT_NE(v.find("timeline"), nullptr);
  EXPECT_THAT(to_json_line(at(v, "notes")), testing::Not(HasSubstr("memory")));
}

TEST(ReportData, TellsOfOtherPlansIdleDevicesAndWarnings) {
  const std::string more = R"(, "runners_up": [{"step_s": 1, "parallelism": {"data": 4}}],
    "idle": {"devices": 2, "why": "2 of 4 devices are idle: so it is"}, "warnings": ["mind the gap"])";
  const Value v = report_value(plan_file(test::example_plan({{0, 1, 2}}, 2, 2), more));
  EXPECT_EQ(at(v, "alternatives").as_array()->size(), 1U);
  EXPECT_THAT(to_json_line(at(v, "notes")), HasSubstr("2 of 4 devices are idle: so it is"));
  EXPECT_THAT(to_json_line(at(v, "notes")), HasSubstr("mind the gap"));
  const Value plain = report_value(plan_file(test::example_plan({{0, 1, 2}}, 2, 2)));
  EXPECT_THAT(to_json_line(at(plain, "notes")), HasSubstr("2 of 4 devices are idle"));
}

TEST(ReportData, DoesNotSimulateWithoutEnd) {
  const Value v = report_value(plan_file(test::example_plan({{0, 1}, {2}}, 2, 2)), {.most_passes = 10});
  EXPECT_EQ(v.find("timeline"), nullptr);
  EXPECT_EQ(v.find("traffic"), nullptr);
  EXPECT_THAT(to_json_line(at(v, "notes")), HasSubstr("16 passes are more than a report simulates"));
}

TEST(ReportData, ABrokenPlanIsAnErrorWithItsFile) {
  Plan plan = test::example_plan({{0, 1}, {2}}, 2, 2);
  plan.stages.pop_back();
  EXPECT_EQ(message_of([&] { static_cast<void>(report_value(plan_file(plan))); }),
            "plan.json: pipeline is 2, but there are 1 stages");
}

TEST(ReportData, ListsCellsWhoseDevicesAreNotInARow) {
  Plan plan = test::example_plan({{0, 1, 2}}, 2, 2);
  plan.stages[0].devices = {{DeviceId{0}, DeviceId{2}}, {DeviceId{1}, DeviceId{3}}};
  EXPECT_EQ(to_json_line(placement_value(plan)),
            R"({"used": 4, "stages": [{"cell": 2, "devices": [0, 2, 1, 3]}]})");
}

TEST(ReportData, TheSameFileGivesTheSameBytes) {
  const Document file = plan_file(test::example_plan({{0, 1}, {2}}, 2, 2));
  EXPECT_EQ(to_json(report_value(file)), to_json(report_value(file)));
}

}  // namespace
}  // namespace nest::report
