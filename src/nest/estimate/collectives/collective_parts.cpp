#include "nest/estimate/collectives/collective_parts.hpp"

#include <algorithm>

namespace nest::estimate {
namespace {

constexpr std::size_t index(Protocol protocol) {
  return static_cast<std::size_t>(protocol);
}
constexpr std::size_t kWide = index(Protocol::wide);

void note(Phases* phases, LevelId level, Algorithm algorithm, double latency, double transfer,
          double own = 0) {
  if (phases != nullptr)
    phases->push_back({level, algorithm, Seconds{latency}, Seconds{transfer}, Seconds{own}});
}

// Latencies of one message across a level.
double hops_across(const GroupLevel& g, const LevelTerms& terms) {
  return terms.kind == LevelKind::switched || terms.kind == LevelKind::fully_connected ? 1 : g.ring_steps;
}

bool two_passes(CollectiveKind kind) {
  return kind == CollectiveKind::all_reduce;
}

// One algorithm at one level, the members of a child carrying equal parts (a broadcast: one of them
// everything).
struct Choice {
  Algorithm algorithm = Algorithm::ring;
  double latency = 0;
  double transfer = 0;
};

Choice price_level(Algorithm algorithm, CollectiveKind kind, double bytes, const GroupLevel& g,
                   const LevelTerms& terms) {
  const AlgorithmCost shape = algorithm_cost(algorithm, kind, g);
  const bool reduces = algorithm == Algorithm::in_network;
  const double step = reduces ? terms.reduction_step_s : terms.step_s[kWide];
  const double rate = reduces ? terms.reduction_pace(g) : terms.seconds_per_byte[kWide];
  const double load = kind == CollectiveKind::broadcast ? g.lone : g.load;
  return {algorithm, shape.steps * step, shape.volume * bytes * load * rate / g.fraction};
}

Choice best_at_level(CollectiveKind kind, double bytes, const GroupLevel& g, const LevelTerms& terms) {
  Choice best;
  bool found = false;
  for (const Algorithm algorithm : {Algorithm::ring, Algorithm::halving_doubling, Algorithm::tree,
                                    Algorithm::direct, Algorithm::in_network}) {
    if (!algorithm_allowed(algorithm, kind, terms.kind, terms.in_network)) continue;
    const Choice choice = price_level(algorithm, kind, bytes, g, terms);
    if (found && choice.latency + choice.transfer >= best.latency + best.transfer) continue;
    best = choice;
    found = true;
  }
  return best;
}

}  // namespace

Parts price_flat(const CollectiveQuery& q, Phases* phases) {
  const double n = q.group.members();
  double step = 0;
  double rate = 0;
  LevelId slowest;
  for (const GroupLevel& g : q.group.levels()) {
    const LevelTerms& terms = q.model.level(g.level);
    step = std::max(step, terms.step_s[kWide]);
    const double here = g.lone * terms.seconds_per_byte[kWide] / g.link;
    if (here > rate) slowest = g.level;
    rate = std::max(rate, here);
  }
  const double passes = two_passes(q.kind) ? 2 : 1;
  const double part = q.kind == CollectiveKind::broadcast ? 1 : 1 - 1 / n;
  const Parts out{0, passes * (n - 1) * step, passes * part * q.bytes * rate};
  note(phases, slowest, Algorithm::ring, out.latency, out.transfer);
  return out;
}

Parts price_hierarchical(const CollectiveQuery& q, Phases* phases) {
  Parts out;
  const std::size_t spanned = q.group.levels().size();
  for (std::size_t i = 0; i < spanned; ++i) {
    const GroupLevel& g = q.group.levels()[i];
    const LevelTerms& terms = q.model.level(g.level);
    Choice choice;
    if (two_passes(q.kind) && i + 1 < spanned) {
      // Inside: a reduce-scatter on the way out and an all-gather on the way back.
      choice = best_at_level(CollectiveKind::reduce_scatter, q.bytes, g, terms);
      choice.latency *= 2;
      choice.transfer *= 2;
    } else {
      choice = best_at_level(q.kind, q.bytes, g, terms);
    }
    out.latency += choice.latency;
    out.transfer += choice.transfer;
    note(phases, g.level, choice.algorithm, choice.latency, choice.transfer);
  }
  return out;
}

Parts price_direct(const CollectiveQuery& q, Protocol protocol, Phases* phases) {
  const std::size_t p = index(protocol);
  const GroupLevel& outer = q.group.outermost();
  const LevelTerms& terms = q.model.level(outer.level);
  Parts out{q.model.launch_s()};
  if (q.kind == CollectiveKind::send) {
    out.latency = hops_across(outer, terms) * terms.step_s[p];
    out.transfer = q.bytes * outer.lone * terms.seconds_per_byte[p] / outer.link;
    note(phases, outer.level, Algorithm::direct, out.latency, out.transfer);
    return out;
  }
  out.launch += (q.group.members() - 1) * q.model.message_s();
  for (const GroupLevel& g : q.group.levels()) {
    const LevelTerms& t = q.model.level(g.level);
    const double latency = hops_across(g, t) * t.step_s[p];
    const double pace = t.exchange_seconds_per_byte[p];
    const double own = g.or_more ? 0 : q.bytes / q.group.members() * t.exchange_own * pace;
    const double transfer = q.bytes * g.exchange * pace + own;
    out.latency = std::max(out.latency, latency);
    out.transfer = std::max(out.transfer, transfer);
    note(phases, g.level, Algorithm::direct, latency, transfer, own);
  }
  return out;
}

Parts price_rings(const CollectiveQuery& q, Protocol protocol, Phases* phases) {
  const std::size_t p = index(protocol);
  const double passes = two_passes(q.kind) ? 2 : 1;
  const double part = q.kind == CollectiveKind::broadcast ? 1 : 1 - 1.0 / q.group.members();
  // A ring takes n steps of a part each, of which n - 1 send. The one that does not takes time too: the fewer
  // the members, the larger a part is.
  const double own_part = q.kind == CollectiveKind::broadcast ? 0 : q.bytes / q.group.members();
  Parts out{q.model.launch_s()};
  for (const GroupLevel& g : q.group.levels()) {
    const LevelTerms& terms = q.model.level(g.level);
    const double own = g.or_more ? 0 : own_part * terms.ring_own * terms.seconds_per_byte[p];
    const double latency = passes * g.edges * terms.step_s[p];
    const double transfer = passes * part * q.bytes * g.load * terms.seconds_per_byte[p] / g.fraction + own;
    out.latency += latency;
    out.transfer = std::max(out.transfer, transfer);
    note(phases, g.level, Algorithm::ring, latency, transfer, own);
  }
  return out;
}

Parts price_trees(const CollectiveQuery& q, Protocol protocol, Phases* phases) {
  const std::size_t p = index(protocol);
  Parts out{q.model.launch_s()};
  std::int64_t leaves = 1;  // of the trees, over all levels that have them
  for (const GroupLevel& g : q.group.levels()) {
    if (q.model.level(g.level).trees) leaves *= g.members;
  }
  for (const GroupLevel& g : q.group.levels()) {
    const LevelTerms& terms = q.model.level(g.level);
    const bool reduces = terms.in_network && protocol == Protocol::wide;
    double latency = 0;
    double transfer = q.bytes * g.load / g.fraction;
    Algorithm algorithm = Algorithm::in_network;
    if (reduces) {
      latency = 2 * terms.reduction_step_s;
      transfer *= terms.reduction_pace(g);
    } else {
      // Inside a node the tree is a chain: every link carries the data once up and once down.
      algorithm = terms.trees ? Algorithm::tree : Algorithm::ring;
      latency = 2 * (terms.trees ? g.log_steps : g.ring_steps) * terms.step_s[p];
      // Ideal trees are a bound: no level carries the data less than once.
      const bool once = !q.model.library() || (terms.trees && leaves == 2);
      transfer *= (once ? 1 : 2) * terms.seconds_per_byte[p];
    }
    out.latency += latency;
    out.transfer = std::max(out.transfer, transfer);
    note(phases, g.level, algorithm, latency, transfer);
  }
  return out;
}

}  // namespace nest::estimate
