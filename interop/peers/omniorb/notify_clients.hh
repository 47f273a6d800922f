// Suppliers and consumers at a notification channel: of Anys, structured events and sequences, pushed and pulled.
#ifndef NOTIFY_CLIENTS_HH
#define NOTIFY_CLIENTS_HH

#include "CosNotifyChannelAdmin.hh"
#include "cases.hh"
#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

namespace Admin = CosNotifyChannelAdmin;
namespace Comm = CosNotifyComm;
using CosNotification::EventTypeSeq;
using CosNotification::StructuredEvent;
typedef std::vector<CORBA::Long> Numbers;

/** An event with that number in its body, of which all constraints in `constraints.txt` speak. */
StructuredEvent event_of(CORBA::Long number, bool has_priority = true);
CORBA::Long number_in(const StructuredEvent& event);
/** Of a number, or of a whole event. */
CORBA::Long number_in(const CORBA::Any& data);

/** Lets the root adapter serve. */
void activate(CORBA::ORB_ptr orb);
/** The call fails as nobody listens. */
void is_away(const std::function<void()>& call);

/** What arrives at a client, from any thread. */
class Arrivals {
public:
    void received(CORBA::Long number) { change([&] { numbers_.push_back(number); }); }
    void changed(const EventTypeSeq& added, const EventTypeSeq& removed);
    void ended() { change([&] { ++ends_; }); }
    void supply(const StructuredEvent& event) { change([&] { supplies_.push_back(event); }); }

    /** The first ones, as soon as there are so many. */
    Numbers first(std::size_t count);
    /** Waits until it has been told of the end, of so many connections. */
    void is_told(int connections = 1);
    /** Waits until that change of types has come. */
    void hears(const std::string& type);
    /** Takes the next event that is pulled, if there is one. */
    std::unique_ptr<StructuredEvent> next();

private:
    template <class Change> void change(Change body) {
        std::lock_guard<std::mutex> lock(mutex_);
        body();
        changed_.notify_all();
    }
    template <class Holds> void wait(const char* what, Holds holds) {
        std::unique_lock<std::mutex> lock(mutex_);
        if (!changed_.wait_for(lock, std::chrono::seconds(30), holds)) throw Wrong{what};
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    Numbers numbers_;
    std::vector<std::string> types_;
    std::deque<StructuredEvent> supplies_;
    int ends_ = 0;
};

/** A consumer that is connected. */
struct Consumer {
    std::shared_ptr<Arrivals> arrivals = std::make_shared<Arrivals>();
    Admin::ProxySupplier_var proxy;
    Admin::ProxyPullSupplier_var anys;
    Admin::StructuredProxyPullSupplier_var events;
    Admin::SequenceProxyPullSupplier_var sequences;
    bool is_pushed_to;

    Consumer(Admin::ConsumerAdmin_ptr admin, Admin::ClientType form, bool pushed);
    /** The numbers of the next events; of one that is pushed to, of the first ones. */
    Numbers take(std::size_t count);
    /** Whether there is an event at once. */
    bool poll();

private:
    void push_to(Admin::ClientType form);
    void pull(Admin::ClientType form);
};

/** A supplier that is connected. */
struct Supplier {
    std::shared_ptr<Arrivals> arrivals = std::make_shared<Arrivals>();
    Admin::ProxyConsumer_var proxy;
    Admin::ProxyPushConsumer_var anys;
    Admin::StructuredProxyPushConsumer_var events;
    Admin::SequenceProxyPushConsumer_var sequences;

    Supplier(Admin::SupplierAdmin_ptr admin, Admin::ClientType form, bool pushes);
    void supply(const StructuredEvent& event);

private:
    void push(Admin::ClientType form);
    void be_pulled_from(Admin::ClientType form);
};

#endif
