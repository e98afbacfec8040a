// What a run costs and how often it fails, as somebody says it: prices, power, failures, checkpoints. Each
// is one option of the command line (question/asked_run.cpp); run_cost.hpp turns them into money and time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "nest/base/units.hpp"

namespace nest::price {

// An amount of each device, of each node (innermost domain), or of all together.
struct Amount {
  enum class Of { device, node, all };

  double value = 0;  // SI
  Of of = Of::device;

  // For so many devices in nodes of so many: of things that add up (bandwidth).
  [[nodiscard]] double sum(std::int64_t devices, std::int64_t node) const {
    return value * parts(devices, node);
  }
  // Of times between events: of all devices together.
  [[nodiscard]] Seconds between(std::int64_t devices, std::int64_t node) const {
    return Seconds{value / parts(devices, node)};
  }
  bool operator==(const Amount&) const = default;

 private:
  [[nodiscard]] double parts(std::int64_t devices, std::int64_t node) const {
    const auto n = static_cast<double>(devices);
    return of == Of::all ? 1 : of == Of::node ? n / static_cast<double>(node) : n;
  }
};

// Assumptions where nobody says otherwise (docs/money.md): 2 TB/s for the 16,384 devices of Llama 3's runs
// are 122 MB/s for each; ten minutes until all ranks run again; a node is back after a day.
inline constexpr Amount kCheckpointBandwidth{125e6, Amount::Of::device};
inline constexpr Seconds kRestart{600};
inline constexpr Seconds kRepair{86'400};

struct RunTerms {
  // Of one device for one hour, in any currency; an empty name is every accelerator that is not named.
  std::vector<std::pair<std::string, double>> prices;
  std::optional<Watts> power;         // of one device with its share of everything else; none: of its board
  std::optional<double> electricity;  // of one kWh
  std::optional<Amount> mtbf;         // seconds between failures; none: nothing fails
  std::optional<Bytes> checkpoint;    // none: weights and optimizer states as the recipe has them
  std::optional<Amount> bandwidth;    // bytes per second that checkpoints are written with
  std::optional<Seconds> restart;
  std::optional<Seconds> repair;  // until a node that failed is back

  bool operator==(const RunTerms&) const = default;
};

}  // namespace nest::price
