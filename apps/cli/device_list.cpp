#include "device_list.hpp"

#include <charconv>
#include <optional>
#include <string_view>

#include "command.hpp"
#include "nest/base/error.hpp"

namespace nest::cli {
namespace {

std::optional<std::int64_t> number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

struct Range {
  std::int64_t first;
  std::int64_t last;
  std::int64_t step;
};

std::optional<Range> range(std::string_view item) {
  std::int64_t step = 1;
  if (const std::size_t colon = item.find(':'); colon != std::string_view::npos) {
    const auto n = number(item.substr(colon + 1));
    if (!n || *n < 1) return std::nullopt;
    step = *n;
    item = item.substr(0, colon);
  }
  const std::size_t dots = item.find("..");
  if (step != 1 && dots == std::string_view::npos) return std::nullopt;  // a step needs a range
  const auto first = number(item.substr(0, dots));
  const auto last = dots == std::string_view::npos ? first : number(item.substr(dots + 2));
  if (!first || !last) return std::nullopt;
  return Range{*first, *last, step};
}

}  // namespace

std::vector<DeviceId> parse_devices(const std::string& option, const std::string& text,
                                    std::int32_t devices) {
  std::vector<DeviceId> out;
  std::string_view rest = text;
  while (true) {
    const std::size_t comma = rest.find(',');
    const std::string_view item = rest.substr(0, comma);
    const std::optional<Range> r = range(item);
    if (!r) {
      throw UsageError(option + ": '" + std::string(item) +
                       "' is neither a device nor a range of devices; write 5, 8..15 or 0..63:8");
    }
    if (r->last < r->first)
      throw UsageError(option + ": the range " + std::string(item) + " ends before it starts");
    if (r->first < 0 || r->last >= devices) {
      throw InputError(
          "", option,
          "device " + std::to_string(r->first < 0 ? r->first : r->last) + " is not in the cluster",
          "ids go from 0 to " + std::to_string(devices - 1));
    }
    for (std::int64_t id = r->first; id <= r->last; id += r->step)
      out.emplace_back(static_cast<std::int32_t>(id));
    if (comma == std::string_view::npos) return out;
    rest = rest.substr(comma + 1);
  }
}

}  // namespace nest::cli
