#include "plan_question.hpp"

#include <fmt/format.h>

#include <utility>

#include "nest/base/error.hpp"
#include "nest/cluster/resize.hpp"
#include "nest/frameworks/common/export_facts.hpp"
#include "nest/solve/ask/why_not.hpp"
#include "plan_options.hpp"
#include "plan_space_options.hpp"

namespace nest::cli {

Asked read_question(const Arguments& arguments, Terminal& terminal) {
  SearchSpace space = read_space(arguments);
  const SearchOptions options = read_search_options(arguments);
  if (const auto choice = arguments.text("--why-not")) {
    SearchSpace pinned = space;
    if (const auto problem = pin_choices(*choice, pinned)) refuse("--why-not", *problem);
  }
  check_output(arguments, "-o");
  Warnings warnings;
  PlanInputs inputs = read_plan_inputs(arguments, warnings);
  terminal.warn(warnings);
  Cluster whole = inputs.cluster;
  if (const auto devices = arguments.whole("--devices")) inputs.cluster = with_devices(whole, *devices);
  const Training training = read_training(arguments, inputs, terminal);
  Warnings notes;
  if (space.rules != nullptr && !can_run_stages(space.rules->name, inputs)) {
    if (!space.pipeline.has(1))
      throw InputError(
          "", "--pipeline",
          fmt::format("{} cannot cut {} into stages: it has more than a chain of blocks between an "
                      "embedding and a head",
                      space.rules->title, inputs.model_name()));
    space.pipeline = Choice(1);
    notes.push_back(fmt::format("without a pipeline: {} cannot cut {} into stages", space.rules->title,
                                inputs.model_name()));
  }
  if (space.rules != nullptr && inputs.recipe.framework != space.rules->name) {
    notes.push_back(
        fmt::format("priced with the recipe '{}'; --recipe {} has what {} overlaps and holds in memory",
                    inputs.recipe.name, space.rules->name, space.rules->title));
  }
  return {{std::move(inputs), training, std::move(space), options}, std::move(whole), std::move(notes)};
}

}  // namespace nest::cli
