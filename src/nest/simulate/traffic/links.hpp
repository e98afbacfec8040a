// The network's links as flows see them, numbered as they come up. Every child domain of a switched level has
// an uplink and a downlink of (devices in it) * bandwidth / oversubscription; at level 0 a child is a device,
// and oversubscription is the domain's. On rings, meshes, tori and fully connected levels two neighbours have a
// link of bandwidth / links for each device, and messages load all links that they pass through.
//
//   LinkTable links(cluster, constants);
//   links.path(DeviceId{0}, DeviceId{300})
//       -> node 0 uplink, node 37 downlink, rack 0 uplink, rack 9 downlink, with all bytes each
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "nest/base/ids.hpp"
#include "nest/base/units.hpp"
#include "nest/cluster/cluster.hpp"
#include "nest/estimate/collectives/fabric.hpp"
#include "nest/network/groups/group_grid.hpp"

namespace nest::simulate {

using LinkId = Id<struct LinkTag>;

struct LinkUse {
  LinkId link;
  double bytes = 0;
};

class LinkTable {
 public:
  LinkTable(const Cluster& cluster, const FabricConstants& constants);  // the cluster outlives this

  // What a message passes on its way; nothing where both are the same device. Inner levels count from the
  // second on: devices have ports of their own into the network, and only those are shared further up.
  [[nodiscard]] std::vector<LinkUse> path(DeviceId from, DeviceId to);

  // What a group loads at a level for each byte that each of its children in one domain sends: as rings, child after
  // child, or all with all. Children ascend; at least two.
  enum class Pattern : std::uint8_t { rings, exchange };
  [[nodiscard]] std::vector<LinkUse> group_links(LevelId level, std::span<const std::int32_t> children,
                                                 Pattern pattern);

  [[nodiscard]] std::size_t size() const { return links_.size(); }
  [[nodiscard]] LevelId level(LinkId link) const { return links_[link.index()].level; }
  [[nodiscard]] BytesPerSecond capacity(LinkId link) const { return links_[link.index()].capacity; }
  [[nodiscard]] std::string name(LinkId link) const;
  // The child of the link's level whose bytes leave it over this link; none of downlinks and shared switches.
  [[nodiscard]] std::optional<std::int32_t> sender(LinkId link) const;

 private:
  enum class Kind : std::uint8_t { up, down, domain, pair };
  struct Link {
    Kind kind = Kind::up;
    LevelId level;
    std::int32_t child = 0;  // the domain for Kind::domain
    std::int32_t other = 0;
    BytesPerSecond capacity;
  };

  [[nodiscard]] LinkId find(Kind kind, LevelId level, std::int32_t child, std::int32_t other);
  [[nodiscard]] BytesPerSecond capacity_of(const Link& link) const;
  [[nodiscard]] double rate(LevelId level) const;  // of one device
  [[nodiscard]] std::int32_t child_of(DeviceId device, LevelId level) const;
  [[nodiscard]] std::string child_name(LevelId level, std::int32_t child) const;
  // The links that flows between neighbours of a domain load.
  void add_flows(LevelId level, std::int32_t domain, std::span<const GridFlow> flows,
                 std::vector<LinkUse>& out);
  void add_inner(DeviceId device, LevelId meet, Kind kind, std::vector<LinkUse>& out);

  const Cluster* cluster_;
  std::vector<double> efficiency_;
  std::vector<Link> links_;
  std::unordered_map<std::uint64_t, std::int32_t> known_;
};

}  // namespace nest::simulate
