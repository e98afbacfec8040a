// Activities that share links, max-min fair by progressive filling. Each has a speed, 1 as it would run
// alone, and loads each of its links with a rate in proportion; the speeds of all rise together until a link
// is full, whose activities then keep theirs (SimGrid's parallel tasks).
//
//   two activities of 1 s, each loading one link with all that it carries -> both run at 0.5, and end at 2 s
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "nest/simulate/traffic/links.hpp"

namespace nest::simulate {

struct LinkLoad {
  LinkId link;
  double bytes_per_s = 0;  // at speed 1
};

class FairShare {
 public:
  explicit FairShare(std::vector<double> capacities);

  // An activity that takes `alone_s` on its own. `loads` and what `tag` names outlive it.
  [[nodiscard]] std::int32_t start(std::span<const LinkLoad> loads, double alone_s, std::int32_t tag,
                                   double now);
  void finish(std::int32_t activity);

  struct Change {
    std::int32_t tag = 0;
    double end_s = 0;
  };
  // Shares again where activities came or went; tells the new end of those whose speed changed, and of new
  // ones.
  void settle(double now, std::vector<Change>& changes);

  // Seconds of activities (at speed 1) that were lost because this link was full.
  [[nodiscard]] double waited_s(LinkId link) const { return links_[link.index()].waited; }

 private:
  struct Activity {
    std::span<const LinkLoad> loads;
    double left = 0;  // seconds at speed 1, at `since`
    double since = 0;
    double speed = 0;
    std::int32_t tag = 0;
    std::int32_t limit = -1;  // the link that keeps it below speed 1
    std::uint32_t mark = 0;
    bool fresh = false;
    bool frozen = false;
  };
  struct Link {
    double capacity = 0;
    double waited = 0;
    std::vector<std::int32_t> activities;
    double demand = 0;  // of all its activities at speed 1
    bool was_short = false;
    bool dirty = false;
    std::uint32_t mark = 0;
    double used = 0;
    double open = 0;
  };

  void touch(std::int32_t link);
  [[nodiscard]] bool is_short(const Link& link) const { return link.demand > link.capacity * (1 + 1e-9); }
  void gather(std::int32_t link);
  void fill(double now);
  void advance(Activity& activity, double now);

  std::vector<Link> links_;
  std::vector<Activity> activities_;
  std::vector<std::int32_t> free_;
  std::vector<std::int32_t> dirty_;
  std::vector<std::int32_t> fresh_;
  // The part of the network that is shared again: kept for its memory.
  std::vector<std::int32_t> part_;
  std::vector<std::int32_t> part_links_;
  std::vector<double> before_;
  std::uint32_t mark_ = 0;
};

}  // namespace nest::simulate
