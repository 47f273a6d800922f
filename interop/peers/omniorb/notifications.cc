// A client of a Notification Service: suppliers and consumers of each form, filters and mapping filters, offers and subscriptions,
// the ends of connections, and a service that is killed.
#include "notify_clients.hh"
#include "roles.hh"
#include <fstream>
#include <thread>

using std::string;

namespace {

const Admin::ClientType FORMS[] = {Admin::ANY_EVENT, Admin::STRUCTURED_EVENT, Admin::SEQUENCE_EVENT};
const char* const NAMES[] = {"any", "structured", "sequence"};

Admin::EventChannel_ptr channel_with(Admin::EventChannelFactory_ptr factory, const CosNotification::QoSProperties& quality) {
    Admin::ChannelID id;
    return factory->create_channel(quality, CosNotification::AdminProperties(), id);
}

CosNotification::QoSProperties quality_of(const char* name, CORBA::Short value) {
    CosNotification::QoSProperties quality;
    quality.length(1);
    quality[0].name = CORBA::string_dup(name);
    quality[0].value <<= value;
    return quality;
}

/** A channel that is destroyed at the end of its case. */
struct Channel {
    Admin::EventChannel_var channel;
    Admin::ConsumerAdmin_var consumers;
    Admin::SupplierAdmin_var suppliers;

    explicit Channel(Admin::EventChannelFactory_ptr factory,
                     const CosNotification::QoSProperties& quality = CosNotification::QoSProperties())
        : channel(channel_with(factory, quality)), consumers(channel->default_consumer_admin()),
          suppliers(channel->default_supplier_admin()) {}

    ~Channel() {
        try {
            channel->destroy();
        } catch (const CORBA::Exception&) {
            // It is gone already.
        }
    }

    Consumer pushed() { return Consumer(consumers, Admin::STRUCTURED_EVENT, true); }
    Consumer pulling() { return Consumer(consumers, Admin::STRUCTURED_EVENT, false); }
    Supplier pushing() { return Supplier(suppliers, Admin::STRUCTURED_EVENT, true); }
};

void crossing(Admin::EventChannelFactory_ptr factory, int from, bool pushes) {
    for (int to = 0; to < 3; ++to) {
        for (bool pushed : {true, false}) {
            string row = string(NAMES[from]) + (pushes ? " pushed, " : " pulled, ") + NAMES[to] + (pushed ? " pushed" : " pulled");
            test(row.c_str(), [&] {
                Channel at(factory);
                Consumer consumer(at.consumers, FORMS[to], pushed);
                Supplier supplier(at.suppliers, FORMS[from], pushes);
                for (CORBA::Long number = 1; number <= 3; ++number) supplier.supply(event_of(number, false));
                hold(consumer.take(3) == Numbers({1, 2, 3}), "others than 1, 2, 3");
            });
        }
    }
}

void ends(Admin::EventChannelFactory_ptr factory) {
    for (bool push : {true, false}) {
        test(push ? "the end, consumers that are pushed to" : "the end, consumers that pull", [&] {
            Channel at(factory);
            std::vector<Consumer> all;
            for (Admin::ClientType form : FORMS) all.emplace_back(at.consumers, form, push);
            at.channel->destroy();
            for (Consumer& one : all) one.arrivals->is_told();
        });
        test(push ? "the end, suppliers that push" : "the end, suppliers that are pulled from", [&] {
            Channel at(factory);
            std::vector<Supplier> all;
            for (Admin::ClientType form : FORMS) all.emplace_back(at.suppliers, form, push);
            at.channel->destroy();
            for (Supplier& one : all) one.arrivals->is_told();
        });
    }
    test("there is nothing to pull", [&] {
        Channel at(factory);
        for (Admin::ClientType form : FORMS) hold(!Consumer(at.consumers, form, false).poll(), "there is an event");
    });
}

CosNotifyFilter::ConstraintExp expression(const string& text) {
    CosNotifyFilter::ConstraintExp made;
    made.constraint_expr = CORBA::string_dup(text.c_str());
    return made;
}

CosNotifyFilter::Filter_ptr filter(Admin::EventChannel_ptr channel, const string& text) {
    CosNotifyFilter::FilterFactory_var factory = channel->default_filter_factory();
    CosNotifyFilter::Filter_var made = factory->create_filter("EXTENDED_TCL");
    CosNotifyFilter::ConstraintExpSeq constraints;
    constraints.length(1);
    constraints[0] = expression(text);
    CosNotifyFilter::ConstraintInfoSeq_var added = made->add_constraints(constraints);
    return made._retn();
}

CosNotifyFilter::MappingFilter_ptr mapping(Admin::EventChannel_ptr channel, const CORBA::Any& value,
                                           const CORBA::Any& other, const char* text) {
    CosNotifyFilter::FilterFactory_var factory = channel->default_filter_factory();
    CosNotifyFilter::MappingFilter_var made = factory->create_mapping_filter("EXTENDED_TCL", other);
    CosNotifyFilter::MappingConstraintPairSeq constraints;
    constraints.length(1);
    constraints[0].constraint_expression = expression(text);
    constraints[0].result_to_set = value;
    CosNotifyFilter::MappingConstraintInfoSeq_var added = made->add_mapping_constraints(constraints);
    return made._retn();
}

CORBA::Any of_short(CORBA::Short value) {
    CORBA::Any any;
    any <<= value;
    return any;
}

/** A time, whose type is the one that TimeT is another name of. */
CORBA::Any of_time(CORBA::ULongLong value) {
    CORBA::Any any;
    any <<= value;
    return any;
}

void constraints(Admin::EventChannelFactory_ptr factory, const char* file) {
    Channel at(factory);
    std::ifstream lines(file);
    string line;
    while (std::getline(lines, line)) {
        std::size_t space = line.find(' ');
        string text = line.substr(space + 1);
        test(text.c_str(), [&] {
            CosNotifyFilter::Filter_var made = filter(at.channel, text);
            hold(made->match_structured(event_of(3)) == (line.substr(0, space) == "true"), "another outcome");
        });
    }
}

void filters(Admin::EventChannelFactory_ptr factory) {
    test("a filter of a consumer", [&] {
        Channel at(factory);
        Consumer consumer = at.pushed();
        CosNotifyFilter::Filter_var made = filter(at.channel, "$severity > 3");
        consumer.proxy->add_filter(made);
        Supplier supplier = at.pushing();
        for (CORBA::Long number = 1; number <= 5; ++number) supplier.supply(event_of(number, false));
        hold(consumer.take(2) == Numbers({4, 5}), "others than 4, 5");
    });
    test("a mapping filter", [&] {
        Channel at(factory);
        CosNotifyFilter::MappingFilter_var made = mapping(at.channel, of_short(9), of_short(1), "$severity == 3");
        CORBA::Any_var value;
        CORBA::Short number = 0;
        hold(made->match_structured(event_of(3), value.out()) && (value.in() >>= number) && number == 9, "another value");
        hold(!made->match_structured(event_of(2), value.out()), "it matches");
    });
    test("priorities by a mapping filter", [&] {
        Channel at(factory, quality_of("OrderPolicy", 2));
        Consumer consumer = at.pushed();
        CosNotifyFilter::MappingFilter_var made = mapping(at.channel, of_short(9), of_short(1), "$severity == 4");
        consumer.proxy->priority_filter(made);
        Admin::StructuredProxyPushSupplier_var proxy = Admin::StructuredProxyPushSupplier::_narrow(consumer.proxy);
        proxy->suspend_connection();
        Supplier supplier = at.pushing();
        for (CORBA::Long number = 1; number <= 5; ++number) supplier.supply(event_of(number, false));
        proxy->resume_connection();
        hold(consumer.take(5) == Numbers({4, 1, 2, 3, 5}), "another order");
    });
    test("lives by a mapping filter", [&] {
        Channel at(factory);
        Consumer consumer = at.pulling();
        // 10 ms, and for ever.
        CosNotifyFilter::MappingFilter_var made = mapping(at.channel, of_time(100000), of_time(0), "$severity < 3");
        consumer.proxy->lifetime_filter(made);
        Supplier supplier = at.pushing();
        for (CORBA::Long number = 1; number <= 2; ++number) supplier.supply(event_of(number, false));
        // Not less than that, however late this thread runs; then the service must not deliver them.
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        supplier.supply(event_of(3, false));
        hold(consumer.take(1) == Numbers({3}), "another event than 3");
    });
}

EventTypeSeq types_of(const char* name) {
    EventTypeSeq types;
    types.length(1);
    types[0].domain_name = CORBA::string_dup("Telecom");
    types[0].type_name = CORBA::string_dup(name);
    return types;
}

void types(Admin::EventChannelFactory_ptr factory) {
    test("consumers hear of offers", [&] {
        Channel at(factory);
        Consumer consumer = at.pushed();
        Supplier supplier = at.pushing();
        supplier.events->offer_change(types_of("NT_ALARM"), EventTypeSeq());
        consumer.arrivals->hears("+NT_ALARM");
        supplier.events->offer_change(types_of("NT_HEARTBEAT"), types_of("NT_ALARM"));
        consumer.arrivals->hears("-NT_ALARM");
    });
    test("suppliers hear of subscriptions", [&] {
        Channel at(factory);
        Supplier supplier = at.pushing();
        Consumer consumer = at.pulling();
        consumer.events->subscription_change(types_of("NT_HEARTBEAT"), EventTypeSeq());
        supplier.arrivals->hears("+NT_HEARTBEAT");
    });
}

/** The clients at a channel whose service is killed. */
struct Clients {
    Channel at;
    Consumer consumer = at.pushed();
    Consumer puller = at.pulling();
    Supplier supplier = at.pushing();

    explicit Clients(Admin::EventChannelFactory_ptr factory,
                     const CosNotification::QoSProperties& quality = CosNotification::QoSProperties())
        : at(factory, quality) {}

    void pass(CORBA::Long number, const Numbers& all) {
        supplier.supply(event_of(number, false));
        hold(consumer.take(all.size()) == all, "other events are pushed");
        hold(puller.take(1) == Numbers({number}), "another event is pulled");
    }
};

Admin::EventChannelFactory_ptr factory_at(CORBA::ORB_ptr orb, const char* reference) {
    activate(orb);
    CORBA::Object_var object = orb->string_to_object(reference);
    return Admin::EventChannelFactory::_narrow(object);
}

}  // namespace

int notifications(CORBA::ORB_ptr orb, const char* reference, const char* file) {
    Admin::EventChannelFactory_var factory = factory_at(orb, reference);
    for (int from = 0; from < 3; ++from) {
        for (bool pushes : {true, false}) crossing(factory, from, pushes);
    }
    ends(factory);
    constraints(factory, file);
    filters(factory);
    types(factory);
    return done() ? 0 : 1;
}

int survive(CORBA::ORB_ptr orb, const char* url) {
    Admin::EventChannelFactory_var factory = factory_at(orb, url);
    Clients kept(factory, quality_of("ConnectionReliability", 1)), lost(factory);
    test("before the kill", [&] {
        kept.pass(1, {1});
        lost.pass(1, {1});
    });
    next_step();
    test("killed, suppliers that push", [&] { is_away([&] { kept.supplier.supply(event_of(2)); }); });
    test("killed, consumers that pull", [&] { is_away([&] { kept.puller.poll(); }); });
    next_step();
    test("kept channel, all go on", [&] { kept.pass(3, {1, 3}); });
    test("lost channel, suppliers that push", [&] {
        raises<CORBA::OBJECT_NOT_EXIST>("OBJECT_NOT_EXIST", [&] { lost.supplier.supply(event_of(4)); });
    });
    test("lost channel, consumers that pull", [&] {
        raises<CORBA::OBJECT_NOT_EXIST>("OBJECT_NOT_EXIST", [&] { lost.puller.poll(); });
    });
    test("lost channel, consumers that ask", [&] { hold(lost.consumer.proxy->_non_existent(), "it exists"); });
    test("lost channel, all connect again", [&] { Clients(factory).pass(5, {5}); });
    return done() ? 0 : 1;
}
