// A client of a clerk that answers later. What has a first argument of 100 or more the clerk holds: when three are held it answers
// the newest, and then another one each time that its rate is set. What is negative it never answers.
#include "cases.hh"
#include "handler.hh"
#include "roles.hh"
#include <chrono>
#include <set>
#include <thread>

namespace {

using std::string;

/** The answers to three calls come one at a time. Which of them the clerk has got last is not known. */
void one_at_a_time(ami::Clerk_ptr clerk, const std::function<CORBA::Long()>& next, const std::function<bool()>& is_quiet) {
    std::set<CORBA::Long> sums;
    for (int number = 0; number < 3; ++number) {
        if (number > 0) clerk->rate(0);
        sums.insert(next());
        hold(is_quiet(), "an answer that has not been given");
    }
    hold(sums == std::set<CORBA::Long>{101, 102, 103}, "other sums");
}

/** The call that is ready first. */
int first(const std::function<int()>& ready) {
    for (int tries = 0; tries < 2000; ++tries) {
        int number = ready();
        if (number >= 0) return number;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    throw Wrong{"no answer"};
}

void by_handler(ami::Clerk_ptr clerk, Handler& handler, ami::AMI_ClerkHandler_ptr own) {
    for (CORBA::Long a = 100; a < 103; ++a) clerk->sendc_add(own, a, 1);
    one_at_a_time(
        clerk,
        [&] {
            string told = handler.next();
            return told.compare(0, 4, "add ") ? -1 : std::stoi(told.substr(4));
        },
        [&] { return handler.is_quiet(); });
}

void by_poller(ami::Clerk_ptr clerk) {
    ami::AMI_ClerkPoller_var pollers[3];
    for (CORBA::Long number = 0; number < 3; ++number) pollers[number] = clerk->sendp_add(100 + number, 1);
    std::set<int> left = {0, 1, 2};
    auto ready = [&] {
        for (int number : left)
            if (pollers[number]->is_ready(0)) return number;
        return -1;
    };
    one_at_a_time(
        clerk,
        [&] {
            int number = first(ready);
            left.erase(number);
            CORBA::Long sum = 0;
            pollers[number]->add(0, sum);
            return sum;
        },
        [&] { return ready() < 0; });
}

CORBA::Request_ptr request(ami::Clerk_ptr clerk, CORBA::Long a) {
    CORBA::Request_var made = clerk->_request("add");
    made->add_in_arg() <<= a;
    made->add_in_arg() <<= CORBA::Long(1);
    made->set_return_type(CORBA::_tc_long);
    return made._retn();
}

CORBA::Long sum_of(CORBA::Request_ptr answered) {
    CORBA::Long sum = 0;
    hold(answered->return_value() >>= sum, "no long");
    return sum;
}

// `get_next_response` of omniORB 4.2 has hung where another request than the first was answered, so each is asked by itself.
void by_requests(ami::Clerk_ptr clerk) {
    CORBA::Request_var requests[3];
    for (CORBA::Long number = 0; number < 3; ++number) {
        requests[number] = request(clerk, 100 + number);
        requests[number]->send_deferred();
    }
    std::set<int> left = {0, 1, 2};
    auto ready = [&] {
        for (int number : left)
            if (requests[number]->poll_response()) return number;
        return -1;
    };
    one_at_a_time(
        clerk,
        [&] {
            int number = first(ready);
            left.erase(number);
            requests[number]->get_response();
            return sum_of(requests[number]);
        },
        [&] { return ready() < 0; });
}

} // namespace

int ask_later(CORBA::ORB_ptr orb, const char* target) {
    CORBA::Object_var root = orb->resolve_initial_references("RootPOA");
    PortableServer::POA_var poa = PortableServer::POA::_narrow(root);
    PortableServer::POAManager_var manager = poa->the_POAManager();
    manager->activate();
    CORBA::Object_var object = orb->string_to_object(target);
    ami::Clerk_var clerk = ami::Clerk::_narrow(object);
    PortableServer::Servant_var<Handler> handler = new Handler(false);
    ami::AMI_ClerkHandler_var own = handler->_this();
    test("a synchronous call", [&] {
        hold(clerk->add(1, 2) == 3, "not 3");
        raises<CORBA::NO_RESPONSE>("NO_RESPONSE", [&] { clerk->add(-1, 0); });
    });
    test("three calls with a handler, one at a time", [&] { by_handler(clerk, *handler, own); });
    test("three polled calls, one at a time", [&] { by_poller(clerk); });
    test("three deferred requests, one at a time", [&] { by_requests(clerk); });
    test("one deferred request", [&] {
        CORBA::Request_var one = request(clerk, 1);
        one->send_deferred();
        one->get_response();
        hold(sum_of(one) == 2, "not 2");
    });
    test("results and exceptions, to a handler", [&] {
        clerk->sendc_copies(own, "ab", 3);
        same(handler->next(), "copies ababab 0 true");
        clerk->sendc_copies(own, "ab", 0);
        same(handler->next(), "copies Refused no copies of ab");
        clerk->sendc_add(own, -1, 0);
        same(handler->next(), "add NO_RESPONSE");
    });
    return done() ? 0 : 1;
}
