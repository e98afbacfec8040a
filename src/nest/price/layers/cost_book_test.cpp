#include "nest/price/layers/cost_book.hpp"

#include <gtest/gtest.h>

#include "nest/plan/test_example.hpp"

namespace nest::price {
namespace {

PlanInputs zoo_inputs(const std::string& model) {
  Warnings warnings;
  return load_inputs(model, "h100-spine-leaf", "megatron", warnings);
}

Training training(std::int64_t sequence, Precision precision = Precision::bf16) {
  Training t;
  t.sequence = sequence;
  t.precision = precision;
  return t;
}

TEST(CostBook, ModelsAreBuiltOnceForEachSize) {
  const PlanInputs inputs = zoo_inputs("gpt2");
  CostBook book(inputs);
  const BuiltModel& small = book.model(1, {.sequence = 512});
  EXPECT_EQ(&book.model(1, {.sequence = 512}), &small);
  EXPECT_NE(&book.model(2, {.sequence = 512}), &small);
  EXPECT_NEAR(book.model(2, {.sequence = 512}).forward_flops.value, 2 * small.forward_flops.value, 1);
  EXPECT_EQ(small.graph.layers(), 14U);
}

Training of_documents(std::vector<LengthCount> lengths) {
  Training t = training(8192);
  t.contents.lengths = std::make_shared<const Lengths>(std::move(lengths));
  return t;
}

double attention_of(CostBook& book, const Training& t, const Strategy& strategy) {
  Seconds sum;
  for (const LayerCompute& compute : book.computes(t, strategy, RecomputePolicy::none))
    sum += compute.forward;
  return sum.value;
}

// One document in each sequence is what is priced without lengths, to the bit; also in a ring.
TEST(CostBook, ADocumentThatFillsASequenceChangesNothing) {
  const PlanInputs inputs = zoo_inputs("llama3.1-8b");
  CostBook book(inputs);
  const Training whole = of_documents({{8192, 5}});
  EXPECT_EQ(book.model(1, whole).forward_flops.value, book.model(1, training(8192)).forward_flops.value);
  EXPECT_NE(&book.model(1, whole), &book.model(1, training(8192)));
  EXPECT_EQ(&book.model(1, whole), &book.model(1, of_documents({{8192, 5}})));
  EXPECT_EQ(attention_of(book, whole, {}), attention_of(book, training(8192), {}));
  const Strategy ring{.context = 4};
  EXPECT_NEAR(attention_of(book, whole, ring) / attention_of(book, training(8192), ring), 1, 0.01);
  EXPECT_EQ(book.spread(whole, {}).value, 0);
  EXPECT_EQ(book.spread(training(8192), {}).value, 0);
}

TEST(CostBook, ShortDocumentsTakeLessAndDiffer) {
  const PlanInputs inputs = zoo_inputs("llama3.1-8b");
  CostBook book(inputs);
  const Training some = of_documents({{512, 900}, {8192, 100}});
  const double whole = book.model(1, training(8192)).forward_flops.value;
  const double less = whole - book.model(1, some).forward_flops.value;
  // Of 1,280,000 tokens 819,200 see 8,192 / 2 on average and 460,800 512 / 2, with 4 times 4,096 products each.
  const double pairs = 8192 * (0.5 - (819'200 * 0.5 + 460'800.0 * 512 / 2 / 8192) / 1'280'000);
  EXPECT_NEAR(less / (32.0 * 8192 * 4 * 4096 * pairs), 1, 1e-9);
  EXPECT_LT(attention_of(book, some, {}), attention_of(book, training(8192), {}));
  const double spread = book.spread(some, {}).value;
  EXPECT_GT(spread, 0);
  Training four = some;
  four.micro_batch = 4;
  EXPECT_NEAR(book.spread(four, {}).value / (2 * spread), 1, 0.05);  // four times the work, half the share
  // A quarter of the heads, with fewer blocks for each multiprocessor.
  EXPECT_NEAR(book.spread(some, {.tensor = 4}).value / (spread / 4), 1, 0.25);
}

TEST(CostBook, AProfileHasNoModel) {
  const PlanInputs inputs = test::example_inputs();
  CostBook book(inputs);
  EXPECT_FALSE(book.model(1, {.sequence = 512}).model);
  EXPECT_EQ(book.model(1, {.sequence = 512}).graph.layers(), 3U);
}

TEST(CostBook, RefusalsAreSentences) {
  const PlanInputs llama = zoo_inputs("llama3.1-8b");
  CostBook book(llama);
  EXPECT_EQ(book.refusal(training(8192), {.tensor = 8}), "");
  EXPECT_EQ(book.refusal(training(8192), {.tensor = 3}),
            "tensor 3 does not divide the 32 attention heads of layer");
  EXPECT_NE(book.refusal(training(8192), {.expert = 2}), "");
  const PlanInputs profile = test::example_inputs();
  CostBook own(profile);
  EXPECT_EQ(own.refusal(training(512), {}), "");
  EXPECT_EQ(own.refusal(training(512), {.tensor = 2}), "the layer profile has no costs for tensor 2");
}

TEST(CostBook, PlacementsAndTablesAreKept) {
  const PlanInputs inputs = zoo_inputs("gpt2");
  CostBook book(inputs);
  const Strategy s{.tensor = 4, .sequence_parallel = true};
  const PlacementShape shape{.cell = 4, .stages = 2, .inner = 2, .outer = 1};
  const PlanNetwork* network = book.network(s, shape, {});
  ASSERT_NE(network, nullptr);
  EXPECT_EQ(book.network(s, shape, {}), network);
  EXPECT_NE(book.network(s, shape, {.zero_shards = 2}), network);
  EXPECT_NE(book.network(s, shape, {.zero_shards = 0, .wrap = true}), network);
  EXPECT_NE(book.network({.tensor = 4}, shape, {}), network);  // no sequence parallelism
  PlacementShape mirror = shape;
  mirror.first_stage_first = true;
  EXPECT_NE(book.network(s, mirror, {}), network);
  EXPECT_EQ(book.network(s, {.cell = 4, .stages = 1024}, {}), nullptr);

  const LayerTable& table = book.table(training(512), s, RecomputePolicy::none, network->stages[0]);
  EXPECT_EQ(&book.table(training(512), s, RecomputePolicy::none, network->stages[1]), &table);
  EXPECT_NE(&book.table(training(512), s, RecomputePolicy::full, network->stages[0]), &table);
  EXPECT_NE(&book.table(training(256), s, RecomputePolicy::none, network->stages[0]), &table);
}

// Strategies whose groups have the same shapes do not get each other's tables.
TEST(CostBook, TablesBelongToTheirStrategy) {
  const PlanInputs inputs = zoo_inputs("gpt2");
  CostBook book(inputs);
  const PlacementShape shape{.cell = 2};
  const auto forward = [&](const Strategy& s) {
    const PlanNetwork* network = book.network(s, shape, {});
    return book.table(training(512), s, RecomputePolicy::none, network->stages[0]).of(LayerId{1});
  };
  const LayerTerms plain = forward({.tensor = 2});
  const LayerTerms split = forward({.tensor = 2, .sequence_parallel = true});
  EXPECT_NE(plain.of(Term::stash), split.of(Term::stash));
  EXPECT_EQ(forward({.tensor = 2}), plain);
  const LayerTerms ring = forward({.context = 2});
  const LayerTerms exchange = forward({.context = 2, .context_method = ContextMethod::all_to_all});
  EXPECT_NE(ring, exchange);
}

TEST(CostBook, TablesBelongToTheirPrecision) {
  const PlanInputs inputs = zoo_inputs("llama3.1-8b");
  CostBook book(inputs);
  const PlanNetwork* network = book.network({}, {}, {});
  const auto block = [&](Precision precision) {
    return book.table(training(8192, precision), {}, RecomputePolicy::none, network->stages[0])
        .of(LayerId{1})
        .of(Term::forward);
  };
  const double bf16 = block(Precision::bf16);
  EXPECT_LT(block(Precision::fp8), 0.8 * bf16);
  EXPECT_EQ(block(Precision::bf16), bf16);
}

// Layers without attention do not recompute: the embedding and the head cost the same under every policy.
TEST(CostBook, EndsDoNotRecompute) {
  const PlanInputs inputs = zoo_inputs("gpt2");
  CostBook book(inputs);
  const PlanNetwork* network = book.network({}, {}, {});
  const auto terms = [&](RecomputePolicy policy, std::int32_t layer) {
    return book.table(training(512), {}, policy, network->stages[0]).of(LayerId{layer});
  };
  EXPECT_EQ(terms(RecomputePolicy::none, 0), terms(RecomputePolicy::full, 0));
  EXPECT_EQ(terms(RecomputePolicy::none, 13), terms(RecomputePolicy::full, 13));
  const LayerTerms none = terms(RecomputePolicy::none, 1);
  const LayerTerms selective = terms(RecomputePolicy::selective, 1);
  const LayerTerms full = terms(RecomputePolicy::full, 1);
  EXPECT_EQ(none.of(Term::recompute), 0);
  EXPECT_GT(selective.of(Term::recompute), 0);
  EXPECT_GT(full.of(Term::recompute), selective.of(Term::recompute));
  EXPECT_LE(selective.of(Term::stash), none.of(Term::stash));
  EXPECT_LT(full.of(Term::stash), selective.of(Term::stash));
  // Recomputation changes neither weights nor the backward pass proper.
  EXPECT_EQ(none.of(Term::dense_parameters), full.of(Term::dense_parameters));
  EXPECT_NEAR(none.of(Term::backward_input), full.of(Term::backward_input), 1e-12);
}

// All layers' parameters, each once: the model's.
TEST(CostBook, TablesHoldTheWholeModel) {
  for (const char* name : {"llama3.1-8b", "t5-small", "gpt2", "qwen3-30b-a3b"}) {
    const PlanInputs inputs = zoo_inputs(name);
    CostBook book(inputs);
    const PlanNetwork* network = book.network({}, {}, {});
    const BuiltModel& built = book.model(1, {.sequence = 512});
    const LayerTerms all = book.table(training(512), {}, RecomputePolicy::none, network->stages[0])
                               .range(0, built.graph.layers());
    EXPECT_EQ(all.of(Term::dense_parameters) + all.of(Term::expert_parameters),
              static_cast<double>(built.model->parameters()))
        << name;
  }
}

TEST(CostBook, ExpertsAreDividedByTheExpertDegree) {
  PlanInputs inputs = zoo_inputs("qwen3-30b-a3b");
  inputs.recipe.host_time = 0;  // small layers would hide their exchanges while they wait for kernels
  CostBook book(inputs);
  const auto block = [&](const Strategy& s) {
    const PlanNetwork* network = book.network(s, {.cell = s.cell()}, {});
    return book.table(training(512), s, RecomputePolicy::none, network->stages[0]).of(LayerId{1});
  };
  const LayerTerms one = block({});
  const LayerTerms eight = block({.expert = 8});
  EXPECT_EQ(eight.of(Term::expert_parameters) * 8, one.of(Term::expert_parameters));
  EXPECT_EQ(eight.of(Term::dense_parameters), one.of(Term::dense_parameters));
  EXPECT_GT(eight.of(Term::forward_expert), 0);
  EXPECT_EQ(one.of(Term::forward_expert), 0);
}

// A table of one's own takes the place of the library's: in this one, tensor 3 splits nothing and sends as
// much as its one row says.
TEST(CostBook, StrategiesMayBeTheUsersOwn) {
  const PlanInputs usual = zoo_inputs("gpt2");
  PlanInputs own = usual;
  own.recipe.host_time = 0;
  own.strategies.push_back(
      {"idle", "every device does all", [](const Strategy& s) { return s.tensor > 1; },
       [](const LayerType&, const Strategy& s) -> std::optional<Refusal> {
         if (s.tensor == 3) return std::nullopt;
         return Refusal{"idle_three", "three or one"};
       },
       [](LayerTransform& t) {
         std::vector<Operator> operators = t.take_operators();
         const TensorIndex result = operators.back().outputs.front();
         for (Operator& op : operators) t.push(std::move(op));
         t.push_collective("all", {CollectiveKind::all_reduce, CollectiveKind::none, GroupAxis::tensor},
                           {result}, {t.copy(result, ".sum")});
       }});
  CostBook book(own);
  EXPECT_EQ(book.refusal(training(512), {.tensor = 3}), "");
  EXPECT_EQ(book.refusal(training(512), {.tensor = 2}), "three or one");
  const auto block = [&](CostBook& of, const Strategy& s) {
    const PlanNetwork* network = of.network(s, {.cell = s.cell()}, {});
    return of.table(training(512), s, RecomputePolicy::none, network->stages[0]).of(LayerId{1});
  };
  const LayerTerms three = block(book, {.tensor = 3});
  const LayerTerms one = block(book, {});
  EXPECT_EQ(three.of(Term::forward), one.of(Term::forward));
  EXPECT_EQ(three.of(Term::dense_parameters), one.of(Term::dense_parameters));
  EXPECT_GT(three.of(Term::forward_tensor), 0);
  CostBook library(usual);
  EXPECT_EQ(library.refusal(training(512), {.tensor = 2}), "");
  EXPECT_EQ(block(library, {}).of(Term::dense_parameters), one.of(Term::dense_parameters));
  EXPECT_LT(block(library, {.tensor = 3}).of(Term::dense_parameters), one.of(Term::dense_parameters));
}

// Under full recomputation a profile's layer keeps what comes in, on one device of the cell.
TEST(CostBook, AProfilesLayersKeepTheirIncomingEdges) {
  PlanInputs inputs = test::example_inputs();
  std::get<LayerProfile>(inputs.source).strategies.front().context = 2;
  CostBook book(inputs);
  const Strategy s{.context = 2};
  const PlanNetwork* network = book.network(s, {.cell = 2}, {});
  const LayerTable& table = book.table(training(512), s, RecomputePolicy::full, network->stages[0]);
  EXPECT_EQ(table.of(LayerId{0}).of(Term::stash), 0);
  EXPECT_EQ(table.of(LayerId{1}).of(Term::stash), 25e6);
}

}  // namespace
}  // namespace nest::price
