//! Rounds in which this server follows the group service, made by the test itself.

use std::time::Duration;

use punctual::{ListenEndpoint, Orb, RootPoa};
use punctual_groups_client::punctual_groups::{Group, Member};
use punctual_groups_service::GroupService as Groups;
use punctual_host::Service;

use super::NamingService;
use super::follow::Progress;
use crate::access::Requester;
use crate::cos_naming::NameComponent;
use crate::group_service::{GroupService, group_of};
use crate::store::{Choice, ROOT};
use crate::tree::{Operation, RequestedChange};

/// Time that only failures reach.
const PATIENCE: Duration = Duration::from_secs(90);

/// Names with groups in their store, and a group service in the process that has none yet.
struct Beginning {
    names: NamingService,
    groups: Groups,
    orb: Orb,
}

impl Drop for Beginning {
    fn drop(&mut self) {
        self.groups.end_waiting();
        let _ = self.orb.shutdown(true);
        self.groups.stop();
    }
}

fn name(id: &str) -> Vec<NameComponent> {
    vec![NameComponent {
        id: id.to_owned(),
        kind: String::new(),
    }]
}

fn operation(wanted: RequestedChange) -> Operation {
    Operation {
        context: ROOT,
        wanted,
        by: Requester::Process,
    }
}

impl Beginning {
    fn with(count: usize) -> Self {
        let names = NamingService::in_memory().unwrap();
        for at in 0..count {
            let (name, choice) = (name(&format!("group{at}")), Choice::LeastLoaded);
            let bind = operation(RequestedChange::BindGroup { name, choice });
            names.change(bind).unwrap();
        }
        let listen = ListenEndpoint::iiop("127.0.0.1", 0);
        let orb = Orb::builder().listen(listen).build().unwrap();
        let poa = orb.root_poa().unwrap();
        poa.manager().activate().unwrap();
        let groups = Groups::in_memory();
        let manager = groups.serve(&poa).unwrap();
        let reference = orb.object_to_string(&manager).unwrap();
        let known = GroupService::at(&orb, &reference, PATIENCE).unwrap();
        // Without the thread that follows the group service.
        assert!(names.0.group_service.set(known).is_ok());
        Self { names, groups, orb }
    }

    fn known(&self) -> &GroupService {
        self.names.0.group_service.get().unwrap()
    }

    fn round(&self, progress: &mut Progress, within: Duration) {
        progress
            .catch_up(&self.names.0, self.known(), within)
            .unwrap();
    }
}

#[test]
fn a_round_moves_and_removes_one_group_after_the_other_until_its_time_is_up() {
    let it = Beginning::with(5);
    let mut progress = Progress::default();
    let counts = || (it.groups.groups(), it.known().copies.contexts().len());
    // Its time is up with the first group.
    for at in 1..=2 {
        it.round(&mut progress, Duration::ZERO);
        assert_eq!(counts(), (at, at));
    }
    it.round(&mut progress, PATIENCE);
    assert_eq!(counts(), (5, 5));
    for at in 0..5 {
        // Without the call that removes the group at once.
        let name = name(&format!("group{at}"));
        let unbind = operation(RequestedChange::Unbind { name });
        it.names.0.submit(unbind).unwrap();
    }
    assert_eq!(counts(), (5, 0));
    for left in [4, 3] {
        it.round(&mut progress, Duration::ZERO);
        assert_eq!(counts(), (left, 0));
    }
    it.round(&mut progress, PATIENCE);
    assert_eq!(counts(), (0, 0));
}

#[test]
fn a_load_counts_here_for_what_the_group_service_leaves_of_its_time() {
    let it = Beginning::with(1);
    let context = it.names.groups()[0];
    let shown = |version: u32, load_age_ms: u32| {
        let member = Member {
            the_location: name("m"),
            reference: None,
            is_primary: false,
            is_alive: true,
            is_draining: false,
            is_alerted: false,
            lease_ms: 0,
            is_loaded: true,
            load: 1.5,
            load_age_ms,
            chosen: 0,
        };
        let group = Group {
            id: group_of(context),
            version,
            the_members: vec![member],
            ..Group::default()
        };
        it.known().copies.put(context, group);
        it.names.0.show_copies(&[context]);
        let member = it.names.members(context).remove(0);
        let age = it.names.0.groups.age_of_load(&context, "m");
        (member.load, age)
    };
    // It counts for 30 s: this is beyond, although no time has passed since it came here.
    assert_eq!(shown(1, 31_000), (None, None));
    // Here 10 s are left, which a busy machine may take.
    let (load, age) = shown(2, 20_000);
    assert!(load.is_none_or(|load| load == 1.5));
    assert!(age.is_none_or(|age| age >= Duration::from_secs(20)));
}
