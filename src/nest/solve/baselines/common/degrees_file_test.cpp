#include "nest/solve/baselines/common/degrees_file.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>

#include "nest/base/error.hpp"
#include "nest/base/files.hpp"
#include "nest/solve/ask/test_paper.hpp"

namespace nest::solve {
namespace {

using Found = std::vector<std::pair<std::string, GivenDegrees>>;

class DegreesFile : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    file_ = std::filesystem::temp_directory_path() /
            ("nest_degrees_" + std::to_string(::getpid()) + "_" + test->name() + ".csv");
  }
  void TearDown() override { std::filesystem::remove(file_); }

  std::vector<DegreesRow> read(const std::string& text) {
    write_file(file_.string(), text);
    return read_degrees(file_.string());
  }
  // What is said of a bad file, after its name.
  std::string error(const std::string& text) {
    try {
      static_cast<void>(read(text));
    } catch (const InputError& problem) {
      const std::string said = problem.what();
      EXPECT_TRUE(said.starts_with(file_.string() + ": ")) << said;
      return said.substr(file_.string().size() + 2);
    }
    return "nothing";
  }

 private:
  std::filesystem::path file_;
};

const std::string kHeader = "setup,devices,baseline,model,layers,pipeline,data,tensor\n";

TEST_F(DegreesFile, ReadsEveryColumn) {
  const auto rows = read(kHeader + "h100_spineLeaf,1024,mcmc,megatrongpt3,96,33,7,4\n");
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].setup, "h100_spineLeaf");
  EXPECT_EQ(rows[0].devices, 1024);
  EXPECT_EQ(rows[0].baseline, "mcmc");
  EXPECT_EQ(rows[0].model, "megatrongpt3");
  EXPECT_EQ(rows[0].layers, 96);
  EXPECT_EQ(rows[0].degrees, (GivenDegrees{33, 7, 4}));
  EXPECT_EQ(rows[0].line, 2);
}

TEST_F(DegreesFile, MatchesTheCatalogsNames) {
  const auto rows = read(kHeader +
                         "tpuv4_fatTree,1024,manual,megatrongpt3,96,32,8,4\n"
                         "h100_spineLeaf,1024,mcmc,llama3,80,40,25,1\n"
                         "tpuv4_fatTree_mbs2,1024,manual,llama3,80,80,12,1\n");
  const Found gpt{{"manual", {32, 8, 4}}};
  EXPECT_EQ(matching_degrees(rows, {"gpt3-175b", 96, 98, "paper-tpuv4-fat-tree", 1024}), gpt);
  EXPECT_EQ(matching_degrees(rows, {"tpuv4-fattree-gpt3", 96, 97, "paper-tpuv4-fat-tree", 1024}), gpt);
  EXPECT_TRUE(matching_degrees(rows, {"gpt3-175b", 96, 98, "paper-tpuv4-fat-tree", 512}).empty());
  EXPECT_TRUE(matching_degrees(rows, {"gpt3-175b", 96, 98, "h100-spine-leaf", 1024}).empty());
  EXPECT_TRUE(matching_degrees(rows, {"gpt3-13b", 96, 98, "paper-tpuv4-fat-tree", 1024}).empty());
  EXPECT_TRUE(matching_degrees(rows, {"gpt3-175b", 90, 92, "paper-tpuv4-fat-tree", 1024}).empty());
  const Found llama{{"mcmc", {40, 25, 1}}};
  for (const char* model : {"llama3-70b", "llama3.1-70b", "llama3"}) {
    for (const char* cluster : {"h100-spine-leaf", "paper-h100-spine-leaf"})
      EXPECT_EQ(matching_degrees(rows, {model, 80, 82, cluster, 1024}), llama) << model << " " << cluster;
  }
  EXPECT_TRUE(matching_degrees(rows, {"llama3-8b", 80, 82, "h100-spine-leaf", 1024}).empty());
}

TEST_F(DegreesFile, KnowsThePapersShortNames) {
  const auto rows = read(
      "baseline,model,pipeline,data,tensor\na,bert,1,1,1\nb,bertlarge,1,1,1\nc,megatronbert,1,1,1\n"
      "d,llama2,1,1,1\ne,gpt3,1,1,1\nf,mixtral,1,1,1\n");
  const auto names = [&](const char* model) {
    std::string text;
    for (const auto& [name, degrees] : matching_degrees(rows, {model, 1, 1, "any", 1})) text += name;
    return text;
  };
  EXPECT_EQ(names("bert-large"), "abc");
  EXPECT_EQ(names("h100-spineleaf-bert"), "ac");
  EXPECT_EQ(names("h100-spineleaf-bertlarge"), "b");
  EXPECT_EQ(names("llama2-7b"), "d");
  EXPECT_EQ(names("llama2-13b"), "");
  EXPECT_EQ(names("gpt3-175b"), "e");
  EXPECT_EQ(names("mixtral-8x7b"), "f");
  EXPECT_EQ(names("mixtral-8x22b"), "");
}

TEST_F(DegreesFile, MatchesAllWhereNothingIsSaid) {
  const auto rows = read("pipeline,data,tensor,setup\n2,4,1,\n2,4,1,\n");
  EXPECT_EQ(matching_degrees(rows, {"x", 3, 5, "y", 8}), (Found{{"", {2, 4, 1}}}));
}

TEST_F(DegreesFile, SaysWhatIsWrong) {
  EXPECT_EQ(error(""), "the file is empty");
  EXPECT_EQ(error("pipeline,data,tenzor\n1,1,1\n"), "line 1: no column 'tensor'; did you mean 'tenzor'?");
  EXPECT_EQ(error(kHeader + "a,8,b,c,4,two,1,1\n"),
            "line 2: 'pipeline' is 'two', not a positive whole number");
  EXPECT_EQ(error(kHeader + "a,8,b,c,4,2,,1\n"), "line 2: 'data' is '', not a positive whole number");
  EXPECT_EQ(error(kHeader + "a,8,b,c,4,2,1,0\n"), "line 2: 'tensor' is '0', not a positive whole number");
  EXPECT_EQ(error(kHeader + "a,8,b,c,4,2,1,99999999999\n"),
            "line 2: 'tensor' is '99999999999', not a degree: no cluster has so many devices");
  EXPECT_EQ(error(kHeader + "a,8,b,c,4,2,1\n"), "line 2: 7 fields, but the header has 8");
}

TEST(DegreesOfASmallTable, MatchAProfile) {
  const auto rows = read_degrees((test::small_paper_folder() / "baselines.csv").string());
  const PlanInputs inputs = test::paper_inputs("tpuv4_fatTree_twelve_mbs1", 64);
  EXPECT_EQ(matching_degrees(rows, degrees_key({inputs, {}, {}, {}})),
            (Found{{"manual", {2, 32, 1}}, {"mcmc", {4, 8, 2}}}));
}

TEST(DegreesOfThePaper, MatchItsProfiles) {
  const std::filesystem::path file = test::paper_folder() / "baselines.csv";
  if (!std::filesystem::exists(file))
    GTEST_SKIP() << "the large table is absent; the small one is read above";
  const std::vector<DegreesRow> rows = read_degrees(file.string());
  EXPECT_GT(rows.size(), 100U);
  for (const char* profile : {"tpuv4_fatTree_gpt3_mbs1", "tpuv4_fatTree_llama2_mbs1",
                              "h100_spineLeaf_mixtral_mbs1", "tpuv4_fatTree_bert_mbs1"}) {
    const PlanInputs inputs = test::paper_inputs(profile, 1024);
    const auto found = matching_degrees(rows, degrees_key({inputs, {}, {}, {}}));
    EXPECT_GE(found.size(), 2U) << profile;
    EXPECT_LE(found.size(), 3U) << profile;
  }
}

}  // namespace
}  // namespace nest::solve
