#include "nest/price/price_rows.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>

#include "nest/base/error.hpp"

namespace nest::price {
namespace {

PlanInputs inputs(const std::string& model) {
  Warnings warnings;
  return load_inputs(model, "h100-spine-leaf", "megatron", warnings);
}

Training training() {
  return {.global_batch = 256, .sequence = 4096, .micro_batch = 0, .micro_batches = 0};
}

// Rows one after the other, each by a Pricer of its own: what price_rows must say too.
TEST(PriceRows, AreThePricesOfTheirPlans) {
  constexpr unsigned kSeed = 20;
  constexpr std::size_t kRows = 400;
  std::mt19937 dice(kSeed);
  const auto one_of = [&](std::vector<std::int64_t> values) { return values[dice() % values.size()]; };
  for (const char* model : {"llama3.1-8b", "mixtral-8x7b"}) {
    const PlanInputs in = inputs(model);
    PlanColumns columns(in.recipe, training());
    std::map<std::string, std::vector<std::int64_t>> values;
    std::vector<std::int32_t> words;
    for (std::size_t i = 0; i < kRows; ++i) {
      values["tensor"].push_back(one_of({0, 1, 2, 3, 4, 8, 16}));
      values["pipeline"].push_back(one_of({0, 1, 2, 4, 8, 64}));
      values["interleave"].push_back(one_of({0, 0, 1, 2}));
      values["data"].push_back(one_of({0, 0, 0, 4, 8}));
      values["expert"].push_back(one_of({0, 1, 2, 8}));
      values["micro_batch"].push_back(one_of({0, 1, 2}));
      values["zero"].push_back(one_of({0, 1, 2, 3}));
      values["sequence"].push_back(one_of({0, 2048}));
      words.push_back(static_cast<std::int32_t>(dice() % 3));
    }
    for (const auto& [key, numbers] : values) columns.add(key, numbers);
    columns.add("recompute", words, {"none", "selective", "full"});
    Pricer pricer(in);
    PricedRows rows;
    price_rows(pricer, columns, {.devices = 64}, rows);
    ASSERT_EQ(rows.status.size(), kRows);
    std::array<int, 3> seen{};
    for (std::size_t i = 0; i < kRows; ++i) {
      Pricer alone(in);
      PricedPlan priced;
      try {
        priced = alone.price(row_plan(alone, columns, i, {.devices = 64}));
      } catch (const InputError& error) {
        priced = {};
        priced.status = PriceStatus::invalid;
        priced.reason = error.what();
      }
      const std::string where = std::string(model) + ", seed 20, row " + std::to_string(i);
      ASSERT_EQ(rows.status[i], priced.status) << where << ": " << priced.reason;
      EXPECT_EQ(rows.reasons[i], priced.reason) << where;
      ++seen[static_cast<std::size_t>(priced.status)];
      if (priced.status == PriceStatus::invalid) {
        EXPECT_TRUE(std::isnan(rows.step_s[i])) << where;
        continue;
      }
      EXPECT_EQ(rows.step_s[i], priced.predicted.step.value) << where;
      EXPECT_EQ(rows.mfu[i], priced.predicted.mfu) << where;
      double sum = 0;
      for (const auto& column : rows.breakdown) sum += column[i];
      EXPECT_NEAR(sum, rows.step_s[i], 1e-9 * rows.step_s[i]) << where;
      EXPECT_GT(rows.memory_bytes[i], 1e9) << where;
    }
    for (const int count : seen) EXPECT_GT(count, 5) << "hardly any row says anything";
  }
}

TEST(PriceRows, OpenDataFillsTheDevices) {
  const PlanInputs in = inputs("llama3.1-8b");
  PlanColumns columns(in.recipe, training());
  columns.add("tensor", {8, 1, 2});
  columns.add("pipeline", {4, 1, 2});
  columns.add("data", {0, 0, 4});
  Pricer pricer(in);
  PricedRows rows;
  price_rows(pricer, columns, {.devices = 256}, rows);
  EXPECT_EQ(rows.devices, (std::vector<std::int64_t>{256, 256, 16}));
  price_rows(pricer, columns, {}, rows);
  EXPECT_EQ(rows.devices, (std::vector<std::int64_t>{32, 1, 16}));
}

TEST(PriceRows, StopsWhereNobodyWantsMore) {
  const PlanInputs in = inputs("llama3.1-8b");
  PlanColumns columns(in.recipe, training());
  columns.add("tensor", std::vector<std::int64_t>(5000, 1));
  Pricer pricer(in);
  PricedRows rows;
  price_rows(pricer, columns, {.go_on = [](std::size_t done) { return done == 0; }}, rows);
  EXPECT_EQ(rows.step_s.size(), 4096U);
}

}  // namespace
}  // namespace nest::price
