//! A member of a group, as a process: a counter and a register, which are stored before an answer is given.

use crate::active;
use crate::idl::chaos::{Answer, Subject, SubjectServant};
use parking_lot::Mutex;
use punctual::fault_tolerance::{Answered, FaultTolerance, RequestId};
use punctual::poa::servant_of;
use punctual::{
    ListenEndpoint, ObjectRef, Orb, RootPoa, SystemException, SystemExceptionKind as Kind,
};
use punctual_groups_client::ft::{
    CheckpointableGetStateError, CheckpointableServant, CheckpointableSetStateError, InvalidState,
    PullMonitorableServant, State,
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
    sum: i64,
    register: i64,
    version: u64,
    answered: Answered,
}

impl Contents {
    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        bytes.extend(self.sum.to_be_bytes());
        bytes.extend(self.register.to_be_bytes());
        bytes.extend(self.version.to_be_bytes());
        self.answered.append_to(&mut bytes);
        bytes
    }

    fn replace_from(&mut self, bytes: &[u8]) -> Option<()> {
        let (sum, rest) = bytes.split_first_chunk()?;
        let (register, rest) = rest.split_first_chunk()?;
        let (version, rest) = rest.split_first_chunk()?;
        self.answered.replace_from(rest)?;
        self.sum = i64::from_be_bytes(*sum);
        self.register = i64::from_be_bytes(*register);
        self.version = u64::from_be_bytes(*version);
        Some(())
    }
}

impl Member {
    fn answer(&self, value: i64, state: &Contents) -> Answer {
        Answer {
            value,
            member: self.name.clone(),
            term: self.guard.term().unwrap_or_default(),
            version: state.version,
        }
    }

    /// Changes the state by a request: stores it first, with the answer for repeats.
    fn change(&self, edit: impl FnOnce(&mut Contents) -> i64) -> Result<Answer, SystemException> {
        let mut state = self.state.lock();
        let request = RequestId::current();
        let before = request.as_ref().and_then(|one| state.answered.find(one));
        if let Some(Ok(before)) = before.map(<[u8; 8]>::try_from) {
            return Ok(self.answer(i64::from_be_bytes(before), &state));
        }
        let mut draft = state.clone();
        let value = edit(&mut draft);
        draft.version += 1;
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
}

impl SubjectServant for Member {
    fn add(&self) -> Result<Answer, SystemException> {
        self.change(|state| {
            state.sum += 1;
            state.sum
        })
    }

    fn sum(&self) -> Result<Answer, SystemException> {
        let state = self.state.lock();
        Ok(self.answer(state.sum, &state))
    }

    fn write(&self, value: i64) -> Result<Answer, SystemException> {
        self.change(|state| {
            state.register = value;
            value
        })
    }

    fn read(&self) -> Result<Answer, SystemException> {
        let state = self.state.lock();
        Ok(self.answer(state.register, &state))
    }

    fn echo(&self, value: i64) -> Result<Answer, SystemException> {
        Ok(self.answer(value, &self.state.lock()))
    }
}

impl CheckpointableServant for Member {
    fn get_state(&self) -> Result<State, CheckpointableGetStateError> {
        Ok(self.state.lock().to_bytes())
    }

    fn set_state(&self, s: &[u8]) -> Result<(), CheckpointableSetStateError> {
        self.state.lock().replace_from(s).ok_or(InvalidState)?;
        Ok(())
    }
}

impl PullMonitorableServant for Member {
    fn is_alive(&self) -> Result<bool, SystemException> {
        Ok(true)
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
    if !options.log.is_empty() {
        let services = orb.string_to_object(&options.services)?;
        let group = orb.string_to_object(&options.group)?;
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
            sum: 0,
            register: 0,
            version: 0,
            answered: Answered::at_most(ANSWERS),
        }),
    });
    let servant = guard.around(servant_of::<Subject, _>(member.clone()));
    let id = poa.activate_object(servant)?;
    let object: ObjectRef = poa.id_to_reference(&id)?;
    poa.manager().activate()?;
    let services = orb.string_to_object(&options.services)?;
    let group = orb.string_to_object(&options.group)?;
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
