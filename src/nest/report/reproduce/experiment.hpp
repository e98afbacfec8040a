// The experiments of the NEST paper as a table: which models, on which cluster, how many devices, which
// micro-batches, and which ways to plan are set side by side. Adding one is one row in experiment.cpp.
//
//   for (const ExperimentPoint& point : points_of(*find_experiment("figure5"), {}))
//     point.model->name, point.devices       "bert-large", 64; "bert-large", 128; ..
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nest/question/search_space.hpp"

namespace nest::report {

inline constexpr std::int64_t kExperimentBatch = 4096;  // sequences a step, in all of them

struct PaperModel {
  std::string_view name;       // in our zoo
  std::string_view published;  // in the paper's files
  std::int64_t sequence = 0;
};

struct ExperimentSweep {
  std::string_view cluster;    // in our catalog
  std::string_view published;  // in the paper's files
  std::vector<std::int64_t> devices;
  std::vector<std::int64_t> micro_batches;
};

// What a throughput is divided by.
enum class Reference {
  first_manual,  // manual's at the first point (devices, then micro-batch) where it is feasible, of each
                 // model
  manual_here,   // manual's of the same point
  nest_here,     // nest's of the same point
};

struct Experiment {
  std::string_view name;   // "figure5"
  std::string_view title;  // of its chart
  Reference reference = Reference::first_manual;
  bool by_micro_batch = false;  // what grows along the chart; else the devices
  std::vector<std::string_view> models;
  std::vector<ExperimentSweep> sweeps;
  // "nest", names of baselines() and of variants(), in the order in which they are shown.
  std::vector<std::string_view> methods;
};

// The search itself with more or less to choose from.
struct Variant {
  std::string_view name;  // "no-zero"
  std::string_view does;
  void (*change)(SearchSpace&);
};

[[nodiscard]] std::span<const Experiment> experiments();
[[nodiscard]] std::span<const PaperModel> paper_models();
[[nodiscard]] std::span<const Variant> variants();
// Null where there is none of the name.
[[nodiscard]] const Experiment* find_experiment(std::string_view name);
[[nodiscard]] const PaperModel* find_paper_model(std::string_view name);
[[nodiscard]] const Variant* find_variant(std::string_view name);

// 1F1B; ZeRO 0 to 3, and full recomputation or none for each stage; the knobs that the paper turns.
[[nodiscard]] SearchSpace paper_space(std::int64_t micro_batch);

struct ExperimentPoint {
  const Experiment* experiment = nullptr;
  const ExperimentSweep* sweep = nullptr;
  const PaperModel* model = nullptr;
  std::int64_t devices = 0;
  std::int64_t micro_batch = 0;
};

// A part of an experiment.
struct ExperimentPart {
  std::vector<std::string> models;  // empty: all
  Choice devices;
};

// By cluster, model, devices and micro-batch, in the table's order.
[[nodiscard]] std::vector<ExperimentPoint> points_of(const Experiment& experiment,
                                                     const ExperimentPart& part);

}  // namespace nest::report
