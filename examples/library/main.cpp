// A program of somebody else: it plans a training run, prices a plan and exports it through the installed
// library.
#include <cstdlib>
#include <iostream>
#include <stdexcept>

#include "nest/api/nest.hpp"

int main() try {
  nest::Warnings warnings;
  const nest::PlanInputs inputs = nest::load_inputs("llama3.1-8b", "h100-spine-leaf", "megatron", warnings);

  // Plan: what is not asked takes the defaults of `nest plan`.
  nest::Asked asked;
  asked.devices = 16;
  asked.global_batch = 64;
  asked.framework = "megatron";
  nest::set_asked(asked, "pipeline", "1..4");
  const nest::PlanQuestion question = nest::make_question(inputs, asked);
  const nest::SearchResult found = nest::ask(question);
  if (found.plans.empty()) throw std::runtime_error(found.reason);
  const nest::Plan& best = found.plans.front();
  std::cout << nest::name_of(found.status) << ": " << nest::format(best.predicted->step) << " a step\n";

  // Price: the same plan without its recomputation.
  nest::Plan other = best;
  for (nest::Stage& stage : other.stages) stage.recompute = {};
  const nest::PricedPlan priced = nest::price_plan(other, question.inputs);
  std::cout << "without recomputation: " << nest::name_of(priced.status) << ", "
            << nest::format(priced.predicted.step) << " a step\n";

  // Export: the flags and files of Megatron-LM.
  for (const nest::ExportFile& file : nest::export_plan(best, question.inputs, "megatron").files)
    std::cout << file.name << ", " << file.bytes.size() << " bytes\n";
  return found.status == nest::PlanStatus::optimal ? EXIT_SUCCESS : EXIT_FAILURE;
} catch (const std::exception& error) {
  std::cerr << "library: " << error.what() << "\n";
  return EXIT_FAILURE;
}
