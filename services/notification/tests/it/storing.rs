//! Changes that cannot be stored.

use std::path::Path;

use punctual::{NotNil, SystemExceptionKind as Kind};
use punctual_host::store::Faults;
use punctual_notification::NotificationService;
use punctual_notification::cos_notification as names;
use punctual_notification::cos_notify_channel_admin::{
    ClientType, EventChannel, InterFilterGroupOperator as Operator, ObtainInfoMode,
    StructuredProxyPushSupplier,
};
use punctual_notification::cos_notify_filter::Filter;

use crate::clients::Peer;
use crate::filters::constraint;
use crate::restarts::{filter, persistent, stored};
use crate::support::{
    Program, Served, consumers, event, event_type, exists, kind_of, limits, narrowed, property,
    push_supplier,
};

/// Service on a disk with faults, with a channel, a filter, and a connected consumer.
struct OnFaultyDisk {
    faults: Faults,
    served: Served,
    program: Program,
    channel: EventChannel,
    filter: Filter,
    proxy: StructuredProxyPushSupplier,
}

impl OnFaultyDisk {
    fn new(path: &Path) -> Self {
        let faults = Faults::default();
        let service = NotificationService::open_with_faults(path, faults.clone()).unwrap();
        service.set_limits(limits());
        let (served, program) = (Served::of(service, ("127.0.0.1", 0)), Program::new());
        let channel = program.see(&served.channel(&[persistent()], &[]));
        let (proxy, _) = program.sink(&channel);
        Self {
            filter: filter(&channel, "$number == 1"),
            faults,
            served,
            program,
            channel,
            proxy,
        }
    }

    /// Checks that a change is refused by a disk that is full after any number of writes, and leaves what `state` returns
    /// as it was; then that it is made when there is room.
    fn refuses_whole<T: PartialEq + std::fmt::Debug>(
        &self,
        change: impl Fn() -> Option<Kind>,
        state: impl Fn() -> T,
    ) {
        let before = state();
        let refusals = self.faults.at_each_write(
            |_| match change() {
                Some(kind) => {
                    assert_eq!(kind, Kind::PersistStore);
                    true
                }
                None => false,
            },
            |_, is_refused| assert_eq!(state() == before, is_refused),
        );
        assert!(refusals > 0);
    }
}

/// Returns the kind of the exception of a call that fails.
fn failure<R, E: punctual::OperationError + std::fmt::Debug>(
    outcome: Result<R, E>,
) -> Option<Kind> {
    outcome.err().map(|error| error.system().unwrap().kind())
}

#[test]
fn changes_that_a_full_disk_refuses_leave_all_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let on = OnFaultyDisk::new(&folder.path().join("notification.redb"));
    let factory = on.program.see(&on.served.factory);
    let (channel, proxy, filter) = (&on.channel, &on.proxy, &on.filter);
    on.refuses_whole(
        || failure(factory.create_channel(&[persistent()], &[])),
        || factory.get_all_channels().unwrap(),
    );
    on.refuses_whole(
        || failure(channel.new_for_consumers(Operator::OrOp)),
        || channel.get_all_consumeradmins().unwrap(),
    );
    on.refuses_whole(
        || failure(channel.set_admin(&[property(names::MAX_CONSUMERS, 30)])),
        || channel.get_admin().unwrap(),
    );
    on.refuses_whole(
        || failure(channel.set_qos(&[property(names::PRIORITY, 3_i16)])),
        || channel.get_qos().unwrap(),
    );
    on.refuses_whole(
        || failure(filter.add_constraints(&[constraint(&[], "$number == 2")])),
        || filter.get_all_constraints().unwrap(),
    );
    on.refuses_whole(
        || failure(proxy.add_filter(Some(filter))),
        || proxy.get_all_filters().unwrap(),
    );
    on.refuses_whole(
        || failure(proxy.set_qos(&[property(names::PRIORITY, 3_i16)])),
        || proxy.get_qos().unwrap(),
    );
    on.refuses_whole(
        || failure(proxy.subscription_change(&[event_type("Telecom", "Alarm")], &[])),
        || channel_types(channel),
    );
    on.refuses_whole(
        || failure(proxy.remove_all_filters()),
        || proxy.get_all_filters().unwrap(),
    );
    on.refuses_whole(|| failure(filter.destroy()), || exists(filter));
    on.refuses_whole(
        || failure(proxy.disconnect_structured_push_supplier()),
        || exists(proxy),
    );
    on.refuses_whole(|| failure(channel.destroy()), || exists(channel));
}

/// Returns the types that consumers of a channel subscribe to, as a supplier hears.
fn channel_types(channel: &EventChannel) -> usize {
    let suppliers = channel.default_supplier_admin().unwrap().not_nil().unwrap();
    let proxy = crate::support::push_consumer(&suppliers, ClientType::StructuredEvent);
    let types = proxy.obtain_subscription_types(ObtainInfoMode::AllNowUpdatesOff);
    let all = event_type("*", "%ALL");
    types.unwrap().iter().filter(|one| **one != all).count()
}

#[test]
fn a_connection_that_cannot_be_stored_is_not_made_and_can_be_tried_again() {
    let folder = tempfile::tempdir().unwrap();
    let on = OnFaultyDisk::new(&folder.path().join("notification.redb"));
    let admin = consumers(&on.channel);
    let proxy = push_supplier(&admin, ClientType::StructuredEvent);
    let proxy: StructuredProxyPushSupplier = narrowed(&proxy);
    let sink = Peer::default();
    let object = on.program.object(sink.clone());
    on.faults.fill_after(0);
    assert_eq!(
        kind_of(proxy.connect_structured_push_consumer(Some(&object))),
        Kind::PersistStore
    );
    on.faults.mend();
    let pushes = on.program.pushes_to(&on.channel);
    pushes.push_structured_event(&event(1)).unwrap();
    proxy
        .connect_structured_push_consumer(Some(&object))
        .unwrap();
    pushes.push_structured_event(&event(2)).unwrap();
    assert_eq!(sink.wait_for(1), [2]);
}

#[test]
fn a_change_that_is_on_the_disk_though_it_was_refused_is_not_seen_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notification.redb");
    let on = OnFaultyDisk::new(&path);
    let factory = on.program.see(&on.served.factory);
    on.faults.fail_late();
    let refused = factory.create_channel(&[persistent()], &[]);
    assert_eq!(kind_of(refused), Kind::PersistStore);
    assert_eq!(kind_of(on.channel.destroy()), Kind::PersistStore);
    on.faults.mend();
    let changed = event_type("Telecom", "Alarm");
    on.proxy.subscription_change(&[changed], &[]).unwrap();
    drop(on);
    let served = Served::of(stored(&path), ("127.0.0.1", 0));
    assert_eq!(served.service.size(), (1, 1, 0));
}
