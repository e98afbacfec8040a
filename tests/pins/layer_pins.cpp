// Compute of whole layers: the kernels that operators run under a recipe's habits, and issuing them.
#include <gtest/gtest.h>

#include "nest/model/zoo.hpp"
#include "nest/price/layers/layer_pricer.hpp"
#include "pins/pin_table.hpp"

namespace nest::pins {
namespace {

using namespace price;

// All layer types of a model once, on a device by itself.
TEST(Pins, Layers) {
  check_pins("layers", [](const PinRow& row) {
    Recipe recipe = named_recipe(row["recipe"]);
    const std::map<std::string, std::string> more = words_in(row["besides"]);
    recipe.flash_attention = !more.contains("scores");
    recipe.dropout = more.contains("dropout");
    if (more.contains("generation")) recipe.flash_generation = std::stoi(more.at("generation"));
    const Cluster cluster = usual_cluster(find_accelerator(row["accelerator"]));
    LayerPricer pricer(recipe, cluster);
    const Model model = build_model(zoo_model(row["model"]), pricer.build_options(1, row.whole("sequence")));
    const CellNetwork network(cluster, pricer.constants(), {});
    const Precision precision = more.contains("fp8") ? Precision::fp8 : Precision::bf16;
    LayerTerms sum;
    for (const LayerPrice& layer : pricer.price(model, {}, RecomputePolicy::full, precision, network))
      sum += layer.terms;
    return std::vector{sum.of(Term::forward), sum.of(Term::backward_input), sum.of(Term::backward_weight),
                       sum.of(Term::recompute)};
  });
}

}  // namespace
}  // namespace nest::pins
