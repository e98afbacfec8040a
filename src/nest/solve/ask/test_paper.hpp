// For tests of this room: instances like those of the NEST paper (layer profiles on the paper's clusters,
// 4,096 sequences a step), the plans they are searched in, and degrees that others chose for them. Two small
// profiles of our own are always there (tests/data/paper); the paper's are used as well where NEST_SHARED has
// them.
//
//   for (const std::string& name : paper_profiles())        "h100_spineLeaf_bert_mbs1", ..
//     paper_inputs(name, 256)
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "nest/base/document/csv.hpp"
#include "nest/base/files.hpp"
#include "nest/cluster/catalog.hpp"
#include "nest/cluster/resize.hpp"
#include "nest/plan/inputs.hpp"
#include "nest/question/search_space.hpp"

namespace nest::test {
using namespace solve;

inline constexpr std::int64_t kPaperBatch = 4096;
inline constexpr std::int64_t kPaperDevices[] = {64, 128, 256, 512, 1024};

// The folder in tests/data, and the one with the paper's own files: NEST_SHARED (by default the folder
// `shared` beside the repository), which may be absent.
[[nodiscard]] inline std::filesystem::path small_paper_folder() {
  return NEST_SOURCE_DIR "/tests/data/paper";
}
[[nodiscard]] inline std::filesystem::path paper_folder() {
  const char* shared = std::getenv("NEST_SHARED");
  return std::filesystem::path(shared != nullptr ? shared : NEST_SOURCE_DIR "/../shared") / "paper";
}
[[nodiscard]] inline bool has_paper_folder() {
  return std::filesystem::exists(paper_folder() / "artifact_results.csv");
}

// Of both folders, in alphabetical order.
[[nodiscard]] inline std::vector<std::string> paper_profiles() {
  std::vector<std::string> names;
  for (const auto& folder : {small_paper_folder(), paper_folder()}) {
    std::error_code absent;
    for (const auto& entry : std::filesystem::directory_iterator(folder / "profiles", absent))
      names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

[[nodiscard]] inline std::string profile_file(const std::string& name) {
  const auto small = small_paper_folder() / "profiles" / (name + ".json");
  return (std::filesystem::exists(small) ? small : paper_folder() / "profiles" / (name + ".json")).string();
}

// The artifact's cost model as far as a recipe can say it: weights and gradients of 16 bits, no optimizer
// states, nothing overlaps. Whatever is sent takes `slower` times as long.
[[nodiscard]] inline PlanInputs paper_inputs(const std::string& profile, std::int64_t devices,
                                             double slower = 1) {
  const std::string cluster = profile.starts_with("tpuv4") ? "paper-tpuv4-fat-tree" : "paper-h100-spine-leaf";
  Warnings warnings;
  PlanInputs inputs = load_inputs(profile_file(profile), cluster, "plain", warnings);
  ClusterParts parts = with_devices(inputs.cluster, devices).parts();
  for (Level& level : parts.levels) {
    level.bandwidth.value /= slower;
    level.latency.value *= slower;
  }
  inputs.cluster = Cluster(std::move(parts));
  return inputs;
}

[[nodiscard]] inline Training paper_training(const PlanInputs& inputs, std::int64_t global_batch) {
  Training training;
  training.global_batch = global_batch;
  training.sequence = inputs.default_sequence();
  training.optimizer = inputs.recipe.optimizer;
  return training;
}

// 1F1B without ZeRO, every stage with full recomputation or none; every pipeline, stage boundary, number of
// copies and placement.
[[nodiscard]] inline SearchSpace paper_space() {
  SearchSpace space;
  space.zero = Choice(std::vector<Choice::Range>{{0, 0}});
  space.schedules = {Schedule::one_f_one_b};
  space.interleave = Choice(1);
  space.recompute = {{RecomputePolicy::none, 0}, {RecomputePolicy::full, 0}};
  return space;
}

// Degrees that the artifact chose.
struct ArtifactRow {
  std::string profile;
  std::int64_t devices = 0;
  std::int64_t stages = 0;
  std::int64_t copies = 0;
  std::int64_t tensor = 0;
};

// The rows of a folder's profiles for which a plan was found.
[[nodiscard]] inline std::vector<ArtifactRow> artifact_rows(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / "artifact_results.csv";
  const std::vector<std::string> profiles = paper_profiles();
  if (!std::filesystem::exists(file)) return {};
  const CsvTable table(file.string(), read_file(file.string()));
  table.require({"instance", "devices", "stages", "data", "tensor"});
  std::vector<ArtifactRow> rows;
  for (const CsvRow& row : table.rows()) {
    const std::string& instance = row.text("instance");
    const std::string profile = instance.substr(0, instance.rfind('_'));
    if (row.text("stages").empty() || !std::binary_search(profiles.begin(), profiles.end(), profile))
      continue;
    rows.push_back(
        {profile, *row.whole("devices"), *row.whole("stages"), *row.whole("data"), *row.whole("tensor")});
  }
  return rows;
}

}  // namespace nest::test
