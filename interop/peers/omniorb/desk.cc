// Reply handlers from implied IDL that is compiled as ordinary IDL: a handler that replies of the other side's calls are delivered
// to, with the desk that they come from, and a client that tells a handler what it likes.
#include "cases.hh"
#include "implied_messaging.hh"
#include "plain.hh"
#include "plain_handlers.hh"
#include "roles.hh"
#include <iostream>

using std::string;

namespace {

/** An exception as it travels: its repository id, then its members, in either byte order. */
class State : public virtual OBV_Implied_Messaging::ExceptionState {
public:
    State() {}

    /** In big-endian order. */
    State(bool is_system, const string& id) {
        is_system_exception(is_system);
        byte_order(false);
        put(id);
    }

    void put(CORBA::ULong number) {
        Implied_Messaging::MarshaledException& octets = marshaled_exception();
        CORBA::ULong at = (octets.length() + 3) / 4 * 4;
        octets.length(at + 4);
        for (int i = 0; i < 4; ++i) octets[at + i] = CORBA::Octet(number >> (24 - 8 * i));
    }

    void put(const string& text) {
        put(CORBA::ULong(text.size() + 1));
        Implied_Messaging::MarshaledException& octets = marshaled_exception();
        for (size_t i = 0; i <= text.size(); ++i) {
            octets.length(octets.length() + 1);
            octets[octets.length() - 1] = CORBA::Octet(text.c_str()[i]);
        }
    }

    string words() const {
        CORBA::ULong at = 0;
        string id = text(at);
        if (is_system_exception()) return id + ' ' + std::to_string(number(at));
        return id == "IDL:plain/Refused:1.0" ? "Refused " + text(at) : id;
    }

private:
    CORBA::ULong number(CORBA::ULong& at) const {
        const Implied_Messaging::MarshaledException& octets = marshaled_exception();
        at = (at + 3) / 4 * 4;
        if (at + 4 > octets.length()) throw CORBA::MARSHAL(0, CORBA::COMPLETED_NO);
        CORBA::ULong number = 0;
        for (int i = 0; i < 4; ++i) number = number << 8 | octets[at + (byte_order() ? 3 - i : i)];
        at += 4;
        return number;
    }

    string text(CORBA::ULong& at) const {
        CORBA::ULong length = number(at);
        const Implied_Messaging::MarshaledException& octets = marshaled_exception();
        if (length == 0 || length > octets.length() - at) throw CORBA::MARSHAL(0, CORBA::COMPLETED_NO);
        string text(reinterpret_cast<const char*>(octets.get_buffer()) + at, length - 1);
        at += length;
        return text;
    }
};

class Factory : public virtual CORBA::ValueFactoryBase {
public:
    CORBA::ValueBase* create_for_unmarshal() override { return new State; }
};

class Handler : public POA_plain::AMI_DeskHandler {
public:
    void get_rate(CORBA::Long value) override { tell("get_rate " + std::to_string(value)); }
    void get_rate_excep(Implied_Messaging::ExceptionState* holder) override { excep("get_rate", holder); }
    void set_rate() override { tell("set_rate"); }
    void set_rate_excep(Implied_Messaging::ExceptionState* holder) override { excep("set_rate", holder); }
    void half(CORBA::Long value) override { tell("half " + std::to_string(value)); }
    void half_excep(Implied_Messaging::ExceptionState* holder) override { excep("half", holder); }

private:
    void excep(const char* what, Implied_Messaging::ExceptionState* holder) {
        State* state = dynamic_cast<State*>(holder);
        tell(string(what) + ' ' + (state ? state->words() : "nil"));
    }

    void tell(const string& what) { std::cout << "told " + what + '\n' << std::flush; }
};

class Desk : public POA_plain::Desk {
public:
    CORBA::Long rate() override { return rate_; }
    void rate(CORBA::Long value) override { rate_ = value; }

    CORBA::Long half(CORBA::Long number) override {
        if (number < 0) throw CORBA::NO_PERMISSION(5, CORBA::COMPLETED_NO);
        if (number % 2) throw plain::Refused((std::to_string(number) + " is odd").c_str());
        return number / 2;
    }

private:
    CORBA::Long rate_ = 0;
};

} // namespace

int desk(CORBA::ORB_ptr orb) {
    CORBA::ValueFactory before = orb->register_value_factory("IDL:omg.org/Messaging/ExceptionHolder:1.0", new Factory);
    if (before) before->_remove_ref();
    CORBA::Object_var root = orb->resolve_initial_references("RootPOA");
    PortableServer::POA_var poa = PortableServer::POA::_narrow(root);
    PortableServer::Servant_var<Desk> desk = new Desk;
    PortableServer::Servant_var<Handler> handler = new Handler;
    plain::Desk_var desk_object = desk->_this();
    plain::AMI_DeskHandler_var handler_object = handler->_this();
    CORBA::String_var desk_text = orb->object_to_string(desk_object);
    CORBA::String_var handler_text = orb->object_to_string(handler_object);
    PortableServer::POAManager_var manager = poa->the_POAManager();
    manager->activate();
    std::cout << "desk " << desk_text << "\nhandler " << handler_text << "\nready" << std::endl;
    while (std::cin.get() != EOF) {
    }
    return 0;
}

int tell(CORBA::ORB_ptr orb, const char* target) {
    CORBA::Object_var object = orb->string_to_object(target);
    plain::AMI_DeskHandler_var handler = plain::AMI_DeskHandler::_narrow(object);
    test("results to a handler", [&] {
        handler->half(21);
        handler->set_rate();
        handler->get_rate(9);
    });
    test("exceptions to a handler", [&] {
        State* refused = new State(false, "IDL:plain/Refused:1.0");
        CORBA::ValueBase_var kept = refused;
        refused->put(string("7 is odd"));
        handler->half_excep(refused);
        State* system = new State(true, "IDL:omg.org/CORBA/NO_PERMISSION:1.0");
        CORBA::ValueBase_var kept_too = system;
        system->put(CORBA::ULong(5));
        system->put(CORBA::ULong(CORBA::COMPLETED_NO));
        handler->get_rate_excep(system);
    });
    return done() ? 0 : 1;
}
