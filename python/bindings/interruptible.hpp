// Work that takes long, with the GIL released: other threads of Python run meanwhile, Ctrl-C and an exception of the
// progress callback end it, and the callback is called from the thread that waits.
//
//   Progress progress(callback);
//   question.options.progress = progress.listener();
//   const SearchResult found = interruptibly<SearchResult>(deadline, progress, [&] { return ask(question); });
#pragma once

#include <nanobind/nanobind.h>

#include <functional>
#include <mutex>
#include <optional>
#include <string>

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

// The newest report of the working thread, for the thread that waits.
class Progress {
 public:
  // `callback` may be None.
  explicit Progress(nb::object callback) : callback_(std::move(callback)) {}

  [[nodiscard]] bool wanted() const { return !callback_.is_none(); }
  [[nodiscard]] std::function<void(const SearchProgress&)> listener();
  [[nodiscard]] std::function<void(const std::string&)> phases();
  // Counts points of a study, of so many.
  [[nodiscard]] std::function<void()> points(std::size_t all);

  // By the thread that waits, with the GIL held: calls the callback where there is something new.
  void tell();

 private:
  nb::object callback_;
  std::mutex mutex_;
  ProgressReport newest_;
  bool fresh_ = false;
};

// Runs `work` beside the calling thread and waits for it. Where a signal's handler or the callback raises, cancels the
// deadline, waits for the end and raises it.
void run_interruptibly(const Deadline& deadline, Progress& progress, const std::function<void()>& work);

template <class Result>
[[nodiscard]] Result interruptibly(const Deadline& deadline, Progress& progress,
                                   const std::function<Result()>& work) {
  std::optional<Result> result;
  run_interruptibly(deadline, progress, [&] { result.emplace(work()); });
  return std::move(*result);
}

void add_progress(nb::module_& module);

}  // namespace nest::python
