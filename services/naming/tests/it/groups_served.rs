//! Support of tests and benchmarks: a group service beside the naming service.

#![allow(dead_code, reason = "no program uses all of it")]

use std::net::Ipv4Addr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;

use punctual::{Interface, ObjectRef, Orb};
use punctual_groups_client::punctual_groups::{Administration, Group};
use punctual_groups_service::{GroupService, Limits};
use punctual_host::Service;
use punctual_naming::{NamingService, ServeOptions};

use crate::support::{Served, orb, orb_with, root_poa};

/// Address that stays a server's own while that is away.
pub(crate) struct Place(Ipv4Addr, u16);

impl Place {
    /// Returns one that no other server has: each process has an address of its own in 127.64.0.0/10, and its ports are below
    /// those that the kernel chooses.
    pub(crate) fn new() -> Self {
        static PORT: AtomicU16 = AtomicU16::new(12_817);
        let [_, high, middle, low] = std::process::id().to_be_bytes();
        let host = Ipv4Addr::new(127, 64 | high, middle, low);
        Self(host, PORT.fetch_add(1, Ordering::Relaxed))
    }

    /// Returns an ORB that listens there.
    pub(crate) fn orb(&self) -> Orb {
        orb_with(|config| {
            config.listen = vec![punctual::ListenEndpoint::iiop(&self.0.to_string(), self.1)];
        })
    }
}

/// Group service that is served by an ORB of its own, until dropped.
pub(crate) struct ServedGroups {
    service: Arc<GroupService>,
    orb: Orb,
    /// Reference of its ReplicationManager as text.
    pub(crate) reference: String,
}

impl ServedGroups {
    pub(crate) fn in_memory() -> Self {
        Self::with(GroupService::in_memory(), orb())
    }

    /// Serves the groups of a file at a place.
    pub(crate) fn open(path: &Path, place: &Place) -> Self {
        Self::with(GroupService::open(path).unwrap(), place.orb())
    }

    pub(crate) fn with(service: GroupService, orb: Orb) -> Self {
        // Members of these tests need not exist: they are not asked.
        service.set_check_interval(Duration::from_secs(3_600));
        service.set_limits(Limits::default());
        let service = Arc::new(service);
        let manager = Service::serve(&*service, &root_poa(&orb)).unwrap();
        let reference = orb.object_to_string(&manager).unwrap();
        Self {
            service,
            orb,
            reference,
        }
    }

    /// Sets how many members a group may have.
    pub(crate) fn set_most_members(&self, members: usize) {
        let mut limits = Limits::default();
        limits.members = members;
        self.service.set_limits(limits);
    }

    /// Returns the interface of members and administrators, called by an ORB.
    pub(crate) fn administration(&self, orb: &Orb) -> Administration {
        let object: ObjectRef = orb.string_to_object(&self.reference).unwrap();
        Administration::from_object(object)
    }

    /// Returns all groups.
    pub(crate) fn list(&self) -> Vec<Group> {
        self.service.list(0, 1_000)
    }

    /// Serves names whose groups are here.
    pub(crate) fn names(&self, service: &NamingService, options: ServeOptions) -> Served {
        service.keep_groups_at(self.reference.clone());
        Served::with(service, options)
    }
}

impl Drop for ServedGroups {
    fn drop(&mut self) {
        self.service.end_waiting();
        let _ = self.orb.shutdown(true);
        self.service.stop();
    }
}

/// Names without a group service, and names with one.
pub(crate) fn alone_and_with_group_service() -> [(Option<ServedGroups>, Served); 2] {
    let groups = ServedGroups::in_memory();
    let service = NamingService::in_memory().unwrap();
    let served = groups.names(&service, ServeOptions::default());
    [(None, Served::in_memory()), (Some(groups), served)]
}
