// omniORB's side of the benchmark: a server and a client of cubit.idl that talk the harness's
// protocol (src/protocol.rs) over their standard input and output.
//
//   peer server [--pin CPU] [--link unix]
//   peer client [--pin CPU] --at IOR

#include "cubit.hh"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <pthread.h>
#include <sched.h>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

class CubitServant : public POA_bench::Cubit {
public:
    void cube_void() override {}
    CORBA::Octet cube_octet(CORBA::Octet o) override { return o * o * o; }
    CORBA::Short cube_short(CORBA::Short s) override { return static_cast<CORBA::Short>(s * s * s); }
    CORBA::Long cube_long(CORBA::Long l) override { return cube(l); }
    bench::Cube cube_struct(const bench::Cube& values) override {
        bench::Cube cubes;
        cubes.o = cube_octet(values.o);
        cubes.l = cube(values.l);
        cubes.s = cube_short(values.s);
        return cubes;
    }
    bench::OctetSeq* echo_octets(const bench::OctetSeq& values) override {
        return new bench::OctetSeq(values);
    }
    bench::ShortSeq* echo_shorts(const bench::ShortSeq& values) override {
        return new bench::ShortSeq(values);
    }
    bench::LongSeq* echo_longs(const bench::LongSeq& values) override {
        return new bench::LongSeq(values);
    }
    bench::CubeSeq* echo_cubes(const bench::CubeSeq& values) override {
        return new bench::CubeSeq(values);
    }
    bench::BinStructSeq* echo_bin_structs(const bench::BinStructSeq& values) override {
        return new bench::BinStructSeq(values);
    }
    CORBA::ULongLong echo_64(CORBA::ULongLong value) override { return value; }
    void take_octets(const bench::OctetSeq&) override {}
    void take_longs(const bench::LongSeq&) override {}
    void take_bin_structs(const bench::BinStructSeq&) override {}
    void ping() override { ++pings_; }
    void throw_octets(const bench::OctetSeq&) override { ++pings_; }
    void throw_bin_structs(const bench::BinStructSeq&) override { ++pings_; }
    CORBA::ULongLong pings() override { return pings_; }
    // The harness ends this program by closing its input.
    void shutdown() override {}

private:
    static CORBA::Long cube(CORBA::Long l) {
        std::int64_t wide = l;
        wide = wide * wide * wide;
        if (wide != static_cast<std::int32_t>(wide)) throw bench::TooLarge(l);
        return static_cast<CORBA::Long>(wide);
    }

    std::atomic<CORBA::ULongLong> pings_{0};
};

using Call = std::function<void()>;
using Clock = std::chrono::steady_clock;

std::uint64_t nanoseconds_since(Clock::time_point began) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - began).count();
}

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
        structs_.length(units);
        for (CORBA::ULong i = 0; i < units; ++i) {
            octets_[i] = 0x5a;
            longs_[i] = 123456789;
            structs_[i] = bench::BinStruct{1234, 'x', 123456789, 0x5a, 2.5};
        }
        if (name == "cube_void") return [this] { cubit_->cube_void(); };
        if (name == "cube_long") return [this] { sink_ = cubit_->cube_long(21); };
        if (name == "cube_struct") return [this] { sink_ = cubit_->cube_struct({5, 21, 7}).l; };
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

void answer(const std::vector<std::uint64_t>& samples) {
    std::cout << "samples " << samples.size() << '\n';
    std::cout.write(reinterpret_cast<const char*>(samples.data()),
                    samples.size() * sizeof(std::uint64_t));
    std::cout.flush();
}

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
    std::cout << "ready" << std::endl;
    for (std::string line; std::getline(std::cin, line);) {
        try {
            obey(client, line);
        } catch (const CORBA::Exception& exception) {
            std::cout << "error " << exception._name() << std::endl;
        } catch (const std::exception& exception) {
            std::cout << "error " << exception.what() << std::endl;
        }
    }
}

void serve(CORBA::ORB_ptr orb) {
    CORBA::Object_var object = orb->resolve_initial_references("RootPOA");
    PortableServer::POA_var poa = PortableServer::POA::_narrow(object);
    PortableServer::Servant_var<CubitServant> servant(new CubitServant);
    PortableServer::ObjectId_var id = poa->activate_object(servant);
    CORBA::Object_var cubit = poa->id_to_reference(id);
    PortableServer::POAManager_var manager = poa->the_POAManager();
    manager->activate();
    CORBA::String_var ior = orb->object_to_string(cubit);
    std::cout << "ready " << ior << std::endl;
    for (std::string line; std::getline(std::cin, line);) {}
}

void pin(const char* processor) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(std::atoi(processor), &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0) throw std::runtime_error("cannot pin");
}

}  // namespace

int main(int argc, char** argv) {
    try {
        std::string side = argc > 1 ? argv[1] : "", at, link;
        for (int i = 2; i + 1 < argc; i += 2) {
            std::string option = argv[i];
            if (option == "--pin") pin(argv[i + 1]);
            if (option == "--at") at = argv[i + 1];
            if (option == "--link") link = argv[i + 1];
        }
        // Without a path, it chooses one in its folder for Unix sockets.
        const char* endpoint = link == "unix" ? "giop:unix:" : "giop:tcp:127.0.0.1:";
        const char* options[][2] = {{"endPoint", endpoint}, {0, 0}};
        int none = 0;
        CORBA::ORB_var orb = CORBA::ORB_init(none, nullptr, "omniORB4", options);
        if (side == "server")
            serve(orb);
        else
            call_as_told(orb, at);
        orb->destroy();
        return 0;
    } catch (const CORBA::Exception& exception) {
        std::cout << "error " << exception._name() << std::endl;
    } catch (const std::exception& exception) {
        std::cout << "error " << exception.what() << std::endl;
    }
    return 1;
}
