// Supplier and consumer of a typed event channel that are pulled, by omniORB. Prints one line for each thing that is as it
// should be, and ends with 1 at the first that is not.
//
// pulled CHANNEL

#include "CosTypedEventChannelAdmin.hh"
#include "plant.hh"
#include <condition_variable>
#include <iostream>
#include <mutex>
#include <string>

namespace {

const char* const PULL_ALARMS = "IDL:punctual.test/plant/PullAlarms:1.0";

// Number that others wait for.
class Count {
public:
  void add() {
    std::lock_guard<std::mutex> lock(mutex_);
    ++count_;
    changed_.notify_all();
  }

  void wait_for(int count) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return count_ >= count; });
  }

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int count_ = 0;
};

plant::Reading reading(const char* sensor) {
  plant::Reading made;
  made.sensor = CORBA::string_dup(sensor);
  made.value = 1.5;
  made.level = plant::HIGH;
  return made;
}

// Has one event of each operation that `try_` is called of.
class Well : public POA_plant::PullAlarms {
public:
  void pull_beat(CORBA::ULong&) override { throw CORBA::NO_IMPLEMENT(); }
  void pull_raised(CORBA::Octet&, plant::Reading_out, plant::Readings_out, CORBA::Object_out) override {
    throw CORBA::NO_IMPLEMENT();
  }
  void pull_cleared(CORBA::String_out, CORBA::WString_out) override { throw CORBA::NO_IMPLEMENT(); }
  void pull_silence() override { throw CORBA::NO_IMPLEMENT(); }

  CORBA::Boolean try_beat(CORBA::ULong& number) override {
    number = 7;
    return take(0);
  }

  CORBA::Boolean try_raised(CORBA::Octet& zone, plant::Reading_out cause, plant::Readings_out history,
                            CORBA::Object_out origin) override {
    zone = 3;
    cause = new plant::Reading(reading("t1"));
    plant::Readings* all = new plant::Readings();
    all->length(2);
    (*all)[0] = reading("t2");
    (*all)[1] = reading("t3");
    history = all;
    origin = _this();
    return take(1);
  }

  CORBA::Boolean try_cleared(CORBA::String_out sensor, CORBA::WString_out remark) override {
    sensor = CORBA::string_dup("t1");
    remark = CORBA::wstring_dup(L"\u0432\u0441\u0435");
    return take(2);
  }

  CORBA::Boolean try_silence() override { return take(3); }

private:
  bool take(int operation) {
    std::lock_guard<std::mutex> lock(mutex_);
    const bool has_event = !taken_[operation];
    taken_[operation] = true;
    return has_event;
  }

  std::mutex mutex_;
  bool taken_[4] = {};
};

class Supplier : public POA_CosTypedEventComm::TypedPullSupplier {
public:
  Supplier(CORBA::Object_ptr object, Count& ended)
      : object_(CORBA::Object::_duplicate(object)), ended_(ended) {}

  CORBA::Object_ptr get_typed_supplier() override { return CORBA::Object::_duplicate(object_); }
  CORBA::Any* pull() override { throw CORBA::NO_IMPLEMENT(); }
  CORBA::Any* try_pull(CORBA::Boolean&) override { throw CORBA::NO_IMPLEMENT(); }
  void disconnect_pull_supplier() override { ended_.add(); }

private:
  CORBA::Object_var object_;
  Count& ended_;
};

class Untyped : public POA_CosEventComm::PullSupplier {
public:
  CORBA::Any* pull() override { throw CORBA::NO_IMPLEMENT(); }
  CORBA::Any* try_pull(CORBA::Boolean&) override { throw CORBA::NO_IMPLEMENT(); }
  void disconnect_pull_supplier() override {}
};

class Consumer : public POA_CosEventComm::PullConsumer {
public:
  explicit Consumer(Count& ended) : ended_(ended) {}
  void disconnect_pull_consumer() override { ended_.add(); }

private:
  Count& ended_;
};

void expect(const char* what, bool is_so) {
  if (!is_so) {
    std::cout << "NOT " << what << std::endl;
    std::exit(1);
  }
  std::cout << what << std::endl;
}

void run(CORBA::ORB_ptr orb, const char* text) {
  CORBA::Object_var root = orb->resolve_initial_references("RootPOA");
  PortableServer::POA_var poa = PortableServer::POA::_narrow(root);
  PortableServer::POAManager_var manager = poa->the_POAManager();
  manager->activate();
  CORBA::Object_var object = orb->string_to_object(text);
  CosTypedEventChannelAdmin::TypedEventChannel_var channel =
      CosTypedEventChannelAdmin::TypedEventChannel::_narrow(object);
  CosTypedEventChannelAdmin::TypedConsumerAdmin_var consumers = channel->for_consumers();
  CosTypedEventChannelAdmin::TypedSupplierAdmin_var suppliers = channel->for_suppliers();
  try {
    CosTypedEventChannelAdmin::TypedProxyPullSupplier_var none =
        consumers->obtain_typed_pull_supplier("IDL:punctual.test/plant/Alarms:1.0");
    expect("an interface to push by is refused", false);
  } catch (CosTypedEventChannelAdmin::InterfaceNotSupported&) {
    expect("an interface to push by is refused", true);
  }

  Count ended;
  CosTypedEventChannelAdmin::TypedProxyPullSupplier_var to_consumer =
      consumers->obtain_typed_pull_supplier(PULL_ALARMS);
  PortableServer::Servant_var<Consumer> consumer = new Consumer(ended);
  CosEventComm::PullConsumer_var consumer_ref = consumer->_this();
  to_consumer->connect_pull_consumer(consumer_ref);
  CORBA::Object_var typed = to_consumer->get_typed_supplier();
  plant::PullAlarms_var alarms = plant::PullAlarms::_narrow(typed);
  CORBA::ULong number = 0;
  expect("there are no events yet", !CORBA::is_nil(alarms) && !alarms->try_beat(number));

  CosEventChannelAdmin::ProxyPullConsumer_var to_supplier =
      suppliers->obtain_typed_pull_consumer(PULL_ALARMS);
  PortableServer::Servant_var<Untyped> untyped = new Untyped();
  CosEventComm::PullSupplier_var untyped_ref = untyped->_this();
  try {
    to_supplier->connect_pull_supplier(untyped_ref);
    expect("an untyped supplier is refused", false);
  } catch (CosEventChannelAdmin::TypeError&) {
    expect("an untyped supplier is refused", true);
  }
  PortableServer::Servant_var<Well> well = new Well();
  plant::PullAlarms_var well_ref = well->_this();
  PortableServer::Servant_var<Supplier> supplier = new Supplier(well_ref, ended);
  CosTypedEventComm::TypedPullSupplier_var supplier_ref = supplier->_this();
  to_supplier->connect_pull_supplier(supplier_ref);

  CORBA::Octet zone = 0;
  plant::Reading_var cause;
  plant::Readings_var history;
  CORBA::Object_var origin;
  alarms->pull_raised(zone, cause, history, origin);
  plant::PullAlarms_var from = plant::PullAlarms::_narrow(origin);
  const bool is_raised = zone == 3 && std::string(cause->sensor) == "t1" && cause->value == 1.5 &&
                         cause->level == plant::HIGH && history->length() == 2 &&
                         std::string(history[1].sensor) == "t3" && !CORBA::is_nil(from);
  CORBA::String_var sensor;
  CORBA::WString_var remark;
  alarms->pull_cleared(sensor, remark);
  const bool is_cleared =
      std::string(sensor) == "t1" && std::wstring(remark) == L"\u0432\u0441\u0435";
  alarms->pull_silence();
  alarms->pull_beat(number);
  expect("events are pulled as they were", is_raised && is_cleared && number == 7);
  const bool has_more = alarms->try_raised(zone, cause, history, origin) || alarms->try_silence() ||
                        alarms->try_cleared(sensor, remark) || alarms->try_beat(number);
  expect("then there are none", !has_more && history->length() == 0);

  to_consumer->disconnect_pull_supplier();
  to_supplier->disconnect_pull_consumer();
  ended.wait_for(2);
  expect("both are told of the end", true);
  try {
    alarms->pull_silence();
    expect("a pull behind the end is refused", false);
  } catch (CORBA::OBJECT_NOT_EXIST&) {
    expect("a pull behind the end is refused", true);
  }
}

} // namespace

int main(int argc, char** argv) {
  try {
    CORBA::ORB_var orb = CORBA::ORB_init(argc, argv);
    if (argc != 2) return 2;
    run(orb, argv[1]);
    orb->destroy();
  } catch (CORBA::Exception& exception) {
    std::cerr << exception._name() << std::endl;
    return 1;
  }
  return 0;
}
