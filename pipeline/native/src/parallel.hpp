// Work divided among threads. Private to count and train.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace jogak {

/// Calls work(thread, i) for every i below `items`, in ascending order, from so many threads, this
/// one among them; fewer where the system gives no more. What it throws first is thrown here, once
/// all threads have stopped.
template <typename Work> void in_parallel(unsigned threads, std::size_t items, const Work& work) {
    std::atomic<std::size_t> next{0};
    std::mutex mutex;
    std::exception_ptr failure;
    const auto run = [&](unsigned thread) {
        try {
            for (std::size_t i = next++; i < items; i = next++) {
                work(thread, i);
            }
        } catch (...) {
            const std::scoped_lock lock(mutex);
            failure = failure ? failure : std::current_exception();
            next = items;
        }
    };
    std::vector<std::thread> others;
    others.reserve(threads);
    for (unsigned thread = 1; thread < std::min<std::size_t>(threads, items); ++thread) {
        try {
            others.emplace_back(run, thread);
        } catch (const std::system_error&) {
            break;
        }
    }
    run(0);
    for (std::thread& other : others) {
        other.join();
    }
    if (failure) {
        std::rethrow_exception(failure);
    }
}

/// Items that threads finish in any order, and whose memory goes back in the order of the items, in
/// a few portions: each stops all threads for a moment.
class Finished {
  public:
    explicit Finished(std::size_t items) : done_(items) {}

    /// Notes that an item is finished. Where that completes a portion, calls release(from, to):
    /// all items before `to` are finished, and those before `from` were released.
    template <typename Release> void note(std::size_t item, const Release& release) {
        const std::scoped_lock lock(mutex_);
        done_[item] = true;
        while (front_ < done_.size() && done_[front_]) {
            ++front_;
        }
        if (front_ == done_.size() || (front_ - released_) * portions >= done_.size()) {
            release(std::exchange(released_, front_), front_);
        }
    }

  private:
    static constexpr std::size_t portions = 8;

    std::mutex mutex_;
    std::vector<bool> done_;
    std::size_t front_ = 0;
    std::size_t released_ = 0;
};

} // namespace jogak
