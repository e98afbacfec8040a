// Threads that process numbered jobs together. The number of a job says what to do, and the number of a
// worker says which scratch memory to use.
//
//   Workers workers(2);
//   workers.run(100, [&](std::size_t worker, std::size_t job) { results[job] = f(scratch[worker], job); });
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "nest/base/rooms.hpp"

namespace nest::base {

class Workers {
 public:
  using Job = std::function<void(std::size_t worker, std::size_t job)>;

  // The calling thread is one of them.
  explicit Workers(std::size_t count);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  [[nodiscard]] std::size_t size() const { return threads_.size() + 1; }
  // Returns when all jobs are done; throws what the first failing one threw.
  void run(std::size_t jobs, const Job& job);

 private:
  void work(std::size_t worker);
  void serve(std::size_t worker);

  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable done_;
  const Job* job_ = nullptr;
  std::size_t jobs_ = 0;
  std::atomic<std::size_t> next_{0};
  std::size_t round_ = 0;
  std::size_t busy_ = 0;
  bool stop_ = false;
  std::exception_ptr error_;
};

}  // namespace nest::base
