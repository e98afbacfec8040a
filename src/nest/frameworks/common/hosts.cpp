#include "nest/frameworks/common/hosts.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "nest/base/numbers.hpp"

namespace nest::frameworks {
namespace {

// Numbers in texts count as numbers: "d2" is before "d10".
bool natural_before(std::string_view a, std::string_view b) {
  const std::string_view whole_a = a;
  const std::string_view whole_b = b;
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto number = [&](std::string_view& text) {
    std::size_t end = 0;
    while (end < text.size() && digit(text[end])) ++end;
    std::string_view own = text.substr(0, end);
    text.remove_prefix(end);
    own.remove_prefix(std::min(own.find_first_not_of('0'), own.size()));
    return own;
  };
  while (!a.empty() && !b.empty()) {
    if (digit(a.front()) && digit(b.front())) {
      const std::string_view left = number(a);
      const std::string_view right = number(b);
      if (left.size() != right.size()) return left.size() < right.size();
      if (left != right) return left < right;
      continue;
    }
    if (a.front() != b.front()) return a.front() < b.front();
    a.remove_prefix(1);
    b.remove_prefix(1);
  }
  // "n1" and "n01" are two names.
  return a.empty() && b.empty() ? whole_a < whole_b : a.size() < b.size();
}

// What stands before the last '/' of a device's name, where it has one.
std::string_view host_part(std::string_view name) {
  const std::size_t slash = name.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : name.substr(0, slash);
}

// Names of hosts stand in scripts and files of launchers.
bool names_host(std::string_view name) {
  const std::string_view host = host_part(name);
  return !host.empty() && host.front() != '-' && std::all_of(host.begin(), host.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '-' || c == '_' || c == ':';
  });
}

// The number at the end of a name: 3 of "node017/gpu3".
std::optional<std::int64_t> last_number(std::string_view name) {
  std::size_t begin = name.size();
  while (begin > 0 && name[begin - 1] >= '0' && name[begin - 1] <= '9') --begin;
  return parse_whole(name.substr(begin));
}

}  // namespace

Hosts::Hosts(const ExportQuestion& question)
    : tree_(&question.inputs.cluster.tree()), per_host_(question.devices_per_host) {
  if (per_host_ <= 0) {
    count_ = tree_->domains(LevelId{0});
  } else {
    first_host_.push_back(0);
    for (std::int32_t d = 0; d < tree_->domains(LevelId{0}); ++d) {
      const std::int64_t devices = tree_->devices_in(LevelId{0}, d);
      first_host_.push_back(first_host_.back() + (devices + per_host_ - 1) / per_host_);
    }
    count_ = first_host_.back();
  }
  const std::vector<std::string>& names = question.inputs.cluster.parts().device_names;
  const bool hosts = per_host_ <= 0 && !names.empty() && std::all_of(names.begin(), names.end(), names_host);
  if (hosts)
    follow_hosts(names);
  else if (!names.empty())
    follow(names);
}

std::int32_t Hosts::first_level() const {
  if (names_.empty()) return count_ > tree_->domains(LevelId{0}) ? 0 : 1;
  std::int32_t level = 0;
  while (level < tree_->levels() && !joins_hosts(LevelId{level})) ++level;
  return level;
}

HostPlace Hosts::place(DeviceId device) const {
  if (!names_.empty()) return named_[device.index()];
  HostPlace out = counted(device);
  if (!number_.empty()) out.host = number_[static_cast<std::size_t>(out.host)];
  return out;
}

// The host by its number in the order of the cluster's ids.
HostPlace Hosts::counted(DeviceId device) const {
  const std::int32_t domain = tree_->domain_of(device, LevelId{0});
  const std::int64_t inside = inside_.empty() ? device.value - tree_->first_device(LevelId{0}, domain).value
                                              : inside_[device.index()];
  const std::int64_t all = tree_->devices_in(LevelId{0}, domain);
  if (per_host_ <= 0) return {domain, inside, all};
  const std::int64_t before = inside / per_host_;
  return {first_host_[static_cast<std::size_t>(domain)] + before, inside % per_host_,
          std::min(per_host_, all - before * per_host_)};
}

void Hosts::follow(const std::vector<std::string>& names) {
  std::vector<DeviceId> order;
  order.reserve(static_cast<std::size_t>(tree_->devices()));
  for (std::int32_t d = 0; d < tree_->devices(); ++d) order.emplace_back(d);
  std::sort(order.begin(), order.end(),
            [&](DeviceId a, DeviceId b) { return natural_before(names[a.index()], names[b.index()]); });
  std::vector<std::int64_t> next(static_cast<std::size_t>(tree_->domains(LevelId{0})), 0);
  inside_.resize(order.size());
  for (const DeviceId device : order)
    inside_[device.index()] = next[static_cast<std::size_t>(tree_->domain_of(device, LevelId{0}))]++;
  std::vector<std::int64_t> number(static_cast<std::size_t>(count_), -1);
  std::int64_t counted_hosts = 0;
  for (const DeviceId device : order) {
    std::int64_t& own = number[static_cast<std::size_t>(counted(device).host)];
    if (own < 0) own = counted_hosts++;
  }
  number_ = std::move(number);
}

// Hosts by name, in the order of their names; a device keeps the number that its own name ends with.
void Hosts::follow_hosts(const std::vector<std::string>& names) {
  std::vector<std::string> sorted;
  for (const std::string& name : names) {
    if (sorted.empty() || sorted.back() != host_part(name)) sorted.emplace_back(host_part(name));
  }
  std::sort(sorted.begin(), sorted.end(), natural_before);
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  names_ = std::move(sorted);
  count_ = static_cast<std::int64_t>(names_.size());
  std::vector<std::vector<std::size_t>> devices(names_.size());
  for (std::size_t d = 0; d < names.size(); ++d) {
    const auto host = std::lower_bound(names_.begin(), names_.end(), host_part(names[d]), natural_before);
    devices[static_cast<std::size_t>(host - names_.begin())].push_back(d);
  }
  named_.resize(names.size());
  for (std::size_t h = 0; h < devices.size(); ++h) {
    std::sort(devices[h].begin(), devices[h].end(),
              [&](std::size_t a, std::size_t b) { return natural_before(names[a], names[b]); });
    std::set<std::int64_t> numbers;
    for (const std::size_t d : devices[h]) numbers.insert(last_number(names[d]).value_or(-1));
    const bool own = numbers.size() == devices[h].size() && *numbers.begin() >= 0;
    for (std::size_t i = 0; i < devices[h].size(); ++i) {
      const std::size_t d = devices[h][i];
      named_[d] = {static_cast<std::int64_t>(h), own ? *last_number(names[d]) : static_cast<std::int64_t>(i),
                   static_cast<std::int64_t>(devices[h].size())};
    }
  }
}

bool Hosts::joins_hosts(LevelId level) const {
  for (std::int32_t d = 0; d < tree_->domains(level); ++d) {
    const std::int32_t first = tree_->first_device(level, d).value;
    const std::int32_t last = first + tree_->devices_in(level, d);
    for (std::int32_t device = first + 1; device < last; ++device) {
      if (named_[static_cast<std::size_t>(device)].host != named_[static_cast<std::size_t>(first)].host)
        return true;
    }
  }
  return false;
}

}  // namespace nest::frameworks
