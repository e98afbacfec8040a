#include "nest/validate/calibrate/kineto_trace.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "nest/base/error.hpp"
#include "nest/estimate/kernels/measured_scanner.hpp"

namespace nest::validate {
namespace {

constexpr double kMicro = 1e-6;

struct Span {
  double from = 0;
  double to = 0;
};

struct Events {
  std::vector<Span> steps;
  std::vector<Span> device_steps;  // the same steps as the device saw them
  std::vector<Span> compute;
  std::vector<Span> communication;
};

bool communicates(std::string_view name) {
  static constexpr std::array<std::string_view, 6> kWords{"nccl",     "rccl",    "AllReduce",
                                                          "SendRecv", "nvshmem", "deep_ep"};
  return std::any_of(kWords.begin(), kWords.end(),
                     [&](std::string_view w) { return name.find(w) != std::string_view::npos; });
}

void read_event(JsonScanner& scanner, Events& out) {
  std::string_view category;
  std::string_view name;
  double start = -1;
  double duration = -1;
  scanner.members([&](std::string_view key) {
    if (key == "cat" || key == "name") {
      if (scanner.peek() != '"') return scanner.skip();
      (key == "cat" ? category : name) = scanner.text();
    } else if (key == "ts" || key == "dur") {
      if (scanner.peek() == '"') return scanner.skip();
      (key == "ts" ? start : duration) = scanner.number();
    } else {
      scanner.skip();
    }
  });
  if (start < 0 || duration < 0) return;
  const Span span{start, start + duration};
  if (name.starts_with("ProfilerStep#")) {
    (category.starts_with("gpu_") ? out.device_steps : out.steps).push_back(span);
  } else if (category == "kernel" || category == "Kernel") {
    (communicates(name) ? out.communication : out.compute).push_back(span);
  } else if (category.starts_with("gpu_mem") || category == "Memcpy" || category == "Memset") {
    out.compute.push_back(span);
  }
}

// Sorted, with what overlaps joined.
std::vector<Span> joined(std::vector<Span> spans) {
  std::sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) { return a.from < b.from; });
  std::vector<Span> out;
  for (const Span& s : spans) {
    if (!out.empty() && s.from <= out.back().to)
      out.back().to = std::max(out.back().to, s.to);
    else
      out.push_back(s);
  }
  return out;
}

double inside(const std::vector<Span>& spans, const Span& window) {
  double sum = 0;
  for (const Span& s : spans) sum += std::max(0.0, std::min(s.to, window.to) - std::max(s.from, window.from));
  return sum;
}

}  // namespace

bool is_kineto_trace(std::string_view text) {
  constexpr std::size_t kHead = 1 << 16;
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '{' &&
         text.substr(0, kHead).find("\"traceEvents\"") != std::string_view::npos;
}

KinetoTrace read_kineto_trace(const std::string& file, std::string_view text) {
  JsonScanner scanner(file, text);
  Events events;
  scanner.members([&](std::string_view key) {
    if (key != "traceEvents") return scanner.skip();
    scanner.items([&] {
      if (scanner.peek() == '{')
        read_event(scanner, events);
      else
        scanner.skip();
    });
  });
  if (events.compute.empty() && events.communication.empty())
    throw InputError(file, "", "the trace has no kernels", "profile with ProfilerActivity.CUDA");
  std::vector<Span> steps = joined(events.device_steps.empty() ? events.steps : events.device_steps);
  // Steps that follow each other without a gap are joined: their number is that of the events.
  const std::size_t count =
      std::max<std::size_t>(1, (events.device_steps.empty() ? events.steps : events.device_steps).size());
  if (steps.empty())
    throw InputError(file, "", "the trace has no steps (ProfilerStep#N)",
                     "call the profiler's step() after every training step");
  const std::vector<Span> compute = joined(events.compute);
  std::vector<Span> all = events.compute;
  all.insert(all.end(), events.communication.begin(), events.communication.end());
  const std::vector<Span> busy = joined(std::move(all));
  const std::vector<Span> communication = joined(events.communication);
  KinetoTrace out{.steps = static_cast<std::int64_t>(count),
                  .kernels = static_cast<std::int64_t>(events.compute.size() + events.communication.size())};
  const double part = kMicro / static_cast<double>(count);
  for (const Span& window : steps) {
    const double computes = inside(compute, window);
    const double works = inside(busy, window);
    out.step += Seconds{part * (window.to - window.from)};
    out.compute += Seconds{part * computes};
    out.alone += Seconds{part * (works - computes)};
    out.communication += Seconds{part * inside(communication, window)};
    out.idle += Seconds{part * (window.to - window.from - works)};
  }
  return out;
}

}  // namespace nest::validate
