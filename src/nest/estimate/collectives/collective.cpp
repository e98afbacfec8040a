#include "nest/estimate/collectives/collective.hpp"

#include <array>
#include <atomic>

#include "nest/base/error.hpp"
#include "nest/estimate/collectives/collective_parts.hpp"

namespace nest::estimate {
namespace {

struct Best {
  Parts parts;
  Composition composition = Composition::none;
  Protocol protocol = Protocol::wide;

  void offer(const Parts& other, Composition c, Protocol p) {
    if (composition != Composition::none && other.total() >= parts.total()) return;
    parts = other;
    composition = c;
    protocol = p;
  }
};

Best best_ideal(const CollectiveQuery& q) {
  Best best;
  if (q.kind == CollectiveKind::send || q.kind == CollectiveKind::all_to_all) {
    best.offer(price_direct(q, Protocol::wide, nullptr), Composition::direct, Protocol::wide);
    return best;
  }
  best.offer(price_hierarchical(q, nullptr), Composition::hierarchical, Protocol::wide);
  if (q.group.levels().size() > 1) {
    best.offer(price_flat(q, nullptr), Composition::flat, Protocol::wide);
  }
  if (q.model.at_once()) {
    // What a library does can be done on ideal links too.
    best.offer(price_rings(q, Protocol::wide, nullptr), Composition::rings, Protocol::wide);
    if (q.kind == CollectiveKind::all_reduce)
      best.offer(price_trees(q, Protocol::wide, nullptr), Composition::trees, Protocol::wide);
  }
  return best;
}

Best best_library(const CollectiveQuery& q) {
  Best best;
  for (const Protocol protocol : {Protocol::wide, Protocol::quick}) {
    if (q.kind == CollectiveKind::send || q.kind == CollectiveKind::all_to_all) {
      best.offer(price_direct(q, protocol, nullptr), Composition::direct, protocol);
      continue;
    }
    best.offer(price_rings(q, protocol, nullptr), Composition::rings, protocol);
    if (q.kind == CollectiveKind::all_reduce) {
      best.offer(price_trees(q, protocol, nullptr), Composition::trees, protocol);
    }
  }
  return best;
}

Best best_of(const CollectiveQuery& q) {
  if (q.kind == CollectiveKind::none || q.group.levels().empty() || q.bytes <= 0) return {};
  return q.model.library() ? best_library(q) : best_ideal(q);
}

std::uint64_t next_number() {
  static std::atomic<std::uint64_t> next{0};
  return ++next;
}

}  // namespace

std::string_view to_string(Composition composition) {
  static constexpr std::array<std::string_view, 6> kNames{"none",   "flat",  "hierarchical",
                                                          "direct", "rings", "trees"};
  return kNames[static_cast<std::size_t>(composition)];
}

CollectiveModel::CollectiveModel(const Cluster& cluster, const FabricConstants& constants)
    : number_(next_number()),
      library_(constants.library),
      at_once_(constants.at_once),
      launch_s_(constants.launch.value),
      message_s_(constants.message.value) {
  if (constants.levels.size() != cluster.levels().size()) {
    throw InputError(cluster.name(), "levels", "one fabric for each level is expected");
  }
  for (std::size_t l = 0; l < cluster.levels().size(); ++l) {
    const Level& level = cluster.levels()[l];
    const Fabric& fabric = constants.levels[l];
    LevelTerms terms;
    terms.kind = level.kind;
    terms.in_network = level.in_network_reduction;
    terms.trees = fabric.trees && level.kind == LevelKind::switched;
    const double rate = level.rate().value * fabric.efficiency;
    terms.raw_seconds_per_byte = 1 / level.rate().value;
    terms.seconds_per_byte[0] = 1 / rate;
    terms.seconds_per_byte[1] = 1 / (rate * fabric.quick_share);
    const double exchange = level.rate().value * fabric.exchange_efficiency;
    terms.exchange_seconds_per_byte[0] = 1 / exchange;
    terms.exchange_seconds_per_byte[1] = 1 / (exchange * fabric.quick_share);
    terms.ring_own = fabric.ring_own;
    terms.exchange_own = fabric.exchange_own;
    terms.step_s[0] = level.latency.value + fabric.wide_step.value;
    terms.step_s[1] = level.latency.value + fabric.quick_step.value;
    terms.reduction_seconds_per_byte = 1 / (level.rate().value * fabric.reduction_efficiency);
    terms.reduction_by_peers = fabric.reduction_by_peers;
    terms.reduction_step_s = level.latency.value + fabric.reduction_step.value;
    levels_.push_back(terms);
  }
}

double LevelTerms::reduction_pace(const GroupLevel& group) const {
  if (!reduction_by_peers || group.or_more) return reduction_seconds_per_byte;  // what endless groups reach
  const double n = group.members;
  return reduction_seconds_per_byte * n / (n - 1);
}

Seconds collective_time(CollectiveKind kind, Bytes bytes, const GroupShape& group,
                        const CollectiveModel& model) {
  return Seconds{best_of({kind, static_cast<double>(bytes.value), group, model}).parts.total()};
}

CollectiveCost collective_cost(CollectiveKind kind, Bytes bytes, const GroupShape& group,
                               const CollectiveModel& model) {
  const CollectiveQuery q{kind, static_cast<double>(bytes.value), group, model};
  const Best best = best_of(q);
  CollectiveCost out{Seconds{best.parts.total()},
                     Seconds{best.parts.launch},
                     Seconds{best.parts.latency},
                     Seconds{best.parts.transfer},
                     best.composition,
                     best.protocol,
                     {}};
  switch (best.composition) {
    case Composition::none:
      break;
    case Composition::flat:
      static_cast<void>(price_flat(q, &out.phases));
      break;
    case Composition::hierarchical:
      static_cast<void>(price_hierarchical(q, &out.phases));
      break;
    case Composition::direct:
      static_cast<void>(price_direct(q, best.protocol, &out.phases));
      break;
    case Composition::rings:
      static_cast<void>(price_rings(q, best.protocol, &out.phases));
      break;
    case Composition::trees:
      static_cast<void>(price_trees(q, best.protocol, &out.phases));
      break;
  }
  return out;
}

double memory_passes(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::none:
      return 0;
    case CollectiveKind::send:
      return 1;
    case CollectiveKind::all_gather:  // what arrives is written, and read to be passed on
    case CollectiveKind::all_to_all:
    case CollectiveKind::broadcast:
      return 2;
    case CollectiveKind::reduce_scatter:  // what arrives is written, and read with what is added to it
      return 3;
    case CollectiveKind::all_reduce:
      return 5;
  }
  return 0;
}

}  // namespace nest::estimate
