//! Notify logs after a restart, and on disks that fail.

use punctual::policy::Collocation;
use punctual::{Any, Interface, Orb, OrbConfig};
use punctual_host::store::Faults;
use punctual_log::ds_log_admin::{ForwardingState, HALT};
use punctual_notification::cos_notification::{
    CONNECTION_RELIABILITY, MAX_CONSUMERS, MAX_EVENTS_PER_CONSUMER, PERSISTENT,
};

use crate::notify::{
    consumers, event, filter, narrowed, property, pull_supplier, pulled, pulls_from, pushes_to,
    recorded,
};
use crate::restarts::place;
use crate::support::{Served, exists, number};

/// Returns an ORB of a client, which outlives the server and calls it by requests.
fn client() -> Orb {
    let configure = |config: &mut OrbConfig| config.collocation = Collocation::None;
    Orb::builder().configure(configure).build().unwrap()
}

/// Returns a reference of a client, which outlives the server.
fn seen_by<I: Interface>(client: &Orb, object: &I) -> I {
    let object = object.as_object();
    let text = object.orb().object_to_string(object).unwrap();
    I::from_object(client.string_to_object(&text).unwrap())
}

fn persistent() -> [punctual_notification::cos_notification::Property; 1] {
    let persistent = Any::new(&PERSISTENT).unwrap();
    [property(CONNECTION_RELIABILITY, persistent)]
}

#[test]
fn logs_with_their_filters_properties_and_references_are_there_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("logs.redb");
    let place = place("127.78.2.1");
    let client = client();
    let served = Served::at(&path, place);
    let log = seen_by(&client, &served.notify_log(&[]));
    let quality = property(MAX_EVENTS_PER_CONSUMER, number(7));
    let administration = property(MAX_CONSUMERS, number(3));
    log.set_qos(std::slice::from_ref(&quality)).unwrap();
    log.set_admin(std::slice::from_ref(&administration))
        .unwrap();
    let large = filter(&log, "$number > 2");
    log.set_filter(Some(&large)).unwrap();
    pushes_to(&log).push_structured_event(&event(3)).unwrap();
    log.set_forwarding_state(ForwardingState::Off).unwrap();
    let other = seen_by(&client, &served.notify_log(&[]));
    let gone = filter(&other, "$number < 2");
    other.set_filter(Some(&gone)).unwrap();
    gone.destroy().unwrap();
    let ended = seen_by(&client, &served.notify_log(&[]));
    ended.destroy().unwrap();
    drop(served);

    let served = Served::at(&path, place);
    assert_eq!(served.notify.list_logs_by_id().unwrap(), [1, 2]);
    assert!(served.factory.list_logs().unwrap().is_empty());
    assert!(!exists(&ended));
    // The same reference, of the first run.
    assert_eq!(recorded(&log), [3]);
    assert!(log.get_qos().unwrap().contains(&quality));
    assert!(log.get_admin().unwrap().contains(&administration));
    let found = log.get_filter().unwrap().unwrap();
    assert!(found.as_object().is_equivalent(large.as_object()));
    let (pushes, pulls) = (pushes_to(&log), pulls_from(&log));
    for one in [1, 4] {
        pushes.push_structured_event(&event(one)).unwrap();
    }
    assert_eq!(recorded(&log), [3, 4]);
    assert!(pulled(&pulls).is_empty());
    // The filter that its client has destroyed is the log's all the same.
    let (pushes, pulls) = (pushes_to(&other), pulls_from(&other));
    for one in [1, 4] {
        pushes.push_structured_event(&event(one)).unwrap();
    }
    assert_eq!(recorded(&other), [1]);
    assert_eq!(pulled(&pulls), [1, 4]);
}

#[test]
fn persistent_connections_of_logs_and_of_the_factory_are_there_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("logs.redb");
    let place = place("127.78.2.2");
    let client = client();
    let served = Served::at(&path, place);
    let log = seen_by(&client, &served.notify_log(&persistent()));
    let pulls = pull_supplier(&consumers(&log));
    pulls.connect_structured_pull_consumer(None).unwrap();
    let brief = pull_supplier(&consumers(&log));
    let best_effort = Any::new(&0_i16).unwrap();
    brief
        .set_qos(&[property(CONNECTION_RELIABILITY, best_effort)])
        .unwrap();
    brief.connect_structured_pull_consumer(None).unwrap();
    let factory = seen_by(&client, &served.notify);
    let watch = pull_supplier(&narrowed(&factory));
    watch.set_qos(&persistent()).unwrap();
    watch.connect_structured_pull_consumer(None).unwrap();
    drop(served);

    let served = Served::at(&path, place);
    pushes_to(&log).push_structured_event(&event(1)).unwrap();
    assert_eq!(pulled(&pulls), [1]);
    assert!(!exists(&brief));
    served.notify_log(&[]);
    assert!(watch.try_pull_structured_event().unwrap().1);
    assert_eq!(recorded(&log), [1]);
}

#[test]
fn a_log_is_created_whole_or_not_at_all_on_a_disk_that_fills_up() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("logs.redb");
    let faults = Faults::default();
    let served = Served::faulty(&path, &faults);
    let mut logs = 0;
    let refused = faults.at_each_write(
        |_| served.notify.create(HALT, 0, &[], &[], &[]).is_err(),
        |_, is_refused| {
            logs += usize::from(!is_refused);
            assert_eq!(served.notify.list_logs().unwrap().len(), logs);
        },
    );
    assert!(refused > 0 && logs > 0);
    drop(served);
    let served = Served::at(&path, ("127.0.0.1", 0));
    let ids = served.notify.list_logs_by_id().unwrap();
    assert_eq!(ids.len(), logs);
    for id in ids {
        let log = served.find_notify(id);
        pushes_to(&log).push_structured_event(&event(1)).unwrap();
        assert_eq!(recorded(&log), [1]);
    }
}
