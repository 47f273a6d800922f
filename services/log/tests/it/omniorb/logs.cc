// Client of a Telecom Log Service, by omniORB: writes records, queries them, and pushes events into a log that is a channel.
// Prints one line for each thing that is as it should be, and ends with 1 at the first that is not.
//
// logs BASIC_FACTORY EVENT_FACTORY NOTIFY_FACTORY

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

CosNotifyFilter::Filter_ptr filter_of(CosNotifyChannelAdmin::EventChannel_ptr channel, const char* text) {
  CosNotifyFilter::FilterFactory_var filters = channel->default_filter_factory();
  CosNotifyFilter::Filter_var filter = filters->create_filter("EXTENDED_TCL");
  CosNotifyFilter::ConstraintExpSeq constraints;
  constraints.length(1);
  constraints[0].constraint_expr = CORBA::string_dup(text);
  CosNotifyFilter::ConstraintInfoSeq_var added = filter->add_constraints(constraints);
  return filter._retn();
}

CosNotification::StructuredEvent alarm(CORBA::Long severity) {
  CosNotification::StructuredEvent event;
  event.header.fixed_header.event_type.domain_name = CORBA::string_dup("Telecom");
  event.header.fixed_header.event_type.type_name = CORBA::string_dup("Alarm");
  event.filterable_data.length(1);
  event.filterable_data[0].name = CORBA::string_dup("severity");
  event.filterable_data[0].value <<= severity;
  event.remainder_of_body <<= severity;
  return event;
}

void record_notifications(DsNotifyLogAdmin::NotifyLogFactory_ptr factory) {
  Log::CapacityAlarmThresholdList thresholds;
  CosNotification::QoSProperties quality;
  CosNotification::AdminProperties administration;
  Log::LogId id;
  quality.length(1);
  quality[0].name = CORBA::string_dup("EventReliability");
  quality[0].value <<= CORBA::Short(1);
  expect("an unsupported quality is refused", raises<CosNotification::UnsupportedQoS>([&] {
           factory->create(Log::halt, 0, thresholds, quality, administration, id);
         }));
  quality.length(0);
  DsNotifyLogAdmin::NotifyLog_var log = factory->create(Log::halt, 0, thresholds, quality, administration, id);
  CosNotifyFilter::Filter_var filter = filter_of(log, "$severity > 1");
  log->set_filter(filter);
  CosNotifyFilter::Filter_var found = log->get_filter();
  expect("the log has a filter", found->_is_equivalent(filter));
  CosNotifyChannelAdmin::ProxyID proxy;
  CosNotifyChannelAdmin::ConsumerAdmin_var consumers = log->default_consumer_admin();
  CosNotifyChannelAdmin::ProxySupplier_var to =
      consumers->obtain_notification_pull_supplier(CosNotifyChannelAdmin::STRUCTURED_EVENT, proxy);
  auto pulls = CosNotifyChannelAdmin::StructuredProxyPullSupplier::_narrow(to);
  pulls->connect_structured_pull_consumer(CosNotifyComm::StructuredPullConsumer::_nil());
  CosNotifyChannelAdmin::SupplierAdmin_var suppliers = log->default_supplier_admin();
  CosNotifyChannelAdmin::ProxyConsumer_var from =
      suppliers->obtain_notification_push_consumer(CosNotifyChannelAdmin::SEQUENCE_EVENT, proxy);
  auto pushes = CosNotifyChannelAdmin::SequenceProxyPushConsumer::_narrow(from);
  pushes->connect_sequence_push_supplier(CosNotifyComm::SequencePushSupplier::_nil());
  CosNotification::EventBatch events;
  events.length(3);
  for (CORBA::Long severity = 0; severity < 3; ++severity) events[severity] = alarm(severity);
  pushes->push_structured_events(events);
  Log::Iterator_var rest;
  Log::RecordList_var records = log->query(Log::default_grammar, "$.info.filterable_data(severity) == 2", rest.out());
  const CosNotification::StructuredEvent* event = nullptr;
  expect("events that the filter lets through are records",
         log->get_n_records() == 1 && records->length() == 1 && (records[0].info >>= event) &&
             number_in(event->remainder_of_body) == 2);
  bool all = true;
  for (CORBA::Long severity = 0; severity < 3; ++severity) {
    CosNotification::StructuredEvent_var pulled = pulls->pull_structured_event();
    all = all && number_in(pulled->remainder_of_body) == severity;
  }
  expect("consumers get all events", all);
  CORBA::release(pulls);
  CORBA::release(pushes);
  log->destroy();
}

}  // namespace

int main(int argc, char** argv) {
  CORBA::ORB_var orb = CORBA::ORB_init(argc, argv);
  CORBA::Object_var object = orb->string_to_object(argv[1]);
  Log::BasicLogFactory_var factory = Log::BasicLogFactory::_narrow(object);
  object = orb->string_to_object(argv[2]);
  auto events = DsEventLogAdmin::EventLogFactory::_narrow(object);
  object = orb->string_to_object(argv[3]);
  auto notify = DsNotifyLogAdmin::NotifyLogFactory::_narrow(object);
  expect("the factories are found",
         !CORBA::is_nil(factory) && !CORBA::is_nil(events) && !CORBA::is_nil(notify));

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
  record_notifications(notify);
  log->destroy();
  Log::BasicLog_var basic = Log::BasicLog::_narrow(copy);
  basic->destroy();
  Log::LogIdList_var left = factory->list_logs_by_id();
  expect("logs are destroyed", left->length() == 0);
  CORBA::release(events);
  CORBA::release(notify);
  orb->destroy();
  return 0;
}
