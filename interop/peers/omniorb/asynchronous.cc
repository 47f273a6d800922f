// Asynchronous calls: a server of `ami::Clerk` with a reply handler, and a client of one. What the server's handler is told is
// a line `told WHAT`.
#include "cases.hh"
#include "handler.hh"
#include "roles.hh"
#include <chrono>
#include <iostream>
#include <sstream>

using std::string;

namespace {

class Clerk : public POA_ami::Clerk {
public:
    CORBA::Long rate() override { return rate_; }
    void rate(CORBA::Long value) override { rate_ = value; }
    CORBA::Long add(CORBA::Long a, CORBA::Long b) override { return a + b; }

    char* copies(const char* text, CORBA::Long& number, CORBA::Boolean& many) override {
        CORBA::Long times = number;
        if (times == 0) throw ami::Refused((string("no copies of ") + text).c_str());
        number = 0;
        many = times > 1;
        string all;
        while (times-- > 0) all += text;
        return CORBA::string_dup(all.c_str());
    }

private:
    CORBA::Long rate_ = 0;
};

} // namespace

string Handler::next() {
    std::unique_lock<std::mutex> lock(mutex_);
    if (!changed_.wait_for(lock, std::chrono::seconds(20), [&] { return !told_.empty(); }))
        return "nothing";
    string what = told_.front();
    told_.pop_front();
    return what;
}

bool Handler::is_quiet() {
    std::lock_guard<std::mutex> lock(mutex_);
    return told_.empty();
}

void Handler::get_rate(CORBA::Long value) { tell("get_rate " + std::to_string(value)); }
void Handler::get_rate_excep(Messaging::ExceptionHolder* holder) { excep("get_rate", holder); }
void Handler::set_rate() { tell("set_rate"); }
void Handler::set_rate_excep(Messaging::ExceptionHolder* holder) { excep("set_rate", holder); }
void Handler::add(CORBA::Long sum) { tell("add " + std::to_string(sum)); }
void Handler::add_excep(Messaging::ExceptionHolder* holder) { excep("add", holder); }

void Handler::copies(const char* text, CORBA::Long number, CORBA::Boolean many) {
    std::ostringstream out;
    out << "copies " << text << ' ' << number << ' ' << (many ? "true" : "false");
    tell(out.str());
}

void Handler::copies_excep(Messaging::ExceptionHolder* holder) { excep("copies", holder); }

void Handler::excep(const char* what, Messaging::ExceptionHolder* holder) {
    try {
        holder->raise_exception();
        tell(string(what) + " raised nothing");
    } catch (const ami::Refused& refused) {
        tell(string(what) + " Refused " + string(refused.why));
    } catch (const CORBA::SystemException& exception) {
        tell(string(what) + ' ' + exception._name());
    }
}

void Handler::tell(const string& what) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (prints_) {
        std::cout << "told " << what << std::endl;
        return;
    }
    told_.push_back(what);
    changed_.notify_all();
}

int answer(CORBA::ORB_ptr orb) {
    CORBA::Object_var root = orb->resolve_initial_references("RootPOA");
    PortableServer::POA_var poa = PortableServer::POA::_narrow(root);
    PortableServer::Servant_var<Clerk> clerk = new Clerk;
    PortableServer::Servant_var<Handler> handler = new Handler(true);
    ami::Clerk_var clerk_object = clerk->_this();
    ami::AMI_ClerkHandler_var handler_object = handler->_this();
    CORBA::String_var clerk_text = orb->object_to_string(clerk_object);
    CORBA::String_var handler_text = orb->object_to_string(handler_object);
    PortableServer::POAManager_var manager = poa->the_POAManager();
    manager->activate();
    std::cout << "clerk " << clerk_text << "\nhandler " << handler_text << "\nready" << std::endl;
    while (std::cin.get() != EOF) {
    }
    return 0;
}

int send(CORBA::ORB_ptr orb, const char* target, const char* theirs) {
    CORBA::Object_var root = orb->resolve_initial_references("RootPOA");
    PortableServer::POA_var poa = PortableServer::POA::_narrow(root);
    PortableServer::POAManager_var manager = poa->the_POAManager();
    manager->activate();
    CORBA::Object_var object = orb->string_to_object(target);
    ami::Clerk_var clerk = ami::Clerk::_narrow(object);
    PortableServer::Servant_var<Handler> handler = new Handler(false);
    ami::AMI_ClerkHandler_var own = handler->_this();
    test("polled", [&] {
        ami::AMI_ClerkPoller_var first = clerk->sendp_add(1, 2), second = clerk->sendp_add(3, 4);
        CORBA::Long sum = 0;
        second->add(20000, sum);
        hold(sum == 7, "not 7");
        first->add(20000, sum);
        hold(sum == 3, "not 3");
    });
    test("results, to the caller's handler", [&] {
        clerk->sendc_add(own, 40, 2);
        same(handler->next(), "add 42");
        clerk->sendc_copies(own, "ab", 3);
        same(handler->next(), "copies ababab 0 true");
    });
    test("an exception, to the caller's handler", [&] {
        clerk->sendc_copies(own, "ab", 0);
        same(handler->next(), "copies Refused no copies of ab");
    });
    test("attributes, to the caller's handler", [&] {
        clerk->sendc_set_rate(own, 7);
        same(handler->next(), "set_rate");
        clerk->sendc_get_rate(own);
        same(handler->next(), "get_rate 7");
    });
    // What becomes of these the other side sees.
    CORBA::Object_var there = orb->string_to_object(theirs);
    ami::AMI_ClerkHandler_var other = ami::AMI_ClerkHandler::_narrow(there);
    clerk->sendc_add(other, 4, 5);
    clerk->sendc_copies(other, "xy", 2);
    bool is_well = done();
    // Until the other side has seen them.
    while (std::cin.get() != EOF) {
    }
    return is_well ? 0 : 1;
}
