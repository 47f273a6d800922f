// Bidirectional GIOP: a server that calls its clients back, and a client with an object for it.
#include "callbacks.hh"
#include "cases.hh"
#include "roles.hh"
#include <atomic>
#include <chrono>
#include <iostream>
#include <thread>

namespace {

class Subject : public POA_callbacks::Subject {
public:
    CORBA::Long tell(callbacks::Listener_ptr whom, CORBA::Long number) override { return whom->told(number); }

    void publish(callbacks::Listener_ptr whom, CORBA::Long count) override {
        callbacks::Listener_var kept = callbacks::Listener::_duplicate(whom);
        std::thread([kept, count]() mutable {
            try {
                for (CORBA::Long number = 1; number <= count; ++number) kept->told(number);
            } catch (const CORBA::SystemException& exception) {
                std::cerr << "the listener cannot be told: " << exception_words(exception) << std::endl;
            }
        }).detach();
    }
};

class Listener : public POA_callbacks::Listener {
public:
    CORBA::Long told(CORBA::Long number) override {
        last = number;
        ++count;
        return number + 1;
    }

    std::atomic<CORBA::Long> last{0}, count{0};
};

PortableServer::POA_ptr adapter(CORBA::ORB_ptr orb, bool both) {
    CORBA::Object_var root = orb->resolve_initial_references("RootPOA");
    PortableServer::POA_var poa = PortableServer::POA::_narrow(root);
    PortableServer::POAManager_var manager = poa->the_POAManager();
    CORBA::PolicyList policies;
    if (both) {
        CORBA::Any value;
        value <<= BiDirPolicy::BOTH;
        policies.length(1);
        policies[0] = orb->create_policy(BiDirPolicy::BIDIRECTIONAL_POLICY_TYPE, value);
    }
    PortableServer::POA_var made = poa->create_POA("callbacks", manager, policies);
    manager->activate();
    return made._retn();
}

void until_input_ends() {
    while (std::cin.get() != EOF) {
    }
}

} // namespace

int notify(CORBA::ORB_ptr orb) {
    PortableServer::POA_var poa = adapter(orb, true);
    PortableServer::Servant_var<Subject> subject = new Subject;
    PortableServer::ObjectId_var id = poa->activate_object(subject);
    CORBA::Object_var object = poa->id_to_reference(id);
    CORBA::String_var text = orb->object_to_string(object);
    std::cout << "subject " << text << "\nready" << std::endl;
    until_input_ends();
    return 0;
}

int listen(CORBA::ORB_ptr orb, const char* target, bool both) {
    PortableServer::POA_var poa = adapter(orb, both);
    PortableServer::Servant_var<Listener> listener = new Listener;
    PortableServer::ObjectId_var id = poa->activate_object(listener);
    CORBA::Object_var there = orb->string_to_object(target);
    callbacks::Subject_var subject = callbacks::Subject::_narrow(there);
    CORBA::Object_var here = poa->id_to_reference(id);
    callbacks::Listener_var whom = callbacks::Listener::_narrow(here);
    test("callbacks within a call", [&] {
        for (CORBA::Long number = 7; number < 10; ++number) {
            hold(subject->tell(whom, number) == number + 1, "another answer");
            hold(listener->last == number, "told another number");
        }
    });
    test("callbacks outside of a call", [&] {
        listener->count = 0;
        subject->publish(whom, 50);
        for (int tries = 0; tries < 2000 && listener->count < 50; ++tries)
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        hold(listener->count == 50 && listener->last == 50, "not told 50 times");
    });
    bool is_well = done();
    until_input_ends();
    return is_well ? 0 : 1;
}
