// Client of a Telecom Log Service, by omniORB: writes records, queries them, and pushes events into a log that is a channel.
// Prints one line for each thing that is as it should be, and ends with 1 at the first that is not.
//
// logs BASIC_FACTORY EVENT_FACTORY

#include "logs.hh"
#include <iostream>
#include <limits>

namespace Log = DsLogAdmin;
namespace Events = CosEventChannelAdmin;

namespace {

void expect(const char* what, bool is_so) {
  if (!is_so) {
    std::cout << "NOT " << what << std::endl;
    std::exit(1);
  }
  std::cout << what << std::endl;
}

// Returns whether a call raises an exception.
template <class Exception, class Call>
bool raises(Call call) {
  try {
    call();
  } catch (const Exception&) {
    return true;
  }
  return false;
}

CORBA::Long number_in(const CORBA::Any& any) {
  CORBA::Long number = -1;
  any >>= number;
  return number;
}

void write_numbers(Log::Log_ptr log, CORBA::Long from, CORBA::Long to) {
  Log::Anys records;
  for (CORBA::Long number = from; number < to; ++number) {
    records.length(records.length() + 1);
    records[records.length() - 1] <<= number;
  }
  log->write_records(records);
}

void write_and_query(Log::BasicLog_ptr log) {
  write_numbers(log, 0, 8);
  expect("records of any type are written", log->get_n_records() == 8);

  Log::RecordList list;
  list.length(1);
  list[0].info <<= "link down";
  list[0].attr_list.length(1);
  list[0].attr_list[0].name = CORBA::string_dup("site");
  list[0].attr_list[0].value <<= "Ulm";
  log->write_recordlist(list);
  expect("records with attributes are written", log->get_n_records() == 9);

  Log::Iterator_var rest;
  Log::RecordList_var found = log->query(Log::default_grammar, "$site == 'Ulm'", rest.out());
  const char* text = "";
  expect("a constraint finds records",
         found->length() == 1 && found[0].id == 9 && (found[0].info >>= text) &&
             std::string(text) == "link down" && CORBA::is_nil(rest) &&
             log->match("TCL", "info >= 2") == 6);
  expect("a wrong constraint is refused", raises<Log::InvalidConstraint>([&] {
           log->match(Log::default_grammar, "$.id ==");
         }) && raises<Log::InvalidGrammar>([&] { log->match("SQL", ""); }));

  found = log->query(Log::default_grammar, "$.info < 6", rest.out());
  Log::RecordList_var more = rest->get(4, 10);
  expect("an iterator has the rest",
         found->length() == 4 && more->length() == 2 && number_in(more[1].info) == 5 &&
             raises<Log::InvalidParam>([&] { rest->get(0, 0); }));
  rest->destroy();

  found = log->retrieve(std::numeric_limits<Log::TimeT>::max(), -2, rest.out());
  expect("records are retrieved backwards",
         found->length() == 2 && found[0].id == 9 && number_in(found[1].info) == 7);
}

void set_attributes(Log::BasicLog_ptr log) {
  Log::NVList attributes;
  attributes.length(1);
  attributes[0].name = CORBA::string_dup("acknowledged");
  attributes[0].value <<= CORBA::Any::from_boolean(true);
  CORBA::ULong set = log->set_records_attribute("EXTENDED_TCL", "$.id <= 3", attributes);
  Log::NVList_var read = log->get_record_attribute(2);
  expect("attributes are set", set == 3 && read->length() == 1);
  expect("an unknown record is refused",
         raises<Log::InvalidRecordId>([&] { log->set_record_attribute(99, attributes); }));
}

void fill(Log::BasicLogFactory_ptr factory) {
  Log::LogId id;
  Log::BasicLog_var log = factory->create(Log::halt, 100, id);
  short written = -1;
  try {
    write_numbers(log, 0, 20);
  } catch (const Log::LogFull& full) {
    written = full.n_records_written;
  }
  Log::AvailabilityStatus status = log->get_availability_status();
  expect("a log that is full says how much it took",
         written > 0 && written < 20 && log->get_n_records() == CORBA::ULongLong(written) &&
             status.log_full && !status.off_duty);
  log->destroy();
}

void schedule(Log::BasicLog_ptr log) {
  Log::WeekMask mask;
  mask.length(1);
  mask[0].days = Log::Monday | Log::Friday;
  mask[0].intervals.length(1);
  mask[0].intervals[0].start.hour = 8;
  mask[0].intervals[0].start.minute = 30;
  mask[0].intervals[0].stop.hour = 17;
  mask[0].intervals[0].stop.minute = 0;
  log->set_week_mask(mask);
  Log::WeekMask_var kept = log->get_week_mask();
  expect("a week mask is kept",
         kept->length() == 1 && kept[0].days == 34 && kept[0].intervals[0].start.minute == 30);
  mask[0].days = 0;
  expect("a wrong week mask is refused",
         raises<Log::InvalidMask>([&] { log->set_week_mask(mask); }));
  mask.length(0);
  log->set_week_mask(mask);
}

void record_events(DsEventLogAdmin::EventLogFactory_ptr factory) {
  Events::ProxyPullSupplier_var notices = factory->obtain_pull_supplier();
  notices->connect_pull_consumer(CosEventComm::PullConsumer::_nil());
  Log::CapacityAlarmThresholdList thresholds;
  Log::LogId id;
  DsEventLogAdmin::EventLog_var log = factory->create(Log::wrap, 0, thresholds, id);
  Events::ConsumerAdmin_var consumers = log->for_consumers();
  Events::ProxyPullSupplier_var pulls = consumers->obtain_pull_supplier();
  pulls->connect_pull_consumer(CosEventComm::PullConsumer::_nil());
  Events::SupplierAdmin_var suppliers = log->for_suppliers();
  Events::ProxyPushConsumer_var pushes = suppliers->obtain_push_consumer();
  pushes->connect_push_supplier(CosEventComm::PushSupplier::_nil());
  CORBA::Any event;
  event <<= CORBA::Long(7);
  pushes->push(event);
  expect("an event is a record", log->get_n_records() == 1);
  CORBA::Any_var pulled = pulls->pull();
  expect("a consumer gets the event", number_in(pulled) == 7);
  CORBA::Any_var notice = notices->pull();
  const DsLogNotification::ObjectCreation* created = nullptr;
  expect("the factory tells of its logs", (notice >>= created) && created->id == id);
  log->destroy();
}

}  // namespace

int main(int argc, char** argv) {
  CORBA::ORB_var orb = CORBA::ORB_init(argc, argv);
  CORBA::Object_var object = orb->string_to_object(argv[1]);
  Log::BasicLogFactory_var factory = Log::BasicLogFactory::_narrow(object);
  object = orb->string_to_object(argv[2]);
  auto events = DsEventLogAdmin::EventLogFactory::_narrow(object);
  expect("the factories are found", !CORBA::is_nil(factory) && !CORBA::is_nil(events));

  Log::LogId id;
  Log::BasicLog_var log = factory->create(Log::halt, 0, id);
  Log::Log_var found = factory->find_log(id);
  expect("a log is created", found->id() == id && log->get_log_full_action() == Log::halt);
  write_and_query(log);
  set_attributes(log);
  fill(factory);
  schedule(log);
  Log::RecordIdList ids;
  ids.length(1);
  ids[0] = 1;
  expect("records are deleted", log->delete_records("TCL", "info < 3") == 3 &&
                                    log->delete_records_by_id(ids) == 0 &&
                                    log->get_n_records() == 6);
  Log::LogId copied;
  Log::Log_var copy = log->copy(copied);
  expect("a copy is empty", copied != id && copy->get_n_records() == 0);
  record_events(events);
  log->destroy();
  Log::BasicLog_var basic = Log::BasicLog::_narrow(copy);
  basic->destroy();
  Log::LogIdList_var left = factory->list_logs_by_id();
  expect("logs are destroyed", left->length() == 0);
  CORBA::release(events);
  orb->destroy();
  return 0;
}
