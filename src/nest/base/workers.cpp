#include "nest/base/workers.hpp"

namespace nest::base {

Workers::Workers(std::size_t count) {
  for (std::size_t i = 1; i < count; ++i) threads_.emplace_back([this, i] { serve(i); });
}

Workers::~Workers() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Workers::work(std::size_t worker) {
  while (true) {
    const std::size_t job = next_.fetch_add(1);
    if (job >= jobs_) return;
    try {
      (*job_)(worker, job);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!error_) error_ = std::current_exception();
    }
  }
}

void Workers::serve(std::size_t worker) {
  std::size_t seen = 0;
  while (true) {
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return stop_ || round_ != seen; });
      if (stop_) return;
      seen = round_;
    }
    work(worker);
    {
      const std::lock_guard lock(mutex_);
      if (--busy_ == 0) done_.notify_one();
    }
  }
}

void Workers::run(std::size_t jobs, const Job& job) {
  error_ = nullptr;
  job_ = &job;
  jobs_ = jobs;
  next_ = 0;
  const bool together = jobs > 1 && !threads_.empty();
  if (together) {
    {
      const std::lock_guard lock(mutex_);
      busy_ = threads_.size();
      ++round_;
    }
    wake_.notify_all();
  }
  work(0);
  if (together) {
    std::unique_lock lock(mutex_);
    done_.wait(lock, [&] { return busy_ == 0; });
  }
  if (error_) std::rethrow_exception(error_);
}

}  // namespace nest::base
