// Accelerators: dense peaks, memory as the driver reports it, bandwidths, and the share of each that real
// kernels reach. The catalogued ones come from data/accelerators.yaml; a cluster file names one, changes one,
// or gives its own:
//
//   accelerator: h100-sxm
//   accelerator: {base: tpu-v4, memory: 64 GiB}
//   accelerator: {name: x, memory: 80 GB, memory_bandwidth: 3.35 TB/s, peak: {bf16: 989 TFLOP/s}}
//
// Whatever a price depends on is a field of the entry: no name of an accelerator decides anything.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nest/base/document/reader.hpp"
#include "nest/base/document/value.hpp"
#include "nest/base/units.hpp"

namespace nest::cluster {

// The arithmetic that a peak is quoted for; accumulation is as the vendor quotes it (fp32 for the 16-bit
// types).
// fp8_block is fp8 with a scale for each block of values: its peak is fp8's where it is not stated.
enum class MathType { fp32, tf32, bf16, fp16, fp8, fp8_block, fp4 };

[[nodiscard]] std::string_view to_string(MathType type);
[[nodiscard]] std::span<const MathType> math_types();

// The share of a peak that is reached, and whether it was measured for this accelerator or is the stated
// default.
struct Share {
  double value = 1;
  bool is_default = false;
};

// The accelerator's own links, and what a usual server or rack makes of them.
struct ScaleUp {
  std::string fabric;      // of data/fabrics.yaml; empty: "scale-up", or "pcie" without scale_up_bandwidth
  bool reduction = false;  // the switches between the links add up (NVLink SHARP)
  bool point_to_point = false;  // no switch: a share of the bandwidth goes to each neighbour
  std::int64_t domain = 0;      // devices that the links join, where that is more than a server
  std::int64_t torus = 0;       // sides of the torus that the links make; 0: none
  std::int64_t wraps_from = 0;  // sides of a slice close into rings from this length on; 0: never

  bool operator==(const ScaleUp&) const = default;
};

// A share that was fitted to published runs of one project, and what would hold without them.
struct MatmulFit {
  std::string project;
  double without = 1;

  bool operator==(const MatmulFit&) const = default;
};

// A device's share of its host, and what of it is the stated default.
struct HostShare {
  BytesPerSecond link;  // one direction
  BytesPerSecond both;  // each of two, where copies run both ways
  Bytes memory;
  double update = 1;  // parameters a second
  bool default_link = false;
  bool default_memory = false;
  bool default_update = false;
};

struct Accelerator {
  std::string name;
  std::string base;  // the catalogued accelerator it was made from, where there is one
  std::map<MathType, FlopsPerSecond> peaks;  // dense, never 2:4 sparse
  Bytes memory;                              // what a process can see of the device's memory
  std::string memory_source;                 // "driver" or what else the figure rests on
  BytesPerSecond memory_bandwidth;
  std::optional<BytesPerSecond> scale_up_bandwidth;  // one direction, all links of the device together
  std::optional<BytesPerSecond> nic_bandwidth;       // one direction, typical for the device's servers
  std::map<MathType, double> matmul_fraction;        // measured shares only; see matmul_share
  // Of the rate of isolated products: what is left when training keeps the device at its power limit.
  std::map<MathType, double> power_clock;
  std::optional<Seconds> tile;  // filling and draining one tile of a product; none: as on the profiled chip
  std::optional<double> memory_fraction;
  std::optional<std::int64_t> multiprocessors;  // over which kernels are spread; see multiprocessor_count
  std::optional<Seconds> launch;  // what the host takes to issue one small kernel; none: the profile's
  std::array<double, 2> flash_time{1, 1};  // of FlashAttention 1 and 2 over the newest kernels
  std::string profile;                     // of data/profiles, measured on this chip; empty: none
  ScaleUp scale_up;
  std::string aws_fabric;      // of data/fabrics.yaml: the network of AWS's instances; empty: "efa-p5"
  std::string software;        // what programs are compiled for ("xla", "neuron"); empty: CUDA or ROCm
  std::optional<Watts> power;  // of the board, at most
  // Of the host, for each of its devices: one direction of the link to its memory, that memory, and the parameters that
  // its processors update in a second with Adam; see host().
  std::optional<BytesPerSecond> host_link;
  std::optional<Bytes> host_memory;
  std::optional<double> host_update;
  std::optional<double> price_per_hour;  // of one device, in the currency of whoever states it
  std::optional<MatmulFit> matmul_fit;
  std::optional<MatmulFit> power_fit;  // the same of power_clock
  std::string source;
  std::string date;
  std::string note;

  [[nodiscard]] std::optional<FlopsPerSecond> peak(MathType type) const;
  [[nodiscard]] Share matmul_share(MathType type) const;
  [[nodiscard]] Share memory_share() const;
  // Of another arithmetic where this one has none of its own: fp8 for fp8_block and fp4, then bf16.
  [[nodiscard]] Share power_share(MathType type) const;
  [[nodiscard]] std::int64_t multiprocessor_count() const;
  [[nodiscard]] HostShare host() const;

  bool operator==(const Accelerator&) const = default;
};

// What is assumed where nothing was measured; from the data file.
struct AcceleratorDefaults {
  double matmul_fraction = 1;
  double memory_fraction = 1;
  double power_clock = 1;
  std::int64_t multiprocessors = 1;
  Seconds launch;
  BytesPerSecond host_link;
  double host_both_ways = 1;  // of the link's rate, where copies run both ways at once
  Bytes host_memory;
  double host_update = 1;
};
[[nodiscard]] const AcceleratorDefaults& accelerator_defaults();

// The catalogued accelerators in the order of the data file.
[[nodiscard]] std::span<const Accelerator> accelerators();
[[nodiscard]] std::vector<std::string> accelerator_names();
// Throws an InputError with a guess where the name is not catalogued.
[[nodiscard]] const Accelerator& find_accelerator(std::string_view name);

// The key `key` of a file, in any of the three forms above.
[[nodiscard]] Accelerator read_accelerator(Reader& file, const std::string& key);
// What read_accelerator reads back: the name alone, the base with what differs, or everything.
[[nodiscard]] Value accelerator_file_value(const Accelerator& accelerator);
// For JSON output: plain numbers, names with units, and under "assumed" what is a stated default.
[[nodiscard]] Value accelerator_summary(const Accelerator& accelerator);

}  // namespace nest::cluster
