#include "nest/simulate/engine/job_runner.hpp"

#include <gtest/gtest.h>

#include <map>

#include "nest/simulate/test_plans.hpp"

namespace nest::simulate {
namespace {

using test_plans::cluster_of;
using test_plans::level;

struct Net {
  Cluster cluster = cluster_of({level("node", 4, 100e9, 1e-3)});
  Traffic traffic{cluster, ideal_constants(cluster)};
  EventQueue queue;

  // 100 MB from device 0, which takes 1 ms of latency and 1 ms of transfer alone.
  Job send(bool shares) {
    Job job = traffic.send(Bytes{100'000'000}, traffic.routes({DeviceId{0}}, {DeviceId{1}}));
    if (shares) job.phases[0].loads = {{job.phases[0].uses[0].link, 100e9}};
    return job;
  }

  // Ends by subject.
  std::map<int, double> run(JobRunner& runner) {
    std::map<int, double> ends;
    while (!queue.empty()) {
      const double now = queue.next_time();
      while (!queue.empty() && queue.next_time() <= now) {
        if (const auto done = runner.advance(queue.pop(), now)) ends[done->subject] = now;
      }
      runner.settle(now);
    }
    return ends;
  }
};

TEST(JobRunner, JobsThatShareNothingTakeTheirTime) {
  Net net;
  const Job job = net.send(false);
  JobRunner runner(net.traffic.links(), net.queue, 1);
  runner.begin(job, 1, {0, 5}, 1);
  runner.begin(job, 0.5, {0, 6}, 1);
  const auto ends = net.run(runner);
  EXPECT_NEAR(ends.at(5), 1 + 2e-3, 1e-12);
  EXPECT_NEAR(ends.at(6), 1 + 1e-3, 1e-12);
}

TEST(JobRunner, TransfersShareAndLatenciesDoNot) {
  Net net;
  const Job job = net.send(true);
  JobRunner runner(net.traffic.links(), net.queue, 1);
  runner.begin(job, 1, {0, 1}, 0);
  runner.begin(job, 1, {0, 2}, 0);
  const auto ends = net.run(runner);
  EXPECT_NEAR(ends.at(1), 3e-3, 1e-12);
  EXPECT_NEAR(ends.at(2), 3e-3, 1e-12);
}

TEST(JobRunner, PhasesFollowEachOther) {
  Net net;
  Job job = net.send(true);
  job.phases.push_back({.latency_s = 4e-3, .transfer_s = 5e-3});
  job.phases.push_back(job.phases[0]);
  JobRunner runner(net.traffic.links(), net.queue, 1);
  runner.begin(job, 1, {0, 1}, 0);
  EXPECT_NEAR(net.run(runner).at(1), (2 + 9 + 2) * 1e-3, 1e-12);
}

}  // namespace
}  // namespace nest::simulate
