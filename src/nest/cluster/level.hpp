// One tier of the network: how many children its domains have, how they are joined, and what a device gets.
// `bandwidth` is all that one device can send into this level when it is alone, in one direction; a child's
// uplink carries (devices in it) * bandwidth / oversubscription. On rings, meshes and tori it is all links of
// a device together: one link has bandwidth / links. Where other jobs use the same links, `background` is their share.
//
//   - {name: spine, kind: switch, size: 32, bandwidth: 50 GB/s, latency: 10 us, oversubscription: 4}
//   - {name: pod, kind: torus, dims: [4, 4, 8], bandwidth: 600 GB/s, latency: 1 us}
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nest/base/document/reader.hpp"
#include "nest/base/document/value.hpp"
#include "nest/base/units.hpp"
#include "nest/cluster/tree.hpp"

namespace nest::cluster {

enum class LevelKind { switched, ring, mesh, torus, fully_connected };

// "switch", "ring", ...: the words of the file format.
[[nodiscard]] std::string_view to_string(LevelKind kind);

struct Level {
  std::string name;
  LevelKind kind = LevelKind::switched;
  FanOut fan_out;
  BytesPerSecond bandwidth;
  Seconds latency;  // between two devices that meet here; on rings, meshes and tori for each hop
  double oversubscription = 1;
  double background = 0;           // the share of the bandwidth that other jobs take
  std::vector<std::int32_t> dims;  // mesh and torus: child = x + dims[0] * (y + dims[1] * z)
  std::vector<bool> wrap;          // torus: whether each dimension closes into a ring
  std::int32_t own_links =
      0;  // fully connected: links of a device, some of which may lead nowhere; 0: none does
  bool in_network_reduction = false;
  std::string fabric;  // of data/fabrics.yaml; empty: what fits its place and bandwidth

  // What other jobs leave of the bandwidth: every price starts from it.
  [[nodiscard]] BytesPerSecond rate() const { return bandwidth * (1 - background); }
  [[nodiscard]] bool is_grid() const { return kind == LevelKind::mesh || kind == LevelKind::torus; }
  // Whether messages pass from child to child: ring, mesh, torus.
  [[nodiscard]] bool hops_through_children() const { return is_grid() || kind == LevelKind::ring; }
  // Over how many links a device spreads its bandwidth in a domain with so many children; 1 for a switch.
  [[nodiscard]] std::int32_t links(std::int32_t children) const;
  // Hops from child to child; 1 for switches and fully connected levels.
  [[nodiscard]] std::int32_t hops(std::int32_t from_child, std::int32_t to_child,
                                  std::int32_t children) const;

  bool operator==(const Level&) const = default;
};

// What is wrong with a level on its own: the key to blame, the problem, and a hint.
struct LevelProblem {
  std::string key;
  std::string what;
  std::string hint;
};
[[nodiscard]] std::optional<LevelProblem> check_level(const Level& level);

// One entry of a cluster file's `levels`.
[[nodiscard]] Level read_level(Reader& file);
// What read_level reads back, in plain SI numbers.
[[nodiscard]] Value level_file_value(const Level& level);

}  // namespace nest::cluster
