// A plan of Python: a plan with what it is for, and what can be done with it.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>

#include "names.hpp"
#include "nest/base/document/document.hpp"
#include "nest/base/document/value.hpp"
#include "nest/plan/inputs.hpp"
#include "nest/plan/plan.hpp"
#include "nest/price/price.hpp"

namespace nest::python {

namespace nb = nanobind;

// Complete and with its inputs. Never changed: safe to use from many threads.
class PlanHandle {
 public:
  PlanHandle(std::shared_ptr<const PlanInputs> inputs, Plan plan, PriceOptions options = {})
      : inputs_(std::move(inputs)), plan_(std::move(plan)), options_(options) {}

  [[nodiscard]] const PlanInputs& inputs() const { return *inputs_; }
  [[nodiscard]] const std::shared_ptr<const PlanInputs>& shared_inputs() const { return inputs_; }
  [[nodiscard]] const Plan& plan() const { return plan_; }
  [[nodiscard]] const PriceOptions& options() const { return options_; }
  [[nodiscard]] Value value() const;

 private:
  std::shared_ptr<const PlanInputs> inputs_;
  Plan plan_;
  PriceOptions options_;
};

// A plan's JSON, or the degrees alone, for these inputs. What it leaves open is filled in.
[[nodiscard]] PlanHandle read_handle(const Document& plan, const std::shared_ptr<const PlanInputs>& inputs,
                                     PriceOptions options = {});

void add_plan(nb::module_& module);

}  // namespace nest::python
