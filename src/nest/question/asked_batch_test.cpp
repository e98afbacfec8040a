#include "nest/question/asked_batch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nest/plan/test_example.hpp"
#include "nest/question/make_question.hpp"

namespace nest::question {
namespace {

using testing::ElementsAre;

Asked asked(const std::string& text) {
  Asked out;
  set_asked(out, "global-batch", text);
  return out;
}

TEST(AskedBatch, OneNumberOrSeveral) {
  const auto batches = [](const std::string& text) { return asked(text).batches; };
  EXPECT_THAT(batches("100\u00b12%"), ElementsAre(100, 99, 101, 98, 102));
  EXPECT_THAT(batches("100+-1%"), ElementsAre(100, 99, 101));
  EXPECT_THAT(batches("480,512"), ElementsAre(480, 512));
  EXPECT_THAT(batches("480..482"), ElementsAre(480, 481, 482));
  EXPECT_THAT(batches("1,024"), ElementsAre());  // one number
  EXPECT_EQ(asked("1,024").global_batch, 1024);
  EXPECT_EQ(asked("262,144").global_batch, 262'144);
  EXPECT_EQ(asked("512\u00b15%").global_batch, 512);
  const PlanQuestion q = make_question(test::example_inputs(), asked("480,512"));
  EXPECT_EQ(q.training.global_batch, 480);
  EXPECT_THAT(q.batches, ElementsAre(480, 512));
  EXPECT_THROW((void)batches("512\u00b1x"), AskedError);
  EXPECT_THROW((void)batches("0..3"), AskedError);
  EXPECT_THROW((void)batches("1..100000"), AskedError);
}

}  // namespace
}  // namespace nest::question
