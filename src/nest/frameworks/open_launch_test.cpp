#include "nest/frameworks/open_launch.hpp"

#include <gtest/gtest.h>

#include "support/message_of.hpp"

namespace nest::frameworks {
namespace {

OpenPlan open(const std::string& text, const ImportQuestion& given = {}) {
  ImportQuestion question = given;
  question.file = "f";
  question.text = text;
  if (question.cluster.empty()) question.cluster = "h100-spine-leaf";
  Warnings warnings;
  return open_launch(question, nullptr, warnings);
}

TEST(OpenLaunch, ReadsWhatAnyImporterKnows) {
  for (const Importer& importer : importers()) {
    ImportQuestion given{.devices = 16};
    // These files name no model.
    const bool settings = importer.name == "deepspeed" || importer.name == "accelerate";
    if (settings) given.model = "llama3.1-8b";
    if (settings) given.given.sequence = 4096;
    if (importer.name == "accelerate") given.given.global_batch = 16;
    const OpenPlan plan = open(std::string(importer.sample), given);
    EXPECT_GE(plan.plan.parallelism.data, 1) << importer.name;
  }
}

TEST(OpenLaunch, ReadsPlansWithTheirInputsOrTheQuestions) {
  const std::string degrees =
      R"({"training": {"global_batch": 16}, "parallelism": {"tensor": 2, "data": 8}})";
  const OpenPlan own =
      open(R"({"inputs": {"model": "gpt2", "cluster": "h100-spine-leaf"}, )" + degrees.substr(1));
  EXPECT_EQ(own.inputs.model_name(), "gpt2");
  EXPECT_EQ(own.plan.parallelism.strategy.tensor, 2);
  const OpenPlan given = open(degrees, {.model = "llama3.1-8b", .devices = 16});
  EXPECT_EQ(given.inputs.model_name(), "llama3.1-8b");
  EXPECT_EQ(given.inputs.cluster.devices(), 16);
  EXPECT_EQ(message_of([&] { (void)open(degrees); }),
            "f: line 1: 'inputs' is missing: say which model the plan is for; or give --model and --cluster");
}

TEST(OpenLaunch, SaysWhatItCannotRead) {
  EXPECT_EQ(
      message_of([&] { (void)open("hello"); }),
      "f: it is neither a launch line of Megatron-LM nor a file of torchtitan, DeepSpeed or Accelerate; "
      "--kind says what it is: megatron, torchtitan, deepspeed, accelerate");
}

}  // namespace
}  // namespace nest::frameworks
