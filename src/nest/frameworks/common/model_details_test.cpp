#include "nest/frameworks/common/model_details.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "nest/frameworks/test_details.hpp"
#include "nest/model/zoo.hpp"

namespace nest::frameworks {
namespace {

TEST(ModelDetails, KeysAreUnlike) {
  std::set<std::string_view> keys;
  for (const ModelDetail& detail : model_details()) EXPECT_TRUE(keys.insert(detail.key).second) << detail.key;
  EXPECT_EQ(find_model_detail("nothing"), nullptr);
}

TEST(ModelDetails, AreNamedWithTheirValues) {
  const ModelSpec gemma = zoo_model("gemma2-9b");
  EXPECT_EQ(left_out(*find_model_detail("logit_cap"), gemma), "left out: the soft cap of the logits, 30");
  EXPECT_TRUE(differing_details(gemma, gemma, "it").empty());
  EXPECT_EQ(differing_details(zoo_model("llama3-8b"), zoo_model("llama3.1-8b"), "Llama 3.1"),
            std::vector<std::string>{
                "the scaling of rotary positions: Llama 3.1 has Llama 3, 8 times of 8192, 1 to 4, "
                "the model none"});
}

// Each change of a detail is seen by one of the rows.
TEST(ModelDetails, SeeEveryChange) {
  for (const char* name : {"llama3.1-8b", "gemma2-9b", "gpt-oss-120b", "deepseek-v3", "qwen3-next-80b-a3b",
                           "phi-2", "gpt2-xl", "granite-3.3-8b", "qwen1.5-moe-a2.7b"}) {
    const ModelSpec spec = zoo_model(name);
    for (const test::DetailChange& change : test::detail_changes()) {
      ModelSpec other = spec;
      if (!change.make(other)) continue;
      EXPECT_FALSE(differing_details(spec, other, "it").empty()) << name << ": " << change.name;
    }
  }
}

}  // namespace
}  // namespace nest::frameworks
