// Hosts of a plan's cluster and the devices of each, in device order. Where devices have names, these say the order in
// which their owner counts them: hosts by their first device, and the devices of each. Names such as node017/gpu3, which
// `nest import` writes, say which host a device is in and which number it has there.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "nest/frameworks/common/exporter.hpp"

namespace nest::frameworks {

// A host by its number in device order, and the device's place in it.
struct HostPlace {
  std::int64_t host = 0;
  std::int64_t local = 0;
  std::int64_t devices = 0;  // of the host
};

class Hosts {
 public:
  explicit Hosts(const ExportQuestion& question);

  [[nodiscard]] std::int64_t count() const { return count_; }
  // The innermost level that joins several hosts.
  [[nodiscard]] std::int32_t first_level() const;
  // By the number of a host; empty: nobody has named them.
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  [[nodiscard]] HostPlace place(DeviceId device) const;

 private:
  [[nodiscard]] HostPlace counted(DeviceId device) const;
  void follow(const std::vector<std::string>& names);
  void follow_hosts(const std::vector<std::string>& names);
  [[nodiscard]] bool joins_hosts(LevelId level) const;

  const DeviceTree* tree_;
  std::int64_t per_host_;
  std::int64_t count_ = 0;
  std::vector<std::string> names_;  // by host, where the names of devices say them
  std::vector<HostPlace> named_;    // by device, likewise
  std::vector<std::int64_t> first_host_;
  std::vector<std::int64_t> inside_;  // by device, where devices have names: its place in its domain
  std::vector<std::int64_t> number_;  // by host, likewise
};

}  // namespace nest::frameworks
