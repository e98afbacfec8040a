#include "interruptible.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <atomic>
#include <csignal>

#include "nest/report/answer/plan_notes.hpp"

namespace nest::python {
namespace {

// What the handler of Ctrl-C sets; it may touch nothing else.
std::atomic<std::atomic<bool>*> g_flag = nullptr;
std::atomic<bool> g_interrupted = false;

void interrupt(int) {
  g_interrupted = true;
  if (std::atomic<bool>* flag = g_flag) *flag = true;
}

// In Python's main thread, which alone handles signals: Ctrl-C ends the search at once, in place of waiting for
// the interpreter to run again, and is handed on to the interpreter afterwards.
class CatchInterrupt {
 public:
  explicit CatchInterrupt(const Deadline& deadline) : deadline_(deadline) {
    const nb::module_ threading = nb::module_::import_("threading");
    const bool main = threading.attr("current_thread")().is(threading.attr("main_thread")());
    if (!main) return;
    void (*const before)(int) = std::signal(SIGINT, interrupt);
    if (before == SIG_IGN || before == SIG_DFL || before == SIG_ERR) {  // nobody wants it
      if (before != SIG_ERR) (void)std::signal(SIGINT, before);
      return;
    }
    before_ = before;
    outer_ = g_flag.exchange(deadline_.flag());
    outer_interrupted_ = g_interrupted.exchange(false);
  }
  CatchInterrupt(const CatchInterrupt&) = delete;
  CatchInterrupt& operator=(const CatchInterrupt&) = delete;
  ~CatchInterrupt() {
    if (before_ == nullptr) return;
    g_flag = outer_;
    (void)std::signal(SIGINT, before_);
    if (g_interrupted.exchange(outer_interrupted_)) PyErr_SetInterruptEx(SIGINT);
  }

 private:
  Deadline deadline_;
  void (*before_)(int) = nullptr;
  std::atomic<bool>* outer_ = nullptr;  // of a search during which a callback began this one
  bool outer_interrupted_ = false;
};

}  // namespace

void Progress::tell(const std::function<void(ProgressReport&)>& change) {
  ProgressReport report;
  {
    const std::scoped_lock lock(mutex_);
    if (raised_) return;  // the work is about to end
    change(newest_);
    report = newest_;
  }
  const nb::gil_scoped_acquire acquired;
  try {
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    if (!callback_.is_none()) callback_(report);
  } catch (nb::python_error& error) {
    const std::scoped_lock lock(mutex_);
    if (!raised_) raised_.emplace(std::move(error));
    deadline_.cancel();
  }
}

std::function<void(const SearchProgress&)> Progress::listener() {
  return
      [this](const SearchProgress& search) { tell([&](ProgressReport& report) { report.search = search; }); };
}

std::function<void(const std::string&)> Progress::phases() {
  return [this](const std::string& phase) { tell([&](ProgressReport& report) { report.phase = phase; }); };
}

std::function<void()> Progress::points(std::size_t all) {
  return [this, all] {
    tell([&](ProgressReport& report) {
      report.all = all;
      ++report.done;
    });
  };
}

void run_interruptibly(Progress& progress, const std::function<void()>& work) {
  {
    const CatchInterrupt caught(progress.deadline_);
    const nb::gil_scoped_release released;
    work();
  }
  if (progress.raised_) throw nb::python_error(std::move(*progress.raised_));
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

void add_progress(nb::module_& module) {
  nb::class_<ProgressReport>(module, "Progress", "How far a search is: what a progress callback gets.")
      .def_prop_ro(
          "elapsed", [](const ProgressReport& p) { return p.search.elapsed.value; },
          "Seconds since the search began.")
      .def_prop_ro(
          "best",
          [](const ProgressReport& p) {
            return p.search.best ? std::optional<double>(p.search.best->value) : std::nullopt;
          },
          "Seconds a step of the best plan so far; None before the first plan.")
      .def_prop_ro(
          "bound", [](const ProgressReport& p) { return p.search.bound.value; },
          "No plan takes fewer seconds a step.")
      .def_prop_ro(
          "gap",
          [](const ProgressReport& p) {
            return p.search.best ? nest::report::gap_of(*p.search.best, p.search.bound) : std::nullopt;
          },
          "The share by which the bound is below the best plan; None where one of them is not known.")
      .def_prop_ro(
          "tables", [](const ProgressReport& p) { return p.search.fills; },
          "Tables of the dynamic program that were filled.")
      .def_prop_ro(
          "open", [](const ProgressReport& p) { return p.search.open; },
          "Configurations that wait to be looked at.")
      .def_prop_ro(
          "plans", [](const ProgressReport& p) { return p.search.plans; },
          "Plans that were priced one by one, in searches without tables.")
      .def_prop_ro(
          "phase", [](const ProgressReport& p) { return p.phase; },
          "What is looked for; empty for the plan itself.")
      .def_prop_ro(
          "done", [](const ProgressReport& p) { return p.done; }, "Points of a study that are finished.")
      .def_prop_ro(
          "points", [](const ProgressReport& p) { return p.all; },
          "All points of the study; 0 for a search.");
}

}  // namespace nest::python
