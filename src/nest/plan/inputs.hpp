// What a plan is priced against: a model, a cluster and a recipe, with the constants of its network. Also the
// part of a plan's JSON ("inputs") from which it can be priced again.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "nest/base/document/reader.hpp"
#include "nest/base/document/value.hpp"
#include "nest/cluster/cluster.hpp"
#include "nest/estimate/collectives/fabric.hpp"
#include "nest/model/blocks/build.hpp"
#include "nest/model/zoo.hpp"
#include "nest/plan/calibration.hpp"
#include "nest/recipe/recipe.hpp"
#include "nest/strategies/registry.hpp"

namespace nest::plan {

// Where nothing is said of the model or the cluster; kDefaultRecipe is the recipe.
inline constexpr std::string_view kDefaultModel = "llama3.1-70b";
inline constexpr std::string_view kDefaultCluster = "h100-spine-leaf";

struct PlanInputs {
  // As the user named it (a zoo name or a file), or the whole text of a config.json or layer profile.
  Value model;
  ModelSource source;
  Cluster cluster;
  Recipe recipe;
  // Sub-graph strategies of one's own, in the order in which they are applied; empty: the library's. Plan
  // files do not hold them: who prices such a plan again passes the same table.
  std::vector<SubgraphStrategy> strategies;
  // Whose constants the cluster and the recipe have already: who puts others in their place asks set_cluster and
  // set_recipe.
  std::optional<Calibration> calibration;

  [[nodiscard]] std::span<const SubgraphStrategy> strategy_table() const;
  // Ideal where the recipe says so, a library's otherwise.
  [[nodiscard]] FabricConstants constants() const;
  [[nodiscard]] const LayerProfile* profile() const { return std::get_if<LayerProfile>(&source); }
  [[nodiscard]] const std::string& model_name() const;
  // Tokens of a sequence where nothing says otherwise: min(positions, 8192), a profile's own.
  [[nodiscard]] std::int64_t default_sequence() const;
};

// A sequence that is longer than the model was made for.
void warn_of_sequence(const PlanInputs& inputs, std::int64_t sequence, Warnings& warnings);

// Names or files, as the options --model, --cluster and --recipe give them. `like`: see load_model.
[[nodiscard]] PlanInputs load_inputs(const std::string& model, const std::string& cluster,
                                     const std::string& recipe, Warnings& warnings,
                                     const std::string& like = {});

// Puts another model, by name or file, in place of the one there.
void set_model(PlanInputs& inputs, const std::string& model, Warnings& warnings,
               const std::string& like = {});
// The same of what is no file: a config.json or a layer profile, whose name is its "_name_or_path".
void set_model(PlanInputs& inputs, const Document& model, Warnings& warnings);
// A recipe that is no file: its keys on top of the recipe of its "framework".
[[nodiscard]] Recipe read_own_recipe(const Document& recipe);
// The same of the cluster and the recipe, as they are shipped: the calibration is applied to them.
void set_cluster(PlanInputs& inputs, Cluster shipped);
void set_recipe(PlanInputs& inputs, Recipe shipped);
// Puts a calibration in place of the one there. Warnings name what of it does not hold for these inputs.
void set_calibration(PlanInputs& inputs, Calibration calibration, Warnings& warnings);

// "inputs" of a plan's JSON. Files that the user named are written out whole.
[[nodiscard]] PlanInputs read_inputs(Reader& inputs, Warnings& warnings);
[[nodiscard]] Value to_value(const PlanInputs& inputs);

}  // namespace nest::plan
