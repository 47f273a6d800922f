//! Members that log their requests, in this process.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use punctual::fault_tolerance::FaultTolerance;
use punctual::interceptor::{InterceptorError, ServerRequestInfo, ServerRequestInterceptor};
use punctual::poa::servant_of;
use punctual::policy::Collocation;
use punctual::{
    Interface, ListenEndpoint, ObjectRef, Orb, OrbConfig, RootPoa, SystemException,
    SystemExceptionKind as Kind,
};
use punctual_groups_client::ft::Updateable;
use punctual_groups_requests::{LoggedMember, LoggedOptions};

use crate::idl::Register;
use crate::support::{Counter, LONG, Served, at, until};

/// Member with an ORB of its own, whose servant is a counter.
pub(crate) struct Member {
    pub(crate) counter: Arc<Counter>,
    pub(crate) logged: LoggedMember,
    pub(crate) orb: Orb,
    pub(crate) refuses: Arc<AtomicBool>,
}

/// Refuses requests that come from the log, when it is set.
struct Refuses(Arc<AtomicBool>);

impl ServerRequestInterceptor for Refuses {
    fn receive_request(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), InterceptorError> {
        let is_of_client = info.object_id()? == b"member";
        match !is_of_client && self.0.load(Ordering::SeqCst) {
            true => Err(Kind::Transient.because("too much to do").into()),
            false => Ok(()),
        }
    }
}

impl Member {
    /// Begins a member, and waits until it has joined.
    pub(crate) fn join(served: &Served, group: &ObjectRef, name: &str) -> Self {
        Self::with(served, group, name, |_| {})
    }

    /// Begins a member with other options.
    pub(crate) fn with(
        served: &Served,
        group: &ObjectRef,
        name: &str,
        change: impl FnOnce(&mut LoggedOptions),
    ) -> Self {
        let member = Self::begin(served, group, name, |_| {}, change).unwrap();
        until(|| member.logged.has_joined());
        member
    }

    /// Begins a member in an ORB of other settings, too.
    pub(crate) fn begin(
        served: &Served,
        group: &ObjectRef,
        name: &str,
        configure: impl FnOnce(&mut OrbConfig),
        change: impl FnOnce(&mut LoggedOptions),
    ) -> Result<Self, SystemException> {
        let refuses = Arc::new(AtomicBool::new(false));
        let builder = Orb::builder().configure(|config| {
            config.collocation = Collocation::None;
            config.listen = vec![ListenEndpoint::iiop("127.0.0.1", 0)];
            configure(config);
        });
        let builder = builder.server_interceptor(Arc::new(Refuses(refuses.clone())));
        let orb = FaultTolerance::extend(builder).unwrap().build().unwrap();
        let counter = Counter::named(name);
        let mut options = options();
        change(&mut options);
        let here = |object: &ObjectRef| {
            let text = served.client.object_to_string(object).unwrap();
            orb.string_to_object(&text).unwrap()
        };
        let poa = orb.root_poa().unwrap();
        poa.manager().activate().unwrap();
        let logged = LoggedMember::begin(
            &here(served.replication.as_object()),
            &here(group),
            name,
            &poa,
            servant_of::<Register, _>(counter.clone()),
            options,
        );
        Ok(Self {
            counter,
            logged: logged?,
            orb,
            refuses,
        })
    }

    /// Leaves the group.
    pub(crate) fn leave(self) {
        let Self { logged, orb, .. } = self;
        drop(logged);
        let _ = orb.shutdown(true);
    }
}

/// Options of members of tests.
pub(crate) fn options() -> LoggedOptions {
    LoggedOptions {
        lease: LONG,
        reached_within: LONG,
        reads: ["value", "whoami"].map(str::to_owned).into(),
        ..LoggedOptions::default()
    }
}

/// Returns the object of a member, by which the service gives it states.
pub(crate) fn transfers(served: &Served, group: &ObjectRef, name: &str) -> Updateable {
    let found = served.replication.get_member_ref(Some(group), &at(name));
    Updateable::from_object(found.unwrap().unwrap())
}

/// Returns the number of requests that a group has in its log.
pub(crate) fn logged(served: &Served, id: u64) -> u32 {
    let groups = served.replication.list(0, 100).unwrap();
    let group = groups.into_iter().find(|group| group.id == id).unwrap();
    group.updates
}
