// Supplier and consumer of a typed event channel, by omniORB. Prints one line for each thing that is as it should be, and
// ends with 1 at the first that is not.
//
// typed CHANNEL

#include "CosTypedEventChannelAdmin.hh"
#include "plant.hh"
#include <condition_variable>
#include <iostream>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

namespace {

const char* const ALARMS = "IDL:punctual.test/plant/Alarms:1.0";

// Calls that arrive, as text.
class Record {
public:
  void add(const std::string& call) {
    std::lock_guard<std::mutex> lock(mutex_);
    calls_.push_back(call);
    changed_.notify_all();
  }

  std::vector<std::string> wait_for(std::size_t count) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return calls_.size() >= count; });
    return calls_;
  }

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> calls_;
};

class Panel : public POA_plant::Alarms {
public:
  explicit Panel(Record& calls) : calls_(calls) {}

  void beat(CORBA::ULong number) override {
    calls_.add("beat " + std::to_string(number));
  }

  void raised(CORBA::Octet zone, const plant::Reading& cause, const plant::Readings& history,
              CORBA::Object_ptr origin) override {
    std::ostringstream call;
    call << "raised " << int(zone) << ' ' << cause.sensor << ' ' << cause.value << ' '
         << int(cause.level);
    for (CORBA::ULong place = 0; place < history.length(); ++place) {
      call << ' ' << history[place].sensor;
    }
    plant::Alarms_var alarms = plant::Alarms::_narrow(origin);
    call << (CORBA::is_nil(alarms) ? " nil" : " alarms");
    calls_.add(call.str());
  }

  void cleared(const char* sensor, const CORBA::WChar* remark) override {
    calls_.add(std::string("cleared ") + sensor + (std::wstring(remark) == L"\u0432\u0441\u0435" ? " all" : " ?"));
  }

  void silence() override { calls_.add("silence"); }

private:
  Record& calls_;
};

class Consumer : public POA_CosTypedEventComm::TypedPushConsumer {
public:
  Consumer(CORBA::Object_ptr object, Record& ended)
      : object_(CORBA::Object::_duplicate(object)), ended_(ended) {}

  CORBA::Object_ptr get_typed_consumer() override { return CORBA::Object::_duplicate(object_); }
  void push(const CORBA::Any&) override { throw CORBA::NO_IMPLEMENT(); }
  void disconnect_push_consumer() override { ended_.add("consumer"); }

private:
  CORBA::Object_var object_;
  Record& ended_;
};

class Untyped : public POA_CosEventComm::PushConsumer {
public:
  void push(const CORBA::Any&) override {}
  void disconnect_push_consumer() override {}
};

class Supplier : public POA_CosEventComm::PushSupplier {
public:
  explicit Supplier(Record& ended) : ended_(ended) {}
  void disconnect_push_supplier() override { ended_.add("supplier"); }

private:
  Record& ended_;
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
    CosEventChannelAdmin::ProxyPushSupplier_var none =
        consumers->obtain_typed_push_supplier("IDL:nowhere:1.0");
    expect("an unknown interface is refused", false);
  } catch (CosTypedEventChannelAdmin::NoSuchImplementation&) {
    expect("an unknown interface is refused", true);
  }

  Record calls, ended;
  CosEventChannelAdmin::ProxyPushSupplier_var to_consumer =
      consumers->obtain_typed_push_supplier(ALARMS);
  PortableServer::Servant_var<Untyped> untyped = new Untyped();
  CosEventComm::PushConsumer_var untyped_ref = untyped->_this();
  try {
    to_consumer->connect_push_consumer(untyped_ref);
    expect("an untyped consumer is refused", false);
  } catch (CosEventChannelAdmin::TypeError&) {
    expect("an untyped consumer is refused", true);
  }
  PortableServer::Servant_var<Panel> panel = new Panel(calls);
  plant::Alarms_var panel_ref = panel->_this();
  PortableServer::Servant_var<Consumer> consumer = new Consumer(panel_ref, ended);
  CosTypedEventComm::TypedPushConsumer_var consumer_ref = consumer->_this();
  to_consumer->connect_push_consumer(consumer_ref);

  CosTypedEventChannelAdmin::TypedProxyPushConsumer_var to_push =
      suppliers->obtain_typed_push_consumer(ALARMS);
  PortableServer::Servant_var<Supplier> supplier = new Supplier(ended);
  CosEventComm::PushSupplier_var supplier_ref = supplier->_this();
  to_push->connect_push_supplier(supplier_ref);
  CORBA::Object_var typed = to_push->get_typed_consumer();
  plant::Alarms_var alarms = plant::Alarms::_narrow(typed);
  plant::Reading cause;
  cause.sensor = CORBA::string_dup("t1");
  cause.value = 1.5;
  cause.level = plant::HIGH;
  plant::Readings history;
  history.length(2);
  history[0] = cause;
  history[0].sensor = CORBA::string_dup("t2");
  history[1] = cause;
  history[1].sensor = CORBA::string_dup("t3");
  alarms->raised(3, cause, history, panel_ref);
  alarms->cleared("t1", L"\u0432\u0441\u0435");
  alarms->silence();
  alarms->beat(7);
  const std::vector<std::string> expected = {"raised 3 t1 1.5 1 t2 t3 alarms", "cleared t1 all",
                                             "silence", "beat 7"};
  expect("calls arrive as they were made", calls.wait_for(4) == expected);

  to_consumer->disconnect_push_supplier();
  to_push->disconnect_push_consumer();
  expect("both are told of the end", ended.wait_for(2).size() == 2);
  try {
    alarms->silence();
    expect("a call behind the end is refused", false);
  } catch (CORBA::OBJECT_NOT_EXIST&) {
    expect("a call behind the end is refused", true);
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
