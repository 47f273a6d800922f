// Suppliers and consumers at a notification channel.
#include "notify_clients.hh"
#include <algorithm>

using CORBA::Any;
using CORBA::Boolean;

namespace {

CosNotification::Property property(const char* name, const Any& value) {
    CosNotification::Property made;
    made.name = CORBA::string_dup(name);
    made.value = value;
    return made;
}

template <class T> Any any(T value) {
    Any made;
    made <<= value;
    return made;
}

void append(CosNotification::PropertySeq& all, const char* name, const Any& value) {
    all.length(all.length() + 1);
    all[all.length() - 1] = property(name, value);
}

Any any_of_number(const StructuredEvent& event) {
    return any<CORBA::Long>(number_in(event));
}

typedef std::shared_ptr<Arrivals> Log;

template <class Skeleton> class OfConsumer : public Skeleton {
public:
    explicit OfConsumer(const Log& log) : log_(log) {}
    void offer_change(const EventTypeSeq& added, const EventTypeSeq& removed) override {
        log_->changed(added, removed);
    }

protected:
    Log log_;
};

template <class Skeleton> class OfSupplier : public Skeleton {
public:
    explicit OfSupplier(const Log& log) : log_(log) {}
    void subscription_change(const EventTypeSeq& added, const EventTypeSeq& removed) override {
        log_->changed(added, removed);
    }

protected:
    /** What is returned where there is no event; the standard leaves it open. */
    StructuredEvent next(Boolean& has_event) {
        std::unique_ptr<StructuredEvent> event = log_->next();
        has_event = event != nullptr;
        return event ? *event : event_of(0);
    }

    Log log_;
};

struct PushedAnys : OfConsumer<POA_CosNotifyComm::PushConsumer> {
    using OfConsumer::OfConsumer;
    void push(const Any& data) override { log_->received(number_in(data)); }
    void disconnect_push_consumer() override { log_->ended(); }
};

struct PushedEvents : OfConsumer<POA_CosNotifyComm::StructuredPushConsumer> {
    using OfConsumer::OfConsumer;
    void push_structured_event(const StructuredEvent& event) override { log_->received(number_in(event)); }
    void disconnect_structured_push_consumer() override { log_->ended(); }
};

struct PushedSequences : OfConsumer<POA_CosNotifyComm::SequencePushConsumer> {
    using OfConsumer::OfConsumer;
    void push_structured_events(const CosNotification::EventBatch& events) override {
        for (CORBA::ULong at = 0; at < events.length(); ++at) log_->received(number_in(events[at]));
    }
    void disconnect_sequence_push_consumer() override { log_->ended(); }
};

struct PullingAnys : OfConsumer<POA_CosNotifyComm::PullConsumer> {
    using OfConsumer::OfConsumer;
    void disconnect_pull_consumer() override { log_->ended(); }
};

struct PullingEvents : OfConsumer<POA_CosNotifyComm::StructuredPullConsumer> {
    using OfConsumer::OfConsumer;
    void disconnect_structured_pull_consumer() override { log_->ended(); }
};

struct PullingSequences : OfConsumer<POA_CosNotifyComm::SequencePullConsumer> {
    using OfConsumer::OfConsumer;
    void disconnect_sequence_pull_consumer() override { log_->ended(); }
};

struct PushingAnys : OfSupplier<POA_CosNotifyComm::PushSupplier> {
    using OfSupplier::OfSupplier;
    void disconnect_push_supplier() override { log_->ended(); }
};

struct PushingEvents : OfSupplier<POA_CosNotifyComm::StructuredPushSupplier> {
    using OfSupplier::OfSupplier;
    void disconnect_structured_push_supplier() override { log_->ended(); }
};

struct PushingSequences : OfSupplier<POA_CosNotifyComm::SequencePushSupplier> {
    using OfSupplier::OfSupplier;
    void disconnect_sequence_push_supplier() override { log_->ended(); }
};

struct PulledAnys : OfSupplier<POA_CosNotifyComm::PullSupplier> {
    using OfSupplier::OfSupplier;
    Any* pull() override { throw CORBA::NO_IMPLEMENT(); }
    Any* try_pull(Boolean& has_event) override { return new Any(any_of_number(next(has_event))); }
    void disconnect_pull_supplier() override { log_->ended(); }
};

struct PulledEvents : OfSupplier<POA_CosNotifyComm::StructuredPullSupplier> {
    using OfSupplier::OfSupplier;
    StructuredEvent* pull_structured_event() override { throw CORBA::NO_IMPLEMENT(); }
    StructuredEvent* try_pull_structured_event(Boolean& has_event) override {
        return new StructuredEvent(next(has_event));
    }
    void disconnect_structured_pull_supplier() override { log_->ended(); }
};

struct PulledSequences : OfSupplier<POA_CosNotifyComm::SequencePullSupplier> {
    using OfSupplier::OfSupplier;
    CosNotification::EventBatch* pull_structured_events(CORBA::Long) override { throw CORBA::NO_IMPLEMENT(); }
    CosNotification::EventBatch* try_pull_structured_events(CORBA::Long, Boolean& has_event) override {
        CosNotification::EventBatch_var batch = new CosNotification::EventBatch;
        StructuredEvent event = next(has_event);
        if (has_event) {
            batch->length(1);
            batch[0] = event;
        }
        return batch._retn();
    }
    void disconnect_sequence_pull_supplier() override { log_->ended(); }
};

/** Activates a servant, which its adapter keeps. */
template <class Servant> auto object(const Log& log) {
    PortableServer::Servant_var<Servant> servant = new Servant(log);
    return servant->_this();
}

}  // namespace

StructuredEvent event_of(CORBA::Long number, bool has_priority) {
    StructuredEvent event;
    event.header.fixed_header.event_type.domain_name = CORBA::string_dup("Telecom");
    event.header.fixed_header.event_type.type_name = CORBA::string_dup("NT_ALARM");
    event.header.fixed_header.event_name = CORBA::string_dup("link down");
    if (has_priority) append(event.header.variable_header, "Priority", any(static_cast<CORBA::Short>(number)));
    CosNotification::EventType type;
    type.domain_name = CORBA::string_dup("Plant");
    type.type_name = CORBA::string_dup("Pump");
    CosNotification::PropertySeq causes;
    append(causes, "power", any<CORBA::Long>(7));
    append(causes, "text", any("x"));
    CORBA::StringSeq words;
    words.length(2);
    words[0] = CORBA::string_dup("a");
    words[1] = CORBA::string_dup("b");
    Any of_type, of_causes, of_words;
    of_type <<= type;
    of_causes <<= causes;
    of_words <<= words;
    append(event.filterable_data, "severity", any<CORBA::Long>(number));
    append(event.filterable_data, "probability", any<CORBA::Double>(0.5));
    append(event.filterable_data, "place", any("north/pump"));
    append(event.filterable_data, "cleared", any(Any::from_boolean(false)));
    append(event.filterable_data, "octets", any<CORBA::ULongLong>(5000000000ULL));
    append(event.filterable_data, "type", of_type);
    append(event.filterable_data, "causes", of_causes);
    append(event.filterable_data, "words", of_words);
    event.remainder_of_body <<= number;
    return event;
}

CORBA::Long number_in(const StructuredEvent& event) {
    CORBA::Long value = -1;
    event.remainder_of_body >>= value;
    return value;
}

CORBA::Long number_in(const Any& data) {
    const StructuredEvent* event = 0;
    if (data >>= event) return number_in(*event);
    CORBA::Long value = -1;
    data >>= value;
    return value;
}

void is_away(const std::function<void()>& call) {
    try {
        call();
    } catch (const CORBA::TRANSIENT&) {
        return;
    } catch (const CORBA::COMM_FAILURE&) {
        return;
    }
    throw Wrong{"the call succeeds"};
}

void activate(CORBA::ORB_ptr orb) {
    CORBA::Object_var root = orb->resolve_initial_references("RootPOA");
    PortableServer::POA_var poa = PortableServer::POA::_narrow(root);
    PortableServer::POAManager_var manager = poa->the_POAManager();
    manager->activate();
}

void Arrivals::changed(const EventTypeSeq& added, const EventTypeSeq& removed) {
    change([&] {
        for (CORBA::ULong at = 0; at < added.length(); ++at) {
            types_.push_back(std::string("+") + added[at].type_name.in());
        }
        for (CORBA::ULong at = 0; at < removed.length(); ++at) {
            types_.push_back(std::string("-") + removed[at].type_name.in());
        }
    });
}

Numbers Arrivals::first(std::size_t count) {
    wait("too few events have come", [&] { return numbers_.size() >= count; });
    return Numbers(numbers_.begin(), numbers_.begin() + count);
}

void Arrivals::is_told(int connections) {
    wait("it is not told of the end", [&] { return ends_ >= connections; });
}

void Arrivals::hears(const std::string& type) {
    wait("it does not hear", [&] { return std::find(types_.begin(), types_.end(), type) != types_.end(); });
}

std::unique_ptr<StructuredEvent> Arrivals::next() {
    std::lock_guard<std::mutex> lock(mutex_);
    if (supplies_.empty()) return nullptr;
    std::unique_ptr<StructuredEvent> event(new StructuredEvent(supplies_.front()));
    supplies_.pop_front();
    return event;
}

Consumer::Consumer(Admin::ConsumerAdmin_ptr admin, Admin::ClientType form, bool pushed) : is_pushed_to(pushed) {
    Admin::ProxyID id;
    if (pushed) {
        proxy = admin->obtain_notification_push_supplier(form, id);
        push_to(form);
    } else {
        proxy = admin->obtain_notification_pull_supplier(form, id);
        pull(form);
    }
}

void Consumer::push_to(Admin::ClientType form) {
    if (form == Admin::ANY_EVENT) {
        Admin::ProxyPushSupplier_var to = Admin::ProxyPushSupplier::_narrow(proxy);
        Comm::PushConsumer_var consumer = object<PushedAnys>(arrivals);
        to->connect_any_push_consumer(consumer);
    } else if (form == Admin::STRUCTURED_EVENT) {
        Admin::StructuredProxyPushSupplier_var to = Admin::StructuredProxyPushSupplier::_narrow(proxy);
        Comm::StructuredPushConsumer_var consumer = object<PushedEvents>(arrivals);
        to->connect_structured_push_consumer(consumer);
    } else {
        Admin::SequenceProxyPushSupplier_var to = Admin::SequenceProxyPushSupplier::_narrow(proxy);
        Comm::SequencePushConsumer_var consumer = object<PushedSequences>(arrivals);
        to->connect_sequence_push_consumer(consumer);
    }
}

void Consumer::pull(Admin::ClientType form) {
    if (form == Admin::ANY_EVENT) {
        anys = Admin::ProxyPullSupplier::_narrow(proxy);
        Comm::PullConsumer_var consumer = object<PullingAnys>(arrivals);
        anys->connect_any_pull_consumer(consumer);
    } else if (form == Admin::STRUCTURED_EVENT) {
        events = Admin::StructuredProxyPullSupplier::_narrow(proxy);
        Comm::StructuredPullConsumer_var consumer = object<PullingEvents>(arrivals);
        events->connect_structured_pull_consumer(consumer);
    } else {
        sequences = Admin::SequenceProxyPullSupplier::_narrow(proxy);
        Comm::SequencePullConsumer_var consumer = object<PullingSequences>(arrivals);
        sequences->connect_sequence_pull_consumer(consumer);
    }
}

Numbers Consumer::take(std::size_t count) {
    if (is_pushed_to) return arrivals->first(count);
    Numbers taken;
    while (taken.size() < count) {
        if (!CORBA::is_nil(anys)) {
            CORBA::Any_var data = anys->pull();
            taken.push_back(number_in(data.in()));
        } else if (!CORBA::is_nil(events)) {
            CosNotification::StructuredEvent_var event = events->pull_structured_event();
            taken.push_back(number_in(event.in()));
        } else {
            CORBA::Long most = static_cast<CORBA::Long>(count - taken.size());
            CosNotification::EventBatch_var batch = sequences->pull_structured_events(most);
            for (CORBA::ULong at = 0; at < batch->length(); ++at) taken.push_back(number_in(batch[at]));
        }
    }
    return taken;
}

bool Consumer::poll() {
    Boolean has_event = true;
    if (!CORBA::is_nil(anys)) {
        CORBA::Any_var data = anys->try_pull(has_event);
    } else if (!CORBA::is_nil(events)) {
        CosNotification::StructuredEvent_var event = events->try_pull_structured_event(has_event);
    } else {
        CosNotification::EventBatch_var batch = sequences->try_pull_structured_events(1, has_event);
    }
    return has_event;
}

Supplier::Supplier(Admin::SupplierAdmin_ptr admin, Admin::ClientType form, bool pushes) {
    Admin::ProxyID id;
    if (pushes) {
        proxy = admin->obtain_notification_push_consumer(form, id);
        push(form);
    } else {
        proxy = admin->obtain_notification_pull_consumer(form, id);
        be_pulled_from(form);
    }
}

void Supplier::push(Admin::ClientType form) {
    if (form == Admin::ANY_EVENT) {
        anys = Admin::ProxyPushConsumer::_narrow(proxy);
        Comm::PushSupplier_var supplier = object<PushingAnys>(arrivals);
        anys->connect_any_push_supplier(supplier);
    } else if (form == Admin::STRUCTURED_EVENT) {
        events = Admin::StructuredProxyPushConsumer::_narrow(proxy);
        Comm::StructuredPushSupplier_var supplier = object<PushingEvents>(arrivals);
        events->connect_structured_push_supplier(supplier);
    } else {
        sequences = Admin::SequenceProxyPushConsumer::_narrow(proxy);
        Comm::SequencePushSupplier_var supplier = object<PushingSequences>(arrivals);
        sequences->connect_sequence_push_supplier(supplier);
    }
}

void Supplier::be_pulled_from(Admin::ClientType form) {
    if (form == Admin::ANY_EVENT) {
        Admin::ProxyPullConsumer_var from = Admin::ProxyPullConsumer::_narrow(proxy);
        Comm::PullSupplier_var supplier = object<PulledAnys>(arrivals);
        from->connect_any_pull_supplier(supplier);
    } else if (form == Admin::STRUCTURED_EVENT) {
        Admin::StructuredProxyPullConsumer_var from = Admin::StructuredProxyPullConsumer::_narrow(proxy);
        Comm::StructuredPullSupplier_var supplier = object<PulledEvents>(arrivals);
        from->connect_structured_pull_supplier(supplier);
    } else {
        Admin::SequenceProxyPullConsumer_var from = Admin::SequenceProxyPullConsumer::_narrow(proxy);
        Comm::SequencePullSupplier_var supplier = object<PulledSequences>(arrivals);
        from->connect_sequence_pull_supplier(supplier);
    }
}

void Supplier::supply(const StructuredEvent& event) {
    if (!CORBA::is_nil(anys)) {
        anys->push(any_of_number(event));
    } else if (!CORBA::is_nil(events)) {
        events->push_structured_event(event);
    } else if (!CORBA::is_nil(sequences)) {
        CosNotification::EventBatch batch;
        batch.length(1);
        batch[0] = event;
        sequences->push_structured_events(batch);
    } else {
        arrivals->supply(event);
    }
}
