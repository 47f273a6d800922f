//! Servant of the repository itself: administrators, servers and activators call it.

use punctual::asynchronous::Amh;
use punctual::poa::{IdAssignmentPolicy, LifespanPolicy, PoaPolicy};
use punctual::{ObjectId, Poa, Response, SystemException, SystemExceptionKind, about_to_block};

use super::listing::{information, withhold};
use super::outcome::By;
use super::repository::{Repository, Wrong, remove};
use super::waiter::Waiter;
use crate::access;
use crate::implementation_repository::{
    Activator, AdministrationActivateServerError, AdministrationAddOrUpdateServerError,
    AdministrationAmhServant, AdministrationExtAmhServant, AdministrationExtForceRemoveServerError,
    AdministrationExtKillServerError, AdministrationExtLinkServersError,
    AdministrationRemoveServerError, AdministrationServerIsRunningError,
    AdministrationServerIsShuttingDownError, AdministrationShutdownServerError, CannotComplete,
    Locator, LocatorAmhServant, NotFound, ServerInformation, ServerInformationIterator,
    ServerObject, StartupOptions,
};

/// Converts [`Wrong`] to errors of operations, which all declare NotFound.
macro_rules! raised {
    ($($error:ident),* $(; $complete:ident)*) => {
        $(impl From<Wrong> for $error {
            fn from(wrong: Wrong) -> Self {
                match wrong {
                    Wrong::NotFound => Self::NotFound(NotFound {}),
                    Wrong::Cannot(why) => SystemExceptionKind::NoResources.because(why).into(),
                    Wrong::System(exception) => exception.into(),
                }
            }
        })*
        $(impl From<Wrong> for $complete {
            fn from(wrong: Wrong) -> Self {
                match wrong {
                    Wrong::NotFound => Self::NotFound(NotFound {}),
                    Wrong::Cannot(reason) => Self::CannotComplete(CannotComplete { reason }),
                    Wrong::System(exception) => exception.into(),
                }
            }
        })*
    };
}

raised!(
    AdministrationActivateServerError, AdministrationAddOrUpdateServerError,
    AdministrationRemoveServerError, AdministrationShutdownServerError,
    AdministrationServerIsRunningError, AdministrationServerIsShuttingDownError;
    AdministrationExtLinkServersError; AdministrationExtKillServerError;
    AdministrationExtForceRemoveServerError
);

impl AdministrationAmhServant for Repository {
    fn activate_server(
        &self,
        response: Response<(), AdministrationActivateServerError>,
        server: &str,
    ) {
        let checked = self.check_administrator().map_err(Wrong::from);
        match checked.and_then(|()| self.resolved(server)) {
            Ok(name) => {
                let waiter = Waiter::Administrator(response);
                self.engine
                    .event(|state, now| state.requested(&name, waiter, By::Operator, now));
            }
            Err(wrong) => drop(response.raise(wrong)),
        }
    }

    fn add_or_update_server(
        &self,
        response: Response<(), AdministrationAddOrUpdateServerError>,
        server: &str,
        options: &StartupOptions,
    ) {
        let _ = response.answer(self.add(server, options).map_err(Into::into));
    }

    fn remove_server(&self, response: Response<(), AdministrationRemoveServerError>, server: &str) {
        let _ = response.answer(self.remove(server).map_err(Into::into));
    }

    fn shutdown_server(
        &self,
        response: Response<(), AdministrationShutdownServerError>,
        server: &str,
    ) {
        let _ = about_to_block();
        let _ = response.answer(self.shut_down(server).map_err(Into::into));
    }

    fn server_is_running(
        &self,
        response: Response<(), AdministrationServerIsRunningError>,
        server: &str,
        partial_ior: &str,
        server_object: Option<&ServerObject>,
    ) {
        let _ = response.answer(
            self.register(server, partial_ior, server_object)
                .map_err(Into::into),
        );
    }

    fn server_is_shutting_down(
        &self,
        response: Response<(), AdministrationServerIsShuttingDownError>,
        server: &str,
    ) {
        let _ = response.answer(self.ending(server).map_err(Into::into));
    }

    fn find(&self, response: Response<ServerInformation>, server: &str) {
        let found = self.engine.with(|state| {
            let name = state.resolved(server)?;
            state
                .servers
                .get(&name)
                .map(|server| information(&name, server))
        });
        // As in TAO: of a server that is not there, all is empty.
        let mut found = found.unwrap_or_default();
        if !access::permits(&self.access.administrators) {
            withhold(&mut found);
        }
        let _ = response.reply(found);
    }

    fn list(
        &self,
        response: Response<(Vec<ServerInformation>, Option<ServerInformationIterator>)>,
        how_many: u32,
        determine_active_status: bool,
    ) {
        let all = access::permits(&self.access.administrators);
        let ask = determine_active_status;
        self.listings
            .answer(&self.engine, response, how_many, ask, all);
    }

    fn shutdown(&self, activators: bool, servers: bool) {
        if self.check_administrator().is_err() {
            return;
        }
        let _ = about_to_block();
        self.end_all(activators, servers);
    }
}

impl AdministrationExtAmhServant for Repository {
    fn link_servers(
        &self,
        response: Response<(), AdministrationExtLinkServersError>,
        server: &str,
        peers: &[String],
    ) {
        let _ = response.answer(self.link(server, peers).map_err(Into::into));
    }

    fn kill_server(
        &self,
        response: Response<(), AdministrationExtKillServerError>,
        server: &str,
        signum: i16,
    ) {
        self.signal(server, signum, move |done| {
            let _ = response.answer(done.map(drop).map_err(Into::into));
        });
    }

    fn force_remove_server(
        &self,
        response: Response<(), AdministrationExtForceRemoveServerError>,
        server: &str,
        signum: i16,
    ) {
        let _ = about_to_block();
        if signum == 0 {
            let done = self.shut_down(server).and_then(|()| self.remove(server));
            let _ = response.answer(done.map_err(Into::into));
            return;
        }
        let engine = self.engine.clone();
        self.signal(server, signum, move |done| {
            let removed = done.and_then(|name| Ok(remove(&engine, &name)?));
            let _ = response.answer(removed.map_err(Into::into));
        });
    }
}

impl LocatorAmhServant for Repository {
    fn register_activator(&self, response: Response<i32>, name: &str, act: Option<&Activator>) {
        let _ = response.answer(self.register_activator(name, act));
    }

    fn unregister_activator(&self, response: Response<()>, name: &str, token: i32) {
        let _ = response.answer(self.unregister_activator(name, token));
    }

    fn notify_child_death(&self, response: Response<()>, name: &str) {
        let _ = response.answer(self.died(name, None));
    }

    fn child_death_pid(&self, response: Response<()>, name: &str, pid: i32) {
        let _ = response.answer(self.died(name, Some(pid)));
    }

    fn spawn_pid(&self, response: Response<()>, name: &str, pid: i32) {
        let _ = response.answer(self.spawned(name, pid));
    }
}

/// Name of the POA of the repository's object, and the object's id.
const OWN: &str = "ImplRepoService";

/// Activates the servant of a repository. Its reference is the same after a restart at the same endpoints: it is in those of
/// servers' objects, and activators keep it.
///
/// # Errors
/// The adapters refuse it.
pub(super) fn activate(parent: &Poa, repository: Repository) -> Result<Locator, SystemException> {
    let policies = [
        PoaPolicy::Lifespan(LifespanPolicy::Persistent),
        PoaPolicy::IdAssignment(IdAssignmentPolicy::User),
    ];
    let poa = parent.create_poa(OWN, Some(parent.manager()), &policies)?;
    Ok(poa.activate_with_id(&ObjectId::from(OWN.as_bytes()), Amh::new(repository))?)
}
