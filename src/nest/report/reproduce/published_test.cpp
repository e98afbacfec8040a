#include "nest/report/reproduce/published.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nest/base/error.hpp"
#include "nest/report/reproduce/test_experiment.hpp"

namespace nest::report {
namespace {

using test::made_up_options;
using test::some_points;

constexpr const char* kHeader = "experiment,setup,model,devices,micro_batch,manual,mcmc,alpa_e,phaze,nest\n";

const ExperimentRow& row_of(const std::vector<ExperimentRow>& rows, std::int64_t devices,
                            const std::string& method) {
  for (const ExperimentRow& row : rows)
    if (row.point.devices == devices && row.method == method) return row;
  throw std::out_of_range(method);
}

TEST(Published, BothRelativeToManualAtTheFirstPointOfBoth) {
  // Published from 64 devices on; our manual fits from 128 on.
  const auto published = read_published("p.csv", std::string(kHeader) +
                                                     "figure5,tpuv4_fatTree,bert,64,1,1.0,,,,1.35\n"
                                                     "figure5,tpuv4_fatTree,bert,128,1,2.0,,0.5,,5.0\n");
  ExperimentResult result = run_experiment(some_points("figure5", "bert-large"), made_up_options());
  set_beside(result, published);
  EXPECT_DOUBLE_EQ(*row_of(result.rows, 128, "nest").published, 5.0);
  EXPECT_DOUBLE_EQ(*row_of(result.rows, 128, "nest").against_published, 2 / 2.5);  // 4/2 over 5/2
  EXPECT_DOUBLE_EQ(*row_of(result.rows, 128, "alpa").against_published, 1.5 / 0.25);
  EXPECT_DOUBLE_EQ(*row_of(result.rows, 64, "nest").against_published, 1 / 0.675);
  EXPECT_DOUBLE_EQ(*row_of(result.rows, 64, "manual").published, 1.0);
  EXPECT_FALSE(row_of(result.rows, 64, "manual").against_published);  // ours has no plan
  EXPECT_FALSE(row_of(result.rows, 128, "mcmc").published);
  EXPECT_FALSE(row_of(result.rows, 256, "nest").published);
}

TEST(Published, WhatIsWrongWithTheFile) {
  EXPECT_THROW((void)read_published("p.csv", "experiment,setup\n"), InputError);
  EXPECT_THROW((void)read_published("p.csv", std::string(kHeader) + "figure5,t,bert,many,1,1,,,,1\n"),
               InputError);
}

}  // namespace
}  // namespace nest::report
