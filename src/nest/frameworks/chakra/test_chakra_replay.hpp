// For tests: runs the traces of all ranks as ASTRA-sim's workload layer does. Each NPU has one compute node
// and one communication node (receives apart) in flight and takes the lowest id that is ready; a collective
// begins when all its group is there. Says when everything has ended, or that nothing goes on.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <queue>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "nest/frameworks/chakra/test_chakra_reader.hpp"

namespace nest::test {
using namespace frameworks;

struct ReplayRules {
  bool rendezvous = false;       // a send waits for its receive
  bool receives_occupy = false;  // as in older versions of the simulator
  std::function<double(const ChakraNode&, std::size_t members)> transfer_s = {};  // none: no time at all
};

class Replay {
 public:
  Replay(const ReadExport& traces, ReplayRules rules) : in_(traces), rules_(std::move(rules)) {
    for (std::size_t r = 0; r < in_.ranks.size(); ++r) {
      Rank& rank = ranks_.emplace_back();
      const std::vector<ChakraNode>& nodes = in_.ranks[r].nodes;
      rank.waits.resize(nodes.size());
      rank.children.resize(nodes.size());
      for (std::size_t n = 0; n < nodes.size(); ++n) {
        rank.waits[n] = nodes[n].deps.size();
        for (const std::uint64_t dep : nodes[n].deps) rank.children[dep - 1].push_back(n);
        if (nodes[n].deps.empty()) rank.ready.insert(n);
      }
      left_ += nodes.size();
    }
  }

  // None: a deadlock.
  [[nodiscard]] std::optional<double> run() {
    for (std::size_t r = 0; r < ranks_.size(); ++r) issue(r);
    while (!events_.empty()) {
      const auto [time, order, rank, node] = events_.top();
      events_.pop();
      now_ = time;
      finish(rank, node);
    }
    return left_ == 0 ? std::optional(now_) : std::nullopt;
  }

 private:
  struct Rank {
    std::vector<std::size_t> waits;
    std::vector<std::vector<std::size_t>> children;
    std::set<std::size_t> ready;
    bool computing = false;
    bool talking = false;
    std::map<std::int64_t, std::size_t> collectives;  // so many of each group
  };
  using Member = std::pair<std::size_t, std::size_t>;  // rank, node
  struct Message {
    std::optional<Member> send;
    std::optional<Member> receive;
    bool arrived = false;
  };

  const ChakraNode& node(std::size_t r, std::size_t n) const { return in_.ranks[r].nodes[n]; }
  [[nodiscard]] bool occupies(const ChakraNode& n) const {
    return n.type != ChakraType::compute && (n.type != ChakraType::receive || rules_.receives_occupy);
  }
  [[nodiscard]] double transfer_s(const ChakraNode& n, std::size_t members) const {
    return rules_.transfer_s ? rules_.transfer_s(n, members) : 0;
  }

  void later(double time, std::size_t r, std::size_t n) { events_.push({time, order_++, r, n}); }

  void issue(std::size_t r) {
    Rank& rank = ranks_[r];
    const std::vector<std::size_t> ready(rank.ready.begin(), rank.ready.end());
    for (const std::size_t n : ready) {
      const ChakraNode& own = node(r, n);
      bool& slot = own.type == ChakraType::compute ? rank.computing : rank.talking;
      const bool takes = own.type == ChakraType::compute || occupies(own);
      if (takes && slot) continue;
      if (takes) slot = true;
      rank.ready.erase(n);
      begin(r, n);
    }
  }

  void begin(std::size_t r, std::size_t n) {
    const ChakraNode& own = node(r, n);
    if (own.type == ChakraType::compute) {
      later(now_ + (own.micros > 0 ? static_cast<double>(own.micros) * 1e-6 : 1e-9), r, n);
    } else if (own.type == ChakraType::collective) {
      gather(r, n);
    } else {
      Message& message = messages_[{own.from, own.to, own.tag, own.bytes}];
      (own.type == ChakraType::send ? message.send : message.receive) = {r, n};
      if (own.type == ChakraType::receive && message.arrived) later(now_, r, n);
      if (message.send && (own.type == ChakraType::send || rules_.rendezvous) &&
          (!rules_.rendezvous || message.receive))
        later(now_ + transfer_s(own, 2), message.send->first, message.send->second);
    }
  }

  void gather(std::size_t r, std::size_t n) {
    const ChakraNode& own = node(r, n);
    const std::size_t members = own.group == 0 ? ranks_.size() : in_.groups.at(own.group).size();
    std::vector<Member>& there = waiting_[{own.group, ranks_[r].collectives[own.group]++}];
    if (!there.empty()) {
      const ChakraNode& first = node(there.front().first, there.front().second);
      EXPECT_EQ(first.collective, own.collective) << first.name << " and " << own.name;
      EXPECT_EQ(first.bytes, own.bytes) << first.name << " and " << own.name;
    }
    there.emplace_back(r, n);
    if (there.size() < members) return;
    for (const auto& [rank, at] : there) later(now_ + transfer_s(own, members), rank, at);
  }

  void finish(std::size_t r, std::size_t n) {
    const ChakraNode& own = node(r, n);
    Rank& rank = ranks_[r];
    if (own.type == ChakraType::compute) rank.computing = false;
    if (occupies(own)) rank.talking = false;
    --left_;
    for (const std::size_t child : rank.children[n]) {
      if (--rank.waits[child] == 0) rank.ready.insert(child);
    }
    if (own.type == ChakraType::send) {
      Message& message = messages_[{own.from, own.to, own.tag, own.bytes}];
      message.arrived = true;
      if (message.receive) later(now_, message.receive->first, message.receive->second);
    }
    issue(r);
  }

  const ReadExport& in_;
  ReplayRules rules_;
  std::vector<Rank> ranks_;
  std::size_t left_ = 0;
  double now_ = 0;
  std::uint64_t order_ = 0;
  using Event = std::tuple<double, std::uint64_t, std::size_t, std::size_t>;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::map<std::tuple<std::int32_t, std::int32_t, std::int32_t, std::int64_t>, Message> messages_;
  std::map<std::pair<std::int64_t, std::size_t>, std::vector<Member>> waiting_;
};

// What every export must hold: ids count from 1 and nodes wait only for earlier ones (so that nothing goes in
// circles), every message has both ends, every rank is in the groups that it uses, and all members of a group
// issue the same collectives.
inline void check_export(const ReadExport& in) {
  std::map<std::tuple<std::int32_t, std::int32_t, std::int32_t, std::int64_t>, std::pair<int, int>> ends;
  std::map<std::int64_t, std::vector<std::vector<std::pair<ChakraCollective, std::int64_t>>>> issued;
  std::set<std::vector<std::int32_t>> different;
  for (const auto& [number, npus] : in.groups) {
    EXPECT_GT(number, 0);
    EXPECT_GE(npus.size(), 2U);
    EXPECT_LT(npus.size(), in.ranks.size()) << "all NPUs need no group";
    EXPECT_TRUE(different.insert(npus).second) << "group " << number << " is listed twice";
  }
  for (std::size_t r = 0; r < in.ranks.size(); ++r) {
    EXPECT_EQ(in.ranks[r].version, "0.0.4");
    ASSERT_FALSE(in.ranks[r].nodes.empty());
    std::map<std::int64_t, std::vector<std::pair<ChakraCollective, std::int64_t>>> own;
    for (std::size_t n = 0; n < in.ranks[r].nodes.size(); ++n) {
      const ChakraNode& node = in.ranks[r].nodes[n];
      ASSERT_EQ(node.id, n + 1);
      for (const std::uint64_t dep : node.deps) ASSERT_TRUE(dep > 0 && dep < node.id);
      if (node.type == ChakraType::compute) {
        ASSERT_TRUE(node.operations > 0 && node.tensor_bytes > 0) << node.name;
        continue;
      }
      ASSERT_GT(node.bytes, 0) << node.name;
      if (node.type == ChakraType::collective) {
        own[node.group].emplace_back(node.collective, node.bytes);
        continue;
      }
      ASSERT_TRUE(node.tag >= 0 && node.from != node.to);
      auto& [sends, receives] = ends[{node.from, node.to, node.tag, node.bytes}];
      ++(node.type == ChakraType::send ? sends : receives);
      ASSERT_EQ(node.type == ChakraType::send ? node.from : node.to, static_cast<std::int32_t>(r));
    }
    for (auto& [group, list] : own) issued[group].push_back(std::move(list));
  }
  for (const auto& [key, count] : ends)
    ASSERT_EQ(count, (std::pair{1, 1})) << std::get<0>(key) << " to " << std::get<1>(key);
  for (const auto& [group, lists] : issued) {
    EXPECT_EQ(lists.size(), group == 0 ? in.ranks.size() : in.groups.at(group).size());
    for (const auto& list : lists) ASSERT_EQ(list, lists.front()) << "group " << group;
  }
}

}  // namespace nest::test
