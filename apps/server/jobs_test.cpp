#include "jobs.hpp"

#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "api_error.hpp"

namespace nest::server {
namespace {

Limits small() {
  Limits limits;
  limits.jobs = 1;
  limits.waiting = 2;
  limits.wait = Seconds{0.05};
  return limits;
}

int status_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const ApiError& error) {
    return error.status;
  }
  return 200;
}

// Runs until it is cancelled, as a search does.
void work(const Ticket& ticket) {
  while (!ticket.deadline().over()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

TEST(Jobs, ANewRequestOfASessionTakesThePlaceOfTheFormer) {
  Limits limits = small();
  limits.wait = Seconds{10};
  Jobs jobs(limits);
  std::promise<void> begun;
  auto first = std::async(std::launch::async, [&] {
    const Ticket ticket = jobs.begin("tab", Seconds{100});
    begun.set_value();
    work(ticket);
    return status_of([&] { ticket.check(); });
  });
  begun.get_future().wait();
  const Ticket second = jobs.begin("tab", Seconds{100});  // waits until the first has ended
  EXPECT_EQ(first.get(), 409);
  EXPECT_FALSE(second.deadline().over());
  EXPECT_EQ(jobs.running(), 1U);
}

// Of three, the one that waits in between is never begun.
TEST(Jobs, NothingQueuesUp) {
  Limits limits = small();
  limits.wait = Seconds{10};
  Jobs jobs(limits);
  auto held = std::make_unique<Ticket>(jobs.begin("other", Seconds{100}));  // takes the only place
  auto second = std::async(std::launch::async,
                           [&] { return status_of([&] { (void)jobs.begin("tab", Seconds{100}); }); });
  while (!jobs.cancel("tab")) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(second.get(), 409);
  held.reset();
  EXPECT_EQ(status_of([&] { (void)jobs.begin("tab", Seconds{100}); }), 200);
}

TEST(Jobs, NoPlaceInTime) {
  Jobs jobs(small());
  const Ticket held = jobs.begin("", Seconds{100});
  EXPECT_EQ(status_of([&] { (void)jobs.begin("tab", Seconds{100}); }), 429);
  EXPECT_FALSE(jobs.cancel("tab"));  // nothing of it is left
}

TEST(Jobs, TooManyWait) {
  Limits limits = small();
  limits.waiting = 0;
  Jobs jobs(limits);
  EXPECT_EQ(status_of([&] { (void)jobs.begin("tab", Seconds{100}); }), 429);
}

TEST(Jobs, TimeThatIsUp) {
  Jobs jobs(small());
  const Ticket ticket = jobs.begin("tab", Seconds{0.02});
  work(ticket);
  EXPECT_EQ(ticket.reason(), StopReason::time);
  EXPECT_EQ(status_of([&] { ticket.check(); }), 200);  // what was found is an answer
}

TEST(Jobs, ShutDown) {
  Jobs jobs(small());
  const Ticket ticket = jobs.begin("tab", Seconds{100});
  jobs.shut_down();
  EXPECT_TRUE(ticket.deadline().cancelled());
  EXPECT_EQ(status_of([&] { ticket.check(); }), 503);
  EXPECT_EQ(status_of([&] { (void)jobs.begin("tab", Seconds{100}); }), 503);
}

}  // namespace
}  // namespace nest::server
