#include "nest/report/answer/beside.hpp"

#include <gtest/gtest.h>

#include "nest/report/answer/test_answers.hpp"

namespace nest::report {
namespace {

using test::answer;
using test::answer_plan;

// The cluster has two nodes of four devices.
Plan on(const std::vector<std::int32_t>& devices, double step) {
  Plan plan = answer_plan({3}, static_cast<std::int64_t>(devices.size()), Seconds{step}, Seconds{0});
  for (const std::int32_t id : devices) plan.stages[0].devices.push_back({DeviceId{id}});
  return plan;
}

struct Case {
  SearchResult found;
  PlanInputs inputs = test::eight_devices();
  SearchOptions asked;

  Case(Plan best, Objective objective) : found(answer({std::move(best)})) { asked.objective = objective; }
  [[nodiscard]] Beside beside() const { return {found, inputs, asked}; }
};

TEST(Beside, Steps) {
  const Case c(on({0, 1}, 1), Objective::step_time);
  const Plan slow = on({0, 1}, 1.25);
  const Beside beside = c.beside();
  EXPECT_EQ(beside.than(slow, beside.taken()), "is 250 ms (25.0 %) slower than");
  EXPECT_EQ(beside.than(beside.taken(), slow), "is 250 ms (20.0 %) faster than");
  EXPECT_EQ(beside.longer(slow, beside.taken()), "takes 25.0 % longer");
  EXPECT_EQ(beside.longer(beside.taken(), slow), "takes 20.0 % less");
  EXPECT_EQ(beside.costs(slow, beside.taken()), "costs 250 ms (25.0 %)");
  EXPECT_EQ(beside.has(slow), "1.25 s a step");
  EXPECT_TRUE(beside.compares_steps(slow, beside.taken()));
  Value v = Value::object();
  beside.put_counted(v, slow);
  EXPECT_EQ(to_json_line(v), "{}");
}

// Two devices rent one node of four for 1 s, five devices both nodes for 0.8 s: 60 % more.
TEST(Beside, Costs) {
  const Case c(on({0, 1}, 1), Objective::cost);
  const Plan fast = on({0, 1, 2, 3, 4}, 0.8);
  const Beside beside = c.beside();
  EXPECT_EQ(beside.than(fast, beside.taken()), "costs 60.0 % more for a token than");
  EXPECT_EQ(beside.longer(beside.taken(), fast), "costs 37.5 % less for a token");
  EXPECT_EQ(beside.has(fast), "800 ms a step on 8 rented devices");
  EXPECT_FALSE(beside.compares_steps(fast, beside.taken()));
  Value v = Value::object();
  beside.put_counted(v, fast);
  EXPECT_EQ(to_json_line(v), R"({"rented_devices": 8, "token_cost_share": 0.6000000000000001})");
}

TEST(Beside, Devices) {
  const Case c(on({0, 1}, 1), Objective::devices);
  const Beside beside = c.beside();
  EXPECT_EQ(beside.than(on({0, 1, 2}, 0.8), beside.taken()), "uses 1 device more than");
  EXPECT_EQ(beside.longer(beside.taken(), on({0, 1, 2, 3}, 0.8)), "uses 2 devices fewer");
  EXPECT_EQ(beside.has(on({0, 1}, 2)), "2 s a step on 2 devices");
  // As many: the step decides.
  EXPECT_EQ(beside.than(on({4, 5}, 2), beside.taken()), "is 1 s (100.0 %) slower than");
}

TEST(Beside, TheOneThatIsTaken) {
  Case c(on({0, 1}, 1), Objective::step_time);
  EXPECT_EQ(c.beside().name(), "the best plan");
  EXPECT_EQ(c.beside().column(), "best");
  c.found.simpler = on({0, 1}, 1.004);
  EXPECT_EQ(c.beside().name(), "the plan above");
  EXPECT_EQ(c.beside().column(), "taken");
  EXPECT_EQ(c.beside().taken().predicted->step, Seconds{1.004});
  EXPECT_EQ(c.beside().best().predicted->step, Seconds{1});
}

}  // namespace
}  // namespace nest::report
