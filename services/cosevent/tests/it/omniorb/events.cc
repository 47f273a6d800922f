// Client of an event channel, by omniORB: a supplier and a consumer of each kind. Prints one line for each thing that is as
// it should be, and ends with 1 at the first that is not.
//
// events CHANNEL

#include "CosEventChannelAdmin.hh"
#include <condition_variable>
#include <deque>
#include <iostream>
#include <mutex>
#include <string>
#include <vector>

namespace {

// Values that arrive, and calls that end connections.
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

CORBA::Long number_in(const CORBA::Any& data) {
  CORBA::Long value = -1;
  data >>= value;
  return value;
}

class Consumer : public POA_CosEventComm::PushConsumer {
public:
  Consumer(Record& received, Record& ended) : received_(received), ended_(ended) {}
  void push(const CORBA::Any& data) override { received_.add(number_in(data)); }
  void disconnect_push_consumer() override { ended_.add(1); }

private:
  Record& received_;
  Record& ended_;
};

class PulledSupplier : public POA_CosEventComm::PullSupplier {
public:
  PulledSupplier(int count, Record& ended) : count_(count), ended_(ended) {}

  CORBA::Any* pull() override { throw CORBA::NO_IMPLEMENT(); }

  CORBA::Any* try_pull(CORBA::Boolean& has_event) override {
    std::lock_guard<std::mutex> lock(mutex_);
    CORBA::Any_var data = new CORBA::Any;
    has_event = next_ < count_;
    if (has_event) {
      data <<= static_cast<CORBA::Long>(100 + next_++);
    }
    return data._retn();
  }

  void disconnect_pull_supplier() override { ended_.add(2); }

private:
  std::mutex mutex_;
  int next_ = 0;
  int count_;
  Record& ended_;
};

class PushingSupplier : public POA_CosEventComm::PushSupplier {
public:
  explicit PushingSupplier(Record& ended) : ended_(ended) {}
  void disconnect_push_supplier() override { ended_.add(3); }

private:
  Record& ended_;
};

class PullingConsumer : public POA_CosEventComm::PullConsumer {
public:
  explicit PullingConsumer(Record& ended) : ended_(ended) {}
  void disconnect_pull_consumer() override { ended_.add(4); }

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

// Pulls one event; servers that cannot wait raise TRANSIENT instead.
CORBA::Long pulled(CosEventChannelAdmin::ProxyPullSupplier_ptr proxy) {
  for (;;) {
    try {
      CORBA::Any_var data = proxy->pull();
      return number_in(data.in());
    } catch (CORBA::TRANSIENT&) {
      omni_thread::sleep(0, 1000000);
    }
  }
}

bool has(const std::vector<CORBA::Long>& values, CORBA::Long first, int count) {
  std::vector<CORBA::Long> own;
  for (CORBA::Long value : values) {
    if (value >= first && value < first + count) own.push_back(value);
  }
  for (int place = 0; place < count; ++place) {
    if (static_cast<int>(own.size()) != count || own[place] != first + place) return false;
  }
  return true;
}

void run(CORBA::ORB_ptr orb, const char* text) {
  CORBA::Object_var root = orb->resolve_initial_references("RootPOA");
  PortableServer::POA_var poa = PortableServer::POA::_narrow(root);
  PortableServer::POAManager_var manager = poa->the_POAManager();
  manager->activate();
  CORBA::Object_var object = orb->string_to_object(text);
  CosEventChannelAdmin::EventChannel_var channel = CosEventChannelAdmin::EventChannel::_narrow(object);
  expect("the channel is one", !CORBA::is_nil(channel));
  CosEventChannelAdmin::ConsumerAdmin_var consumers = channel->for_consumers();
  CosEventChannelAdmin::SupplierAdmin_var suppliers = channel->for_suppliers();

  Record received, ended;
  PortableServer::Servant_var<Consumer> consumer = new Consumer(received, ended);
  CosEventComm::PushConsumer_var consumer_ref = consumer->_this();
  CosEventChannelAdmin::ProxyPushSupplier_var to_consumer = consumers->obtain_push_supplier();
  to_consumer->connect_push_consumer(consumer_ref);
  PortableServer::Servant_var<PullingConsumer> pulling = new PullingConsumer(ended);
  CosEventComm::PullConsumer_var pulling_ref = pulling->_this();
  CosEventChannelAdmin::ProxyPullSupplier_var to_pull = consumers->obtain_pull_supplier();
  to_pull->connect_pull_consumer(pulling_ref);
  PortableServer::Servant_var<PushingSupplier> pushing = new PushingSupplier(ended);
  CosEventComm::PushSupplier_var pushing_ref = pushing->_this();
  CosEventChannelAdmin::ProxyPushConsumer_var to_push = suppliers->obtain_push_consumer();
  to_push->connect_push_supplier(pushing_ref);
  try {
    to_push->connect_push_supplier(pushing_ref);
    expect("a second connection is refused", false);
  } catch (CosEventChannelAdmin::AlreadyConnected&) {
    expect("a second connection is refused", true);
  }

  const int count = 10;
  for (CORBA::Long value = 0; value < count; ++value) {
    CORBA::Any data;
    data <<= value;
    to_push->push(data);
  }
  expect("pushed events are pushed on", has(received.wait_for(count), 0, count));
  PortableServer::Servant_var<PulledSupplier> supplier = new PulledSupplier(count, ended);
  CosEventComm::PullSupplier_var supplier_ref = supplier->_this();
  CosEventChannelAdmin::ProxyPullConsumer_var from_supplier = suppliers->obtain_pull_consumer();
  from_supplier->connect_pull_supplier(supplier_ref);
  expect("pulled events are pushed on", has(received.wait_for(2 * count), 100, count));
  std::vector<CORBA::Long> values;
  for (int place = 0; place < 2 * count; ++place) values.push_back(pulled(to_pull));
  expect("pushed events are pulled", has(values, 0, count));
  expect("pulled events are pulled", has(values, 100, count));
  CORBA::Boolean has_event = true;
  CORBA::Any_var nothing = to_pull->try_pull(has_event);
  expect("then there are none", !has_event);

  to_consumer->disconnect_push_supplier();
  to_pull->disconnect_pull_supplier();
  to_push->disconnect_push_consumer();
  from_supplier->disconnect_pull_consumer();
  expect("all are told of the end", ended.wait_for(4).size() == 4);
  try {
    CORBA::Any data;
    to_push->push(data);
    expect("a push behind the end is refused", false);
  } catch (CosEventComm::Disconnected&) {
    expect("a push behind the end is refused", true);
  } catch (CORBA::OBJECT_NOT_EXIST&) {
    expect("a push behind the end is refused", true);
  }
}

} // namespace

int main(int argc, char** argv) {
  try {
    CORBA::ORB_var orb = CORBA::ORB_init(argc, argv);
    if (argc != 2) return 2;
    run(orb, argv[1]);
    orb->destroy();
    return 0;
  } catch (CORBA::Exception& error) {
    std::cout << "NOT: " << error._name() << std::endl;
    return 1;
  }
}
