#include "nest/base/workers.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace nest::base {
namespace {

TEST(Workers, DoEveryJobOnce) {
  for (const std::size_t count : {1U, 2U, 5U}) {
    Workers workers(count);
    ASSERT_EQ(workers.size(), count);
    for (const std::size_t jobs : {1U, 2U, 3U, 1000U}) {
      std::vector<std::atomic<int>> done(jobs);
      workers.run(jobs, [&](std::size_t worker, std::size_t job) {
        EXPECT_LT(worker, count);
        ++done[job];
      });
      for (std::size_t job = 0; job < jobs; ++job)
        ASSERT_EQ(done[job], 1) << "job " << job << " of " << jobs << ", " << count << " workers";
    }
  }
}

// What one round did is there when it returns, round after round.
TEST(Workers, TakeOneRoundAfterTheOther) {
  Workers workers(3);
  std::vector<int> sums(8, 0);
  for (int round = 0; round < 500; ++round)
    workers.run(sums.size(), [&](std::size_t, std::size_t job) { sums[job] += round; });
  for (const int sum : sums) EXPECT_EQ(sum, 500 * 499 / 2);
}

// Scratch memory by the worker's number is nobody else's.
TEST(Workers, NoTwoShareANumber) {
  Workers workers(4);
  std::vector<std::atomic<int>> inside(workers.size());
  std::atomic<bool> alone = true;
  workers.run(400, [&](std::size_t worker, std::size_t) {
    if (++inside[worker] != 1) alone = false;
    std::this_thread::yield();
    --inside[worker];
  });
  EXPECT_TRUE(alone);
}

TEST(Workers, NothingToDo) {
  for (const std::size_t count : {1U, 3U}) {
    Workers workers(count);
    workers.run(0, [](std::size_t, std::size_t) { FAIL() << "there is no job"; });
    int done = 0;
    workers.run(1, [&](std::size_t, std::size_t) { ++done; });
    EXPECT_EQ(done, 1);
  }
}

// One at least: the calling thread.
TEST(Workers, NoWorkersAreOne) {
  Workers workers(0);
  EXPECT_EQ(workers.size(), 1U);
  const auto caller = std::this_thread::get_id();
  workers.run(3, [&](std::size_t worker, std::size_t) {
    EXPECT_EQ(worker, 0U);
    EXPECT_EQ(std::this_thread::get_id(), caller);
  });
}

TEST(Workers, WhatAJobThrowsArrives) {
  for (const std::size_t count : {1U, 2U, 4U}) {
    Workers workers(count);
    std::atomic<int> done = 0;
    const auto run = [&] {
      workers.run(100, [&](std::size_t, std::size_t job) {
        ++done;
        if (job == 57) throw std::runtime_error("job " + std::to_string(job));
      });
    };
    try {
      run();
      FAIL() << "nothing arrived";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "job 57");
    }
    EXPECT_EQ(done, 100) << "the other jobs are done all the same";
    // And the next round knows nothing of it.
    EXPECT_NO_THROW(workers.run(10, [&](std::size_t, std::size_t) { ++done; }));
    EXPECT_EQ(done, 110);
  }
}

TEST(Workers, OfSeveralThrowsTheFirst) {
  Workers alone(1);
  try {
    alone.run(10, [](std::size_t, std::size_t job) {
      if (job >= 3) throw std::runtime_error(std::to_string(job));
    });
    FAIL() << "nothing arrived";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "3");
  }
  Workers three(3);
  EXPECT_THROW(three.run(50, [](std::size_t, std::size_t) { throw std::runtime_error("all"); }),
               std::runtime_error);
}

}  // namespace
}  // namespace nest::base
