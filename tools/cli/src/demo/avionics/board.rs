//! Process of a board.

use super::plan::{handle_of, schedule};
use super::protocol::{Answer, Duty, Request};
use super::role::Role;
use punctual::rt::{Mapping, NativePolicy, Priority, PriorityMapping, RealTime, RtConfig, RtOrb};
use punctual::{Interface, ListenEndpoint, Orb, RootPoa};
use punctual_host::Service;
use punctual_host::publish::publish;
use punctual_rtevent::{
    ChannelOptions, Dispatching, Publications, Selector, Subscription, Supplier, Threads,
    ThreadsOptions,
};
use punctual_rtevent_service::levels::{GATEWAYS, PlannedLevels, UNPLANNED, threads_of};
use punctual_rtevent_service::{EventService, ServiceOptions};
use punctual_scheduling_runtime::{ClientScheduler, PeriodicThread, Schedule};
use punctual_sys::processor::Processors;
use punctual_sys::scheduling::{self, Scheduling};
use std::error::Error;
use std::io::{BufRead, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// First argument with which the command starts itself as a board; not meant for users.
pub(super) const BOARD: &str = "demo-avionics-board";

/// Longest time until the other boards' channels are linked.
const LINKS: Duration = Duration::from_secs(50);

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Runs a board, if the arguments request one.
pub(in super::super) fn run_part(arguments: &[String]) -> Option<ExitCode> {
    if arguments.get(1).map(String::as_str) != Some(BOARD) {
        return None;
    }
    let duty = arguments.get(2).map_or("", String::as_str);
    match serve(duty) {
        Ok(()) => Some(ExitCode::SUCCESS),
        Err(error) => {
            // It fails once the command has ended.
            let _ = answer(&Answer::Failed(error.to_string()));
            Some(ExitCode::FAILURE)
        }
    }
}

/// Executes requests until the input ends.
fn serve(duty: &str) -> Outcome<()> {
    let mut board = Board::new(serde_json::from_str(duty)?)?;
    for line in std::io::stdin().lock().lines() {
        let request = serde_json::from_str(&line?)?;
        answer(&board.execute(request)?)?;
    }
    Ok(())
}

fn answer(answer: &Answer) -> Outcome<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}", serde_json::to_string(answer)?)?;
    Ok(out.flush()?)
}

/// Board with its channel and its operations.
struct Board {
    rt: Arc<RtOrb>,
    schedule: Arc<Schedule>,
    service: EventService,
    orb: Orb,
    roles: Vec<Arc<Role>>,
    /// Interrupts and built-in tests.
    threads: Vec<(Arc<Role>, PeriodicThread)>,
}

struct Silent;

impl Supplier for Silent {}

impl Board {
    fn new(duty: Duty) -> Outcome<Self> {
        Processors::of(&[duty.processor])?.pin_own()?;
        let schedule = schedule(&duty.board)?;
        let rt = RtOrb::new(RtConfig {
            policy: match duty.best_effort {
                true => NativePolicy::Other,
                false => NativePolicy::Fifo,
            },
            real_time: RealTime::BestEffort,
            lock_memory: !duty.best_effort,
            ..schedule.rt_config()
        })?;
        let mapping = rt.schedules_natively().then(mapping).transpose()?;
        if let Some(mapping) = &mapping
            && let Some(priority) = mapping.to_native(Priority::MAX)
        {
            // The ORB's threads inherit it: what arrives is passed on before it waits for its level.
            scheduling::set_own(Scheduling::Fifo { priority })?;
        }
        let endpoint = format!("uiop://{}", duty.socket(&duty.board).display());
        let endpoint: ListenEndpoint = endpoint.parse()?;
        let orb = Orb::builder().listen(endpoint).build()?;
        let service = EventService::new(options(&duty, &schedule, mapping)?)?;
        let mut board = Self {
            rt,
            service,
            orb,
            roles: Vec::new(),
            threads: Vec::new(),
            schedule,
        };
        board.connect(&duty)?;
        Ok(board)
    }

    /// Connects all operations of the board to its channel.
    fn connect(&mut self, duty: &Duty) -> Outcome<()> {
        let model = self.schedule.model();
        for (index, operation) in model.operations.iter().enumerate() {
            let Ok(activity) = self.schedule.activity(&operation.name) else {
                // It runs on another board.
                continue;
            };
            let role = Arc::new(Role::new(model, index, activity, duty));
            let channel = self.service.channel();
            if let Some(filter) = role.filter() {
                let filter = filter.scheduled_as(handle_of(index));
                let subscription = Subscription::new(filter).level(UNPLANNED);
                channel.connect_consumer(subscription, role.clone())?;
            }
            let published = Selector::new(super::plan::kind_of(index), 0);
            let supplier =
                channel.connect_supplier(Publications::new([published]), Arc::new(Silent))?;
            let _ = role.supplier.set(supplier);
            self.roles.push(role);
        }
        Ok(())
    }

    fn execute(&mut self, request: Request) -> Outcome<Answer> {
        match request {
            Request::Link => self.link(),
            Request::Start(first) => self.start(first),
            Request::Stop => {
                self.stop();
                Ok(Answer::Done)
            }
            Request::Count => {
                let ran = self.roles.iter().map(|role| role.ran());
                Ok(Answer::Counts(ran.collect()))
            }
            Request::Jobs => {
                let recorded = self.roles.iter().map(|role| role.recorded());
                Ok(Answer::Jobs(recorded.collect()))
            }
        }
    }

    /// Serves the channel, and waits for the gateways of other boards.
    fn link(&mut self) -> Outcome<Answer> {
        let poa = self.orb.root_poa()?;
        let object = self.service.serve(&poa)?;
        let name = EventService::INITIAL_REFERENCE;
        publish(&self.orb, name, object.as_object())?;
        poa.manager().activate()?;
        let own = self.roles.iter().filter(|role| role.filter().is_some());
        let wanted = own.count() + self.gateways();
        let begin = Instant::now();
        while self.service.channel().statistics().consumers.len() < wanted {
            if begin.elapsed() > LINKS {
                return Err("the other boards have not linked their channels to this one".into());
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        Ok(Answer::Ready {
            is_real_time: self.rt.schedules_natively(),
        })
    }

    /// Returns the number of other boards that have consumers.
    fn gateways(&self) -> usize {
        let model = self.schedule.model();
        let consumers = |host: usize| {
            let calls = model.operations.iter().flat_map(|one| &one.calls);
            calls
                .into_iter()
                .any(|call| model.operations[call.operation].host == host)
        };
        let hosts = model.hosts.iter().enumerate();
        let others = hosts.filter(|(_, host)| host.name != self.schedule.host());
        others.filter(|(index, _)| consumers(*index)).count()
    }

    fn start(&mut self, first: u64) -> Outcome<Answer> {
        let client = ClientScheduler::new(&self.rt, &self.schedule, &[])?;
        for role in self.roles.iter().filter(|role| role.activity.is_source()) {
            let of = role.clone();
            let job = move |job: punctual_scheduling_runtime::Job| of.run(job.release);
            let thread = client.start_periodic(role.activity.name(), first, job)?;
            self.threads.push((role.clone(), thread));
        }
        Ok(Answer::Done)
    }

    fn stop(&mut self) {
        for role in &self.roles {
            role.is_over.store(true, Ordering::Relaxed);
        }
        for (role, thread) in self.threads.drain(..) {
            role.skip(thread.stop().skipped);
        }
    }
}

/// Returns the mapping to native priorities that an RTORB has by default.
fn mapping() -> std::io::Result<Arc<dyn PriorityMapping>> {
    let range = scheduling::native_priorities(scheduling::Policy::Fifo)?;
    Ok(Mapping::default().to(range))
}

/// Returns the options of a board's channel: threads for each level of the plan, and links from the other boards.
fn options(
    duty: &Duty,
    schedule: &Schedule,
    mapping: Option<Arc<dyn PriorityMapping>>,
) -> Outcome<ServiceOptions> {
    let model = schedule.model();
    let operations = model.operations.iter().enumerate();
    let here = operations.filter(|(_, one)| model.hosts[one.host].name == duty.board);
    let handles = here.map(|(index, one)| (handle_of(index), one.name.as_str()));
    let levels = PlannedLevels::new(schedule, handles)?;
    let threads = Threads::new(ThreadsOptions {
        thread: threads_of("events", mapping.clone()),
        most_threads: 1,
        ..ThreadsOptions::default()
    })?;
    let others = model.hosts.iter().filter(|host| host.name != duty.board);
    let links = others.map(|host| {
        let socket = duty.socket(&host.name);
        format!("corbaloc:uiop:{}|EventService", socket.display()).parse()
    });
    Ok(ServiceOptions {
        channel: ChannelOptions {
            dispatching: Dispatching::Queued(Arc::new(threads)),
            schedule: Some(Arc::new(levels)),
            timer_thread: threads_of("timers", mapping),
            ..ChannelOptions::default()
        },
        level: UNPLANNED,
        gateway_level: GATEWAYS,
        receives: links.collect::<Result<_, _>>()?,
        ..ServiceOptions::default()
    })
}
