// omniORB's server of the objects that src/demux calls: those of demux.idl, each with a servant of its own.
//
//   peer server [--pin CPU] --objects COUNT --kind call|throw [--operations 1|10|100]…

#include "common.hh"
#include "demux.hh"

#include <map>
#include <memory>

namespace {

std::atomic<CORBA::ULongLong> thrown{0};

#define CALL(number) void call_##number() override {}
#define THROW(number) void call_##number() override { ++thrown; }
#define TEN_OF(each, tens) \
    each(tens##0) each(tens##1) each(tens##2) each(tens##3) each(tens##4) \
    each(tens##5) each(tens##6) each(tens##7) each(tens##8) each(tens##9)
#define HUNDRED_OF(each) \
    TEN_OF(each, 0) TEN_OF(each, 1) TEN_OF(each, 2) TEN_OF(each, 3) TEN_OF(each, 4) \
    TEN_OF(each, 5) TEN_OF(each, 6) TEN_OF(each, 7) TEN_OF(each, 8) TEN_OF(each, 9)

struct One : POA_demux::One { CALL(00) };
struct Ten : POA_demux::Ten { TEN_OF(CALL, 0) };
struct Hundred : POA_demux::Hundred { HUNDRED_OF(CALL) };
struct ThrowOne : POA_demux::ThrowOne { THROW(00) };
struct ThrowTen : POA_demux::ThrowTen { TEN_OF(THROW, 0) };
struct ThrowHundred : POA_demux::ThrowHundred { HUNDRED_OF(THROW) };

PortableServer::Servant servant(CORBA::ULong operations, bool one_way) {
    switch (operations) {
    case 1: return one_way ? static_cast<PortableServer::Servant>(new ThrowOne) : new One;
    case 10: return one_way ? static_cast<PortableServer::Servant>(new ThrowTen) : new Ten;
    default: return one_way ? static_cast<PortableServer::Servant>(new ThrowHundred) : new Hundred;
    }
}

class Directory : public POA_demux::Directory {
public:
    // Makes objects with so many operations.
    void add(PortableServer::POA_ptr poa, CORBA::ULong operations, CORBA::ULong objects, bool one_way) {
        auto& group = groups_[operations];
        for (CORBA::ULong i = 0; i < objects; ++i) {
            PortableServer::ServantBase_var its = servant(operations, one_way);
            PortableServer::ObjectId_var id = poa->activate_object(its);
            group.push_back(poa->id_to_reference(id));
        }
    }

    demux::Objects* references(demux::Strategy, CORBA::ULong operations, CORBA::ULong count) override {
        auto& group = groups_[operations];
        CORBA::ULongLong all = group.size();
        demux::Objects_var found = new demux::Objects;
        found->length(count < all ? count : all);
        for (CORBA::ULongLong i = 1, most = found->length(); i <= most; ++i)
            found[i - 1] = CORBA::Object::_duplicate(group[i * all / most - 1]);
        return found._retn();
    }

    demux::Objects* part(CORBA::ULong, CORBA::ULong, CORBA::ULong) override { throw CORBA::NO_IMPLEMENT(); }
    CORBA::ULongLong thrown() override { return ::thrown; }

private:
    std::map<CORBA::ULong, std::vector<CORBA::Object_var>> groups_;
};

}  // namespace

int main(int argc, char** argv) {
    return run(argc, argv, [](CORBA::ORB_ptr orb, const std::string&, const Options& options) {
        CORBA::Object_var object = orb->resolve_initial_references("RootPOA");
        PortableServer::POA_var poa = PortableServer::POA::_narrow(object);
        auto objects = std::stoul(options.text("--objects"));
        Directory* directory = new Directory;
        for (const auto& [option, operations] : options)
            if (option == "--operations")
                directory->add(poa, std::stoul(operations), objects, options.text("--kind") == "throw");
        serve(orb, directory);
    });
}
