// omniORB's side of the benchmark: a server and a client of cubit.idl that talk the harness's
// protocol (src/protocol.rs) over their standard input and output.
//
//   peer server [--pin CPU] [--link unix]
//   peer client [--pin CPU] --at IOR

#include "common.hh"

#include <algorithm>
#include <functional>
#include <pthread.h>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using Call = std::function<void()>;

class Client {
public:
    Client(CORBA::ORB_ptr orb, const std::string& ior)
        : orb_(orb), ior_(ior), cubit_(reference()), counted_(cubit_->pings()) {}

    // Waits until the server has counted all one-ways.
    void settle() {
        while (cubit_->pings() < counted_) {}
    }

    // Makes `calls` void calls by `threads` threads, through one reference or each through its own, and
    // returns the nanoseconds from the first one's beginning until the last one is done. Each makes a call
    // ahead that does not count.
    std::uint64_t flood(std::uint32_t threads, std::uint32_t calls, bool own) {
        std::vector<bench::Cubit_var> cubits(own ? threads : 0);
        for (auto& cubit : cubits) cubit = reference();
        std::vector<Clock::time_point> began(threads), ended(threads);
        pthread_barrier_t start;
        pthread_barrier_init(&start, nullptr, threads);
        std::vector<std::thread> running;
        for (std::uint32_t i = 0; i < threads; ++i)
            running.emplace_back([&, i, share = calls / threads] {
                bench::Cubit_ptr cubit = own ? cubits[i].in() : cubit_.in();
                cubit->cube_void();
                pthread_barrier_wait(&start);
                began[i] = Clock::now();
                for (std::uint32_t made = 0; made < share; ++made) cubit->cube_void();
                ended[i] = Clock::now();
            });
        for (auto& thread : running) thread.join();
        pthread_barrier_destroy(&start);
        auto whole = *std::max_element(ended.begin(), ended.end()) -
                     *std::min_element(began.begin(), began.end());
        return std::chrono::duration_cast<std::chrono::nanoseconds>(whole).count();
    }

    // One call of `name` with `units` elements each time it is run.
    Call prepare(const std::string& name, CORBA::ULong units) {
        octets_.length(units);
        longs_.length(units);
        cubes_.length(units);
        structs_.length(units);
        for (CORBA::ULong i = 0; i < units; ++i) {
            octets_[i] = 0x5a;
            longs_[i] = 123456789;
            cubes_[i] = bench::Cube{5, 21, 7};
            structs_[i] = bench::BinStruct{1234, 'x', 123456789, 0x5a, 2.5};
        }
        if (name == "cube_void") return [this] { cubit_->cube_void(); };
        if (name == "cube_long") return [this] { sink_ = cubit_->cube_long(21); };
        if (name == "cube_struct") return [this] { sink_ = cubit_->cube_struct({5, 21, 7}).l; };
        if (name == "cube_octet") return [this] { sink_ = cubit_->cube_octet(5); };
        if (name == "echo_longs")
            return [this] {
                bench::LongSeq_var back = cubit_->echo_longs(longs_);
                sink_ = back->length();
            };
        if (name == "echo_cubes")
            return [this] {
                bench::CubeSeq_var back = cubit_->echo_cubes(cubes_);
                sink_ = back->length();
            };
        if (name == "take_octets") return [this] { cubit_->take_octets(octets_); };
        if (name == "take_longs") return [this] { cubit_->take_longs(longs_); };
        if (name == "take_bin_structs") return [this] { cubit_->take_bin_structs(structs_); };
        if (name == "echo_octets")
            return [this] {
                bench::OctetSeq_var back = cubit_->echo_octets(octets_);
                sink_ = back->length();
            };
        if (name == "echo_bin_structs")
            return [this] {
                bench::BinStructSeq_var back = cubit_->echo_bin_structs(structs_);
                sink_ = back->length();
            };
        if (name == "ping") return [this] { thrown(), cubit_->ping(); };
        if (name == "throw_octets") return [this] { thrown(), cubit_->throw_octets(octets_); };
        if (name == "throw_bin_structs")
            return [this] { thrown(), cubit_->throw_bin_structs(structs_); };
        throw std::runtime_error("no such case: " + name);
    }

private:
    // A reference of its own: another one each time.
    bench::Cubit_ptr reference() {
        CORBA::Object_var object = orb_->string_to_object(ior_.c_str());
        bench::Cubit_ptr cubit = bench::Cubit::_narrow(object);
        if (CORBA::is_nil(cubit)) throw std::runtime_error("the reference is no Cubit");
        return cubit;
    }

    void thrown() { ++counted_; }

    CORBA::ORB_ptr orb_;
    std::string ior_;
    bench::Cubit_var cubit_;
    CORBA::ULongLong counted_;
    bench::OctetSeq octets_;
    bench::LongSeq longs_;
    bench::CubeSeq cubes_;
    bench::BinStructSeq structs_;
    volatile CORBA::Long sink_ = 0;
};

// A case as the harness names it: operation, or operation:units.
struct Case {
    std::string operation;
    CORBA::ULong units = 0;

    explicit Case(const std::string& text) : operation(text.substr(0, text.find(':'))) {
        if (operation.size() < text.size()) units = std::stoul(text.substr(operation.size() + 1));
    }

    bool two_way() const { return operation != "ping" && operation.rfind("throw_", 0) != 0; }
};

void run(Client& client, const Case& which, std::uint32_t warm_up, std::uint32_t calls) {
    Call call = client.prepare(which.operation, which.units);
    for (std::uint32_t i = 0; i < warm_up; ++i) call();
    if (which.two_way()) {
        std::vector<std::uint64_t> samples(calls, 1);
        for (auto& sample : samples) {
            auto began = Clock::now();
            call();
            sample = nanoseconds_since(began);
        }
        return answer(samples);
    }
    client.settle();
    auto began = Clock::now();
    for (std::uint32_t i = 0; i < calls; ++i) call();
    client.settle();
    answer({nanoseconds_since(began) / (calls == 0 ? 1 : calls)});
}

void obey(Client& client, const std::string& line) {
    std::istringstream words(line);
    std::string verb, name;
    std::uint32_t warm_up = 0, calls = 0;
    words >> verb >> name;
    if (verb == "run" && words >> warm_up >> calls) return run(client, Case(name), warm_up, calls);
    if (verb == "flood") {
        std::uint32_t threads = std::stoul(name);
        std::string own;
        if (!(words >> calls) || threads == 0 || (words >> own && own != "own"))
            throw std::runtime_error("no such command: " + line);
        return answer({client.flood(threads, calls, own == "own")});
    }
    if (verb == "calls" && words >> calls) {
        Case which(name);
        Call call = client.prepare(which.operation, which.units);
        for (std::uint32_t i = 0; i < calls; ++i) call();
        client.settle();
        std::cout << "done" << std::endl;
        return;
    }
    throw std::runtime_error("no such command: " + line);
}

void call_as_told(CORBA::ORB_ptr orb, const std::string& ior) {
    Client client(orb, ior);
    client.settle();
    obey_lines([&](const std::string& line) { obey(client, line); });
}

}  // namespace

int main(int argc, char** argv) {
    return run(argc, argv, [](CORBA::ORB_ptr orb, const std::string& side, const Options& options) {
        if (side == "server")
            serve(orb, new CubitServant);
        else
            call_as_told(orb, options.text("--at"));
    });
}
