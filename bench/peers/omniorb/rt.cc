// omniORB beside Punctual's lanes: it knows no priorities, so that all of its server's threads have one, or none, while
// each thread of its client has that of its client. Batches and what is told of them are as in src/rt/batch.rs, calls
// as in src/rt/calling.rs.
//
//   rt server --pin CPU --link tcp|unix --work MICROSECONDS --native PRIORITY
//   rt client --pin CPU --at IOR --natives HIGH,LOW,LOW… --control PRIORITY
//
// A priority is SCHED_FIFO's; a thread of priority 0 is scheduled by SCHED_OTHER.

#include "common.hh"

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <ctime>
#include <memory>
#include <mutex>
#include <omniORB4/omniInterceptors.h>
#include <pthread.h>
#include <sstream>
#include <thread>
#include <unistd.h>
#include <utility>

namespace {

// Calls of a client before its first batch.
constexpr int kFirst = 10;
// Seconds after which a server ends, those that clients have to connect, and those that a batch has beyond its limit. A
// real-time load that does not end would keep everybody else from the processor: SIGALRM ends the process.
constexpr unsigned kLifetime = 900, kConnecting = 20, kGrace = 4;

void run_at(int native) {
    if (native == 0) return;
    sched_param priority{};
    priority.sched_priority = native;
    if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &priority) != 0)
        throw std::runtime_error("the machine does not grant SCHED_FIFO");
}

// ---- Server

// Its upcalls take so much time of the processor, however often they are interrupted.
class Working : public CubitServant {
public:
    explicit Working(std::int64_t micros) : work_(micros * 1000) {}

    void cube_void() override {
        if (work_ == 0) return;
        std::int64_t began = spent();
        while (spent() - began < work_) {}
    }

    // Returns once so many calls are here, so that each has a connection of its own.
    CORBA::Octet cube_octet(CORBA::Octet clients) override {
        std::unique_lock<std::mutex> lock(mutex_);
        ++here_;
        changed_.notify_all();
        changed_.wait(lock, [this, clients] { return here_ >= clients; });
        return clients;
    }

private:
    static std::int64_t spent() {
        timespec now{};
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
        return now.tv_sec * INT64_C(1'000'000'000) + now.tv_nsec;
    }

    std::int64_t work_;
    int here_ = 0;
    std::mutex mutex_;
    std::condition_variable changed_;
};

// That of all threads which the server's ORB starts: interceptors have no state.
int serving_at = 0;

void started(omni::omniInterceptors::createThread_T::info_T& info) {
    run_at(serving_at);
    info.run();
}

// ---- Client

// A server that has not accepted the connections before this one refuses it, and is asked again.
CORBA::Boolean connect_again(void*, CORBA::ULong, const CORBA::TRANSIENT&) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return true;
}

struct Batch {
    std::size_t low = 0;
    std::uint32_t calls = 0, warm_up = 0;
    std::int64_t pace = 0, low_pace = 0;  // microseconds
    std::uint64_t low_calls = 0;
    std::int64_t limit = 0;  // milliseconds

    explicit Batch(const std::string& line) {
        // The numbers of an object of JSON, whose names have no digits.
        std::string numbers(line);
        std::replace_if(numbers.begin(), numbers.end(), [](char c) { return c < '0' || c > '9'; }, ' ');
        std::istringstream words(numbers);
        if (!(words >> low >> calls >> warm_up >> pace >> low_pace >> low_calls >> limit))
            throw std::runtime_error("no such batch: " + line);
    }
};

// How far the high client is, for the low ones.
enum Stage { kWarmingUp, kTimed, kOver };
using Progress = std::atomic<int>;

struct Moments {
    std::uint64_t calls = 0;
    double sum = 0, squares = 0;

    void add(std::uint64_t nanoseconds) {
        double time = static_cast<double>(nanoseconds);
        calls += 1, sum += time, squares += time * time;
    }
};

// What came of a client's part in a batch.
struct Done {
    std::uint64_t took = 0;
    std::vector<std::uint64_t> samples;  // of the high client
    Moments moments;                     // of a low one
    std::string error;
};

// When the next call is due. One that is late moves those behind it.
class Pace {
public:
    explicit Pace(std::int64_t micros) : each_(micros), next_(Clock::now()) {}

    void wait() {
        if (each_.count() == 0) return;
        next_ = std::max(next_ + each_, Clock::now());
        std::this_thread::sleep_until(next_);
    }

private:
    std::chrono::microseconds each_;
    Clock::time_point next_;
};

void call_high(bench::Cubit_ptr cubit, const Batch& batch, Progress& progress, Done& done) {
    std::vector<std::uint64_t> samples(batch.calls, ~UINT64_C(0));
    auto ends = Clock::now() + std::chrono::milliseconds(batch.limit);
    Pace pace(batch.pace);
    for (std::uint32_t i = 0; i < batch.warm_up; ++i) {
        pace.wait();
        cubit->cube_void();
        if (Clock::now() > ends) throw std::runtime_error("no time was left for calls that count");
    }
    std::size_t made = 0;
    progress.store(kTimed, std::memory_order_relaxed);
    auto began = Clock::now();
    for (auto& sample : samples) {
        pace.wait();
        auto called = Clock::now();
        if (called > ends) break;
        cubit->cube_void();
        sample = nanoseconds_since(called);
        ++made;
    }
    done.took = nanoseconds_since(began);
    samples.resize(made);
    done.samples = std::move(samples);
}

void call_low(bench::Cubit_ptr cubit, const Batch& batch, Progress& progress, Done& done) {
    auto ends = Clock::now() + std::chrono::milliseconds(batch.limit);
    bool until_high_is_over = batch.low_calls == 0;
    Pace pace(batch.low_pace);
    for (;;) {
        pace.wait();
        int stage = progress.load(std::memory_order_relaxed);
        bool over = until_high_is_over ? stage == kOver : done.moments.calls >= batch.low_calls;
        auto called = Clock::now();
        if (over || called > ends) return;
        cubit->cube_void();
        if (!until_high_is_over || stage == kTimed) done.moments.add(nanoseconds_since(called));
    }
}

// A client's thread: it does a job at a time.
class Worker {
public:
    // One of so many clients. It connects, and is done with that when all of them are connected.
    Worker(CORBA::ORB_ptr orb, const std::string& ior, bool is_high, int native, std::size_t clients)
        : is_high_(is_high), thread_([this, orb, ior, native, clients] { run(orb, ior, native, clients); }) {}

    ~Worker() {
        {
            std::lock_guard<std::mutex> guard(mutex_);
            is_over_ = true;
            changed_.notify_all();
        }
        thread_.join();
    }

    void begin(const Batch& batch, Progress& progress) {
        std::lock_guard<std::mutex> guard(mutex_);
        batch_ = &batch, progress_ = &progress;
        changed_.notify_all();
    }

    Done wait() {
        std::unique_lock<std::mutex> lock(mutex_);
        changed_.wait(lock, [this] { return done_ != nullptr; });
        return std::move(*std::exchange(done_, nullptr));
    }

private:
    void run(CORBA::ORB_ptr orb, const std::string& ior, int native, std::size_t clients) {
        bench::Cubit_var cubit;
        tell([&](Done&) {
            run_at(native);
            CORBA::Object_var object = orb->string_to_object(ior.c_str());
            cubit = bench::Cubit::_narrow(object);
            if (CORBA::is_nil(cubit)) throw std::runtime_error("the reference is no Cubit");
            cubit->cube_octet(static_cast<CORBA::Octet>(clients));
            for (int i = 0; i < kFirst; ++i) cubit->cube_void();
        });
        for (;;) {
            const Batch* batch = nullptr;
            {
                std::unique_lock<std::mutex> lock(mutex_);
                changed_.wait(lock, [this] { return batch_ != nullptr || is_over_; });
                if (is_over_) return;
                batch = std::exchange(batch_, nullptr);
            }
            tell([&](Done& done) { (is_high_ ? call_high : call_low)(cubit, *batch, *progress_, done); });
        }
    }

    template <typename Job>
    void tell(Job job) {
        auto done = std::make_unique<Done>();
        try {
            job(*done);
        } catch (const CORBA::Exception& exception) {
            done->error = exception._name();
        } catch (const std::exception& exception) {
            done->error = exception.what();
        }
        // The low ones wait for it, however it came.
        if (is_high_ && progress_ != nullptr) progress_->store(kOver, std::memory_order_relaxed);
        std::lock_guard<std::mutex> guard(mutex_);
        done_ = std::move(done);
        changed_.notify_all();
    }

    bool is_high_, is_over_ = false;
    const Batch* batch_ = nullptr;
    Progress* progress_ = nullptr;
    std::unique_ptr<Done> done_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::thread thread_;
};

using Workers = std::vector<std::unique_ptr<Worker>>;

std::uint64_t bits(double number) {
    std::uint64_t bits;
    std::memcpy(&bits, &number, sizeof bits);
    return bits;
}

// A batch, by the high client and the first of the low ones, as numbers.
std::vector<std::uint64_t> perform(Workers& workers, const Batch& batch) {
    if (batch.low >= workers.size()) throw std::runtime_error("a batch with more low clients than there are");
    Progress progress{kWarmingUp};
    for (std::size_t i = 0; i <= batch.low; ++i) workers[i]->begin(batch, progress);
    // All of them, so that none is still at it when the next batch begins.
    std::vector<Done> all;
    for (std::size_t i = 0; i <= batch.low; ++i) all.push_back(workers[i]->wait());
    std::vector<std::uint64_t> numbers{all[0].took, batch.low};
    for (const Done& done : all) {
        if (!done.error.empty()) throw std::runtime_error(done.error);
        if (&done == &all[0]) continue;
        numbers.insert(numbers.end(), {done.moments.calls, bits(done.moments.sum), bits(done.moments.squares)});
    }
    numbers.insert(numbers.end(), all[0].samples.begin(), all[0].samples.end());
    return numbers;
}

void call_as_told(CORBA::ORB_ptr orb, const std::string& ior, const std::vector<int>& natives, int control) {
    alarm(kConnecting);
    Workers workers;
    for (int native : natives)
        workers.push_back(std::make_unique<Worker>(orb, ior, workers.empty(), native, natives.size()));
    for (auto& worker : workers) {
        std::string error = worker->wait().error;
        if (!error.empty()) throw std::runtime_error(error);
    }
    alarm(0);
    // Ahead of all of them, so that none begins before all have their jobs.
    run_at(control);
    // The alarm of a batch that fails is off when the next line is read.
    obey_lines([&](const std::string& line) {
        Batch batch(line);
        alarm(static_cast<unsigned>(batch.limit / 1000) + kGrace);
        struct Off {
            ~Off() { alarm(0); }
        } off;
        answer(perform(workers, batch));
    });
}

// ---- Both

struct Told {
    std::string side, at, link;
    std::vector<int> natives;
    int native = 0, control = 0;
    std::int64_t work = 0;

    Told(int argc, char** argv) : side(argc > 1 ? argv[1] : "") {
        for (int i = 2; i + 1 < argc; i += 2) {
            std::string option = argv[i], value = argv[i + 1];
            if (option == "--pin") pin(value.c_str());
            if (option == "--at") at = value;
            if (option == "--link") link = value;
            if (option == "--work") work = std::stoll(value);
            if (option == "--native") native = std::stoi(value);
            if (option == "--control") control = std::stoi(value);
            if (option == "--natives") {
                std::istringstream numbers(value);
                for (std::string number; std::getline(numbers, number, ',');) natives.push_back(std::stoi(number));
            }
        }
    }
};

}  // namespace

int main(int argc, char** argv) {
    return succeeds([&] {
        Told told(argc, argv);
        // By default at most 5 threads of a client call at once, and others wait for one of their connections.
        std::string connections = std::to_string(told.natives.size() + 1);
        const char* options[][2] = {{"endPoint", endpoint_of(told.link)},
                                    {"maxGIOPConnectionPerServer", connections.c_str()},
                                    {0, 0}};
        int none = 0;
        CORBA::ORB_var orb = CORBA::ORB_init(none, nullptr, "omniORB4", options);
        if (told.side == "server") {
            alarm(kLifetime);
            serving_at = told.native;
            omniORB::getInterceptors()->createThread.add(started);
            serve(orb, new Working(told.work));
        } else {
            omniORB::installTransientExceptionHandler(nullptr, connect_again);
            call_as_told(orb, told.at, told.natives, told.control);
        }
        orb->destroy();
    }) ? 0 : 1;
}
