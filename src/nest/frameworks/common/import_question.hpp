// What is asked when somebody else's launch file is read as a plan: the file, where it runs, and what the file
// does not say. Each kind of file is one reader in the folder of its framework and one row in importers.cpp.
//
//   const ImportQuestion question{.file = "train.toml", .text = text, .cluster = "h100-spine-leaf"};
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "nest/base/error.hpp"
#include "nest/plan/text/plan_json.hpp"

namespace nest::frameworks {

// What the options say of a run. They hold where the file says nothing, or "auto".
struct GivenSizes {
  std::optional<std::int64_t> micro_batch;
  std::optional<std::int64_t> global_batch;
  std::optional<std::int64_t> sequence;
  std::optional<std::int64_t> tensor;
  std::optional<std::int64_t> context;
  std::optional<std::int64_t> expert;
  std::optional<std::int64_t> pipeline;
  std::optional<Precision> precision;
  std::optional<RecomputePolicy> recompute;
};

struct ImportQuestion {
  std::string file;  // for messages
  std::string text;
  std::optional<std::string> model;  // name or file; none: what the file says
  std::string cluster;
  std::optional<std::string> recipe;  // none: the framework's, with what the file turns on and off
  // Ranks; 0: what the text says (world size, nodes x processes), else all of the cluster.
  std::int64_t devices = 0;
  std::string rank_map_file;  // for messages
  std::string rank_map;       // text of a rank_map.csv; empty: none
  GivenSizes given;
  // The text of a file that the launch file names, relative to its folder; none where it cannot be read.
  std::function<std::optional<std::string>(const std::string& name)> beside;

  [[nodiscard]] std::optional<std::string> read_beside(const std::string& name) const {
    return beside ? beside(name) : std::nullopt;
  }
};

}  // namespace nest::frameworks
