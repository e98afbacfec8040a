// Work that takes long, with the GIL released: other threads of Python run meanwhile. Ctrl-C and an exception of the
// progress callback end it.
//
//   Progress progress(callback, deadline);
//   question.options.progress = progress.listener();
//   const auto found = interruptibly<SearchResult>(progress, [&] { return ask(question); });
#pragma once

#include <nanobind/nanobind.h>

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "names.hpp"
#include "nest/base/deadline.hpp"
#include "nest/question/search_options.hpp"

namespace nest::python {

namespace nb = nanobind;

// What the callback gets.
struct ProgressReport {
  SearchProgress search;
  std::string phase;     // what is looked for; empty: the plan itself
  std::size_t done = 0;  // points of a study
  std::size_t all = 0;
};

// Tells a callback of Python how far the work is, and ends the work where the callback raises.
class Progress {
 public:
  // `callback` may be None. Whoever works looks at the deadline.
  Progress(nb::object callback, const Deadline& deadline)
      : callback_(std::move(callback)), deadline_(deadline) {}
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Also without a callback: signals of other kinds than Ctrl-C are looked at whenever a search tells how far it is.
  [[nodiscard]] std::function<void(const SearchProgress&)> listener();
  [[nodiscard]] std::function<void(const std::string&)> phases();
  // Counts points of a study, of so many; may be called from any thread.
  [[nodiscard]] std::function<void()> points(std::size_t all);

 private:
  friend void run_interruptibly(Progress& progress, const std::function<void()>& work);

  void tell(const std::function<void(ProgressReport&)>& change);

  nb::object callback_;
  Deadline deadline_;
  std::mutex mutex_;
  ProgressReport newest_;
  std::optional<nb::python_error> raised_;
};

// Runs `work`. Where a signal's handler or the callback raises, it is ended and this raises the same.
void run_interruptibly(Progress& progress, const std::function<void()>& work);

template <class Result>
[[nodiscard]] Result interruptibly(Progress& progress, const std::function<Result()>& work) {
  std::optional<Result> result;
  run_interruptibly(progress, [&] { result.emplace(work()); });
  return std::move(*result);
}

void add_progress(nb::module_& module);

}  // namespace nest::python
