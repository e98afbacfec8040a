#include "nest/simulate/traffic/fair_share.hpp"

#include <algorithm>
#include <limits>

namespace nest::simulate {

FairShare::FairShare(std::vector<double> capacities) : links_(capacities.size()) {
  for (std::size_t i = 0; i < capacities.size(); ++i) links_[i].capacity = capacities[i];
}

void FairShare::touch(std::int32_t link) {
  Link& l = links_[static_cast<std::size_t>(link)];
  if (l.dirty) return;
  l.dirty = true;
  dirty_.push_back(link);
}

std::int32_t FairShare::start(std::span<const LinkLoad> loads, double alone_s, std::int32_t tag, double now) {
  std::int32_t id = 0;
  if (free_.empty()) {
    id = static_cast<std::int32_t>(activities_.size());
    activities_.emplace_back();
  } else {
    id = free_.back();
    free_.pop_back();
  }
  Activity& a = activities_[static_cast<std::size_t>(id)];
  a = {.loads = loads, .left = alone_s, .since = now, .tag = tag, .fresh = true};
  fresh_.push_back(id);
  for (const LinkLoad& load : loads) {
    Link& link = links_[load.link.index()];
    link.activities.push_back(id);
    link.demand += load.bytes_per_s;
    touch(load.link.value);
  }
  return id;
}

void FairShare::finish(std::int32_t activity) {
  Activity& a = activities_[static_cast<std::size_t>(activity)];
  for (const LinkLoad& load : a.loads) {
    Link& link = links_[load.link.index()];
    const auto at = std::find(link.activities.begin(), link.activities.end(), activity);
    *at = link.activities.back();
    link.activities.pop_back();
    // An empty link starts afresh, so that rounding does not pile up.
    link.demand = link.activities.empty() ? 0 : link.demand - load.bytes_per_s;
    touch(load.link.value);
  }
  if (a.limit >= 0) advance(a, a.since + (a.speed > 0 ? a.left / a.speed : 0));
  if (a.fresh) std::erase(fresh_, activity);
  a.loads = {};
  a.fresh = false;
  free_.push_back(activity);
}

void FairShare::advance(Activity& a, double now) {
  const double passed = now - a.since;
  if (a.limit >= 0) links_[static_cast<std::size_t>(a.limit)].waited += passed * (1 - a.speed);
  a.left = std::max(0.0, a.left - passed * a.speed);
  a.since = now;
}

// Everything that depends on a link: its activities, and those of other links that are short.
void FairShare::gather(std::int32_t first) {
  std::vector<std::int32_t>& waiting = part_links_;
  const std::size_t begin = waiting.size();
  waiting.push_back(first);
  links_[static_cast<std::size_t>(first)].mark = mark_;
  for (std::size_t at = begin; at < waiting.size(); ++at) {
    for (const std::int32_t id : links_[static_cast<std::size_t>(waiting[at])].activities) {
      Activity& a = activities_[static_cast<std::size_t>(id)];
      if (a.mark == mark_) continue;
      a.mark = mark_;
      a.frozen = false;
      part_.push_back(id);
      for (const LinkLoad& load : a.loads) {
        Link& link = links_[load.link.index()];
        if (link.mark == mark_ || !is_short(link)) continue;
        link.mark = mark_;
        waiting.push_back(load.link.value);
      }
    }
  }
}

void FairShare::fill(double now) {
  for (const std::int32_t id : part_) advance(activities_[static_cast<std::size_t>(id)], now);
  for (const std::int32_t id : part_links_) {
    Link& link = links_[static_cast<std::size_t>(id)];
    link.used = 0;
    link.open = link.demand;
  }
  std::size_t open = part_.size();
  while (open > 0) {
    double speed = 1;
    std::int32_t limit = -1;
    for (const std::int32_t id : part_links_) {
      const Link& link = links_[static_cast<std::size_t>(id)];
      if (link.open <= link.demand * 1e-12) continue;
      const double here = std::max(0.0, link.capacity - link.used) / link.open;
      if (here < speed * (1 - 1e-12)) {
        speed = here;
        limit = id;
      }
    }
    const auto freeze = [&](std::int32_t id) {
      Activity& a = activities_[static_cast<std::size_t>(id)];
      if (a.frozen) return;
      a.frozen = true;
      a.speed = speed;
      a.limit = limit;
      --open;
      for (const LinkLoad& load : a.loads) {
        Link& link = links_[load.link.index()];
        if (link.mark != mark_) continue;
        link.used += speed * load.bytes_per_s;
        link.open -= load.bytes_per_s;
      }
    };
    if (limit < 0) {
      for (const std::int32_t id : part_) freeze(id);
    } else {
      for (const std::int32_t id : links_[static_cast<std::size_t>(limit)].activities) freeze(id);
      links_[static_cast<std::size_t>(limit)].open = 0;
    }
  }
}

void FairShare::settle(double now, std::vector<Change>& changes) {
  changes.clear();
  ++mark_;
  part_.clear();
  part_links_.clear();
  for (const std::int32_t id : dirty_) {
    Link& link = links_[static_cast<std::size_t>(id)];
    link.dirty = false;
    const bool matters = link.was_short || is_short(link);
    link.was_short = is_short(link);
    if (matters && link.mark != mark_) gather(id);
  }
  dirty_.clear();
  before_.clear();
  for (const std::int32_t id : part_) before_.push_back(activities_[static_cast<std::size_t>(id)].speed);
  fill(now);
  for (std::size_t i = 0; i < part_.size(); ++i) {
    Activity& a = activities_[static_cast<std::size_t>(part_[i])];
    if (!a.fresh && a.speed == before_[i]) continue;
    changes.push_back(
        {a.tag, a.speed > 0 ? now + a.left / a.speed : std::numeric_limits<double>::infinity()});
    a.fresh = false;
  }
  for (const std::int32_t id : fresh_) {
    Activity& a = activities_[static_cast<std::size_t>(id)];
    if (!a.fresh) continue;
    a.fresh = false;
    a.speed = 1;
    a.limit = -1;
    changes.push_back({a.tag, now + a.left});
  }
  fresh_.clear();
}

}  // namespace nest::simulate
