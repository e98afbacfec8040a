// Proves the search on random instances: nest_prove [COUNT] [FIRST_SEED] [PRUNING...], 20,000 from seed 1
// where nothing is said, on all cores that it may use, without the prunings that are named.
// Every other seed is of an instance on which recomputation decides, with ten memories
// (test_tight_instances.hpp). `hybrid` in the place of a pruning: instances of models whose spaces have hybrid context
// parallelism, alone. Every fourth instance is searched with one of the prunings switched off. The
// first differences are printed with their seeds and instances; the exit status is 1 where there is any.
//
// While it runs (nest_prove 20000 100001 on 2026-11-16, stopped there):
//   814 of 20000, 3997 instances, 0 differences
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "nest/base/units.hpp"
#include "nest/solve/ask/test_prove.hpp"
#include "nest/solve/ask/test_tight_instances.hpp"
#include "nest/solve/twin/test_states.hpp"

namespace {

constexpr std::int64_t kMostShown = 20;

class Proof {
 public:
  Proof(unsigned first, unsigned count, std::vector<std::string> without)
      : first_(first), count_(count), without_(std::move(without)) {
    hybrids_ = std::erase(without_, "hybrid") > 0;
  }

  void run(unsigned threads) {
    std::vector<std::thread> workers;
    for (unsigned i = 0; i < threads; ++i) workers.emplace_back([this] { work(); });
    std::thread watcher([this] { watch(); });
    for (std::thread& worker : workers) worker.join();
    watcher.join();
  }
  [[nodiscard]] std::int64_t differences() const { return differences_; }
  // Instances whose best plan has hybrid context parallelism.
  [[nodiscard]] std::int64_t of_hybrids() const { return of_hybrids_; }
  [[nodiscard]] std::int64_t feasible() const { return feasible_; }
  [[nodiscard]] std::int64_t plans() const { return plans_; }
  [[nodiscard]] std::int64_t searches() const { return searches_; }

 private:
  void work() {
    for (unsigned i = next_++; i < count_; i = next_++) {
      const unsigned seed = first_ + i;
      if (seed % 2 == 0 && !hybrids_) {
        prove_tight(seed);
      } else {
        prove(seed);
      }
      ++done_;
    }
  }

  void prove(unsigned seed) {
    std::string text = fmt::format("seed {}\n", seed);
    std::string what;
    try {
      const std::int64_t most = nest::test::usual_most_plans(seed);
      nest::test::Instance instance = nest::test::random_instance(seed, most, hybrids_);
      if (hybrids_ && !nest::test::has_hybrid(instance.inputs, instance.training, instance.space)) return;
      nest::test::draw_most_devices(seed, instance);
      const std::int64_t all_plans = nest::test::most_with_states(most);
      nest::test::draw_states(seed, all_plans, instance);
      instance.options.without = without(seed);
      text = instance.text;
      for (const std::string& name : instance.options.without) text += "without " + name + "\n";
      const nest::solve::BruteForceResult all = nest::solve::brute_force(
          instance.inputs, instance.training, instance.space, instance.options, all_plans);
      plans_ += all.plans;
      feasible_ += all.best ? 1 : 0;
      of_hybrids_ += all.best && all.best->parallelism.strategy.hybrid() ? 1 : 0;
      what = all.complete ? difference(instance, all,
                                       nest::solve::ask({instance.inputs, instance.training, instance.space,
                                                         instance.options}))
                          : "the space has more plans than asked for";
    } catch (const std::exception& error) {
      what = error.what();
    }
    ++searches_;
    if (!what.empty()) show(text + what);
  }

  // Every other seed: an instance on which recomputation decides, with several memories.
  void prove_tight(unsigned seed) {
    constexpr std::int64_t kMostPlans = 4'000;
    constexpr int kMemories = 10;
    try {
      const nest::test::TightCounts counts = nest::test::tight_differences(
          seed, kMostPlans, kMemories, without(seed), [&](const std::string& what) { show(what); });
      searches_ += counts.searches;
      plans_ += counts.plans;
      feasible_ += counts.feasible;
    } catch (const std::exception& error) {
      show(fmt::format("tight seed {}\n{}", seed, error.what()));
    }
  }

  // One of the prunings in every fourth instance of each kind.
  [[nodiscard]] std::vector<std::string> without(unsigned seed) const {
    const auto& names = nest::question::pruning_names();
    if (!without_.empty() || seed % 8 < 6) return without_;
    return {names[seed / 8 % names.size()]};
  }

  void show(const std::string& what) {
    const std::lock_guard lock(printing_);
    if (++differences_ <= kMostShown) fmt::print("{}\n\n", what);
    std::fflush(stdout);
  }

  void watch() {
    for (int tick = 1; done_ < count_; ++tick) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      if (tick % 50 == 0)
        fmt::print(stderr, "{} of {}, {} instances, {} differences\n", done_.load(), count_, searches_.load(),
                   differences_.load());
    }
  }

  unsigned first_;
  unsigned count_;
  std::vector<std::string> without_;
  bool hybrids_ = false;
  std::atomic<std::int64_t> of_hybrids_ = 0;
  std::atomic<unsigned> next_ = 0;
  std::atomic<unsigned> done_ = 0;
  std::atomic<std::int64_t> differences_ = 0;
  std::atomic<std::int64_t> feasible_ = 0;
  std::atomic<std::int64_t> plans_ = 0;
  std::atomic<std::int64_t> searches_ = 0;
  std::mutex printing_;
};

}  // namespace

int main(int argc, char** argv) {
  try {
    const auto count = static_cast<unsigned>(argc > 1 ? std::stoul(argv[1]) : 20'000);
    const auto first = static_cast<unsigned>(argc > 2 ? std::stoul(argv[2]) : 1);
    Proof proof(first, count, std::vector<std::string>(argv + std::min(argc, 3), argv + argc));
    proof.run(std::max(1U, std::thread::hardware_concurrency()));
    fmt::print(
        "{} seeds from {}: {} instances, {} with a plan (the best of {} with hybrid context parallelism), "
        "{} plans priced, {} differences\n",
        nest::base::format_digits(count), first, nest::base::format_digits(proof.searches()),
        nest::base::format_digits(proof.feasible()), nest::base::format_digits(proof.of_hybrids()),
        nest::base::format_digits(proof.plans()), proof.differences());
    return proof.differences() == 0 ? 0 : 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "nest_prove: {}\nusage: nest_prove [COUNT] [FIRST_SEED] [PRUNING|hybrid...]\n",
               error.what());
    return 2;
  }
}
