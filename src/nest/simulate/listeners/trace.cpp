#include "nest/simulate/listeners/trace.hpp"

#include <fmt/format.h>
#include <array>
#include <cmath>

#include <iterator>
#include <string_view>

namespace nest::simulate {
namespace {

bool is_pass(SegmentKind kind) {
  return kind == SegmentKind::forward || kind == SegmentKind::backward;
}

std::string label_of(const Segment& s, bool chunks) {
  if (s.kind > SegmentKind::receive) return std::string(name_of(s.kind));
  const char letter = s.task.kind == TaskKind::forward ? 'F' : s.task.kind == TaskKind::backward ? 'B' : 'W';
  std::string out = s.kind == SegmentKind::receive ? "receive " : "";
  out += letter + std::to_string(s.task.micro_batch);
  if (chunks) out += "." + std::to_string(s.task.chunk);
  return out;
}

constexpr std::array<std::string_view, kStreams> kStreamWords{
    "compute", "communication", "copies to the host", "the host's update", "copies from the host"};
constexpr std::int32_t kOwnStreams = 2;  // of the device; the host's tracks come after all of these

// Microseconds, which the format wants, in whole nanoseconds: what ends and what begins at one time are
// written alike, so that slices never overlap.
double us(Seconds time) {
  return std::round(1e9 * time.value) / 1e3;
}

constexpr double kInside = 0.001;  // an arrow begins inside the slice that it leaves, not at its end

class Writer {
 public:
  Writer(const Timeline& timeline, const MemoryUse& memory) : timeline_(timeline), memory_(memory) {}

  std::string write() {
    text_ = "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n";
    name_tracks();
    note_ends();
    for (const Segment& s : timeline_.segments()) {
      line(
          "{{\"name\": \"{}\", \"cat\": \"{}\", \"ph\": \"X\", \"pid\": {}, \"tid\": {}, \"ts\": {:.3f}, "
          "\"dur\": {:.3f}}}",
          label_of(s, timeline_.chunks() > 1), name_of(s.kind), process(s.worker), track(s.worker, s.stream),
          us(s.from), us(s.to) - us(s.from));
      arrow(s);
    }
    for (const MemoryUse::Step& step : memory_.steps()) {
      line(
          "{{\"name\": \"stage {} memory\", \"ph\": \"C\", \"pid\": {}, \"ts\": {:.3f}, \"args\": "
          "{{\"bytes\": {}}}}}",
          worker(step.worker).stage, process(step.worker), us(step.time), step.bytes.value);
    }
    text_ += "\n]}\n";
    return std::move(text_);
  }

 private:
  template <class... Values>
  void line(fmt::format_string<Values...> format, Values&&... values) {
    if (!first_) text_ += ",\n";
    first_ = false;
    fmt::format_to(std::back_inserter(text_), format, std::forward<Values>(values)...);
  }

  [[nodiscard]] const Worker& worker(std::int32_t id) const {
    return timeline_.workers()[static_cast<std::size_t>(id)];
  }
  [[nodiscard]] std::int32_t process(std::int32_t id) const { return worker(id).copy; }
  [[nodiscard]] std::int32_t track(std::int32_t id, Stream stream) const {
    const auto number = static_cast<std::int32_t>(stream);
    if (number < kOwnStreams) return kOwnStreams * worker(id).stage + number;
    const auto stages = static_cast<std::int32_t>(timeline_.stages());
    return kOwnStreams * stages + static_cast<std::int32_t>(kStreams - kOwnStreams) * worker(id).stage +
           number - kOwnStreams;
  }

  void name_tracks() {
    for (std::size_t w = 0; w < timeline_.workers().size(); ++w) {
      const Worker& own = timeline_.workers()[w];
      if (own.stage == 0) {
        const std::string others =
            own.stands_for > 1 ? fmt::format(" (and {} alike)", own.stands_for - 1) : std::string();
        line(
            "{{\"name\": \"process_name\", \"ph\": \"M\", \"pid\": {}, \"args\": {{\"name\": \"copy "
            "{}{}\"}}}}",
            own.copy, own.copy, others);
      }
      for (std::size_t k = 0; k < (timeline_.offloads() ? kStreams : kOwnStreams); ++k) {
        const auto stream = static_cast<Stream>(k);
        line(
            "{{\"name\": \"thread_name\", \"ph\": \"M\", \"pid\": {}, \"tid\": {}, \"args\": {{\"name\": "
            "\"stage {} {}\"}}}}",
            own.copy, track(static_cast<std::int32_t>(w), stream), own.stage, kStreamWords[k]);
      }
    }
  }

  [[nodiscard]] std::size_t pass(std::int32_t id, bool backward, std::int32_t chunk,
                                 std::int32_t micro_batch) const {
    const auto chunks = static_cast<std::size_t>(timeline_.chunks());
    const auto batches = static_cast<std::size_t>(timeline_.micro_batches());
    return ((static_cast<std::size_t>(id) * 2 + (backward ? 1 : 0)) * chunks +
            static_cast<std::size_t>(chunk)) *
               batches +
           static_cast<std::size_t>(micro_batch);
  }

  void note_ends() {
    ends_.resize(pass(static_cast<std::int32_t>(timeline_.workers().size()), false, 0, 0));
    for (const Segment& s : timeline_.segments()) {
      if (!is_pass(s.kind)) continue;
      ends_[pass(s.worker, s.kind == SegmentKind::backward, s.task.chunk, s.task.micro_batch)] = s.to;
    }
  }

  // From the end of the sender's pass to the receive, or to the pass where receiving takes no time.
  void arrow(const Segment& s) {
    if (!s.sender || s.task.kind == TaskKind::backward_weight) return;
    const bool backward = s.task.kind == TaskKind::backward;
    // What a device makes for itself is not sent; with one stage all is drawn.
    if (*s.sender == s.worker && timeline_.stages() > 1) return;
    const auto stage = static_cast<std::size_t>(worker(s.worker).stage);
    const std::size_t part =
        part_of(timeline_.schedule(), timeline_.stages(), {stage, static_cast<std::size_t>(s.task.chunk)});
    const auto chunk = static_cast<std::int32_t>(
        place_of_part(timeline_.schedule(), timeline_.stages(), backward ? part + 1 : part - 1).chunk);
    const std::size_t at = pass(s.worker, backward, s.task.chunk, s.task.micro_batch);
    if (drawn_.size() < ends_.size()) drawn_.resize(ends_.size());
    if (drawn_[at]) return;
    drawn_[at] = true;
    const Seconds sent = ends_[pass(*s.sender, backward, chunk, s.task.micro_batch)];
    line(
        "{{\"name\": \"send\", \"cat\": \"send\", \"ph\": \"s\", \"id\": {}, \"pid\": {}, \"tid\": {}, "
        "\"ts\": {:.3f}}}",
        at, process(*s.sender), track(*s.sender, Stream::compute), us(sent) - kInside);
    line(
        "{{\"name\": \"send\", \"cat\": \"send\", \"ph\": \"f\", \"bp\": \"e\", \"id\": {}, \"pid\": {}, "
        "\"tid\": {}, \"ts\": {:.3f}}}",
        at, process(s.worker), track(s.worker, s.stream), us(s.from));
  }

  const Timeline& timeline_;
  const MemoryUse& memory_;
  std::string text_;
  bool first_ = true;
  std::vector<Seconds> ends_;
  std::vector<bool> drawn_;
};

}  // namespace

std::string chrome_trace(const Timeline& timeline, const MemoryUse& memory) {
  return Writer(timeline, memory).write();
}

}  // namespace nest::simulate
