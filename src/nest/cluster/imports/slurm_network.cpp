#include "nest/cluster/imports/slurm_network.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "nest/base/closest.hpp"
#include "nest/base/error.hpp"
#include "nest/cluster/imports/switch_graph.hpp"
#include "nest/cluster/imports/text_lines.hpp"
#include "nest/cluster/name_list.hpp"

namespace nest::cluster {
namespace {

class Maker {
 public:
  explicit Maker(const SlurmNetwork& network) : network_(network) {}

  ImportFacts make() {
    const int kinds = (network_.switches.empty() ? 0 : 1) + (network_.blocks.empty() ? 0 : 1) +
                      (network_.rings.empty() ? 0 : 1) + (network_.toruses.empty() ? 0 : 1);
    if (kinds > 1)
      throw InputError(network_.file, "", "switches, blocks and rings are described in one file",
                       "Slurm takes one kind of topology: leave the others out");
    if (!network_.switches.empty()) {
      tree();
    } else if (!network_.blocks.empty()) {
      blocks();
    } else {
      const bool rings = !network_.rings.empty();
      for (const SlurmGroup& group : rings ? network_.rings : network_.toruses) {
        add_nodes(group, "");
        if (!rings) check_torus(group);
      }
      add_tier(rings ? "ring" : "torus", rings ? LevelKind::ring : LevelKind::torus);
      if (!rings) facts_.tiers.back().dims = network_.toruses.front().dims;
      say(rings ? network_.rings.size() : network_.toruses.size(), rings ? "ring" : "torus");
    }
    facts_.sources.push_back(own_name(network_.file) + " (Slurm)");
    return std::move(facts_);
  }

 private:
  [[noreturn]] void fail(int line, const std::string& what, const std::string& hint = {}) const {
    if (line > 0) fail_line(network_.file, line, what, hint);
    throw InputError(network_.file, "", what, hint);
  }

  std::vector<std::string> names(const std::string& list, int line) {
    NameList out = expand_names(list, kMostListed - listed_);
    if (!out.problem.empty()) fail(line, out.problem);
    listed_ += out.names.size();
    return std::move(out.names);
  }

  // Hosts of a group, each with the label of its first tier; those that an earlier group has stay there.
  std::vector<std::string> add_nodes(const SlurmGroup& group, const std::string& label) {
    std::vector<std::string> own;
    for (const std::string& name : names(group.nodes, group.line)) {
      HostFacts& host = facts_.host(name, network_.file, group.line);
      if (host.placed) {
        twice_.push_back(name);
        continue;
      }
      host.placed = true;
      host.domains.push_back(label.empty() ? group.name : label);
      own.push_back(name);
    }
    return own;
  }

  void add_tier(const std::string& name, LevelKind kind = LevelKind::switched) {
    TierFacts tier;
    tier.name = name;
    tier.kind = kind;
    facts_.tiers.push_back(std::move(tier));
  }

  void say(std::size_t groups, const std::string& noun) {
    if (facts_.hosts.empty()) fail(0, "no nodes are listed");
    facts_.notes.known.push_back(
        count_of(static_cast<std::int64_t>(facts_.hosts.size()), "host") + " in " +
        (noun == "switch" && groups != 1  ? format_digits(static_cast<std::int64_t>(groups)) + " switches"
         : noun == "torus" && groups != 1 ? format_digits(static_cast<std::int64_t>(groups)) + " toruses"
                                          : count_of(static_cast<std::int64_t>(groups), noun)) +
        " (" + own_name(network_.file) + ")");
    if (!twice_.empty())
      facts_.notes.assumed.push_back("the first place of what is listed twice: " + count_hosts(twice_) +
                                     " in " + own_name(network_.file));
  }

  void check_torus(const SlurmGroup& torus) const {
    if (torus.dims != network_.toruses.front().dims)
      fail(
          torus.line,
          "the toruses '" + network_.toruses.front().name + "' and '" + torus.name + "' have different sides",
          "one level has one shape");
  }

  void tree() {
    std::map<std::string, std::size_t> known;
    for (std::size_t s = 0; s < network_.switches.size(); ++s) {
      const SlurmGroup& own = network_.switches[s];
      if (!known.try_emplace(own.name, s).second)
        fail(own.line, "the switch '" + own.name + "' is described twice");
    }
    children_.resize(network_.switches.size());
    for (std::size_t s = 0; s < network_.switches.size(); ++s) {
      const SlurmGroup& own = network_.switches[s];
      if (own.nodes.empty() && own.children.empty())
        fail(own.line, "the switch '" + own.name + "' has neither nodes nor switches");
      for (const std::string& child : names(own.children, own.line)) {
        const auto at = known.find(child);
        if (at == known.end()) {
          std::vector<std::string> all;
          all.reserve(known.size());
          for (const auto& [name, _] : known) all.push_back(name);
          fail(own.line, "there is no switch '" + child + "'", did_you_mean(child, all));
        }
        children_[s].push_back(at->second);
      }
    }
    find_heights();
    std::vector<std::pair<std::string, std::size_t>> attached;
    for (std::size_t s = 0; s < network_.switches.size(); ++s) {
      for (const std::string& host : add_nodes(network_.switches[s], "")) attached.emplace_back(host, s);
    }
    label(attached);
    say(network_.switches.size(), "switch");
  }

  void label(const std::vector<std::pair<std::string, std::size_t>>& attached) {
    SwitchGraph graph(static_cast<std::int32_t>(facts_.hosts.size()));
    for (const std::int32_t height : heights_) static_cast<void>(graph.add_switch(height));
    // Hosts were added in this order.
    for (std::size_t h = 0; h < attached.size(); ++h)
      graph.attach(static_cast<std::int32_t>(h), static_cast<std::int32_t>(attached[h].second));
    for (std::size_t s = 0; s < children_.size(); ++s) {
      for (const std::size_t child : children_[s])
        graph.join(static_cast<std::int32_t>(s), static_cast<std::int32_t>(child));
    }
    const auto labels = domain_labels(graph);
    for (std::size_t t = 0; t < labels.size(); ++t) {
      add_tier(usual_tier_name(t));
      for (std::size_t h = 0; h < facts_.hosts.size(); ++h) {
        if (t == 0) facts_.hosts[h].domains.clear();
        facts_.hosts[h].domains.push_back(labels[t][h]);
      }
    }
  }

  // How far above the nodes a switch is, by its deepest child; a switch that is above itself is refused.
  void find_heights() {
    enum class Mark : std::uint8_t { fresh, open, done };
    std::vector<Mark> marks(children_.size(), Mark::fresh);
    heights_.assign(children_.size(), 0);
    struct Visit {
      std::size_t at = 0;
      std::size_t next = 0;
    };
    for (std::size_t root = 0; root < children_.size(); ++root) {
      if (marks[root] != Mark::fresh) continue;
      std::vector<Visit> way{{root, 0}};
      marks[root] = Mark::open;
      while (!way.empty()) {
        Visit& top = way.back();
        if (top.next == children_[top.at].size()) {
          for (const std::size_t child : children_[top.at])
            heights_[top.at] = std::max(heights_[top.at], heights_[child] + 1);
          marks[top.at] = Mark::done;
          way.pop_back();
          continue;
        }
        const std::size_t child = children_[top.at][top.next++];
        if (marks[child] == Mark::open)
          fail(network_.switches[child].line,
               "the switch '" + network_.switches[child].name + "' is above itself");
        if (marks[child] == Mark::done) continue;
        marks[child] = Mark::open;
        way.push_back({child, 0});
      }
    }
  }

  // Blocks, and blocks of these that follow each other: sizes of 30 and 120 nodes are one and four of them.
  void blocks() {
    for (const SlurmGroup& block : network_.blocks) add_nodes(block, "");
    add_tier("block");
    std::map<std::string, std::size_t> number;
    for (std::size_t b = 0; b < network_.blocks.size(); ++b) number.try_emplace(network_.blocks[b].name, b);
    const std::vector<std::int64_t>& sizes = network_.block_sizes;
    for (std::size_t i = 1; i < sizes.size(); ++i) {
      if (sizes[i] <= sizes[i - 1] || sizes[i] % sizes.front() != 0)
        fail(0, "block sizes are multiples of the first, each larger than the one before, not " +
                    std::to_string(sizes[i]));
      const auto together = static_cast<std::size_t>(sizes[i] / sizes.front());
      add_tier("blocks-of-" + std::to_string(sizes[i]));
      for (HostFacts& host : facts_.hosts)
        host.domains.push_back(std::to_string(number.at(host.domains.front()) / together));
    }
    say(network_.blocks.size(), "block");
    for (HostFacts& host : facts_.hosts) host.links = host.domains.front();
    facts_.links_assumed = "the accelerators' links join the hosts of a block";
  }

  const SlurmNetwork& network_;
  ImportFacts facts_;
  std::vector<std::string> twice_;
  std::size_t listed_ = 0;
  std::vector<std::vector<std::size_t>> children_;  // by switch
  std::vector<std::int32_t> heights_;
};

}  // namespace

ImportFacts facts_of(const SlurmNetwork& network) {
  return Maker(network).make();
}

}  // namespace nest::cluster
