//! Server process of a pair.

use super::setup::{Contender, Setup, corba};
use super::watchdog::Watchdog;
use super::{floor, work};
use crate::Result;
use crate::peer::serve_until_the_end;
use crate::timeprobes::servant::Ahead;
use punctual::poa::PoaPolicy;
use punctual::rt::{
    BufferLimits, PoolThreads, PriorityModelPolicy, RequestBuffering, RtOrb, ThreadpoolOptions,
    ThreadpoolPolicy,
};
use punctual::{Interface, ListenEndpoint, Orb, Poa, RootPoa};
use punctual_example_cubit::CubitImpl;
use punctual_example_cubit::idl::bench::Cubit;
use std::time::Duration;

/// Time limit after which a real-time benchmark server is ended.
const LIFETIME: Duration = Duration::from_secs(900);

/// ORBs of the server, and the references for its clients: the first for the high client, the next
/// ones for the low clients; the last is shared by all remaining clients.
type Served = (Vec<Orb>, Vec<String>);

/// Serves the benchmark's requests until the standard input ends.
pub(crate) fn serve(setup: &Setup) -> Result<()> {
    let watchdog = Watchdog::start(setup.watchdog())?;
    watchdog.arm(LIFETIME);
    // The folder holds a raw socket's file, and is removed with it.
    let folder = tempfile::tempdir()?;
    let (orbs, references) = match setup.contender {
        Contender::Floor => (Vec::new(), vec![floor::serve(setup, &folder)?]),
        Contender::Lanes => with_priorities(setup)?,
        Contender::Pool | Contender::BufferedPool | Contender::PerConnection => {
            // A pool's threads have the priority of the thread that starts it.
            let thread = setup.thread("rt-pool".to_owned(), setup.pool_priority);
            let setup = setup.clone();
            joined(thread.start(move || with_priorities(&setup))?)?
        }
        Contender::OrbAThread => orb_a_thread(setup)?,
        Contender::OmniOrb | Contender::OmniOrbFifo => {
            return Err("omniORB's server is a program of its own".into());
        }
    };
    serve_ahead_of_clients(setup, references.join(" "))?;
    orbs.iter().try_for_each(|orb| Ok(orb.shutdown(true)?))
}

/// Waits for the end of the input on a thread with a priority above all clients.
fn serve_ahead_of_clients(setup: &Setup, address: String) -> Result<()> {
    let control = setup.control("rt-control");
    joined(control.start(move || serve_until_the_end(address))?)
}

fn joined<T>(thread: punctual_exec::thread::JoinHandle<Result<T>>) -> Result<T> {
    let result = thread.join();
    result.map_err(|_| "a thread of the server panicked")?
}

/// Starts one ORB that serves all priorities, with an endpoint for each priority or a single one
/// without priorities. The high client and the low clients call different objects.
fn with_priorities(setup: &Setup) -> Result<Served> {
    let endpoints = match setup.contender {
        Contender::Lanes => {
            let priorities = setup.priorities().into_iter();
            let endpoint = |priority| setup.link.endpoint(&format!("priority={priority}"));
            priorities.map(endpoint).collect()
        }
        Contender::BufferedPool | Contender::PerConnection => vec![setup.link.endpoint("")],
        // Requests wait for a thread instead of being refused.
        _ => vec![
            setup
                .link
                .endpoint("concurrency=leader_followers&reserve=false"),
        ],
    };
    let mut builder = Orb::builder();
    for endpoint in endpoints {
        builder = builder.listen(endpoint.parse::<ListenEndpoint>()?);
    }
    let rt = setup.rt_orb()?;
    let orb = rt.extend(builder)?.build()?;
    let root = orb.root_poa()?;
    let model = PriorityModelPolicy::client_propagated(corba(1)?);
    let mut policies = vec![PoaPolicy::of(model)];
    if setup.contender == Contender::BufferedPool {
        let buffering = RequestBuffering::Bounded(BufferLimits::default());
        let threads = (1, 15);
        policies.push(pool(&rt, &orb, setup.pool_priority, threads, buffering)?);
    }
    let poa = root.create_poa("rt", Some(root.manager()), &policies)?;
    let references = vec![activated(setup, &orb, &poa)?, activated(setup, &orb, &poa)?];
    orb.listen()?;
    root.manager().activate()?;
    Ok((vec![orb], references))
}

/// Makes a thread pool without lanes, with the given numbers of static and dynamic threads; returns
/// the policy that assigns an adapter to the pool.
pub(super) fn pool(
    rt: &RtOrb,
    orb: &Orb,
    priority: i16,
    (static_threads, dynamic_threads): (usize, usize),
    buffering: RequestBuffering,
) -> Result<PoaPolicy> {
    let threads = PoolThreads {
        priority: corba(priority)?,
        static_threads,
        dynamic_threads,
        reservation: None,
    };
    let options = ThreadpoolOptions {
        buffering,
        ..ThreadpoolOptions::default()
    };
    let pool = rt.create_threadpool(orb, threads, &options)?;
    Ok(PoaPolicy::of(ThreadpoolPolicy(pool)))
}

/// Starts a plain ORB for each priority. A thread of that priority starts it, so that the ORB's
/// threads inherit the priority.
fn orb_a_thread(setup: &Setup) -> Result<Served> {
    let mut served = Served::default();
    for client in 0..=setup.low {
        let thread = setup.thread(format!("rt-orb-{client}"), setup.priority_of(client));
        let setup = setup.clone();
        let (orb, reference) = joined(thread.start(move || plain(&setup))?)?;
        served.0.push(orb);
        served.1.push(reference);
    }
    Ok(served)
}

fn plain(setup: &Setup) -> Result<(Orb, String)> {
    let endpoint: ListenEndpoint = setup.link.endpoint("").parse()?;
    let orb = Orb::builder().listen(endpoint).build()?;
    let root = orb.root_poa()?;
    let reference = activated(setup, &orb, &root)?;
    orb.listen()?;
    root.manager().activate()?;
    Ok((orb, reference))
}

/// Activates an object in this POA, whose servant consumes the configured processor time; returns
/// its reference.
fn activated(setup: &Setup, orb: &Orb, poa: &Poa) -> Result<String> {
    let time = setup.work();
    let cubit: Cubit =
        poa.activate(Ahead(CubitImpl::new(orb.clone()), move || work::busy(time)))?;
    Ok(orb.object_to_string(cubit.as_object())?)
}
