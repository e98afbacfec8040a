#include "compare.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "service.hpp"

namespace nest::server {
namespace {

using testing::HasSubstr;

std::string refusal(const std::string& body) {
  const Document document = parse_json("request", body);
  Reader request(document);
  try {
    (void)read_compare_request(request, {});
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(Compare, QuestionsAndPlans) {
  Service service;
  const Value answer = service.compare(R"({
      "questions": [{"name": "all", "model": "llama3.1-8b", "devices": 16},
                    {"name": "pinned", "model": "llama3.1-8b", "devices": 16, "choices": {"tensor": 8}}],
      "plans": [{"name": "mine", "inputs": {"model": "llama3.1-8b", "cluster": "h100-spine-leaf"},
                 "parallelism": {"tensor": 8, "data": 128, "zero": 1}}]})");
  const Value::Array& plans = *answer.find("plans")->as_array();
  ASSERT_EQ(plans.size(), 3U);
  EXPECT_EQ(*plans[0].find("name")->as_string(), "mine");
  EXPECT_EQ(*plans[1].find("status")->as_string(), "optimal");
  EXPECT_EQ(*plans[2].find("parallelism")->find("tensor")->as_int(), 8);
  const Value::Array& differences = *answer.find("differences")->as_array();
  ASSERT_EQ(differences.size(), 2U);
  EXPECT_FALSE(differences[0].find("choices")->as_array()->empty());
  EXPECT_EQ(differences[0].find("terms")->as_array()->size(), 10U);
}

TEST(Compare, Baselines) {
  Service service;
  const Value answer = service.compare(
      R"({"questions": [{"model": "llama3.1-8b", "devices": 16}], "with": ["manual", "phaze"]})");
  const Value::Array& plans = *answer.find("plans")->as_array();
  ASSERT_EQ(plans.size(), 3U);
  EXPECT_EQ(*plans[1].find("name")->as_string(), "manual");
  EXPECT_EQ(*plans[2].find("name")->as_string(), "phaze");
  const double ours = *plans[0].find("predicted")->find("step_s")->as_real();
  EXPECT_GE(*plans[1].find("predicted")->find("step_s")->as_real(), ours * (1 - 1e-9));
}

TEST(Compare, Refused) {
  EXPECT_THAT(refusal(R"({"questions": [{}]})"), HasSubstr("two or more"));
  EXPECT_THAT(refusal(R"({"questions": [{}, {}], "with": ["alpaca"]})"),
              HasSubstr("unknown method 'alpaca'"));
  EXPECT_THAT(refusal(R"({"plans": [{}, {}], "with": ["alpa"]})"), HasSubstr("'with' needs a question"));
  EXPECT_THAT(refusal(R"({"questions": [{},{},{},{},{},{},{},{},{}]})"), HasSubstr("more than 8"));
  EXPECT_THAT(refusal(R"({"plans": 3})"), HasSubstr("a list"));
}

}  // namespace
}  // namespace nest::server
