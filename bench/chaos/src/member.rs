//! A member of a group, as a process: a counter and a register, which are stored before an answer is given.

use crate::idl::chaos::{Answer, Subject};
use crate::subject::{Held, Holder, Values};
use crate::{active, logged};
use parking_lot::Mutex;
use punctual::fault_tolerance::{Answered, FaultTolerance, RequestId};
use punctual::poa::servant_of;
use punctual::{
    ListenEndpoint, ObjectRef, Orb, RootPoa, SystemException, SystemExceptionKind as Kind,
};
use punctual_groups_client::{Guard, MemberOptions, Membership};
use signal_hook::consts::SIGUSR1;
use std::error::Error;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// Lease of a member.
const LEASE: Duration = Duration::from_millis(400);

/// Number of answers that are kept with the state.
const ANSWERS: usize = 1_000;

/// What a member is started with.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    services: String,
    group: String,
    location: String,
    address: String,
    #[arg(long)]
    passive: bool,
    /// Its requests are logged, and not its states.
    #[arg(long)]
    logged: bool,
    /// Servers of the log of an active group.
    #[arg(long, value_delimiter = ',')]
    log: Vec<String>,
}

struct Member {
    name: String,
    guard: Guard,
    membership: OnceLock<Membership>,
    /// Set by a signal: the process ends when it has stored its next state.
    dies: Arc<AtomicBool>,
    state: Mutex<Contents>,
}

#[derive(Clone)]
struct Contents {
    values: Values,
    answered: Answered,
}

impl Contents {
    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.values.to_bytes().to_vec();
        self.answered.append_to(&mut bytes);
        bytes
    }

    fn replace_from(&mut self, bytes: &[u8]) -> Option<()> {
        let (values, rest) = Values::read(bytes)?;
        self.answered.replace_from(rest)?;
        self.values = values;
        Some(())
    }
}

impl Member {
    fn answer(&self, value: i64, state: &Contents) -> Answer {
        Answer {
            value,
            member: self.name.clone(),
            term: self.guard.term().unwrap_or_default(),
            version: state.values.version,
        }
    }
}

impl Holder for Member {
    /// Stores the change first, with the answer for repeats.
    fn change(&self, edit: impl FnOnce(&mut Values) -> i64) -> Result<Answer, SystemException> {
        let mut state = self.state.lock();
        let request = RequestId::current();
        let before = request.as_ref().and_then(|one| state.answered.find(one));
        if let Some(Ok(before)) = before.map(<[u8; 8]>::try_from) {
            return Ok(self.answer(i64::from_be_bytes(before), &state));
        }
        let mut draft = state.clone();
        let value = draft.values.change(edit);
        if let Some(request) = request {
            draft.answered.add(request, value.to_be_bytes().into());
        }
        let membership = self.membership.get();
        let membership = membership.ok_or_else(|| Kind::Transient.because("it has not begun"))?;
        membership.store_state(&draft.to_bytes())?;
        if self.dies.load(Ordering::Relaxed) {
            std::process::abort();
        }
        *state = draft;
        Ok(self.answer(value, &state))
    }

    fn look(&self, value: impl FnOnce(&Values) -> i64) -> Answer {
        let state = self.state.lock();
        self.answer(value(&state.values), &state)
    }

    fn state(&self) -> Vec<u8> {
        self.state.lock().to_bytes()
    }

    fn replace(&self, bytes: &[u8]) -> Option<()> {
        self.state.lock().replace_from(bytes)
    }
}

/// Runs a member until it is killed.
///
/// # Errors
/// The ORB does not start.
pub(crate) fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    punctual_host::log::start(punctual_host::log::Level::Info);
    let dies = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(SIGUSR1, dies.clone())?;
    let builder = Orb::builder().listen(ListenEndpoint::iiop(&options.address, 0));
    let builder = builder.configure(|config| {
        config.timeouts.connect = Some(Duration::from_millis(200));
    });
    let orb = FaultTolerance::extend(builder)?.build()?;
    let poa = orb.root_poa()?;
    let services = orb.string_to_object(&options.services)?;
    let group = orb.string_to_object(&options.group)?;
    if options.logged {
        poa.manager().activate()?;
        return logged::run((&services, &group), &options.location, &poa, dies);
    }
    if !options.log.is_empty() {
        poa.manager().activate()?;
        return active::run(
            (&services, &group),
            &options.location,
            &poa,
            &options.log,
            dies,
        );
    }
    let guard = Guard::new();
    let member = Arc::new(Member {
        name: format!("{}-{}", options.location, std::process::id()),
        guard: guard.clone(),
        membership: OnceLock::new(),
        dies,
        state: Mutex::new(Contents {
            values: Values::default(),
            answered: Answered::at_most(ANSWERS),
        }),
    });
    let servant = guard.around(servant_of::<Subject, _>(Arc::new(Held(member.clone()))));
    let id = poa.activate_object(servant)?;
    let object: ObjectRef = poa.id_to_reference(&id)?;
    poa.manager().activate()?;
    let mut member_options = MemberOptions::with_lease(LEASE).guard(&guard);
    if options.passive {
        member_options = member_options.passive();
    }
    let membership = Membership::begin(
        &services,
        &group,
        &options.location,
        &object,
        member_options,
    )?;
    member.membership.get_or_init(|| membership);
    orb.run();
    Ok(())
}
