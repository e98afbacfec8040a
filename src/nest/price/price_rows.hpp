// Prices many plans of one model and cluster, given as columns of degrees, into columns of results: 200,000 and more a
// second on one core once the costs of their layers are known.
//
//   PlanColumns columns(inputs.recipe, training);
//   columns.add("tensor", {8, 4});
//   PricedRows rows;
//   price_rows(pricer, columns, {.devices = 1024}, rows);
//   rows.step_s[0], rows.status[0] == PriceStatus::feasible
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "nest/plan/text/plan_columns.hpp"
#include "nest/plan/text/plan_keys.hpp"
#include "nest/price/price.hpp"

namespace nest::price {

// What is not known of a row (a price of an invalid plan) is not a number.
struct PricedRows {
  std::vector<PriceStatus> status;
  std::vector<std::string> reasons;  // empty where a plan fits
  std::vector<std::int64_t> devices;
  std::vector<double> step_s;
  std::vector<double> tokens_per_s;
  std::vector<double> mfu;
  std::vector<double> bubble_fraction;
  std::vector<double> memory_bytes;  // of the fullest device
  std::vector<double> fits_probability;
  std::array<std::vector<double>, plan::kBreakdownKeys.size()> breakdown;  // in the order of kBreakdownKeys
};

struct RowOptions {
  // Where a row leaves "data" open: as many copies as this many devices hold. 0: one copy.
  std::int64_t devices = 0;
  // Called now and then with the number of rows that are done; false ends the work there.
  std::function<bool(std::size_t)> go_on = {};
};

// A row as a plan: its degrees, with what they leave open filled in as for price_rows. Throws an InputError where they
// cannot be completed.
[[nodiscard]] Plan row_plan(Pricer& pricer, const PlanColumns& columns, std::size_t row,
                            const RowOptions& options);

void price_rows(Pricer& pricer, const PlanColumns& columns, const RowOptions& options, PricedRows& out);

}  // namespace nest::price
