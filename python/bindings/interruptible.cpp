#include "interruptible.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <thread>
#include <utility>

#include "nest/report/answer/plan_notes.hpp"

namespace nest::python {
namespace {

// How long Ctrl-C waits at most.
constexpr std::chrono::milliseconds kEvery{50};

// The end of the work, to wait for.
class Ending {
 public:
  void end() {
    const std::scoped_lock lock(mutex_);
    ended_ = true;
    changed_.notify_one();
  }
  // Whether it ended; waits a little.
  [[nodiscard]] bool wait() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kEvery, [&] { return ended_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;
};

}  // namespace

std::function<void(const SearchProgress&)> Progress::listener() {
  if (!wanted()) return {};
  return [this](const SearchProgress& search) {
    const std::scoped_lock lock(mutex_);
    newest_.search = search;
    fresh_ = true;
  };
}

std::function<void(const std::string&)> Progress::phases() {
  if (!wanted()) return {};
  return [this](const std::string& phase) {
    const std::scoped_lock lock(mutex_);
    newest_.phase = phase;
    fresh_ = true;
  };
}

std::function<void()> Progress::points(std::size_t all) {
  if (!wanted()) return {};
  return [this, all] {
    const std::scoped_lock lock(mutex_);
    newest_.all = all;
    ++newest_.done;
    fresh_ = true;
  };
}

void Progress::tell() {
  if (!wanted()) return;
  ProgressReport report;
  {
    const std::scoped_lock lock(mutex_);
    if (!std::exchange(fresh_, false)) return;
    report = newest_;
  }
  callback_(report);
}

void run_interruptibly(const Deadline& deadline, Progress& progress, const std::function<void()>& work) {
  Ending ending;
  std::exception_ptr failed;
  std::thread worker([&] {
    try {
      work();
    } catch (...) {
      failed = std::current_exception();
    }
    ending.end();
  });
  std::optional<nb::python_error> raised;
  while (true) {
    bool ended = false;
    {
      const nb::gil_scoped_release released;
      ended = ending.wait();
    }
    if (ended) break;
    if (raised) continue;  // only the end is waited for
    try {
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
      progress.tell();
    } catch (nb::python_error& error) {
      raised.emplace(std::move(error));
      deadline.cancel();
    }
  }
  {
    const nb::gil_scoped_release released;
    worker.join();
  }
  if (raised) throw nb::python_error(std::move(*raised));
  if (failed) std::rethrow_exception(failed);
  progress.tell();
}

void add_progress(nb::module_& module) {
  nb::class_<ProgressReport>(module, "Progress", "How far a search is: what a progress callback gets.")
      .def_prop_ro("elapsed", [](const ProgressReport& p) { return p.search.elapsed.value; },
                   "Seconds since the search began.")
      .def_prop_ro(
          "best",
          [](const ProgressReport& p) {
            return p.search.best ? std::optional<double>(p.search.best->value) : std::nullopt;
          },
          "Seconds a step of the best plan so far; None before the first plan.")
      .def_prop_ro("bound", [](const ProgressReport& p) { return p.search.bound.value; },
                   "No plan takes fewer seconds a step.")
      .def_prop_ro(
          "gap",
          [](const ProgressReport& p) {
            return p.search.best ? nest::report::gap_of(*p.search.best, p.search.bound) : std::nullopt;
          },
          "The share by which the bound is below the best plan; None where one of them is not known.")
      .def_prop_ro("tables", [](const ProgressReport& p) { return p.search.fills; },
                   "Tables of the dynamic program that were filled.")
      .def_prop_ro("open", [](const ProgressReport& p) { return p.search.open; },
                   "Configurations that wait to be looked at.")
      .def_prop_ro("plans", [](const ProgressReport& p) { return p.search.plans; },
                   "Plans that were priced one by one, in searches without tables.")
      .def_prop_ro("phase", [](const ProgressReport& p) { return p.phase; },
                   "What is looked for; empty for the plan itself.")
      .def_prop_ro("done", [](const ProgressReport& p) { return p.done; },
                   "Points of a study that are finished.")
      .def_prop_ro("points", [](const ProgressReport& p) { return p.all; },
                   "All points of the study; 0 for a search.");
}

}  // namespace nest::python
