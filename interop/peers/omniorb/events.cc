// A client of an Event Service: a supplier and a consumer of each kind at a channel, and one that is killed.
#include "notify_clients.hh"
#include "roles.hh"
#include <cstring>

using CORBA::Any;
using CORBA::Boolean;
using std::string;

namespace {

namespace Channels = CosEventChannelAdmin;
typedef std::shared_ptr<Arrivals> Log;

Any any_of(CORBA::Long number) {
    Any any;
    any <<= number;
    return any;
}

/** An object that outlives this function in the adapter. */
template <class Interface, class Servant> typename Interface::_ptr_type object_of(Servant* servant) {
    PortableServer::Servant_var<Servant> owned = servant;
    return servant->_this();
}

/** A consumer that is pushed to; it keeps whole Anys, too. */
class PushedTo : public POA_CosEventComm::PushConsumer {
public:
    PushedTo(const Log& log, const std::shared_ptr<std::vector<Any>>& anys) : log_(log), anys_(anys) {}
    void push(const Any& data) override {
        anys_->push_back(data);
        log_->received(number_in(data));
    }
    void disconnect_push_consumer() override { log_->ended(); }

private:
    Log log_;
    /** Read once the log has as many, and pushed to by one thread at a time. */
    std::shared_ptr<std::vector<Any>> anys_;
};

class Puller : public POA_CosEventComm::PullConsumer {
public:
    explicit Puller(const Log& log) : log_(log) {}
    void disconnect_pull_consumer() override { log_->ended(); }

private:
    Log log_;
};

class Pusher : public POA_CosEventComm::PushSupplier {
public:
    explicit Pusher(const Log& log) : log_(log) {}
    void disconnect_push_supplier() override { log_->ended(); }

private:
    Log log_;
};

class Source : public POA_CosEventComm::PullSupplier {
public:
    explicit Source(const Log& log) : log_(log) {}
    Any* pull() override { throw CORBA::NO_IMPLEMENT(); }
    Any* try_pull(Boolean& has_event) override {
        std::unique_ptr<StructuredEvent> event = log_->next();
        has_event = event != nullptr;
        return new Any(any_of(event ? number_in(*event) : 0));
    }
    void disconnect_pull_supplier() override { log_->ended(); }

private:
    Log log_;
};

/** A client of each kind at one channel, connected; it is disconnected at the end of its case. */
struct EventClients {
    Log arrivals = std::make_shared<Arrivals>();
    std::shared_ptr<std::vector<Any>> anys = std::make_shared<std::vector<Any>>();
    CosEventComm::PushConsumer_var consumer = object_of<CosEventComm::PushConsumer>(new PushedTo(arrivals, anys));
    CosEventComm::PushSupplier_var supplier = object_of<CosEventComm::PushSupplier>(new Pusher(arrivals));
    Channels::ProxyPushSupplier_var to_consumer;
    Channels::ProxyPullSupplier_var pulls;
    Channels::ProxyPushConsumer_var pushes;
    Channels::ProxyPullConsumer_var from_supplier;

    explicit EventClients(Channels::EventChannel_ptr channel) {
        Channels::ConsumerAdmin_var consumers = channel->for_consumers();
        Channels::SupplierAdmin_var suppliers = channel->for_suppliers();
        to_consumer = consumers->obtain_push_supplier();
        to_consumer->connect_push_consumer(consumer);
        pulls = consumers->obtain_pull_supplier();
        CosEventComm::PullConsumer_var puller = object_of<CosEventComm::PullConsumer>(new Puller(arrivals));
        pulls->connect_pull_consumer(puller);
        pushes = suppliers->obtain_push_consumer();
        pushes->connect_push_supplier(supplier);
        from_supplier = suppliers->obtain_pull_consumer();
        CosEventComm::PullSupplier_var source = object_of<CosEventComm::PullSupplier>(new Source(arrivals));
        from_supplier->connect_pull_supplier(source);
    }

    /** By the supplier that pushes, or the one that is pulled from. */
    void supply(bool by_push, CORBA::Long number) {
        if (by_push) {
            pushes->push(any_of(number));
        } else {
            arrivals->supply(event_of(number));
        }
    }

    Numbers pull(std::size_t count) {
        Numbers numbers;
        while (numbers.size() < count) {
            CORBA::Any_var data = pulls->pull();
            numbers.push_back(number_in(data));
        }
        return numbers;
    }

    void pass(CORBA::Long number, const Numbers& all) {
        supply(true, number);
        hold(arrivals->first(all.size()) == all, "other events are pushed");
        hold(pull(1) == Numbers({number}), "another event is pulled");
    }

    void end() {
        to_consumer->disconnect_push_supplier();
        pulls->disconnect_pull_supplier();
        pushes->disconnect_push_consumer();
        from_supplier->disconnect_pull_consumer();
    }
};

void crossing(Channels::EventChannel_ptr channel) {
    for (bool pushes : {true, false}) {
        for (bool pushed : {true, false}) {
            string row = string(pushes ? "pushed" : "pulled") + ", " + (pushed ? "pushed" : "pulled");
            test(row.c_str(), [&] {
                EventClients clients(channel);
                for (CORBA::Long number = 1; number <= 3; ++number) clients.supply(pushes, number);
                Numbers got = pushed ? clients.arrivals->first(3) : clients.pull(3);
                hold(got == Numbers({1, 2, 3}), "others than 1, 2, 3");
                clients.end();
            });
        }
    }
}

/** Whether an Any has that text. */
bool has_text(const Any& any, const char* text) {
    const char* got = nullptr;
    return (any >>= got) && !std::strcmp(got, text);
}

void payloads(Channels::EventChannel_ptr channel) {
    EventClients clients(channel);
    Any text, whole, inner;
    text <<= "gr\xfcn";
    whole <<= event_of(7);
    inner <<= any_of(5);
    for (const Any& one : {text, whole, inner}) clients.pushes->push(one);
    clients.arrivals->first(3);
    for (bool pushed : {true, false}) {
        CORBA::Any_var got[3];
        for (int at = 0; at < 3; ++at) got[at] = pushed ? new Any((*clients.anys)[at]) : clients.pulls->pull();
        hold(has_text(got[0], "gr\xfcn"), "another text");
        hold(number_in(got[1]) == 7, "another event in an Any");
        const Any* within = nullptr;
        hold((got[2].in() >>= within) && number_in(*within) == 5, "another Any in an Any");
    }
    clients.end();
}

void ends(Channels::EventChannel_ptr channel) {
    test("a second connection is refused", [&] {
        EventClients clients(channel);
        raises<Channels::AlreadyConnected>("AlreadyConnected", [&] { clients.to_consumer->connect_push_consumer(clients.consumer); });
        raises<Channels::AlreadyConnected>("AlreadyConnected", [&] { clients.pushes->connect_push_supplier(clients.supplier); });
        clients.end();
    });
    test("there is nothing to pull", [&] {
        EventClients clients(channel);
        Boolean has_event = true;
        CORBA::Any_var nothing = clients.pulls->try_pull(has_event);
        hold(!has_event, "there is an event");
        clients.end();
    });
    test("all are told of the end", [&] {
        EventClients clients(channel);
        clients.end();
        clients.arrivals->is_told(4);
    });
    test("a push behind the end is refused", [&] {
        EventClients clients(channel);
        clients.end();
        try {
            clients.pushes->push(any_of(1));
        } catch (const CosEventComm::Disconnected&) {
            return;
        } catch (const CORBA::OBJECT_NOT_EXIST&) {
            return;
        }
        throw Wrong{"it is taken"};
    });
}

Channels::EventChannel_ptr channel_at(CORBA::ORB_ptr orb, const char* reference) {
    activate(orb);
    CORBA::Object_var object = orb->string_to_object(reference);
    return Channels::EventChannel::_narrow(object);
}

}  // namespace

int events(CORBA::ORB_ptr orb, const char* reference) {
    Channels::EventChannel_var channel = channel_at(orb, reference);
    crossing(channel);
    test("Anys of each kind", [&] { payloads(channel); });
    ends(channel);
    return done() ? 0 : 1;
}

int survive_events(CORBA::ORB_ptr orb, const char* url, bool kept) {
    Channels::EventChannel_var channel = channel_at(orb, url);
    EventClients at(channel);
    string prefix = kept ? "kept, " : "lost, ";
    test((prefix + "before the kill").c_str(), [&] { at.pass(1, {1}); });
    next_step();
    test((prefix + "killed, suppliers that push").c_str(), [&] { is_away([&] { at.supply(true, 2); }); });
    test((prefix + "killed, consumers that pull").c_str(), [&] { is_away([&] { at.pull(1); }); });
    next_step();
    if (kept) {
        test("kept, all go on", [&] { at.pass(3, {1, 3}); });
        return done() ? 0 : 1;
    }
    test("lost, suppliers that push", [&] {
        raises<CORBA::OBJECT_NOT_EXIST>("OBJECT_NOT_EXIST", [&] { at.supply(true, 4); });
    });
    test("lost, consumers that pull", [&] { raises<CORBA::OBJECT_NOT_EXIST>("OBJECT_NOT_EXIST", [&] { at.pull(1); }); });
    test("lost, consumers that ask", [&] { hold(at.to_consumer->_non_existent(), "it exists"); });
    test("lost, all connect again", [&] {
        Channels::EventChannel_var again = channel_at(orb, url);
        EventClients(again).pass(5, {5});
    });
    return done() ? 0 : 1;
}
