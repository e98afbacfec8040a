#include "plan_request.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nest/question/space_options.hpp"

namespace nest::server {
namespace {

using testing::HasSubstr;

PlanRequest read(const std::string& body) {
  const Document document = parse_json("request", body);
  return read_plan_request(Reader(document), {});
}

std::string refusal(const std::string& body) {
  try {
    (void)read(body);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(PlanRequest, Defaults) {
  const PlanRequest request = read("{}");
  EXPECT_EQ(request.question.inputs.model_name(), "llama3.1-70b");
  EXPECT_EQ(request.question.training.global_batch, 1024);
  EXPECT_EQ(request.question.training.sequence, 8192);
  EXPECT_EQ(request.question.asked.time_limit, Seconds{20});
  EXPECT_TRUE(request.advice);
  EXPECT_FALSE(request.views);
  EXPECT_EQ(request.session, "");
}

TEST(PlanRequest, Choices) {
  const PlanRequest request = read(
      R"({"choices": {"tensor": [4, 8], "zero": 1, "pipeline": "2..16", "micro_batch": 1, "sequence-parallel": true}})");
  const SearchSpace& space = request.question.space;
  EXPECT_EQ(spell(*find_space_option("tensor"), space), "4,8");
  EXPECT_EQ(spell(*find_space_option("zero"), space), "1");
  EXPECT_EQ(spell(*find_space_option("micro-batch"), space), "1");
  EXPECT_EQ(spell(*find_space_option("sequence-parallel"), space), "on");
  EXPECT_FALSE(is_open(*find_space_option("pipeline"), space));
  EXPECT_THAT(refusal(R"({"choices": {"tensr": 1}})"), HasSubstr("did you mean 'tensor'?"));
  EXPECT_THAT(refusal(R"({"choices": {"tensor": "2..x"}})"), HasSubstr("choices.tensor"));
  EXPECT_THAT(refusal(R"({"choices": {"tensor": {}}})"), HasSubstr("a number, a word or a list"));
  EXPECT_THAT(refusal(R"({"choices": {"tensor": [[1]]}})"), HasSubstr("a number, a word or a list"));
}

TEST(PlanRequest, LimitsOfTheServerHold) {
  EXPECT_EQ(read(R"({"time_limit_s": 1000})").question.asked.time_limit, Seconds{20});
  EXPECT_EQ(read(R"({"time_limit_s": 2})").question.asked.time_limit, Seconds{2});
  EXPECT_NE(refusal(R"({"time_limit_s": -1})"), "");
  EXPECT_NE(refusal(R"({"top": 1000})"), "");
  EXPECT_NE(refusal(R"({"global_batch": 0})"), "");
  EXPECT_NE(refusal(R"({"sequence": 1e12})"), "");
}

// The command line always refused these; the server planned them.
TEST(PlanRequest, RefusesWhatTheCommandLineRefuses) {
  EXPECT_THAT(refusal(R"({"for": "deepspeed", "choices": {"recompute": "selective"}})"),
              HasSubstr("choices.recompute: DeepSpeed has no recomputation selective"));
  EXPECT_THAT(refusal(R"({"uniform": true, "mixed": true})"), HasSubstr("exclude each other"));
  EXPECT_THAT(refusal(R"({"model": "t5-11b", "for": "megatron@core_v0.17", "choices": {"pipeline": 2}})"),
              HasSubstr("choices.pipeline: Megatron-LM cannot divide"));
  EXPECT_THAT(read(R"({"cluster": "dgx2-v100"})").question.notes,
              testing::ElementsAre(HasSubstr("has no bf16")));
}

TEST(PlanRequest, Refused) {
  EXPECT_THAT(refusal(R"({"modle": "x"})"), HasSubstr("did you mean 'model'?"));
  EXPECT_THAT(refusal(R"({"for": "megatorn"})"), HasSubstr("megatron"));
  EXPECT_THAT(refusal(R"({"for": "megatron", "mixed": true})"), HasSubstr("one strategy in all stages"));
  EXPECT_THAT(refusal(R"({"for": "megatron", "choices": {"schedule": "zb-h1"}})"),
              HasSubstr("choices.schedule: Megatron-LM has no schedule zb-h1"));
  EXPECT_THAT(refusal(R"({"cluster": "dgx-a100-superpod", "precision": "fp8"})"), HasSubstr("no 8-bit"));
  EXPECT_THAT(refusal(R"({"model": "gpt2-xl", "sequence": 1000000})"),
              HasSubstr("line 1, sequence: 1000000 is beyond"));
  EXPECT_THAT(read(R"({"model": "llama3.1-8b", "sequence": 1000000})").question.notes,
              testing::Contains(HasSubstr("beyond")));
  EXPECT_THAT(refusal(R"({"session": "a b"})"), HasSubstr("letters"));
  EXPECT_THAT(refusal(R"({"devices": 100})"), HasSubstr("96"));
  EXPECT_NE(refusal("[]"), "");
}

}  // namespace
}  // namespace nest::server
