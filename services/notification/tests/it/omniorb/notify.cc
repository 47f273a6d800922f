// Client of a Notification Service, by omniORB: suppliers and consumers of structured events, sequences and Anys. Prints one
// line for each thing that is as it should be, and ends with 1 at the first that is not.
//
// notify FACTORY

#include "CosNotifyChannelAdmin.hh"
#include <condition_variable>
#include <cstring>
#include <iostream>
#include <mutex>
#include <vector>

namespace Admin = CosNotifyChannelAdmin;
namespace Comm = CosNotifyComm;

namespace {

// Values that arrive.
class Record {
public:
  void add(CORBA::Long value) {
    std::lock_guard<std::mutex> lock(mutex_);
    values_.push_back(value);
    changed_.notify_all();
  }

  std::vector<CORBA::Long> wait_for(std::size_t count) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return values_.size() >= count; });
    return values_;
  }

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<CORBA::Long> values_;
};

CORBA::Long number_in(const CosNotification::StructuredEvent& event) {
  CORBA::Long value = -1;
  event.remainder_of_body >>= value;
  return value;
}

CosNotification::StructuredEvent event_of(CORBA::Long number) {
  CosNotification::StructuredEvent event;
  event.header.fixed_header.event_type.domain_name = CORBA::string_dup("Telecom");
  event.header.fixed_header.event_type.type_name = CORBA::string_dup("NT_ALARM");
  event.header.fixed_header.event_name = CORBA::string_dup("alarm");
  event.filterable_data.length(1);
  event.filterable_data[0].name = CORBA::string_dup("severity");
  event.filterable_data[0].value <<= number;
  event.remainder_of_body <<= number;
  return event;
}

void expect(const char* what, bool is_so) {
  if (!is_so) {
    std::cout << "NOT " << what << std::endl;
    std::exit(1);
  }
  std::cout << what << std::endl;
}

class StructuredConsumer : public POA_CosNotifyComm::StructuredPushConsumer {
public:
  StructuredConsumer(Record& received, Record& offered, Record& ended)
      : received_(received), offered_(offered), ended_(ended) {}
  void push_structured_event(const CosNotification::StructuredEvent& event) override {
    received_.add(number_in(event));
  }
  void disconnect_structured_push_consumer() override { ended_.add(1); }
  void offer_change(const CosNotification::EventTypeSeq& added,
                    const CosNotification::EventTypeSeq&) override {
    // Offers that follow one another may be told together, as what has changed in the end.
    for (CORBA::ULong at = 0; at < added.length(); ++at)
      if (std::strcmp(added[at].type_name, "NT_ALARM") == 0) offered_.add(1);
  }

private:
  Record& received_;
  Record& offered_;
  Record& ended_;
};

class SequenceConsumer : public POA_CosNotifyComm::SequencePushConsumer {
public:
  SequenceConsumer(Record& received, Record& ended) : received_(received), ended_(ended) {}
  void push_structured_events(const CosNotification::EventBatch& events) override {
    for (CORBA::ULong at = 0; at < events.length(); ++at) received_.add(number_in(events[at]));
  }
  void disconnect_sequence_push_consumer() override { ended_.add(2); }
  void offer_change(const CosNotification::EventTypeSeq&,
                    const CosNotification::EventTypeSeq&) override {}

private:
  Record& received_;
  Record& ended_;
};

class AnyConsumer : public POA_CosNotifyComm::PushConsumer {
public:
  explicit AnyConsumer(Record& received) : received_(received) {}
  void push(const CORBA::Any& data) override {
    const CosNotification::StructuredEvent* event = 0;
    received_.add((data >>= event) ? number_in(*event) : -1);
  }
  void disconnect_push_consumer() override {}
  void offer_change(const CosNotification::EventTypeSeq&,
                    const CosNotification::EventTypeSeq&) override {}

private:
  Record& received_;
};

// Filter that lets events with even numbers through, and has no constraints.
class EvenFilter : public POA_CosNotifyFilter::Filter {
public:
  CORBA::Boolean match(const CORBA::Any& data) override {
    const CosNotification::StructuredEvent* event = 0;
    return (data >>= event) && match_structured(*event);
  }
  CORBA::Boolean match_structured(const CosNotification::StructuredEvent& event) override {
    return number_in(event) % 2 == 0;
  }
  CORBA::Boolean match_typed(const CosNotification::PropertySeq&) override { throw CORBA::NO_IMPLEMENT(); }
  char* constraint_grammar() override { return CORBA::string_dup("EVEN"); }
  CosNotifyFilter::ConstraintInfoSeq* add_constraints(const CosNotifyFilter::ConstraintExpSeq&) override {
    throw CORBA::NO_IMPLEMENT();
  }
  void modify_constraints(const CosNotifyFilter::ConstraintIDSeq&,
                          const CosNotifyFilter::ConstraintInfoSeq&) override {
    throw CORBA::NO_IMPLEMENT();
  }
  CosNotifyFilter::ConstraintInfoSeq* get_constraints(const CosNotifyFilter::ConstraintIDSeq&) override {
    throw CORBA::NO_IMPLEMENT();
  }
  CosNotifyFilter::ConstraintInfoSeq* get_all_constraints() override { throw CORBA::NO_IMPLEMENT(); }
  void remove_all_constraints() override { throw CORBA::NO_IMPLEMENT(); }
  void destroy() override { throw CORBA::NO_IMPLEMENT(); }
  CosNotifyFilter::CallbackID attach_callback(Comm::NotifySubscribe_ptr) override {
    throw CORBA::NO_IMPLEMENT();
  }
  void detach_callback(CosNotifyFilter::CallbackID) override { throw CORBA::NO_IMPLEMENT(); }
  CosNotifyFilter::CallbackIDSeq* get_callbacks() override { throw CORBA::NO_IMPLEMENT(); }
};

class StructuredSupplier : public POA_CosNotifyComm::StructuredPushSupplier {
public:
  StructuredSupplier(Record& subscribed, Record& ended) : subscribed_(subscribed), ended_(ended) {}
  void disconnect_structured_push_supplier() override { ended_.add(3); }
  void subscription_change(const CosNotification::EventTypeSeq& added,
                           const CosNotification::EventTypeSeq&) override {
    subscribed_.add(static_cast<CORBA::Long>(added.length()));
  }

private:
  Record& subscribed_;
  Record& ended_;
};

class PulledSupplier : public POA_CosNotifyComm::StructuredPullSupplier {
public:
  CosNotification::StructuredEvent* pull_structured_event() override { throw CORBA::NO_IMPLEMENT(); }
  CosNotification::StructuredEvent* try_pull_structured_event(CORBA::Boolean& has_event) override {
    std::lock_guard<std::mutex> lock(mutex_);
    has_event = !is_given_;
    is_given_ = true;
    return new CosNotification::StructuredEvent(event_of(100));
  }
  void disconnect_structured_pull_supplier() override {}
  void subscription_change(const CosNotification::EventTypeSeq&,
                           const CosNotification::EventTypeSeq&) override {}

private:
  std::mutex mutex_;
  bool is_given_ = false;
};

template <class T>
bool is(const std::vector<CORBA::Long>& values, std::initializer_list<T> wanted) {
  return values == std::vector<CORBA::Long>(wanted.begin(), wanted.end());
}

void check_quality(Admin::EventChannelFactory_ptr factory, Admin::EventChannel_ptr channel) {
  CosNotification::QoSProperties quality;
  quality.length(1);
  quality[0].name = CORBA::string_dup("Colour");
  quality[0].value <<= static_cast<CORBA::Short>(1);
  bool is_refused = false;
  try {
    Admin::ChannelID id;
    Admin::EventChannel_var none = factory->create_channel(quality, CosNotification::AdminProperties(), id);
  } catch (CosNotification::UnsupportedQoS& error) {
    is_refused = error.qos_err.length() == 1 && error.qos_err[0].code == CosNotification::BAD_PROPERTY;
  }
  expect("an unknown property is refused", is_refused);
  quality[0].name = CORBA::string_dup(CosNotification::OrderPolicy);
  quality[0].value <<= CosNotification::FifoOrder;
  channel->set_qos(quality);
  CosNotification::QoSProperties_var set = channel->get_qos();
  bool is_set = false;
  for (CORBA::ULong at = 0; at < set->length(); ++at) {
    CORBA::Short value = -1;
    if (std::string(set[at].name.in()) == CosNotification::OrderPolicy) {
      is_set = (set[at].value >>= value) && value == CosNotification::FifoOrder;
    }
  }
  expect("a property is set", is_set);
}

CosNotifyFilter::Filter_ptr filter_of(Admin::EventChannel_ptr channel, const char* text) {
  CosNotifyFilter::FilterFactory_var filters = channel->default_filter_factory();
  CosNotifyFilter::Filter_var filter = filters->create_filter("EXTENDED_TCL");
  CosNotifyFilter::ConstraintExpSeq constraints;
  constraints.length(1);
  constraints[0].event_types.length(1);
  constraints[0].event_types[0].domain_name = CORBA::string_dup("*");
  constraints[0].event_types[0].type_name = CORBA::string_dup("NT_ALARM");
  constraints[0].constraint_expr = CORBA::string_dup(text);
  CosNotifyFilter::ConstraintInfoSeq_var added = filter->add_constraints(constraints);
  return filter._retn();
}

void run(CORBA::ORB_ptr orb, const char* text) {
  CORBA::Object_var root = orb->resolve_initial_references("RootPOA");
  PortableServer::POA_var poa = PortableServer::POA::_narrow(root);
  PortableServer::POAManager_var manager = poa->the_POAManager();
  manager->activate();
  CORBA::Object_var object = orb->string_to_object(text);
  Admin::EventChannelFactory_var factory = Admin::EventChannelFactory::_narrow(object);
  expect("the factory is one", !CORBA::is_nil(factory));
  Admin::ChannelID id;
  Admin::EventChannel_var channel =
      factory->create_channel(CosNotification::QoSProperties(), CosNotification::AdminProperties(), id);
  check_quality(factory, channel);
  Admin::AdminID admin_id;
  Admin::ConsumerAdmin_var consumers = channel->new_for_consumers(Admin::AND_OP, admin_id);
  Admin::SupplierAdmin_var suppliers = channel->default_supplier_admin();

  Record received, batched, anys, offered, subscribed, ended;
  Admin::ProxyID proxy_id;
  PortableServer::Servant_var<StructuredConsumer> consumer = new StructuredConsumer(received, offered, ended);
  Comm::StructuredPushConsumer_var consumer_ref = consumer->_this();
  Admin::ProxySupplier_var proxy =
      consumers->obtain_notification_push_supplier(Admin::STRUCTURED_EVENT, proxy_id);
  Admin::StructuredProxyPushSupplier_var to_consumer = Admin::StructuredProxyPushSupplier::_narrow(proxy);
  to_consumer->connect_structured_push_consumer(consumer_ref);
  CosNotifyFilter::Filter_var filter = filter_of(channel, "$severity > 1");
  to_consumer->add_filter(filter);

  Record judged, judged_offers, judged_ended;
  PortableServer::Servant_var<StructuredConsumer> judging =
      new StructuredConsumer(judged, judged_offers, judged_ended);
  Comm::StructuredPushConsumer_var judging_ref = judging->_this();
  proxy = consumers->obtain_notification_push_supplier(Admin::STRUCTURED_EVENT, proxy_id);
  Admin::StructuredProxyPushSupplier_var to_judging = Admin::StructuredProxyPushSupplier::_narrow(proxy);
  to_judging->connect_structured_push_consumer(judging_ref);
  PortableServer::Servant_var<EvenFilter> even = new EvenFilter;
  CosNotifyFilter::Filter_var even_ref = even->_this();
  CosNotifyFilter::FilterID even_id = to_judging->add_filter(even_ref);
  CosNotifyFilter::Filter_var attached = to_judging->get_filter(even_id);
  expect("a filter of this program is attached", attached->_is_equivalent(even_ref));

  PortableServer::Servant_var<SequenceConsumer> batches = new SequenceConsumer(batched, ended);
  Comm::SequencePushConsumer_var batches_ref = batches->_this();
  proxy = consumers->obtain_notification_push_supplier(Admin::SEQUENCE_EVENT, proxy_id);
  Admin::SequenceProxyPushSupplier_var to_batches = Admin::SequenceProxyPushSupplier::_narrow(proxy);
  to_batches->connect_sequence_push_consumer(batches_ref);

  PortableServer::Servant_var<AnyConsumer> any = new AnyConsumer(anys);
  Comm::PushConsumer_var any_ref = any->_this();
  proxy = consumers->obtain_notification_push_supplier(Admin::ANY_EVENT, proxy_id);
  Admin::ProxyPushSupplier_var to_any = Admin::ProxyPushSupplier::_narrow(proxy);
  to_any->connect_any_push_consumer(any_ref);

  proxy = consumers->obtain_notification_pull_supplier(Admin::SEQUENCE_EVENT, proxy_id);
  Admin::SequenceProxyPullSupplier_var pulls = Admin::SequenceProxyPullSupplier::_narrow(proxy);
  pulls->connect_sequence_pull_consumer(Comm::SequencePullConsumer::_nil());
  expect("proxies of each kind are connected", true);

  PortableServer::Servant_var<StructuredSupplier> supplier = new StructuredSupplier(subscribed, ended);
  Comm::StructuredPushSupplier_var supplier_ref = supplier->_this();
  Admin::ProxyConsumer_var from =
      suppliers->obtain_notification_push_consumer(Admin::STRUCTURED_EVENT, proxy_id);
  Admin::StructuredProxyPushConsumer_var from_supplier = Admin::StructuredProxyPushConsumer::_narrow(from);
  from_supplier->connect_structured_push_supplier(supplier_ref);
  CosNotification::EventTypeSeq added, none;
  added.length(1);
  added[0].domain_name = CORBA::string_dup("Telecom");
  added[0].type_name = CORBA::string_dup("NT_ALARM");
  from_supplier->offer_change(added, none);
  expect("consumers hear of offers", offered.wait_for(1).size() == 1);
  pulls->subscription_change(added, none);
  expect("suppliers hear of subscriptions", is(subscribed.wait_for(1), {1}));
  CosNotification::EventTypeSeq_var types =
      from_supplier->obtain_subscription_types(Admin::ALL_NOW_UPDATES_OFF);
  expect("suppliers ask for subscriptions", types->length() == 2);

  for (CORBA::Long number = 1; number <= 3; ++number) {
    from_supplier->push_structured_event(event_of(number));
  }
  expect("and judges events", is(judged.wait_for(1), {2}));
  expect("structured events pass a filter", is(received.wait_for(2), {2, 3}));
  expect("sequences have all events", is(batched.wait_for(3), {1, 2, 3}));
  expect("Anys hold structured events", is(anys.wait_for(3), {1, 2, 3}));
  CORBA::Boolean has_event = false;
  CosNotification::EventBatch_var batch = pulls->try_pull_structured_events(2, has_event);
  expect("sequences are pulled", has_event && batch->length() == 2 && number_in(batch[1]) == 2);
  batch = pulls->pull_structured_events(9);
  expect("and the rest", batch->length() == 1 && number_in(batch[0]) == 3);

  PortableServer::Servant_var<PulledSupplier> pulled = new PulledSupplier;
  Comm::StructuredPullSupplier_var pulled_ref = pulled->_this();
  from = suppliers->obtain_notification_pull_consumer(Admin::STRUCTURED_EVENT, proxy_id);
  Admin::StructuredProxyPullConsumer_var from_pulled = Admin::StructuredProxyPullConsumer::_narrow(from);
  from_pulled->connect_structured_pull_supplier(pulled_ref);
  expect("a supplier is pulled from", is(received.wait_for(3), {2, 3, 100}));

  channel->destroy();
  expect("all are told of the end", ended.wait_for(3).size() == 3);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    CORBA::ORB_var orb = CORBA::ORB_init(argc, argv);
    if (argc != 2) return 2;
    run(orb, argv[1]);
    orb->destroy();
    return 0;
  } catch (CORBA::Exception& exception) {
    std::cout << "NOT " << exception._name() << std::endl;
    return 1;
  }
}
