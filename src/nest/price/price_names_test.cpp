// No name decides a cost: copies of accelerators, clusters and recipes under other names price to the bit
// alike (docs/decisions/0008-names-decide-nothing.md).
#include <gtest/gtest.h>

#include "nest/cluster/catalog.hpp"
#include "nest/price/price.hpp"

namespace nest::price {
namespace {

constexpr const char* kOther = "qz7-unheard-of";

Cluster cluster_of(const Accelerator& accelerator, const std::string& name) {
  ClusterParts parts{.name = name, .accelerator = accelerator};
  const BytesPerSecond links = accelerator.scale_up_bandwidth.value_or(BytesPerSecond{50e9});
  const BytesPerSecond network = accelerator.nic_bandwidth.value_or(BytesPerSecond{25e9});
  parts.levels.push_back({.name = "node", .bandwidth = links, .latency = Seconds{1e-6}});
  parts.levels.push_back({.name = "network", .bandwidth = network, .latency = Seconds{5e-6}});
  parts.levels[0].fan_out.size = 8;
  parts.levels[1].fan_out.size = 4;
  return Cluster(std::move(parts));
}

PricedPlan priced(const Cluster& cluster, const Recipe& recipe, const std::string& model = "llama3.1-8b") {
  Warnings warnings;
  Pricer pricer({Value(model), load_model(model, warnings), cluster, recipe, {}});
  Plan plan;
  plan.training.sequence = 2048;
  plan.training.micro_batches = 0;
  plan.parallelism.strategy = {.tensor = 4, .sequence_parallel = true};
  plan.parallelism.pipeline = 2;
  plan.parallelism.data = cluster.devices() / 8;  // over every level
  plan.training.global_batch = 4 * plan.parallelism.data;
  plan.parallelism.data_inner = 0;
  plan.parallelism.zero = 1;
  return pricer.price(pricer.complete(plan));
}

void expect_same(const PricedPlan& a, const PricedPlan& b) {
  ASSERT_NE(a.status, PriceStatus::invalid) << a.reason;
  EXPECT_EQ(a.status, b.status);
  EXPECT_EQ(a.predicted.step.value, b.predicted.step.value);
  EXPECT_EQ(a.pipeline.value, b.pipeline.value);
  ASSERT_EQ(a.stages.size(), b.stages.size());
  for (std::size_t i = 0; i < a.stages.size(); ++i) {
    EXPECT_EQ(a.stages[i].memory.total().value, b.stages[i].memory.total().value);
    EXPECT_EQ(a.stages[i].optimizer.value, b.stages[i].optimizer.value);
  }
}

std::vector<Recipe> old_and_new_recipes() {
  std::vector<Recipe> out;
  for (const std::string& name : recipe_names()) {
    Recipe& recipe = out.emplace_back(named_recipe(name));
    if (out.size() % 2 == 0) recipe.flash_generation = 1;
  }
  return out;
}

TEST(PriceNames, AnAcceleratorUnderAnotherNameCostsTheSame) {
  for (const Accelerator& known : accelerators()) {
    SCOPED_TRACE(known.name);
    for (const Recipe& recipe : old_and_new_recipes()) {
      SCOPED_TRACE(recipe.name);
      Accelerator copy = known;
      copy.name = kOther;
      copy.base.clear();
      expect_same(priced(cluster_of(known, "a"), recipe), priced(cluster_of(copy, "a"), recipe));
    }
  }
}

// The same through the file format, where nothing but the name is said besides the figures.
TEST(PriceNames, AnAcceleratorWrittenOutUnderAnotherNameIsTheSame) {
  for (const Accelerator& known : accelerators()) {
    Accelerator copy = known;
    copy.name = kOther;
    Value file = Value::object();
    file.set("accelerator", accelerator_file_value(copy));
    const Document document = parse_json("copy", to_json(file));
    Reader reader(document);
    EXPECT_EQ(read_accelerator(reader, "accelerator"), copy) << known.name;
  }
}

TEST(PriceNames, AClusterUnderAnotherNameCostsTheSame) {
  for (const std::string name :
       {"aws-p4d", "aws-p5", "aws-trn2", "gcp-a3", "gcp-a3-mega", "tpu-v5e-multislice"}) {
    SCOPED_TRACE(name);
    const Cluster known = catalog_cluster(name);
    ClusterParts parts = known.parts();
    parts.name = kOther;
    expect_same(priced(known, named_recipe("megatron")), priced(Cluster(parts), named_recipe("megatron")));
    // The field says what the name said before: without it these are InfiniBand.
    for (Level& level : parts.levels) level.fabric.clear();
    EXPECT_NE(priced(known, named_recipe("megatron")).predicted.step.value,
              priced(Cluster(parts), named_recipe("megatron")).predicted.step.value);
  }
}

TEST(PriceNames, ARecipeOfAnotherFrameworkCostsTheSame) {
  const Cluster cluster = cluster_of(find_accelerator("h100-sxm"), "a");
  for (const std::string& name : recipe_names()) {
    for (const std::string& other : recipe_names()) {
      SCOPED_TRACE(name + " as " + other);
      Recipe copy = named_recipe(name);
      copy.framework = other;
      for (const char* model : {"llama3.1-8b", "mixtral-8x7b"})
        expect_same(priced(cluster, named_recipe(name), model), priced(cluster, copy, model));
      // And through its file, which says every field.
      EXPECT_EQ(to_json(to_value(read_recipe(parse_json("copy", to_json(to_value(copy))), name))),
                to_json(to_value(copy)));
    }
  }
}

}  // namespace
}  // namespace nest::price
