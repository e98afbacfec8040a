// What was learnt from somebody's own measurements (docs/formats/calibration.md): multiples of a few constants of the
// recipe and of the cluster, with how sure they are. `nest calibrate` makes one, and every command takes it.
//
//   kernel_time: {value: 1.062, low: 0.991, high: 1.138}
//   levels:
//     rack: {bandwidth: {value: 0.871, low: 0.84, high: 0.903}, latency: 1.2}
//   learnt_from: ["train.log: 40 steps of Megatron-LM, 9.9 s"]
//   unknown: ["the network: 2 % of the measured steps depend on it"]
#pragma once

#include <array>
#include <string>
#include <vector>

#include "nest/base/document/reader.hpp"
#include "nest/base/document/value.hpp"
#include "nest/base/error.hpp"
#include "nest/cluster/cluster.hpp"
#include "nest/recipe/recipe.hpp"

namespace nest::plan {

// A constant over the shipped one, with the interval in which it lies with 80 %.
struct Multiple {
  double value = 1;
  double low = 1;
  double high = 1;

  [[nodiscard]] bool moved() const { return value != 1; }
  bool operator==(const Multiple&) const = default;
};

struct LevelMultiples {
  std::string name;  // of the cluster's level
  Multiple bandwidth;
  Multiple latency;

  bool operator==(const LevelMultiples&) const = default;
};

struct Calibration {
  std::string name;  // of the file, for people
  // What it was learnt with: constants of a run are moved for these alone, constants of levels always. Empty: any.
  std::string framework;
  std::string accelerator;
  Multiple kernel_time;   // of every kernel
  Multiple host_time;     // of issuing a kernel
  Multiple network_time;  // of transfers over every level, besides what `levels` says
  Multiple zero_time;     // of ZeRO-2 and ZeRO-3 traffic, besides
  Multiple memory;        // of what the allocator holds
  std::vector<LevelMultiples> levels;
  std::vector<std::string> learnt_from;
  std::vector<std::string> unknown;

  bool operator==(const Calibration&) const = default;
};

// The constants that hold for a whole run.
struct CalibrationKey {
  const char* key;
  Multiple Calibration::* member;
  const char* noun;
};
inline constexpr std::array<CalibrationKey, 5> kCalibrationKeys{{
    {"kernel_time", &Calibration::kernel_time, "the time of kernels"},
    {"host_time", &Calibration::host_time, "the time in which the host issues a kernel"},
    {"network_time", &Calibration::network_time, "the time of transfers"},
    {"zero_time", &Calibration::zero_time, "the time of ZeRO-2 and ZeRO-3 traffic"},
    {"memory", &Calibration::memory, "the memory that the allocator holds"},
}};

// Unknown keys and values out of range are InputErrors.
[[nodiscard]] Calibration read_calibration(Reader file);
[[nodiscard]] Calibration load_calibration(const std::string& file);
// In the file format: reads back as the same.
[[nodiscard]] Value to_value(const Calibration& calibration);

// Moves the constants. Levels that the cluster does not have are passed over, and constants of a run where framework or
// accelerator is another.
void apply_calibration(const Calibration& calibration, Recipe& recipe, Cluster& cluster);
// What takes a calibration back.
[[nodiscard]] Calibration inverse(const Calibration& calibration);

// "kernel_time 1.06, rack: bandwidth 0.87": what is moved; empty: nothing.
[[nodiscard]] std::string spell_calibration(const Calibration& calibration);
// What of it does not hold here, a sentence each.
[[nodiscard]] Warnings calibration_warnings(const Calibration& calibration, const Recipe& recipe,
                                            const Cluster& cluster);

}  // namespace nest::plan
