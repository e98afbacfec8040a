#include "nest/frameworks/common/flags.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace nest::frameworks {
namespace {

using Flags = std::vector<Flag>;

TEST(Flags, AreWrittenUnderHeadings) {
  FlagSection a{"One", {}};
  a.add("--x", 3).add("--y");
  EXPECT_EQ(flag_text({a, {"Empty", {}}, {"Two", {{"--z", {"a", "b"}}}}}),
            "# One\n--x 3\n--y\n\n# Two\n--z a b\n");
}

TEST(Flags, ReadBackAsWritten) {
  FlagSection a{"One", {}};
  a.add("--layout", "Et*3|(tt|)*29,m|L").add("--freq", "([0]*3+[1]*58)").add("--on");
  EXPECT_EQ(read_flags(flag_text({a})), a.flags);
}

TEST(Flags, OfAScript) {
  const char* script = R"sh(#!/bin/bash
NODES=4; GPUS=${2:-8}
# --commented 1
ARGS=(
  --nnodes $NODES --nproc-per-node "$GPUS"
  --tp=2 # a remark
)
MORE="--quoted 'x y' --flag"
torchrun ${ARGS[@]} \
  --last 'a b' pretrain.py | tee --append log
)sh";
  const Flags flags = read_flags(script);
  EXPECT_EQ(find_flag(flags, "--nnodes")->values, std::vector<std::string>{"4"});
  EXPECT_EQ(find_flag(flags, "--nproc-per-node")->values, std::vector<std::string>{"8"});
  EXPECT_EQ(find_flag(flags, "--tp")->values, std::vector<std::string>{"2"});
  EXPECT_EQ(find_flag(flags, "--commented"), nullptr);
  EXPECT_EQ(find_flag(flags, "--quoted")->values, std::vector<std::string>{"x y"});
  EXPECT_TRUE(find_flag(flags, "--flag")->values.empty());
  EXPECT_EQ(find_flag(flags, "--last")->values.front(), "a b");
}

TEST(Flags, FallbacksQuotesAndPairs) {
  const auto flags = read_flags(
      "TP=${TP:-\"2\"}\nargs=(\n \"--fp8-format hybrid\"\n --nnodes ${NNODES:-${WORLD:-\"4\"}}\n"
      " --num-layers ${N-12}\n)\nrun --tensor-model-parallel-size $TP \"${args[@]}\"\n");
  ASSERT_EQ(flags.size(), 4U);
  EXPECT_EQ(flags[0], (Flag{"--fp8-format", {"hybrid"}}));
  EXPECT_EQ(flags[1], (Flag{"--nnodes", {"4"}}));
  EXPECT_EQ(flags[2], (Flag{"--num-layers", {"12"}}));
  EXPECT_EQ(flags[3], (Flag{"--tensor-model-parallel-size", {"2"}}));
}

TEST(Flags, NoScriptTakesMemoryWithoutEnd) {
  std::string nested = "--x ";
  for (int i = 0; i < 100'000; ++i) nested += "${A:-";
  EXPECT_EQ(read_flags(nested).size(), 1U);
  std::string doubled;
  for (int i = 0; i < 60; ++i) doubled += "A=\"y$A$A\"\n";
  EXPECT_EQ(read_flags(doubled + "run --x $A\n").size(), 1U);
}

TEST(Flags, OfATestsYaml) {
  const auto flags = read_flags(
      "ENV_VARS:\n  --no: 1\nMODEL_ARGS:\n  # a comment\n  --num-layers: 12\n  --bf16: true\n  --fp16: "
      "false\n"
      "  --spec: \"[a b]\"\n  --recompute-modules: \"moe mlp\" # two\nMETRICS:\n  --no: 2\n");
  ASSERT_EQ(flags.size(), 4U);
  EXPECT_EQ(flags[0], (Flag{"--num-layers", {"12"}}));
  EXPECT_EQ(flags[1], (Flag{"--bf16", {}}));
  EXPECT_EQ(flags[3].name, "--recompute-modules");
}

TEST(Flags, TheLastOneCounts) {
  EXPECT_EQ(find_flag(read_flags("--a 1 --b --a 2"), "--a")->values.front(), "2");
}

TEST(Flags, AnyTextIsRead) {
  EXPECT_TRUE(read_flags("").empty());
  EXPECT_EQ(read_flags("--a ${open").size(), 1U);
  EXPECT_EQ(read_flags("--a 'open").size(), 1U);
  EXPECT_EQ(read_flags("--a \\").size(), 1U);
  const std::string letters = "-a= \n'\"$\\{}(){}#;:1|";
  std::mt19937 random(7);
  for (int i = 0; i < 20'000; ++i) {
    std::string text;
    for (auto n = random() % 24; n > 0; --n) text += letters[random() % letters.size()];
    for (const Flag& flag : read_flags(text)) EXPECT_TRUE(flag.name.starts_with("--")) << text;
  }
}

}  // namespace
}  // namespace nest::frameworks
