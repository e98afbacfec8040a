#include "nest/frameworks/importers.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>

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

// Samples that are cut, doubled or spoilt become plans or one sentence, and nothing worse.
TEST(Importers, SpoiltFilesNeverCrash) {
  std::mt19937 dice(11);  // NOLINT(cert-msc51-cpp): the same texts each time
  const std::string odd = "[]{}\"'=.,#\\\n -_019aeE:";
  int read = 0;
  for (int round = 0; round < 4'000; ++round) {
    const Importer& importer = importers()[static_cast<std::size_t>(round) % importers().size()];
    ImportQuestion question{.file = "x",
                            .text = std::string(importer.sample),
                            .model = "llama3.2-1b",
                            .cluster = "h100-spine-leaf"};
    for (std::size_t change = dice() % 3 + 1; change > 0; --change) {
      const std::size_t at = dice() % question.text.size();
      if (dice() % 3 == 0) {
        question.text.erase(at, dice() % 6 + 1);
      } else if (dice() % 2 == 0) {
        question.text[at] = odd[dice() % odd.size()];
      } else {
        question.text.insert(at, std::to_string(dice() % 100'000));
      }
      question.text += ' ';
    }
    Warnings warnings;
    if (message_of([&] { static_cast<void>(importer.read(question, warnings)); }) == "(no error)") ++read;
  }
  EXPECT_GT(read, 400);
}

TEST(Importers, AccelerateHasDeepSpeedsWordsWhereItRunsIt) {
  const Importer& accelerate = *find_importer("accelerate");
  EXPECT_EQ(accelerate.dialect("distributed_type: DEEPSPEED\n").framework, "deepspeed");
  EXPECT_EQ(accelerate.dialect("distributed_type: FSDP\n").framework, "accelerate");
}

}  // namespace
}  // namespace nest::frameworks
