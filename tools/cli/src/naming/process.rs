//! Process of `punctual naming serve`: names, and with `--groups` object groups beside them.
//!
//! The groups are served first, as names call them, and by a reference of their own: the rights of those who change a group by
//! its name are checked by the names. They are stopped after the ORB's shutdown, when no name is served any more.

use punctual::{ObjectRef, OrbConfig, Poa};
use punctual_groups_service::GroupService;
use punctual_host::metrics::Exposition;
use punctual_host::publish::publish;
use punctual_host::{NotReady, ServeError, Service, Turn};
use punctual_naming::NamingServer;
use std::sync::{Arc, OnceLock};
use tempfile::TempDir;

/// Names, and perhaps object groups, as one service.
#[derive(Debug)]
pub(super) struct NamingProcess {
    pub(super) names: NamingServer,
    pub(super) groups: Option<Groups>,
}

/// Object groups beside the names.
#[derive(Debug)]
pub(super) struct Groups {
    pub(super) service: Arc<GroupService>,
    /// Reference of the ReplicationManager, once it is served.
    pub(super) manager: OnceLock<ObjectRef>,
    /// Folder of the copy of groups that are in etcd.
    pub(super) _copy: Option<TempDir>,
}

impl Service for NamingProcess {
    const NAME: &'static str = NamingServer::NAME;
    const INITIAL_REFERENCE: &'static str = NamingServer::INITIAL_REFERENCE;

    fn configure(config: &mut OrbConfig) {
        NamingServer::configure(config);
    }

    fn summary(&self) -> Option<String> {
        let groups = self
            .groups
            .as_ref()
            .and_then(|groups| groups.service.summary());
        let all: Vec<String> = self.names.summary().into_iter().chain(groups).collect();
        Some(all.join(", "))
    }

    fn turn(&self) -> Option<Arc<dyn Turn>> {
        self.groups.as_ref()?.service.turn()
    }

    fn serve(&self, parent: &Poa) -> Result<ObjectRef, ServeError> {
        if let Some(groups) = &self.groups {
            let orb = parent.orb();
            let manager = groups.service.serve(parent)?;
            let published = publish(orb, GroupService::INITIAL_REFERENCE, &manager);
            published.map_err(ServeError::of::<GroupService>)?;
            let for_names = groups.service.manager_for_this_process(parent)?;
            let text = orb.object_to_string(&for_names);
            let text = text.map_err(ServeError::of::<GroupService>)?;
            self.names.service.keep_groups_at(text);
            groups.manager.get_or_init(|| manager);
        }
        self.names.serve(parent)
    }

    fn further_references(&self) -> Vec<ObjectRef> {
        let groups = self.groups.iter();
        groups
            .filter_map(|groups| groups.manager.get().cloned())
            .collect()
    }

    fn check_ready(&self) -> Result<(), NotReady> {
        self.names.check_ready()?;
        let groups = self.groups.as_ref();
        groups.map_or(Ok(()), |groups| groups.service.check_ready())
    }

    fn check_alive(&self) {
        self.names.check_alive();
        if let Some(groups) = &self.groups {
            groups.service.check_alive();
        }
    }

    fn metrics(&self, out: &mut Exposition) {
        self.names.metrics(out);
        if let Some(groups) = &self.groups {
            out.within(GroupService::NAME, |out| groups.service.metrics(out));
        }
    }

    fn end_waiting(&self) {
        if let Some(groups) = &self.groups {
            groups.service.end_waiting();
        }
    }

    fn stop(&self) {
        self.names.stop();
        if let Some(groups) = &self.groups {
            groups.service.stop();
        }
    }
}
