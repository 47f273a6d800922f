// omniORB's side of the asynchronous calls that src/ami makes: a server and a client of ami.idl.
//
//   peer server [--pin CPU]
//   peer client [--pin CPU] --at IOR

#include "common.hh"
#include "ami.hh"

#include <condition_variable>
#include <mutex>

namespace {

// Calls that are in flight at once, as WINDOW in src/ami/mod.rs.
constexpr std::uint64_t kWindow = 512;

class Echo : public POA_bench_ami::Echo {
public:
    CORBA::ULongLong stamp(CORBA::ULongLong when) override { return when; }
};

// Counts replies; calls wait while a window of them is in flight.
class Handler : public POA_bench_ami::AMI_EchoHandler {
public:
    void stamp(CORBA::ULongLong) override { end(false); }
    void stamp_excep(Messaging::ExceptionHolder*) override { end(true); }

    // Begins a call; when so many are in flight, half of them end before.
    void begin(std::uint64_t window) {
        std::unique_lock<std::mutex> lock(mutex_);
        if (begun_ - ended_ >= window) wait(lock, window / 2);
        ++begun_;
    }

    void wait_for_all() {
        std::unique_lock<std::mutex> lock(mutex_);
        wait(lock, 0);
    }

    // Returns when the last reply arrived.
    Clock::time_point last() const { return last_; }

private:
    void wait(std::unique_lock<std::mutex>& lock, std::uint64_t in_flight) {
        wanted_ = in_flight;
        changed_.wait(lock, [&] { return begun_ - ended_ <= in_flight; });
        if (failed_) throw std::runtime_error("a call has failed");
    }

    void end(bool failed) {
        auto now = Clock::now();
        std::lock_guard<std::mutex> guard(mutex_);
        last_ = now, failed_ |= failed, ++ended_;
        if (begun_ - ended_ <= wanted_) changed_.notify_one();
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::uint64_t begun_ = 0, ended_ = 0, wanted_ = 0;
    bool failed_ = false;
    Clock::time_point last_;
};

// An order of src/ami/mod.rs: who calls, what is measured, and the number of calls.
struct Order {
    bool ami, latency;
    std::uint64_t calls;

    explicit Order(const std::string& line)
        : ami(line.find("omniorb-ami") != line.npos), latency(line.find("Latency") != line.npos) {
        auto number = line.find_first_of("0123456789");
        if (number == line.npos) throw std::runtime_error("no such order: " + line);
        calls = std::stoull(line.substr(number));
    }
};

std::vector<std::uint64_t> perform(const Order& order, bench_ami::Echo_ptr echo, Handler& handler,
                                   bench_ami::AMI_EchoHandler_ptr to) {
    std::vector<std::uint64_t> samples;
    auto began = Clock::now();
    for (std::uint64_t i = 0; i < order.calls; ++i) {
        auto called = Clock::now();
        if (order.ami) {
            handler.begin(order.latency ? 1 : kWindow);
            echo->sendc_stamp(to, i);
            if (order.latency) handler.wait_for_all();
        } else if (echo->stamp(i) != i) {
            throw std::runtime_error("a number came back as another");
        }
        auto ended = order.ami ? handler.last() : Clock::now();
        if (order.latency)
            samples.push_back(std::chrono::duration_cast<std::chrono::nanoseconds>(ended - called).count());
    }
    handler.wait_for_all();
    if (!order.latency) samples.push_back(nanoseconds_since(began));
    return samples;
}

void call_as_told(CORBA::ORB_ptr orb, PortableServer::POA_ptr poa, const std::string& ior) {
    CORBA::Object_var object = orb->string_to_object(ior.c_str());
    bench_ami::Echo_var echo = bench_ami::Echo::_narrow(object);
    if (CORBA::is_nil(echo)) throw std::runtime_error("the reference is no Echo");
    PortableServer::Servant_var<Handler> handler(new Handler);
    PortableServer::ObjectId_var id = poa->activate_object(handler);
    CORBA::Object_var served = poa->id_to_reference(id);
    bench_ami::AMI_EchoHandler_var to = bench_ami::AMI_EchoHandler::_narrow(served);
    PortableServer::POAManager_var manager = poa->the_POAManager();
    manager->activate();
    obey_lines([&](const std::string& line) { answer(perform(Order(line), echo, *handler, to)); });
}

}  // namespace

int main(int argc, char** argv) {
    return run(argc, argv, [](CORBA::ORB_ptr orb, const std::string& side, const Options& options) {
        CORBA::Object_var object = orb->resolve_initial_references("RootPOA");
        PortableServer::POA_var poa = PortableServer::POA::_narrow(object);
        if (side == "server")
            serve(orb, new Echo);
        else
            call_as_told(orb, poa, options.text("--at"));
    });
}
