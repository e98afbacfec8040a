// A question of Python: inputs and what is asked of them, checked when it is made; and what it can be asked.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "names.hpp"
#include "nest/base/document/value.hpp"
#include "nest/price/price.hpp"
#include "nest/question/question.hpp"

namespace nest::python {

namespace nb = nanobind;

// Model, cluster and recipe, each a name, a file or a group of keys; a calibration, or null.
struct GivenInputs {
  Value model;
  Value cluster;
  Value recipe;
  std::string like;
  Value calibration;
};
[[nodiscard]] Cluster open_cluster(const Value& given);
[[nodiscard]] PlanInputs open_inputs(const GivenInputs& given, Warnings& warnings);

class Question {
 public:
  Question(PlanInputs inputs, Asked asked, Warnings warnings);

  // Without progress, and with a deadline that begins now.
  [[nodiscard]] PlanQuestion ask() const;
  [[nodiscard]] const PlanQuestion& made() const { return *made_; }
  // Before the cluster was cut to the devices that are asked for.
  [[nodiscard]] PlanInputs whole_inputs() const;
  // As `nest evaluate` prices: a plan fits by the estimate, without a margin.
  [[nodiscard]] PriceOptions price_options() const;
  [[nodiscard]] const std::shared_ptr<const PlanInputs>& inputs() const { return inputs_; }
  [[nodiscard]] const Warnings& warnings() const { return warnings_; }  // on the inputs

  // One that nobody else uses meanwhile: what it learns of costs stays for the next one who asks.
  class LentPricer {
   public:
    explicit LentPricer(const Question& question);
    LentPricer(const LentPricer&) = delete;
    LentPricer& operator=(const LentPricer&) = delete;
    ~LentPricer();
    [[nodiscard]] Pricer& operator*() { return *pricer_; }

   private:
    const Question* question_;
    std::unique_ptr<Pricer> pricer_;
  };

 private:
  struct Pool {
    std::mutex mutex;
    std::vector<std::unique_ptr<Pricer>> idle;
  };

  std::shared_ptr<const PlanQuestion> made_;
  std::shared_ptr<const PlanInputs> inputs_;
  Warnings warnings_;
  std::shared_ptr<Pool> pool_ = std::make_shared<Pool>();
};

void add_question(nb::module_& module);

}  // namespace nest::python
