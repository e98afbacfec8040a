// Which rank runs on which device: ranks are numbered as Megatron-LM and torchtitan number them, so that a
// launcher that obeys the map puts every rank on the plan's device.
//
//   tp-cp-ep-dp-pp   rank = tensor + t * (context + c * (data + d * stage)), data = side + sides * copy: the
//                    place in the cell, then the copy, then the stage
//   tp-cp-ep-pp-dp   the stage before the data rank (Megatron-LM's --use-tp-pp-dp-mapping): whole copies
//
// A host is a domain of the innermost level, or a part of one where `devices_per_host` says so. Where the cluster's
// devices have names (`nest clusters from-matrix` had to reorder them), hosts and the devices of each are counted in
// the order of the names, as in the measurements. Names such as node017/gpu3, which `nest import` writes, say themselves
// which host a device is in and which number it has there.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "nest/frameworks/common/exporter.hpp"

namespace nest::frameworks {

enum class RankOrder { data_before_stage, stage_before_data };
[[nodiscard]] std::string_view name_of(RankOrder order);

struct RankRow {
  DeviceId device;
  std::size_t host = 0;  // into RankMap::hosts
  std::int64_t local_device = 0;
  std::int64_t local_rank = 0;
  std::int64_t stage = 0;
  std::int64_t copy = 0;
  std::int64_t side = 0;
  std::int64_t context = 0;
  std::int64_t tensor = 0;
  std::string name;  // of the device, where the cluster knows one
};

struct HostRow {
  std::string name;
  std::vector<std::int64_t> ranks;          // ascending: the local rank is the place in this list
  std::vector<std::int64_t> local_devices;  // of each of them
  std::int64_t devices = 0;                 // that the host has, in use or not
  std::vector<std::int32_t> domains;        // of each of RankMap::levels
};

// A level of the cluster that joins hosts.
struct HostLevel {
  std::string name;       // "rack"; letters, digits, '-' and '_' only
  bool reduces = false;   // its switches add up
  bool scale_up = false;  // the accelerators' own links, as in an NVL72 rack: a part of one domain is a host
};

struct RankMap {
  RankOrder order = RankOrder::data_before_stage;
  std::vector<RankRow> ranks;
  std::vector<HostRow> hosts;     // those in use, by their first rank
  std::int64_t host_devices = 0;  // of the largest host in use
  bool consecutive = true;        // every host's ranks follow each other: torchrun can number them
  bool named = false;             // hosts have names that were given or imported, not made-up ones
  std::vector<HostLevel> levels;  // innermost first
  std::string resource;           // what Kubernetes calls such a device: "nvidia.com/gpu"
};

// Throws an InputError where the names of hosts are too few or repeated.
[[nodiscard]] RankMap make_rank_map(const ExportQuestion& question, RankOrder order);

// Whether Megatron-LM takes the order that puts stages before data ranks.
[[nodiscard]] bool allows_stage_before_data(const Parallelism& parallelism);

}  // namespace nest::frameworks
