#include "plan_progress.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "nest/base/numbers.hpp"
#include "nest/report/answer/plan_notes.hpp"

namespace nest::cli {
namespace {

constexpr double kQuiet = 2;           // seconds
constexpr double kQuietWatched = 0.5;  // on a terminal, where the line goes away
constexpr double kWatchedEvery = 0.2;

}  // namespace

// Where the lines stay (in a log), they become rarer with time.
bool ProgressLine::due(double now) {
  const bool watched = terminal_->watched();
  if (now < (watched ? kQuietWatched : kQuiet)) return false;
  const double every = watched ? kWatchedEvery : std::max(1.0, now / 30);
  if (shown_ > 0 && now < shown_ + every) return false;
  shown_ = now;
  return true;
}

void ProgressLine::show(const SearchProgress& p) {
  if (p.elapsed.value < elapsed_) before_ += elapsed_;  // another search
  elapsed_ = p.elapsed.value;
  const double now = before_ + elapsed_;
  if (!due(now)) return;
  const std::string batch = p.batch > 0 ? fmt::format(", global batch {}", format_digits(p.batch)) : "";
  std::string line = fmt::format("nest: {:.0f} s{}{}: ", now, phase_.empty() ? "" : ", " + phase_, batch);
  line += p.best ? "best " + format(*p.best) : "no plan yet";
  if (p.bound.value > 0) line += ", bound " + format(p.bound);
  if (const auto gap = p.best ? gap_of(*p.best, p.bound) : std::nullopt)
    line += ", gap " + format_percent(*gap);
  if (p.plans > 0)
    line += fmt::format("; {} plans priced", format_digits(p.plans));
  else
    line += fmt::format("; {} tables filled, {} nodes open", format_digits(p.fills), format_digits(p.open));
  terminal_->progress(line);
}

void ProgressLine::phase(const std::string& what) {
  phase_ = what;
}

}  // namespace nest::cli
