#include "nest/validate/calibrate/calibrate.hpp"

#include <gtest/gtest.h>

#include "nest/validate/runs/run_predictor.hpp"
#include "nest/validate/runs/test_runs.hpp"
#include "support/message_of.hpp"

namespace nest::validate {
namespace {

CalibrationQuestion asked(const std::string& name, const std::string& text) {
  CalibrationQuestion question;
  question.files.push_back({name, text});
  question.open = [](const std::string&) { return *run_case(made_up_run()).run; };
  question.inputs = [] { return run_case(made_up_run()).run->inputs; };
  return question;
}

std::string message(const CalibrationQuestion& question) {
  return message_of([&] { static_cast<void>(calibrate(question)); });
}

std::string log_of(double times) {
  const double ms = 1e3 * times * price_run(*run_case(made_up_run()).run).step.value;
  std::string out;
  for (int i = 1; i <= 5; ++i)
    out += "iteration " + std::to_string(i) +
           "/ 50 | elapsed time per iteration (ms): " + std::to_string(ms) + " | global batch size: 64 |\n";
  return out;
}

TEST(Calibrate, ALogNeedsThePlanThatRan) {
  CalibrationQuestion question = asked("x.log", log_of(1.5));
  EXPECT_EQ(message(question),
            "x.log: a log does not say which plan ran; give it with --plan FILE: a plan, or its degrees");
  question.plan = "plan.json";
  const CalibrationAnswer answer = calibrate(question);
  EXPECT_NE(spell_calibration(answer.calibration), "");
  ASSERT_EQ(answer.calibration.learnt_from.size(), 1U);
  EXPECT_TRUE(answer.calibration.learnt_from[0].starts_with("x.log: 4 lines of Megatron-LM, "))
      << answer.calibration.learnt_from[0];
  ASSERT_EQ(answer.runs.size(), 1U);
  EXPECT_LT(answer.runs[0].calibrated, answer.runs[0].measured);
  EXPECT_GT(answer.runs[0].calibrated, answer.runs[0].predicted);
}

TEST(Calibrate, TheNetworkIsFittedFirst) {
  CalibrationQuestion question = asked("x.log", log_of(1.0));
  question.plan = "plan.json";
  std::string test = "./all_reduce_perf\n# nThread 1 nGpus 8 minBytes 8 maxBytes 8\n";
  for (int i = 0; i < 8; ++i)
    test += "# Rank " + std::to_string(i) + " Group 0 Pid 1 on h device " + std::to_string(i) + " [0x0f] x\n";
  for (int i = 0; i < 6; ++i) test += "1073741824 268435456 float sum -1 30000.0 35.8 62.6 0\n";
  question.files.push_back({"n.txt", test});
  const CalibrationAnswer answer = calibrate(question);
  ASSERT_EQ(answer.calibration.levels.size(), 1U);
  EXPECT_EQ(answer.calibration.levels[0].name, "node");
  EXPECT_LT(answer.calibration.levels[0].bandwidth.value, 0.5);
  EXPECT_EQ(answer.network.size(), 6U);
}

TEST(Calibrate, WhatIsNoMeasurementIsSaid) {
  EXPECT_EQ(message(asked("x.log", " \n")), "x.log: the file is empty");
  EXPECT_EQ(message(asked("x.json.gz", "\x1f\x8b and more")),
            "x.json.gz: this is compressed; unpack it first, with gunzip");
  EXPECT_EQ(message(asked("x.log", std::string("a\0b", 3))), "x.log: this is no text");
  CalibrationQuestion question = asked("x.log", "nothing of use\n");
  question.plan = "plan.json";
  EXPECT_TRUE(message(question).starts_with("x.log: no line says how long a step took; "));
}

}  // namespace
}  // namespace nest::validate
