//! Soak of activation: objects come and go on eight threads while two others call some that stay.
//! At the end of a second round the process holds as much memory as at its beginning.

use super::super::idl::demux::One;
use super::super::interfaces::{Idle, servant};
use super::Line;
use super::activation::memory;
use crate::Result;
use punctual::{ListenEndpoint, Orb, Poa, RootPoa};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

/// Number of threads that activate and deactivate, and of threads that call.
const CHURNING: usize = 8;
const CALLING: usize = 2;
/// Number of objects that each activating thread keeps active.
const LIVE: usize = 100;
/// Allowed difference of the process's memory, in bytes: what the allocator keeps for ended
/// threads.
const GOAL: f64 = 1_048_576.0;

pub(super) fn measure(many: u32) -> Result<Vec<Line>> {
    let orb = Orb::builder()
        .configure(|config| config.listen.push(ListenEndpoint::iiop("127.0.0.1", 0)))
        .build()?;
    let root = orb.root_poa()?;
    let objects: Vec<One> = (0..CALLING)
        .map(|_| root.activate(Idle))
        .collect::<std::result::Result<_, _>>()?;
    orb.listen()?;
    root.manager().activate()?;
    round(&root, &objects, many)?;
    let before = memory()?;
    let began = Instant::now();
    let calls = round(&root, &objects, many)?;
    let seconds = began.elapsed().as_secs_f64();
    let more = memory()? - before;
    let left = root.active_objects() - objects.len();
    drop((objects, root));
    orb.shutdown(true)?;
    let what = format!("{many} activations and deactivations by {CHURNING} threads");
    Ok(vec![
        Line::new(format!("{what}: memory more at the end"), "octets", more).at_most(GOAL),
        Line::new(format!("{what}: objects left"), "", super::count(left)).at_most(0.0),
        Line::new(
            format!("{what}: each"),
            "ns",
            seconds * 1e9 / f64::from(many),
        ),
        #[allow(clippy::cast_precision_loss)]
        Line::new(
            format!("{what}: calls of other objects meanwhile"),
            "a second",
            calls as f64 / seconds,
        ),
    ])
}

/// Runs a round; returns the number of calls made during it.
fn round(poa: &Poa, objects: &[One], many: u32) -> Result<u64> {
    let over = AtomicBool::new(false);
    let calls = AtomicU64::new(0);
    std::thread::scope(|scope| {
        let mut churning = Vec::new();
        for number in 0..CHURNING {
            let thread = std::thread::Builder::new().name(format!("churn-{number}"));
            churning.push(thread.spawn_scoped(scope, || churn(poa, many as usize / CHURNING))?);
        }
        let mut calling = Vec::new();
        for (number, object) in objects.iter().enumerate() {
            let thread = std::thread::Builder::new().name(format!("call-{number}"));
            calling.push(thread.spawn_scoped(scope, || call(object, &over, &calls))?);
        }
        let churned: Vec<_> = churning.into_iter().map(|thread| thread.join()).collect();
        over.store(true, Ordering::Relaxed);
        let called = calling.into_iter().map(|thread| thread.join());
        churned
            .into_iter()
            .chain(called)
            .try_for_each(|done| done.map_err(|_| "a thread panicked")?)
    })?;
    Ok(calls.into_inner())
}

fn churn(poa: &Poa, many: usize) -> Result<()> {
    let mut live = std::collections::VecDeque::with_capacity(LIVE);
    for _ in 0..many {
        live.push_back(poa.activate_object(servant(1, None))?);
        if live.len() == LIVE
            && let Some(oldest) = live.pop_front()
        {
            poa.deactivate_object(&oldest)?;
        }
    }
    Ok(live.iter().try_for_each(|id| poa.deactivate_object(id))?)
}

fn call(object: &One, over: &AtomicBool, calls: &AtomicU64) -> Result<()> {
    let mut own = 0;
    while !over.load(Ordering::Relaxed) {
        object.call_00()?;
        own += 1;
    }
    calls.fetch_add(own, Ordering::Relaxed);
    Ok(())
}
