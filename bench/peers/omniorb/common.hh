// What omniORB's programs have in common: the servant of cubit.idl, the server, the clock, answers to the harness.

#ifndef COMMON_HH
#define COMMON_HH

#include <omniORB4/CORBA.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <sched.h>
#include <stdexcept>
#include <string>
#include <vector>

#if __has_include("cubit.hh")
#include "cubit.hh"

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
#endif

using Clock = std::chrono::steady_clock;

inline std::uint64_t nanoseconds_since(Clock::time_point began) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - began).count();
}

// What a client answers (src/protocol.rs).
inline void answer(const std::vector<std::uint64_t>& samples) {
    std::cout << "samples " << samples.size() << '\n';
    std::cout.write(reinterpret_cast<const char*>(samples.data()),
                    samples.size() * sizeof(std::uint64_t));
    std::cout.flush();
}

// Acts, and says its failure; returns whether there was none.
template <class Act>
bool succeeds(Act act) {
    try {
        act();
        return true;
    } catch (const CORBA::Exception& exception) {
        std::cout << "error " << exception._name() << std::endl;
    } catch (const std::exception& exception) {
        std::cout << "error " << exception.what() << std::endl;
    }
    return false;
}

// Obeys each line of the input, until it ends.
template <class Obey>
void obey_lines(Obey obey) {
    std::cout << "ready" << std::endl;
    for (std::string line; std::getline(std::cin, line);) succeeds([&] { obey(line); });
}

// Without a path, it chooses one in its folder for Unix sockets.
inline const char* endpoint_of(const std::string& link) {
    return link == "unix" ? "giop:unix:" : "giop:tcp:127.0.0.1:";
}

// Serves until the input ends.
template <class Servant>
void serve(CORBA::ORB_ptr orb, Servant* its) {
    CORBA::Object_var object = orb->resolve_initial_references("RootPOA");
    PortableServer::POA_var poa = PortableServer::POA::_narrow(object);
    PortableServer::Servant_var<Servant> servant(its);
    PortableServer::ObjectId_var id = poa->activate_object(servant);
    CORBA::Object_var served = poa->id_to_reference(id);
    PortableServer::POAManager_var manager = poa->the_POAManager();
    manager->activate();
    CORBA::String_var ior = orb->object_to_string(served);
    std::cout << "ready " << ior << std::endl;
    for (std::string line; std::getline(std::cin, line);) {}
}

inline void pin(const char* processor) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(std::atoi(processor), &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0) throw std::runtime_error("cannot pin");
}

// Options of a program, each with a value, in their order.
struct Options : std::vector<std::pair<std::string, std::string>> {
    // Returns the value of an option; an empty text without it.
    std::string text(const std::string& name) const {
        auto found = std::find_if(begin(), end(), [&](const auto& one) { return one.first == name; });
        return found == end() ? "" : found->second;
    }
};

// Runs one side of a program, and says its failure.
template <class Run>
int run(int argc, char** argv, Run side) {
    return succeeds([&] {
        Options options;
        for (int i = 2; i + 1 < argc; i += 2) options.emplace_back(argv[i], argv[i + 1]);
        if (auto processor = options.text("--pin"); !processor.empty()) pin(processor.c_str());
        const char* endpoints[][2] = {{"endPoint", endpoint_of(options.text("--link"))}, {0, 0}};
        int none = 0;
        CORBA::ORB_var orb = CORBA::ORB_init(none, nullptr, "omniORB4", endpoints);
        side(orb, argc > 1 ? argv[1] : "", options);
        orb->destroy();
    }) ? 0 : 1;
}

#endif
