#include "service.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <set>

#include "api_error.hpp"

namespace nest::server {
namespace {

using testing::HasSubstr;

// Takes seconds: 131,072 devices and 256 experts.
constexpr const char* kLong = R"({"model": "deepseek-v3", "cluster": "mega-131072", "session": "tab"})";
constexpr const char* kShort = R"({"model": "llama3.1-8b", "devices": 16, "session": "tab"})";

std::string text(const Value& object, const char* key) {
  const Value* value = object.find(key);
  return value == nullptr || value->as_string() == nullptr ? "" : *value->as_string();
}

int status_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const ApiError& error) {
    return error.status;
  } catch (const InputError&) {
    return 400;
  }
  return 200;
}

TEST(Service, APlanWithViews) {
  Service service;
  const Value plan =
      service.plan(R"({"model": "llama3.1-8b", "devices": 16, "views": true, "runners_up": 2})");
  EXPECT_EQ(text(plan, "status"), "optimal");
  // Two plans beside the one that is taken, the strict optimum among them.
  EXPECT_NE(plan.find("strict"), nullptr);
  EXPECT_EQ(plan.find("runners_up")->as_array()->size(), 1U);
  EXPECT_EQ(plan.find("views")->find("alternatives")->as_array()->size(), 2U);
  const Value* views = plan.find("views");
  ASSERT_NE(views, nullptr);
  EXPECT_NE(views->find("placement"), nullptr);
  EXPECT_NE(views->find("timeline"), nullptr);
  EXPECT_THAT(text(*views, "proof"), HasSubstr("optimal"));
}

// Plans that take hardly longer are in the table once each: the one that is taken, the strict optimum below it, then others.
TEST(Service, PlansBesideTheOneThatIsTaken) {
  Limits limits;
  limits.time_limit = Seconds{300};  // the sanitizers take their time
  Service service(limits);
  const Value answer = service.plan(R"({"model": "llama3.1-70b", "devices": 64, "global_batch": 128,
      "runners_up": 3, "in_full": true, "views": true})");
  ASSERT_NE(answer.find("strict"), nullptr);
  const Value::Array& rows = *answer.find("views")->find("alternatives")->as_array();
  const Value::Array& whole = *answer.find("alternatives")->as_array();
  ASSERT_GE(rows.size(), 2U);
  ASSERT_EQ(rows.size(), whole.size());
  EXPECT_NE(rows[0].find("strict"), nullptr);
  EXPECT_NE(rows[0].find("near_tie"), nullptr);
  std::set<std::string> seen{to_json_line(*answer.find("predicted")->find("step_s"))};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::string step = to_json_line(*rows[i].find("step_s"));
    EXPECT_EQ(step, to_json_line(*whole[i].find("predicted")->find("step_s"))) << i;
    EXPECT_TRUE(seen.insert(step).second) << step << " stands twice";
  }
  EXPECT_THAT(text(*answer.find("views"), "simpler"), HasSubstr("longer than the best plan"));
}

// The clock decides when there is an answer, and not which one: what it cuts short says so.
TEST(Service, OneQuestionHasOneAnswer) {
  Limits limits;
  limits.time_limit = Seconds{300};
  Service service(limits);
  const std::string question = R"({"model": "llama3.1-70b", "devices": 64, "global_batch": 128)";
  const Value patient = service.plan(question + "}");
  EXPECT_EQ(patient.find("further_stopped"), nullptr);
  for (const char* limit : {"0.02", "0.05", "0.1", "0.15", "0.2", "0.3", "0.7"}) {
    const Value answer = service.plan(question + R"(, "time_limit_s": )" + limit + "}");
    if (text(answer, "status") != "optimal" || answer.find("further_stopped") != nullptr) continue;
    EXPECT_EQ(to_json_line(*answer.find("parallelism")), to_json_line(*patient.find("parallelism"))) << limit;
    EXPECT_NE(answer.find("strict"), nullptr) << limit;
    EXPECT_NE(answer.find("safety"), nullptr) << limit;
  }
}

// Whoever waits for views knows the step already.
TEST(Service, TheLastProgressIsTheAnswer) {
  Service service;
  std::optional<SearchProgress> last;
  const Value plan =
      service.plan(service.read_plan(R"({"model": "llama3.1-8b", "devices": 16, "views": true})"),
                   [&](const SearchProgress& progress) {
                     last = progress;
                     return true;
                   });
  ASSERT_TRUE(last.has_value());
  EXPECT_EQ(last->best->value, *plan.find("predicted")->find("step_s")->as_real());
  EXPECT_LE(last->bound.value, last->best->value);  // a simpler plan may stand in for the fastest
  EXPECT_EQ(last->open, 0);
}

TEST(Service, NothingFits) {
  Limits limits;
  limits.advice = Seconds{300};  // the sanitizers take their time
  Service service(limits);
  const Value answer = service.plan(R"({"model": "gpt3-13b", "devices": 1})");
  EXPECT_EQ(text(answer, "status"), "infeasible");
  EXPECT_FALSE(answer.find("advice")->as_array()->empty());
}

// As on the command line: every kind of change, and which one is tried next.
TEST(Service, AdviceNamesWhatToSet) {
  Limits limits;
  limits.advice = Seconds{300};
  Service service(limits);
  std::vector<std::string> asked;
  PlanRequest request = service.read_plan(
      R"({"model": "llama3.1-8b", "devices": 8, "choices": {"tensor": 1, "pipeline": 1, "zero": 0}})");
  const Value answer = service.plan(std::move(request), {}, [&](const std::string& change) {
    asked.push_back(change);
    return true;
  });
  ASSERT_EQ(text(answer, "status"), "infeasible");
  EXPECT_THAT(asked, testing::Contains("--zero left open"));
  EXPECT_THAT(asked, testing::Contains("more devices"));
  bool open = false;
  for (const Value& advice : *answer.find("advice")->as_array())
    open = open || (text(advice, "field") == "zero" && text(advice, "value").empty());
  EXPECT_TRUE(open);
}

TEST(Service, ShadowPrices) {
  Limits limits;
  limits.advice = Seconds{300};
  limits.time_limit = Seconds{300};
  Service service(limits);
  const Value answer = service.shadow_prices(R"({"model": "llama3.1-8b", "devices": 16})");
  const Value::Array& prices = *answer.find("shadow_prices")->as_array();
  ASSERT_GE(prices.size(), 3U);
  for (const Value& price : prices) {
    EXPECT_NE(text(price, "change"), "");
    EXPECT_EQ(text(price, "status"), "optimal");
    const Value* share = price.find("share");
    ASSERT_NE(share, nullptr);
    EXPECT_LE(share->as_real() != nullptr ? *share->as_real() : 0, 0);
  }
  EXPECT_EQ(answer.find("stopped"), nullptr);
}

TEST(Service, ANewRequestCancelsTheFormer) {
  Service service;
  std::promise<void> searching;
  std::atomic<bool> told = false;
  auto first = std::async(std::launch::async, [&] {
    return status_of([&] {
      if (!told.exchange(true)) searching.set_value();
      (void)service.plan(kLong);
    });
  });
  searching.get_future().wait();
  while (service.jobs().running() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(text(service.plan(kShort), "status"), "optimal");
  EXPECT_EQ(first.get(), 409);
}

TEST(Service, TheTimeLimitHolds) {
  Limits limits;
  limits.time_limit = Seconds{0.2};
  Service service(limits);
  const auto began = std::chrono::steady_clock::now();
  const std::string status = text(service.plan(kLong), "status");
  EXPECT_TRUE(status == "feasible" || status == "limit") << status;
  // A round of the search. Slow machines take longer.
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(60));
}

TEST(Service, ACallerThatHasGone) {
  Service service;
  PlanRequest request = service.read_plan(R"({"model": "deepseek-v3"})");
  int told = 0;
  const int status = status_of([&] {
    (void)service.plan(std::move(request), [&](const SearchProgress&) {
      ++told;
      return false;
    });
  });
  EXPECT_EQ(status, told > 0 ? 409 : 200);
}

TEST(Service, BadRequests) {
  Limits limits;
  limits.body_bytes = 1000;
  Service service(limits);
  EXPECT_EQ(status_of([&] { (void)service.plan("{"); }), 400);
  EXPECT_EQ(status_of([&] { (void)service.plan(""); }), 400);
  EXPECT_EQ(status_of([&] { (void)service.plan(std::string(1001, ' ')); }), 413);
  EXPECT_EQ(status_of([&] { (void)service.plan(std::string(900, '[')); }), 400);
  EXPECT_EQ(status_of([&] { (void)service.plan(R"({"model": "/etc/passwd"})"); }), 400);
  EXPECT_EQ(status_of([&] { (void)service.evaluate("{}"); }), 400);
  EXPECT_EQ(status_of([&] { (void)service.cancel("{}"); }), 400);
  EXPECT_EQ(status_of([&] { (void)service.export_plan("{}"); }), 400);
  EXPECT_EQ(status_of([&] { (void)service.report("{}"); }), 400);
}

TEST(Service, Evaluate) {
  Service service;
  const Value answer = service.evaluate(R"({"model": "llama3.1-8b", "devices": 16, "plans": [
      {"parallelism": {"data": 16, "zero": 1}}, {"parallelism": {"data": 16, "zero": 0}},
      {"parallelism": {"tensor": 3}}, {"inputs": {"model": "/etc/passwd", "cluster": "h100-spine-leaf"}}]})");
  const Value::Array& results = *answer.find("results")->as_array();
  ASSERT_EQ(results.size(), 4U);
  EXPECT_NE(results[0].find("predicted"), nullptr);
  EXPECT_EQ(text(results[1], "status"), "infeasible");
  EXPECT_EQ(text(results[2], "status"), "invalid");
  EXPECT_THAT(text(results[3], "reason"), HasSubstr("files of the host cannot be read"));
}

TEST(Service, Describe) {
  Service service;
  const Value cluster = service.describe_cluster(
      R"({"cluster_text": "name: x\naccelerator: h100-sxm\nlevels:\n- {name: node, size: 4, bandwidth: 1 GB/s, latency: 1 us}"})");
  EXPECT_EQ(*cluster.find("devices")->as_int(), 4);
  EXPECT_EQ(text(service.describe_model(R"({"model": "llama3.1-8b"})"), "name"), "llama3.1-8b");
}

TEST(Service, ReportAndExportOfItsOwnPlan) {
  Service service;
  Value request = Value::object();
  request.set("plan", service.plan(kShort));
  EXPECT_THAT(service.report(to_json(request)), HasSubstr("<!DOCTYPE html>"));
  EXPECT_EQ(text(service.export_plan(to_json(request)), "to"), "json");
  const Value views = service.views(to_json(request));
  EXPECT_NE(views.find("placement"), nullptr);
  EXPECT_NE(views.find("memory_timeline"), nullptr);
  EXPECT_NE(views.find("roofline"), nullptr);
  EXPECT_EQ(status_of([&] { (void)service.views("{}"); }), 400);
}

}  // namespace
}  // namespace nest::server
