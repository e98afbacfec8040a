#include "nest/estimate/collectives/token_exchange.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "nest/base/document/document.hpp"
#include "nest/base/document/reader.hpp"
#include "nest/estimate/collectives/token_routing.hpp"

namespace nest::estimate {
namespace {

constexpr double kHalf = 2;                  // bytes of a 16-bit value
constexpr double kLowRow = (1 + 4.0 / 128);  // bytes of an 8-bit value with a scale for each 128
constexpr double kLibrarySms = 16;           // NCCL's channels of an all-to-all
constexpr double kFewestSms = 4;             // from which on `crowd` counts
constexpr double kLinkNorm = 8;              // what works at once hides the shorter almost whole
constexpr double kNotifyToken = 0.2e-6;  // seconds of one multiprocessor for a token's count, on the way back

// [0]: to the experts, [1]: back.
using Ways = std::array<double, 2>;

struct Side {
  Ways latency{};
  Ways sm_rate{};
};

struct Constants {
  double sms = 0;
  Side inside;
  Ways token{};
  double crowd = 0;
  double link_share = 1;
  Side nodes;
  double network_share = 1;
  Ways notify{};
  double notify_node = 0;
};

Ways times(Reader r, const char* key) {
  Reader two = r.object(key);
  const Ways ways{two.time("dispatch").value, two.time("combine").value};
  two.done();
  return ways;
}

Ways rates(Reader r, const char* key) {
  Reader two = r.object(key);
  const Ways ways{two.bandwidth("dispatch").value, two.bandwidth("combine").value};
  two.done();
  return ways;
}

Constants read_constants(Reader r) {
  Constants c;
  c.sms = r.number("sms");
  c.inside = {times(r, "latency"), rates(r, "sm_rate")};
  c.token = times(r, "token");
  c.crowd = r.number("crowd");
  c.link_share = r.number("link_share");
  Reader nodes = r.object("nodes");
  c.nodes = {times(nodes, "latency"), rates(nodes, "sm_rate")};
  c.network_share = nodes.number("network_share");
  c.notify = times(nodes, "notify");
  c.notify_node = nodes.time("notify_node").value;
  return c;
}

const Constants& constants_of(Dispatcher dispatcher) {
  static const std::array<Constants, kDispatchers.size()> kAll = [] {
    const Document document =
        parse_document("data/dispatchers.yaml", std::string(dispatcher_files().front().text));
    Reader file(document);
    Reader all = file.object("dispatchers");
    std::array<Constants, kDispatchers.size()> out;
    out[0].sms = kLibrarySms;
    for (const Dispatcher d : {Dispatcher::deepep, Dispatcher::hybridep})
      out[static_cast<std::size_t>(d)] = read_constants(all.object(std::string(name_of(d))));
    return out;
  }();
  return kAll[static_cast<std::size_t>(dispatcher)];
}

double norm(double a, double b, double c) {
  const double most = std::max({a, b, c});
  if (most <= 0) return 0;
  const auto part = [&](double x) { return std::pow(x / most, kLinkNorm); };
  return most * std::pow(part(a) + part(b) + part(c), 1 / kLinkNorm);
}

}  // namespace

ExchangeCost exchange_cost(const TokenRoute& route, Bytes rows, const GroupShape& group,
                           const CollectiveModel& model, double sms) {
  ExchangeCost cost;
  if (group.levels().empty() || rows.value <= 0) return cost;
  const Constants& c = constants_of(route.dispatcher);
  const std::size_t way = route.back ? 1 : 0;
  const GroupLevel& first = group.levels().front();
  const bool inner = first.level.value == 0;
  const std::int64_t devices = group.members();
  const std::int64_t nodes = inner ? std::max<std::int64_t>(1, devices / first.members) : devices;
  const Reached to = reached(route, devices, nodes);
  // One copy of every token.
  const double bytes = static_cast<double>(rows.value) / static_cast<double>(route.top_k) *
                       (route.low && !route.back ? kLowRow / kHalf : 1);
  double links = 0;
  double network = 0;
  double latency = 0;
  for (const GroupLevel& g : group.levels()) {
    const LevelTerms& terms = model.level(g.level);
    const bool inside = inner && &g == &first;
    const double share = !model.library() ? 1 : inside ? c.link_share : c.network_share;
    const double time =
        bytes * (inside ? to.devices : to.nodes) * g.exchange * terms.raw_seconds_per_byte / share;
    (inside ? links : network) = std::max(inside ? links : network, time);
    latency = std::max(latency, terms.step_s[static_cast<std::size_t>(Protocol::wide)]);
  }
  cost.links = Seconds{links};
  cost.network = Seconds{network};
  if (!model.library()) {
    cost.latency = Seconds{latency};
    cost.total = Seconds{latency + std::max(links, network)};
    return cost;
  }
  const bool several = nodes > 1;
  const Side& side = several ? c.nodes : c.inside;
  const double own = sms > 0 ? sms : c.sms;
  // Rates over several nodes are those of many multiprocessors.
  const double crowded = several ? 1 : 1 + c.crowd * (1 - kFewestSms / std::max(own, kFewestSms));
  const double tokens =
      static_cast<double>(rows.value) / (static_cast<double>(route.top_k) * route.token_bytes);
  const double issue = crowded * tokens * c.token[way] / own;
  const double copy = crowded * bytes * (to.devices + (several ? to.nodes : 0)) / (own * side.sm_rate[way]);
  const double copies = std::hypot(issue, copy);
  double notify = 0;
  if (several) {
    notify = c.notify[way] +
             (route.back ? kNotifyToken * tokens / own : c.notify_node * static_cast<double>(nodes));
  }
  cost.copies = Seconds{copies};
  cost.latency = Seconds{side.latency[way] + notify};
  cost.total = cost.latency + Seconds{norm(copies, links, network)};
  return cost;
}

double exchange_sms(Dispatcher dispatcher) {
  return constants_of(dispatcher).sms;
}

}  // namespace nest::estimate
