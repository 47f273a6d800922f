//! Settings of the service.

use crate::clock::EventClock;
use crate::federation::Link;
use crate::levels::{Levels, SETTINGS as OF_LEVELS, level_of};
use crate::options::{Convention, ServiceOptions};
use crate::service::EventService;
use crate::wire::{FIELDS, Form};
use punctual::policy::SyncScope;
use punctual::rt::Priority;
use punctual_host::Problem;
use punctual_host::access::{Rules, check_principal};
use punctual_host::settings::{BIND_NAME, Key, NAMING, PROCESS, Setting, Values, listen};
use punctual_rtevent::{
    ChannelOptions, Dispatching, LaneThreads, Lanes, LanesOptions, Liveness, Overflow, Pool,
    PoolOptions, QueueOptions, Threads, ThreadsOptions,
};
use std::sync::Arc;
use std::time::Duration;

/// Setting for the endpoints at which the service listens.
pub const LISTEN: Key<Vec<String>> = listen().required();

const DISPATCHING: Key<String> =
    Key::one_of("dispatching", &["threads", "pool", "lanes", "reactive"])
        .default("threads")
        .doc(
            "Threads that push to consumers: `threads`, one for each level and further ones while they are blocked; `pool`, \
             --pool-threads for all levels, the most urgent first; `lanes`, those of each --lane; `reactive`, the thread that \
             received the event, so that a consumer that blocks delays its supplier and the consumers behind it.",
        );
const POOL_THREADS: Key<u64> = Key::number("pool-threads", 1..=1_024)
    .default("4")
    .doc("Number of threads of `--dispatching pool`.");
const LANE: Key<Vec<String>> = Key::list("lane", check_lane)
    .value_name("PRIORITY=THREADS")
    .requires(&["schedule"])
    .doc(
        "Lane of `--dispatching lanes`, as of a thread pool of Real-time CORBA: its CORBA priority, its static threads and, \
         after a plus sign, its dynamic ones, which start while all others are in pushes and end when they are idle: \
         `20000=1+4`. May be given more than once. A delivery is made by the lane with the highest priority that is not above \
         its own, or by the lowest lane; the proof of the plan holds if each of its priorities has a lane.",
    );
const BORROW: Key<bool> = Key::flag("borrow").requires(&["lane"]).doc(
    "A lane whose threads are all in pushes borrows an idle one of a lane with lower priority, which runs at the borrower's \
     priority until nothing waits there without a thread.",
);
const FILTERING: Key<String> = Key::one_of("filtering", &["either", "prefix", "basic"])
    .default("either")
    .doc(
        "Form of consumers' filters. `prefix`: a group's entry has the number of its children in `source`, and groups nest. \
         `basic`: a group ends where the next begins, as in TAO's default. `either`: the former where the numbers are \
         right, otherwise the latter.",
    );
const WITHOUT: Key<Vec<String>> = Key::list("without", check_field)
    .value_name("FIELD")
    .doc(
        "Fields of events that are not on the wire: `timestamps`, `octets` or `any`, for peers of a build of TAO that lacks \
         them. May be given more than once. All peers of a channel need the same fields; a push in another form is refused, \
         and the log says which it seems to be.",
    );
const CLOCK: Key<String> = Key::one_of("clock", &["realtime", "tai", "auto"])
    .default("realtime")
    .doc(
        "Clock of the times at which the channel received and sent events: `realtime`, the time of day, as TAO has it; `tai`, \
         International Atomic Time, which hosts have in common that PTP synchronises, and does not start without it; `auto`, \
         that if the clock is synchronised and knows its offset, else the time of day. `punctual doctor` says which holds.",
    );
const WHEN_FULL: Key<String> = Key::one_of(
    "when-full",
    &["drop-oldest", "drop-newest", "latest", "block", "disconnect"],
)
.default("drop-oldest")
.doc(
    "What happens to an event for a consumer whose queue is full: the oldest is dropped for it; it is dropped; it replaces \
     the queued one of its type and source (always, also in a queue with room); the supplier waits --block long, then it is \
     dropped; the consumer is disconnected. What is dropped is counted, and the log says so.",
);
const BLOCK: Key<Duration> = Key::time("block")
    .default("100ms")
    .doc("Time that a supplier waits for room in a queue, with `--when-full block`.");
const QUEUE_EVENTS: Key<u64> = Key::number("queue-events", 1..=1 << 30)
    .default("16384")
    .doc("Maximum number of events in the queue of a consumer.");
const QUEUE_BYTES: Key<u64> = Key::bytes("queue-bytes", 1..=u64::MAX)
    .default("64MiB")
    .doc("Maximum octets of the events in the queue of a consumer.");
const BATCH: Key<u64> = Key::number("batch", 1..=1 << 20)
    .default("64")
    .doc("Maximum number of queued events in one push.");
const PUSH: Key<String> = Key::one_of("push", &["none", "transport", "server", "target"])
    .default("transport")
    .doc(
        "Point at which a push to a consumer returns: `none`, when it is queued in the ORB; `transport`, when it is handed \
         to the operating system; `server` and `target`, when the consumer's ORB or the consumer itself has it (TAO, \
         omniORB and JacORB answer).",
    );
const PUSH_TIMEOUT: Key<Duration> = Key::time("push-timeout")
    .default("1s")
    .doc("Time after which a push, and a question whether a peer is there, fails.");
const MOST_FAILURES: Key<u64> = Key::number("most-failures", 1..=u32::MAX as u64)
    .default("3")
    .doc("Number of failed pushes in a row after which a consumer is disconnected.");
const ASK: Key<Option<Duration>> = Key::time_or_never("ask").default("10s").doc(
    "Time between two questions to a supplier or consumer whether it still exists; 0 is never.",
);
const MOST_UNANSWERED: Key<u64> = Key::number("most-unanswered", 1..=u32::MAX as u64)
    .default("3")
    .doc("Number of such questions in a row without an answer after which a peer is disconnected.");
const UNCONNECTED: Key<Duration> = Key::time("unconnected")
    .default("60s")
    .doc("Time after which a proxy is given up to which nothing has been connected.");
const LEASE: Key<Duration> = Key::time("lease").default("60s").doc(
    "Time after which a supplier without an object (nil), which cannot be asked, is disconnected: when it has pushed nothing \
     for so long, and its connection has closed.",
);
const NO_RECONNECT: Key<bool> = Key::flag("no-reconnect").doc(
    "Raise AlreadyConnected when a peer connects to its proxy again. Without it, that changes its filter or publications.",
);
const CAN_DESTROY: Key<bool> = Key::flag("can-destroy")
    .doc("Let clients destroy the channel. Without it, `destroy` raises NO_PERMISSION.");
const ALLOW: Key<Vec<String>> = Key::list("allow", check_principal)
    .value_name("WHO")
    .doc(
        "Let WHO connect and push, and no others: an address, a network such as 10.0.0.0/8, `local` (Unix sockets, shared \
         memory), `cert:NAME` (a name in a TLS certificate) or `any`. May be given more than once. Without it, every \
         client that reaches the server may.",
    );
const MOST_CONSUMERS: Key<u64> = Key::number("most-consumers", 1..=1 << 20)
    .default("10000")
    .doc("Maximum number of consumers; beyond, connecting one raises NO_RESOURCES.");
const MOST_SUPPLIERS: Key<u64> = Key::number("most-suppliers", 1..=1 << 20)
    .default("10000")
    .doc("Maximum number of suppliers; beyond, connecting one raises NO_RESOURCES.");
const MOST_OBSERVERS: Key<u64> = Key::number("most-observers", 0..=65_536)
    .default("256")
    .doc("Maximum number of observers; beyond, appending one raises NO_RESOURCES.");
const LARGEST_EVENT: Key<u64> = Key::bytes("largest-event", 1..=1 << 30)
    .default("1MiB")
    .doc("Maximum octets of an event's data; a push with a larger one is refused.");
const SEND: Key<Vec<String>> = Key::list("send", check_link).value_name("LINK").doc(
    "Send events over a link to other channels: `udp://ADDRESS:PORT`, with `?` and `&` before parameters: `interface` and \
     `ttl` of a multicast group, `types` of events (16,17), `datagram` (largest one in octets), `rate` (octets a second), \
     `checksum`. May be given more than once. Events with a `ttl` of 0 stay here.",
);
const RECEIVE: Key<Vec<String>> = Key::list("receive", check_link).value_name("LINK").doc(
    "Receive events over a link: from another server's channel by its reference (`corbaloc:iiop:HOST:PORT/EventService`), \
     of which what consumers here subscribe to is subscribed there; or `udp://ADDRESS:PORT`, as `send` has it. May be given \
     more than once.",
);

/// Settings of the service's own.
const OWN: &[&Setting] = &[
    &LISTEN.setting,
    &DISPATCHING.setting,
    &POOL_THREADS.setting,
    &LANE.setting,
    &BORROW.setting,
    &FILTERING.setting,
    &WITHOUT.setting,
    &CLOCK.setting,
    &WHEN_FULL.setting,
    &BLOCK.setting,
    &QUEUE_EVENTS.setting,
    &QUEUE_BYTES.setting,
    &BATCH.setting,
    &PUSH.setting,
    &PUSH_TIMEOUT.setting,
    &MOST_FAILURES.setting,
    &ASK.setting,
    &MOST_UNANSWERED.setting,
    &LEASE.setting,
    &UNCONNECTED.setting,
    &NO_RECONNECT.setting,
    &CAN_DESTROY.setting,
    &ALLOW.setting,
    &MOST_CONSUMERS.setting,
    &MOST_SUPPLIERS.setting,
    &MOST_OBSERVERS.setting,
    &LARGEST_EVENT.setting,
    &SEND.setting,
    &RECEIVE.setting,
    &BIND_NAME.setting,
    &NAMING.setting,
];

/// Returns all settings of the service, in the order of `--help`.
#[must_use]
pub fn settings() -> Vec<&'static Setting> {
    [OWN, OF_LEVELS, PROCESS].concat()
}

/// Makes the service that settings describe.
///
/// # Errors
/// A setting is out of its range, or threads cannot be started.
pub fn open(values: &Values) -> Result<EventService, Problem> {
    let service = EventService::new(options(values)?);
    let service = service.map_err(|error| Problem::new(error, "change that setting"))?;
    service.set_peers(Rules::of(&values.get(&ALLOW))?);
    Ok(service)
}

fn check_field(text: &str) -> Result<(), String> {
    match FIELDS.contains(&text) {
        true => Ok(()),
        false => Err(format!("`{text}` is none of {}", FIELDS.join(", "))),
    }
}

fn check_link(text: &str) -> Result<(), String> {
    text.parse::<Link>()
        .map(drop)
        .map_err(|error| error.to_string())
}

/// Returns the links of a setting, all of which have been checked.
fn links(values: &Values, key: &Key<Vec<String>>) -> Vec<Link> {
    let texts = values.get(key);
    texts.iter().filter_map(|text| text.parse().ok()).collect()
}

fn options(values: &Values) -> Result<ServiceOptions, Problem> {
    let form = Form::without(&values.get(&WITHOUT));
    let form = form.map_err(|error| Problem::new(error, "--without takes one of them"))?;
    let form = Form {
        clock: clock(values)?,
        ..form
    };
    let convention = match values.get(&FILTERING).as_str() {
        "prefix" => Convention::Prefix,
        "basic" => Convention::Basic,
        _ => Convention::Either,
    };
    let push = match values.get(&PUSH).as_str() {
        "none" => SyncScope::None,
        "server" => SyncScope::WithServer,
        "target" => SyncScope::WithTarget,
        _ => SyncScope::WithTransport,
    };
    let levels = Levels::open(values)?;
    Ok(ServiceOptions {
        channel: channel(values, &levels)?,
        level: levels.usual,
        gateway_level: levels.gateways,
        scheduler: levels.scheduler(),
        form,
        convention,
        queue: queue(values),
        can_reconnect: !values.get(&NO_RECONNECT),
        can_destroy: values.get(&CAN_DESTROY),
        push,
        push_timeout: values.get(&PUSH_TIMEOUT),
        lease: values.get(&LEASE),
        unconnected: values.get(&UNCONNECTED),
        most_observers: values.count(&MOST_OBSERVERS),
        sends: links(values, &SEND),
        receives: links(values, &RECEIVE),
    })
}

fn clock(values: &Values) -> Result<EventClock, Problem> {
    const ON_CLOCKS: &str = "`punctual doctor` says what synchronises this machine's clock; `--clock auto` starts without TAI";
    let chosen = values.get(&CLOCK);
    let detected = match chosen.as_str() {
        "realtime" => return Ok(EventClock::TimeOfDay),
        _ => EventClock::detected(),
    };
    if chosen == "tai" && detected != EventClock::Tai {
        let text = "the kernel's clock is not synchronised to TAI";
        return Err(Problem::new(text, ON_CLOCKS));
    }
    Ok(detected)
}

fn channel(values: &Values, levels: &Levels) -> Result<ChannelOptions, Problem> {
    let most = |key| u32::try_from(values.get(key)).unwrap_or(u32::MAX);
    let liveness = values.get(&ASK).map(|interval| Liveness {
        interval,
        most_unanswered: most(&MOST_UNANSWERED),
    });
    Ok(ChannelOptions {
        dispatching: dispatching(values, levels)?,
        schedule: levels.schedule(),
        timer_thread: levels.threads("timers"),
        most_consumers: values.count(&MOST_CONSUMERS),
        most_suppliers: values.count(&MOST_SUPPLIERS),
        largest_event: values.count(&LARGEST_EVENT),
        most_failures: most(&MOST_FAILURES),
        liveness,
        ..ChannelOptions::default()
    })
}

fn dispatching(values: &Values, levels: &Levels) -> Result<Dispatching, Problem> {
    let bad = |error: &dyn std::fmt::Display| Problem::new(error.to_string(), "use fewer threads");
    let kind = values.get(&DISPATCHING);
    if levels.are_native() && !matches!(kind.as_str(), "threads" | "lanes") {
        let text = format!(
            "threads of `--dispatching {kind}` serve all levels, and have no priorities of theirs"
        );
        return Err(Problem::new(
            text,
            "use `--dispatching threads` or `lanes`, or `--real-time off`",
        ));
    }
    Ok(match kind.as_str() {
        "reactive" => Dispatching::Reactive,
        "pool" => {
            let threads = values.count(&POOL_THREADS);
            let options = PoolOptions {
                threads,
                ..PoolOptions::default()
            };
            Dispatching::Queued(Arc::new(Pool::new(options).map_err(|error| bad(&error))?))
        }
        "lanes" => Dispatching::Queued(Arc::new(lanes(values, levels)?)),
        _ => {
            let mut options = ThreadsOptions::default();
            options.thread = levels.threads("events");
            options.most_levels = options.most_levels.max(levels.count());
            let threads = Threads::new(options);
            Dispatching::Queued(Arc::new(threads.map_err(|error| bad(&error))?))
        }
    })
}

fn lanes(values: &Values, levels: &Levels) -> Result<Lanes, Problem> {
    const ON_LANES: &str = "give each lane once, as `--lane 20000=1+4`";
    let texts = values.get(&LANE);
    if texts.is_empty() {
        return Err(Problem::new("`--dispatching lanes` has no lane", ON_LANES));
    }
    let thread = levels.threads("events");
    let specified = texts.iter().filter_map(|text| lane(text));
    let lanes = Lanes::new(LanesOptions {
        lanes: specified
            .map(|lane| {
                let thread = thread(lane.level);
                lane.thread(thread)
            })
            .collect(),
        allow_borrowing: values.get(&BORROW),
        ..LanesOptions::default()
    });
    lanes.map_err(|error| Problem::new(error, ON_LANES))
}

fn check_lane(text: &str) -> Result<(), String> {
    match lane(text) {
        Some(_) => Ok(()),
        None => Err(format!(
            "`{text}` is not a CORBA priority from 0 to 32767 and a number of threads from 1 on, such as 20000=1+4"
        )),
    }
}

/// Returns the lane of a text such as `20000=1+4`.
fn lane(text: &str) -> Option<LaneThreads> {
    let (priority, threads) = text.split_once('=')?;
    let (fixed, dynamic) = threads.split_once('+').unwrap_or((threads, "0"));
    let priority = Priority::new(priority.trim().parse().ok()?).ok()?;
    let number = |text: &str| text.trim().parse::<u16>().ok().map(usize::from);
    let fixed = number(fixed).filter(|threads| *threads > 0)?;
    Some(LaneThreads::new(
        level_of(priority),
        fixed,
        number(dynamic)?,
    ))
}

fn queue(values: &Values) -> QueueOptions {
    QueueOptions {
        events: values.count(&QUEUE_EVENTS),
        bytes: values.count(&QUEUE_BYTES),
        batch: values.count(&BATCH),
        overflow: match values.get(&WHEN_FULL).as_str() {
            "drop-newest" => Overflow::DropNewest,
            "latest" => Overflow::LatestOfSource,
            "block" => Overflow::Block(values.get(&BLOCK)),
            "disconnect" => Overflow::Disconnect,
            _ => Overflow::DropOldest,
        },
    }
}
