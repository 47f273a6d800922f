//! A group service with a console, and clients of it.

#![allow(dead_code, reason = "no test uses all of it")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use punctual::{Interface, ListenEndpoint, ObjectRef, Orb, RootPoa};
use punctual_console::{Console, ConsoleOptions, Groups};
use punctual_groups_client::punctual_groups::Administration;
use punctual_groups_service::GroupService;
use punctual_host::Service;
use punctual_naming::cos_naming::NameComponent;

use super::support::asked;

/// Group service with its page.
pub(crate) struct Served {
    orb: Orb,
    service: Arc<GroupService>,
    pub(crate) manager: Administration,
    pub(crate) console: Console,
}

impl Served {
    pub(crate) fn new() -> Self {
        let service = Arc::new(GroupService::in_memory());
        let orb = Orb::builder()
            .listen(ListenEndpoint::iiop("127.0.0.1", 0))
            .build()
            .unwrap();
        let poa = orb.root_poa().unwrap();
        let manager = service.serve(&poa).unwrap();
        poa.manager().activate().unwrap();
        let options = ConsoleOptions {
            address: "127.0.0.1:0".to_owned(),
            ..ConsoleOptions::default()
        };
        let page = Groups {
            service: service.clone(),
        };
        let console = Console::listen(&options, vec![Box::new(page)]).unwrap();
        Self {
            manager: Administration::from_object(manager),
            orb,
            service,
            console,
        }
    }

    pub(crate) fn page(&self, query: &str) -> String {
        let path = format!("/groups{query}");
        asked(&self.console, &path, &self.console.address().to_string())
    }

    pub(crate) fn group(&self, style: &str) -> ObjectRef {
        let created = self.manager.create_group("IDL:Plant/Pump:1.0", style, "");
        created.unwrap().0.unwrap()
    }

    /// Joins a group with a lease, which is not renewed.
    pub(crate) fn join(&self, group: &ObjectRef, location: &str, lease: Duration) {
        let location = [NameComponent {
            id: location.to_owned(),
            kind: String::new(),
        }];
        // The manager stands for a member: it exists, and knows nothing of states.
        let member = self.manager.as_object();
        let lease = u32::try_from(lease.as_millis()).unwrap();
        let joined = self
            .manager
            .join(Some(group), &location, Some(member), lease);
        joined.unwrap();
    }

    /// Joins a member that becomes primary, and whose lease then ends as it is never renewed. On a busy machine a lease may end
    /// before the member is elected: then it joins again with a longer one.
    pub(crate) fn join_primary_to_die(&self, group: &ObjectRef, location: &str) {
        let mut lease = Duration::from_millis(500);
        loop {
            self.join(group, location, lease);
            let ended = Instant::now() + 2 * lease;
            while Instant::now() < ended {
                if self.page("").contains("became primary") {
                    return;
                }
                std::thread::sleep(Duration::from_millis(20));
            }
            lease *= 2;
        }
    }

    /// Returns the page once it contains a text.
    pub(crate) fn page_with(&self, query: &str, text: &str) -> String {
        let begun = Instant::now();
        loop {
            let page = self.page(query);
            if page.contains(text) {
                return page;
            }
            assert!(begun.elapsed() < Duration::from_mins(2), "{text}: {page}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.service.end_waiting();
        let _ = self.orb.shutdown(true);
        self.service.stop();
    }
}
