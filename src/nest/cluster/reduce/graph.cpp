#include "nest/cluster/reduce/graph.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <tuple>
#include <unordered_map>

#include "nest/base/closest.hpp"
#include "nest/base/document/file_kind.hpp"
#include "nest/base/document/reader.hpp"
#include "nest/base/plain_text.hpp"

namespace nest::cluster {
namespace {

constexpr int kLongestNumber = 9;

// "gpu08..15" is gpu08, gpu09, .. gpu15: the first number's width is kept. Anything else is one name.
std::vector<std::string> expand(Reader& r, const std::string& key, const std::string& text) {
  const std::size_t dots = text.find("..");
  if (dots == std::string::npos) return {text};
  std::size_t digits = dots;
  while (digits > 0 && text[digits - 1] >= '0' && text[digits - 1] <= '9') --digits;
  const auto number = [&](std::size_t from, std::size_t to) -> std::optional<std::int64_t> {
    std::int64_t n = 0;
    if (to - from > kLongestNumber) return std::nullopt;
    const auto [end, error] = std::from_chars(text.data() + from, text.data() + to, n);
    if (error != std::errc{} || end != text.data() + to || n < 0) return std::nullopt;
    return n;
  };
  const auto first = number(digits, dots);
  const auto last = number(dots + 2, text.size());
  if (!first || !last || *last < *first) {
    r.fail_at(key, "'" + text + "' is not a range of names", "write it like 'd0..7'");
  }
  if (*last - *first >= kMostGraphNodes)
    r.fail_at(key, "'" + text + "' is more than " + format_digits(kMostGraphNodes) + " names");
  std::vector<std::string> out;
  for (std::int64_t n = *first; n <= *last; ++n) {
    std::string digits_of_n = std::to_string(n);
    const std::size_t width = dots - digits;
    if (digits_of_n.size() < width) digits_of_n.insert(0, width - digits_of_n.size(), '0');
    out.push_back(text.substr(0, digits) + digits_of_n);
  }
  return out;
}

class GraphReader {
 public:
  explicit GraphReader(const Document& document) : file_(document) {}

  NetworkGraph read() {
    if (const FileKind kind = kind_of(file_.document()); kind == FileKind::cluster || kind == FileKind::model)
      file_.fail("this is not a graph file", looks_like(file_.document()));
    graph_.name = file_.text("name");
    if (graph_.name.empty()) file_.fail_at("name", "the name is empty");
    graph_.accelerator = read_accelerator(file_, "accelerator");
    add_nodes("devices", "d");
    graph_.devices = graph_.nodes();
    if (graph_.devices < 2) file_.fail_at("devices", "at least two devices are expected");
    if (graph_.devices > kMostGraphDevices) {
      file_.fail_at("devices", format_digits(graph_.devices) + " devices are more than the " +
                                   format_digits(kMostGraphDevices) + " that can be reduced to levels");
    }
    if (file_.has("switches")) add_nodes("switches", "s");
    std::vector<Reader> entries = file_.objects("links");
    for (Reader& entry : entries) add_links(entry);
    file_.done();
    graph_.links = merge_parallel(std::move(graph_.links));
    check_connected();
    return std::move(graph_);
  }

 private:
  // A count makes names of the prefix; a list holds names and ranges of names.
  void add_nodes(const std::string& key, const std::string& prefix) {
    const Value* given = file_.find(key);
    if (given == nullptr || given->as_array() == nullptr) {
      const std::int64_t count = file_.whole(key, {0, kMostGraphNodes});
      for (std::int64_t n = 0; n < count; ++n) add_node(key, prefix + std::to_string(n));
      return;
    }
    for (const Value& item : *given->as_array()) {
      const std::string* text = item.as_string();
      if (text == nullptr || text->empty())
        file_.fail_at(key, "a list of names is expected, such as [gpu0..7]");
      if (has_control(*text)) file_.fail_at(key, "a text without control characters is expected");
      for (std::string& name : expand(file_, key, *text)) add_node(key, std::move(name));
    }
  }

  void add_node(const std::string& key, std::string name) {
    if (graph_.nodes() >= kMostGraphNodes) {
      file_.fail_at(key, "more than " + format_digits(kMostGraphNodes) + " devices and switches");
    }
    if (!index_.emplace(name, graph_.nodes()).second)
      file_.fail_at(key, "the name '" + name + "' is given twice");
    graph_.names.push_back(std::move(name));
  }

  std::int32_t node(Reader& entry, const std::string& name) {
    const auto it = index_.find(name);
    if (it != index_.end()) return it->second;
    entry.fail_at("between", "there is no device or switch '" + name + "'", did_you_mean(name, graph_.names));
  }

  void add_links(Reader& entry) {
    const Value* between = entry.find("between");
    const Value::Array* ends = between == nullptr ? nullptr : between->as_array();
    const bool two_names = ends != nullptr && ends->size() == 2 && (*ends)[0].as_string() != nullptr &&
                           (*ends)[1].as_string() != nullptr;
    if (!two_names) entry.fail_at("between", "two names are expected, such as [d0, leaf0] or [d0..7, leaf0]");
    Link link;
    link.bandwidth = entry.bandwidth("bandwidth");
    if (link.bandwidth.value <= 0) entry.fail_at("bandwidth", "the bandwidth must be above 0");
    link.latency = entry.time("latency");
    link.bandwidth = link.bandwidth * static_cast<double>(entry.whole_or("count", 1, {1, 65536}));
    entry.done();
    const std::vector<std::string> froms = expand(entry, "between", *(*ends)[0].as_string());
    const std::vector<std::string> tos = expand(entry, "between", *(*ends)[1].as_string());
    for (const std::string& from : froms) {
      for (const std::string& to : tos) {
        link.a = node(entry, from);
        link.b = node(entry, to);
        if (link.a == link.b) entry.fail_at("between", "'" + from + "' is linked to itself");
        graph_.links.push_back(link);
        if (static_cast<std::int64_t>(graph_.links.size()) > kMostGraphLinks) {
          entry.fail("more than " + format_digits(kMostGraphLinks) + " links");
        }
      }
    }
  }

  void check_connected() {
    std::vector<std::int32_t> root(graph_.names.size());
    for (std::size_t i = 0; i < root.size(); ++i) root[i] = static_cast<std::int32_t>(i);
    const auto find = [&](std::int32_t x) {
      while (root[static_cast<std::size_t>(x)] != x) {
        auto& up = root[static_cast<std::size_t>(x)];
        up = root[static_cast<std::size_t>(up)];
        x = up;
      }
      return x;
    };
    for (const Link& link : graph_.links) root[static_cast<std::size_t>(find(link.a))] = find(link.b);
    for (std::int32_t d = 1; d < graph_.devices; ++d) {
      if (find(d) == find(0)) continue;
      file_.fail_at("links", "no path joins '" + graph_.names[0] + "' and '" +
                                 graph_.names[static_cast<std::size_t>(d)] + "'");
    }
  }

  Reader file_;
  NetworkGraph graph_;
  std::unordered_map<std::string, std::int32_t> index_;
};

}  // namespace

std::vector<Link> merge_parallel(std::vector<Link> links) {
  for (Link& link : links) {
    if (link.a > link.b) std::swap(link.a, link.b);
  }
  std::sort(links.begin(), links.end(), [](const Link& x, const Link& y) {
    return std::tie(x.a, x.b, x.bandwidth, x.latency) < std::tie(y.a, y.b, y.bandwidth, y.latency);
  });
  std::vector<Link> out;
  for (const Link& link : links) {
    if (!out.empty() && out.back().a == link.a && out.back().b == link.b) {
      out.back().bandwidth += link.bandwidth;
      out.back().latency = std::min(out.back().latency, link.latency);
    } else {
      out.push_back(link);
    }
  }
  return out;
}

NetworkGraph read_graph(const Document& document) {
  return GraphReader(document).read();
}

}  // namespace nest::cluster
