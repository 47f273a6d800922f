//! Benchmark of strategies: `cargo bench -p punctual-groups-service`.
//!
//! Four members serve one request at a time; one of them takes ten times as long as the others. Eight clients bind anew for each
//! call. The members' loads are their requests in progress, for which the service asks every 20 ms; between two questions each
//! choice counts as a request.
#![allow(clippy::unwrap_used, missing_docs, dead_code)]

#[path = "../tests/it/support.rs"]
mod support;

/// Rust code of the interface of the members.
mod idl {
    include!(concat!(env!("OUT_DIR"), "/register.rs"));
}

use std::any::Any as StdAny;
use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use idl::Register;
use parking_lot::Mutex;
use punctual::poa::{DispatchError, Dispatched, ServerCall, servant_of};
use punctual::{Any, ObjectRef, RootPoa, Servant};
use punctual_groups_client::cos_load_balancing::{LoadMonitor, StrategyInfo};
use punctual_groups_client::{Guard, Monitor};
use support::{Counter, Served, TYPE, at, client, property, register};

/// Time of a request at a member, and at the slow one.
const QUICK: Duration = Duration::from_millis(2);
const SLOW: Duration = Duration::from_millis(20);

const MEMBERS: [(&str, Duration); 4] = [("a", QUICK), ("b", QUICK), ("c", QUICK), ("slow", SLOW)];
const CLIENTS: usize = 8;
const RUN: Duration = Duration::from_secs(5);

/// Servant that serves one request at a time, each for a time.
struct OneByOne {
    time: Duration,
    turn: Mutex<()>,
    servant: Arc<dyn Servant>,
}

impl Servant for OneByOne {
    fn repository_ids(&self) -> &'static [&'static str] {
        self.servant.repository_ids()
    }

    fn primary_interface(&self) -> Cow<'_, str> {
        self.servant.primary_interface()
    }

    fn is_a(&self, repository_id: &str) -> bool {
        self.servant.is_a(repository_id)
    }

    fn dispatch(&self, call: &mut ServerCall<'_>) -> Result<Dispatched, DispatchError> {
        let _turn = self.turn.lock();
        std::thread::sleep(self.time);
        self.servant.dispatch(call)
    }

    fn implementation(&self) -> &(dyn StdAny + Send + Sync) {
        self.servant.implementation()
    }
}

fn main() {
    println!("strategy       calls/s   p50 ms   p99 ms   to the slow member");
    for round in 1..=3 {
        for strategy in ["RoundRobin", "Random", "LeastLoaded", "LoadMinimum"] {
            let (mut times, slow) = run(strategy);
            times.sort_unstable();
            let millis = |part: usize| {
                let at = (times.len() * part / 100).min(times.len() - 1);
                times[at].as_secs_f64() * 1e3
            };
            println!(
                "{strategy:<12} {:>9.0} {:>8.1} {:>8.1} {:>8.1} %   ({round})",
                times.len() as f64 / RUN.as_secs_f64(),
                millis(50),
                millis(99),
                slow * 100.0
            );
        }
    }
}

/// Makes a group in which each choice counts as a load until the next report.
fn group_of(served: &Served, strategy: &str) -> ObjectRef {
    let per_choice = format!("org.omg.CosLoadBalancing.Strategy.{strategy}.PerBalanceLoad");
    let info = StrategyInfo {
        name: strategy.to_owned(),
        props: match strategy.starts_with("L") {
            true => vec![property(&per_choice, Any::new(&1.0_f32).unwrap())],
            false => Vec::new(),
        },
    };
    let name = "org.omg.CosLoadBalancing.StrategyInfo";
    let info = property(name, Any::new(&info).unwrap());
    let (group, _) = served.balancing.create_object(TYPE, &[info]).unwrap();
    group.unwrap()
}

/// Calls for a time; returns the times of all calls, and the share of those that the slow member served.
fn run(strategy: &str) -> (Vec<Duration>, f64) {
    let served = Served::with(|limits| limits.monitor_interval = Duration::from_millis(20));
    let group = group_of(&served, strategy);
    let mut members = Vec::new();
    for (name, time) in MEMBERS {
        let guard = Guard::new();
        let servant = Arc::new(OneByOne {
            time,
            turn: Mutex::default(),
            servant: servant_of::<Register, _>(Counter::named(name)),
        });
        // Each member and each client has an ORB, and so connections, of its own.
        let orb = client();
        let poa = orb.root_poa().unwrap();
        poa.manager().activate().unwrap();
        let activate = |servant: Arc<dyn Servant>| {
            let id = poa.activate_object(servant).unwrap();
            let object: ObjectRef = poa.id_to_reference(&id).unwrap();
            let text = orb.object_to_string(&object).unwrap();
            served.client.string_to_object(&text).unwrap()
        };
        let object = activate(guard.around(servant));
        let monitor = Monitor::of_requests(name, &guard);
        let monitor = activate(servant_of::<LoadMonitor, _>(monitor));
        let monitor = punctual::Interface::from_object(monitor);
        members.push(orb.clone());
        let balancing = &served.balancing;
        balancing
            .add_member(Some(&group), &at(name), Some(&object))
            .unwrap();
        balancing
            .register_load_monitor(&at(name), Some(&monitor))
            .unwrap();
    }
    let text = served.client.object_to_string(&group).unwrap();
    let all = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..CLIENTS {
            scope.spawn(|| {
                let orb = client();
                let begun = Instant::now();
                let mut own = Vec::new();
                while begun.elapsed() < RUN {
                    let object: ObjectRef = orb.string_to_object(&text).unwrap();
                    let called = Instant::now();
                    let by = register(&object).whoami().unwrap();
                    own.push((called.elapsed(), by == "slow"));
                }
                all.lock().extend(own);
            });
        }
    });
    for orb in members {
        orb.shutdown(true).unwrap();
    }
    let all = all.into_inner();
    let slow = all.iter().filter(|(_, is_slow)| *is_slow).count() as f64 / all.len() as f64;
    (all.into_iter().map(|(time, _)| time).collect(), slow)
}
