#include "nest/frameworks/importers.hpp"

#include <gtest/gtest.h>

#include <set>

#include "support/message_of.hpp"

namespace nest::frameworks {
namespace {

// The sample of each kind is of that kind, and is read.
TEST(Importers, SamplesAreReadAndRecognized) {
  std::set<std::string_view> names;
  for (const Importer& importer : importers()) {
    EXPECT_TRUE(names.insert(importer.name).second);
    ImportQuestion question{
        .file = "sample", .text = std::string(importer.sample), .cluster = "h100-spine-leaf", .devices = 16};
    if (importer.name == "deepspeed" || importer.name == "accelerate") question.model = "llama3.1-8b";
    EXPECT_EQ(importer_of(question).name, importer.name);
    Warnings warnings;
    EXPECT_EQ(importer.read(question, warnings).plan.parallelism.devices(), 16) << importer.name;
    EXPECT_FALSE(importer.dialect(question.text).name.empty());
  }
}

TEST(Importers, TellsTextsThatAreNone) {
  const auto refusal = [](const std::string& text) {
    return message_of([&] { static_cast<void>(importer_of({.file = "x", .text = text})); });
  };
  const std::string none =
      "x: it is neither a launch line of Megatron-LM nor a file of torchtitan, DeepSpeed or Accelerate; "
      "--kind says "
      "what it is: megatron, torchtitan, deepspeed, accelerate";
  EXPECT_EQ(refusal(""), none);
  EXPECT_EQ(refusal("hello"), none);
  EXPECT_EQ(refusal("{\"a\": 1}"), none);
  EXPECT_EQ(find_importer("other"), nullptr);
}

TEST(Importers, AccelerateHasDeepSpeedsWordsWhereItRunsIt) {
  const Importer& accelerate = *find_importer("accelerate");
  EXPECT_EQ(accelerate.dialect("distributed_type: DEEPSPEED\n").framework, "deepspeed");
  EXPECT_EQ(accelerate.dialect("distributed_type: FSDP\n").framework, "accelerate");
}

}  // namespace
}  // namespace nest::frameworks
