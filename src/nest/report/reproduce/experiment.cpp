#include "nest/report/reproduce/experiment.hpp"

#include <algorithm>
#include <array>

namespace nest::report {
namespace {

constexpr std::string_view kTpu = "paper-tpuv4-fat-tree";
constexpr std::string_view kTpuFiles = "tpuv4_fatTree";
constexpr std::string_view kH100 = "paper-h100-spine-leaf";
constexpr std::string_view kH100Files = "h100_spineLeaf";

// Sequences as in the artifact's layer profiles.
constexpr std::array<PaperModel, 5> kModels{{{"bert-large", "bert", 512},
                                             {"llama2-7b", "llama2", 4096},
                                             {"llama3-70b", "llama3", 4096},
                                             {"mixtral-8x7b", "mixtral", 4096},
                                             {"gpt3-175b", "gpt3", 2048}}};

Choice no_zero() {
  return Choice(std::vector<Choice::Range>{{0, 0}});
}

constexpr std::array<Variant, 5> kVariants{
    {{"no-zero", "nest without ZeRO", [](SearchSpace& space) { space.zero = no_zero(); }},
     {"no-recompute", "nest without recomputation",
      [](SearchSpace& space) { space.recompute = {{RecomputePolicy::none, 0}}; }},
     {"no-knobs", "nest without either",
      [](SearchSpace& space) {
        space.zero = no_zero();
        space.recompute = {{RecomputePolicy::none, 0}};
      }},
     {"all-knobs", "nest with all that it knows: also interleaving, selective and partial recomputation",
      [](SearchSpace& space) {
        const Choice micro_batch = space.micro_batch;
        space = SearchSpace{};
        space.micro_batch = micro_batch;
      }},
     {"any-batch", "nest with all that it knows, and every micro-batch",
      [](SearchSpace& space) { space = SearchSpace{}; }}}};

std::vector<Experiment> make_experiments() {
  const std::vector<std::string_view> all{"bert-large", "llama2-7b", "llama3-70b", "mixtral-8x7b",
                                          "gpt3-175b"};
  const std::vector<std::string_view> planners{"manual", "mcmc", "alpa", "phaze", "nest"};
  return {
      {"figure5",
       "Figure 5: throughput on 64 to 1,024 TPUv4 devices in a fat tree",
       Reference::first_manual,
       false,
       all,
       {{kTpu, kTpuFiles, {64, 128, 256, 512, 1024}, {1}}},
       planners},
      {"figure6",
       "Figure 6: throughput by micro-batch on 256 TPUv4 devices in a fat tree",
       Reference::first_manual,
       true,
       {"bert-large", "llama2-7b", "llama3-70b"},
       {{kTpu, kTpuFiles, {256}, {1, 2, 4, 8}}},
       planners},
      {"table3",
       "Table 3: throughput on 128 and 1,024 H100 in a spine-leaf network",
       Reference::manual_here,
       false,
       all,
       {{kH100, kH100Files, {128, 1024}, {1}}},
       planners},
      {"ablation",
       "Ablation: what each part of the search brings",
       Reference::nest_here,
       false,
       all,
       {{kTpu, kTpuFiles, {64, 256, 1024}, {1}}, {kH100, kH100Files, {64, 256, 1024}, {1}}},
       {"nest", "flat", "no-memory", "no-zero", "no-recompute", "no-knobs", "all-knobs", "any-batch"}},
  };
}

template <class Row>
const Row* find_named(std::span<const Row> rows, std::string_view name) {
  const auto at = std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return row.name == name; });
  return at == rows.end() ? nullptr : &*at;
}

bool allows(const std::vector<std::string>& list, std::string_view value) {
  return list.empty() || std::find(list.begin(), list.end(), value) != list.end();
}

}  // namespace

std::span<const Experiment> experiments() {
  static const std::vector<Experiment> kExperiments = make_experiments();
  return kExperiments;
}

std::span<const PaperModel> paper_models() {
  return kModels;
}

std::span<const Variant> variants() {
  return kVariants;
}

const Experiment* find_experiment(std::string_view name) {
  return find_named(experiments(), name);
}

const PaperModel* find_paper_model(std::string_view name) {
  return find_named(paper_models(), name);
}

const Variant* find_variant(std::string_view name) {
  return find_named(variants(), name);
}

SearchSpace paper_space(std::int64_t micro_batch) {
  SearchSpace space;
  space.micro_batch = Choice(micro_batch);
  space.schedules = {Schedule::one_f_one_b};
  space.interleave = Choice(1);
  space.recompute = {{RecomputePolicy::none, 0}, {RecomputePolicy::full, 0}};
  return space;
}

std::vector<ExperimentPoint> points_of(const Experiment& experiment, const ExperimentPart& part) {
  std::vector<ExperimentPoint> points;
  for (const ExperimentSweep& sweep : experiment.sweeps) {
    for (const std::string_view model : experiment.models) {
      if (!allows(part.models, model)) continue;
      for (const std::int64_t devices : sweep.devices) {
        if (!part.devices.has(devices)) continue;
        for (const std::int64_t b : sweep.micro_batches)
          points.push_back({&experiment, &sweep, find_paper_model(model), devices, b});
      }
    }
  }
  return points;
}

}  // namespace nest::report
