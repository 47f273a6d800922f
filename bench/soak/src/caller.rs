//! Client that runs for the whole soak: it calls the server by each link, makes and destroys
//! objects, connects and disconnects, and calls another server that is killed again and again.

use crate::idl::soak::{Kind, Maker, Target, TargetAddError};
use crate::random::Random;
use crate::speech::{self, Said, Served};
use crate::work::{Load, Tally, Work, again_in_new_threads};
use crate::{calls, clock, links};
use calls::shown;
use punctual::policy::Mux;
use punctual::{Interface, Orb, Policy, SetOverride, SystemException, SystemExceptionKind};
use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};

/// Pause between two rounds, which leaves processor time to others.
const REST: Duration = Duration::from_millis(10);
/// Time limit within which a restarted server must be reached.
const RECOVERY: Duration = Duration::from_secs(30);
/// Time-out of the calls that are meant to time out.
const SHORT: Duration = Duration::from_millis(150);
/// Milliseconds for which the servant delays the reply to a call that is meant to time out.
const LONG_MS: u32 = 400;
/// Upper bound of the time until a call has timed out, however busy the machine is.
const GIVEN_UP: Duration = Duration::from_secs(20);

/// Name under which the calls on the server that is killed are counted; the protocol's name is
/// appended.
pub(crate) const ON_KILLED: &str = "calls on a server that is killed";

/// Task that one thread of the soak test's client runs.
type Part = dyn FnOnce(&Client) -> Result<(), String> + Send;

/// Number of long calls queued at the start of the run: more than the idle workers that a server
/// keeps.
const WORKERS: usize = 32;
/// Duration of each of the [`WORKERS`] calls, in milliseconds: long enough for all of them to be in
/// progress at once.
const BUSY_MS: u32 = 2000;

/// State shared by all threads of the soak test's client.
#[derive(Clone, Debug)]
struct Client {
    orb: Orb,
    load: Load,
    tally: Tally,
    seed: u64,
}

/// Calls until the controller ends the run.
///
/// # Errors
/// Reasons why the client could not call.
pub(crate) fn run(
    folder: &Path,
    seed: u64,
    (served, killed): (Vec<Served>, Served),
) -> Result<(), Box<dyn Error>> {
    let client = Client {
        orb: links::orb(folder).build()?,
        load: Load::default(),
        tally: Tally::default(),
        seed,
    };
    let mut threads = Vec::new();
    let mut start = |work: Box<Part>| {
        let client = client.clone();
        threads.push(std::thread::spawn(move || {
            if let Err(fault) = work(&client) {
                client.tally.fault(fault);
            }
        }));
    };
    for server in &served {
        for (protocol, _) in &server.endpoints {
            let (server, protocol) = (server.clone(), protocol.clone());
            start(Box::new(move |client| match links::is_one_way(&protocol) {
                true => client.send(&server, &protocol),
                false => client.call(&server, &protocol),
            }));
        }
        let server = server.clone();
        start(Box::new(move |client| client.make_and_end(&server)));
    }
    let first_of_all = served[0].clone();
    let (first, all, folder) = (served[0].clone(), served, folder.to_owned());
    start(Box::new(move |client| client.give_up(&first)));
    start(Box::new(move |client| client.come_and_go(&all, &folder)));
    for (protocol, _) in killed.endpoints.clone() {
        let killed = killed.clone();
        start(Box::new(move |client| client.recover(&killed, &protocol)));
    }
    start(Box::new(|client| {
        clock::step_now_and_then(&client.load, &client.tally, client.seed);
        Ok(())
    }));
    keep_workers_busy(&client, &first_of_all)?;
    Said::Ready(Vec::new()).say();
    speech::obey(&client.load, &client.tally, |_| {});
    for thread in threads {
        if thread.join().is_err() {
            client.tally.fault("a thread of the client has panicked");
        }
    }
    client.orb.shutdown(true)?;
    speech::conclude(&client.tally);
    Ok(())
}

/// Makes a server start as many workers as it keeps, by [`WORKERS`] long calls on one connection.
/// Without them the moment at which the server reaches that number of workers, each of which has
/// memory of its own, would depend on chance.
fn keep_workers_busy(client: &Client, server: &Served) -> Result<(), String> {
    let target: Target = links::by(&links::named(&client.orb, &server.target)?, "iiop")?;
    let shared = [Policy::Mux(Mux::Shared)];
    let object = target
        .as_object()
        .set_policy_overrides(&shared, SetOverride::Add);
    let target = Target::from_object(object.map_err(shown)?);
    std::thread::scope(|scope| {
        let callers: Vec<_> = (0..WORKERS)
            .map(|_| scope.spawn(|| target.wait(BUSY_MS)))
            .collect();
        for caller in callers {
            caller
                .join()
                .map_err(|_| "a caller has panicked")?
                .map_err(shown)?;
        }
        Ok(())
    })
}

impl Client {
    fn random(&self, name: &str) -> Random {
        Random::new(self.seed, name)
    }

    fn work(&self, name: &str, piece: impl FnMut(&Work) -> Result<(), String> + Send) {
        again_in_new_threads((&self.load, &self.tally), name, REST, piece);
    }

    fn maker(&self, server: &Served, protocol: &str) -> Result<Maker, String> {
        links::by(&links::named::<Maker>(&self.orb, &server.maker)?, protocol)
    }

    /// Makes calls and one-ways on an object used by no other thread.
    fn call(&self, server: &Served, protocol: &str) -> Result<(), String> {
        let name = format!("calls by {protocol}, {}", server.name);
        let mut random = self.random(&name);
        let made = self.maker(server, protocol)?.activate().map_err(shown)?;
        let target = links::by(&made.ok_or("a nil object")?, protocol)?;
        let mut sent = 0;
        self.work(&name, |work| {
            calls::round(&target, &mut random, work)?;
            match random.below(4) {
                0 => calls::one_ways((&target, &target), &mut sent, &mut random, work),
                _ => Ok(()),
            }
        });
        Ok(())
    }

    /// Sends one-ways by a protocol that carries nothing else. Where datagrams may be lost, their
    /// arrival is not awaited.
    fn send(&self, server: &Served, protocol: &str) -> Result<(), String> {
        let name = format!("one-ways by {protocol}, {}", server.name);
        let mut random = self.random(&name);
        let made = self.maker(server, "iiop")?.activate().map_err(shown)?;
        let made = made.ok_or("a nil object")?;
        let (way, target) = (links::by(&made, protocol)?, links::by(&made, "iiop")?);
        let mut sent = 0;
        self.work(&name, |work| match protocol.ends_with("diop") {
            true => {
                way.note(&random.octets(100)).map_err(shown)?;
                work.record_done();
                Ok(())
            }
            false => calls::one_ways((&way, &target), &mut sent, &mut random, work),
        });
        Ok(())
    }

    /// Makes objects and adapters, calls them, destroys them, and checks that further calls fail.
    fn make_and_end(&self, server: &Served) -> Result<(), String> {
        let name = format!("objects made and ended, {}", server.name);
        let mut random = self.random(&name);
        let protocols: Vec<&str> = server
            .endpoints
            .iter()
            .map(|(protocol, _)| protocol.as_str())
            .filter(|protocol| !links::is_one_way(protocol))
            .collect();
        let mut number = 0;
        self.work(&name, |work| {
            let protocol = *random.one_of(&protocols);
            let maker = self.maker(server, protocol)?;
            number += 1;
            match random.below(3) {
                0 => objects(&maker, protocol, &mut random)?,
                _ => adapter(&maker, protocol, &mut random, number)?,
            }
            work.record_done();
            Ok(())
        });
        let left = all_is_ended(&self.maker(server, "iiop")?, server.endpoints.len());
        left.map_err(|fault| format!("{name}: {fault}"))
    }

    /// Makes calls that time out while the clock is stepped, and checks that the connection serves
    /// the next call.
    fn give_up(&self, server: &Served) -> Result<(), String> {
        let target: Target = links::named(&self.orb, &server.target)?;
        let mut random = self.random("given up");
        self.work("calls given up in time", |work| {
            let protocol = *random.one_of(&["iiop", "uiop", "shmiop", "ssliop", "reliable+diop"]);
            let patient = links::by(&target, protocol)?;
            let hasty = Target::from_object(patient.as_object().with_timeout(SHORT));
            let began = Instant::now();
            let ended = hasty.wait(LONG_MS);
            let took = began.elapsed();
            match ended {
                Err(exception) if exception.kind() == SystemExceptionKind::Timeout => {
                    if took < SHORT || took > GIVEN_UP {
                        return Err(format!("{SHORT:?} took {took:?} by {protocol}"));
                    }
                    work.record_done();
                }
                // On a busy machine the answer may arrive before the time-out is checked.
                Ok(()) if took.as_millis() >= u128::from(LONG_MS) => work.record_refused(),
                other => return Err(format!("{other:?} instead of TIMEOUT by {protocol}")),
            }
            calls::add(&patient, &mut random)
        });
        Ok(())
    }

    /// Makes an ORB, calls by one link, and shuts the ORB down.
    fn come_and_go(&self, all: &[Served], folder: &Path) -> Result<(), String> {
        let mut random = self.random("come and go");
        self.work("ORBs that connect, call and part", |work| {
            let server = random.one_of(all).clone();
            let (protocol, _) = random.one_of(&server.endpoints).clone();
            let orb = links::orb(folder).build().map_err(shown)?;
            let target: Target = links::by(&links::named(&orb, &server.target)?, &protocol)?;
            match links::is_one_way(&protocol) {
                true => target.note(&[1]).map_err(shown)?,
                false => calls::round(&target, &mut random, work)?,
            }
            orb.shutdown(true).map_err(shown)?;
            work.record_done();
            Ok(())
        });
        Ok(())
    }

    /// Calls a server that is killed repeatedly, and that must be reached again once it is
    /// restarted.
    fn recover(&self, killed: &Served, protocol: &str) -> Result<(), String> {
        let name = format!("{ON_KILLED}, by {protocol}");
        let mut random = self.random(&name);
        let target: Target = links::by(&links::named(&self.orb, &killed.target)?, protocol)?;
        self.work(&name, |work| {
            let began = Instant::now();
            let a = i32::try_from(random.below(1000)).unwrap_or_default();
            loop {
                match target.add(a, 1) {
                    Ok(sum) if sum == a + 1 => break,
                    Err(TargetAddError::System(exception)) if is_of_a_death(&exception) => {
                        work.record_refused();
                    }
                    other => return Err(format!("{other:?} is not {a} + 1")),
                }
                if began.elapsed() > RECOVERY {
                    return Err(format!("not reached again for {RECOVERY:?}"));
                }
                std::thread::sleep(REST);
            }
            work.record_done();
            Ok(())
        });
        Ok(())
    }
}

/// Returns whether a call raised this exception because its server had been killed or was not
/// running.
fn is_of_a_death(exception: &SystemException) -> bool {
    use SystemExceptionKind as Kind;
    matches!(
        exception.kind(),
        Kind::CommFailure | Kind::Transient | Kind::Timeout
    )
}

/// Waits until all objects, adapters and servants made during the run are gone, except one object
/// for each endpoint, and the adapter of these objects.
fn all_is_ended(maker: &Maker, endpoints: usize) -> Result<(), String> {
    let began = Instant::now();
    loop {
        let alive = maker.alive().map_err(shown)?;
        let incarnations = maker.incarnations().map_err(shown)?;
        if usize::try_from(alive) == Ok(endpoints + 1) && incarnations == 0 {
            return Ok(());
        }
        if began.elapsed() > RECOVERY {
            return Err(format!(
                "{alive} objects and adapters are left of {}, {incarnations} servants were not given back",
                endpoints + 1
            ));
        }
        std::thread::sleep(REST);
    }
}

fn objects(maker: &Maker, protocol: &str, random: &mut Random) -> Result<(), String> {
    let mut all = Vec::new();
    for _ in 0..=random.below(8) {
        let made = maker.activate().map_err(shown)?.ok_or("a nil object")?;
        all.push(links::by(&made, protocol)?);
    }
    for target in &all {
        calls::add(target, random)?;
    }
    for target in all {
        maker.deactivate(Some(&target)).map_err(shown)?;
        check_gone(&target)?;
    }
    Ok(())
}

fn adapter(maker: &Maker, protocol: &str, random: &mut Random, number: u64) -> Result<(), String> {
    let how = *random.one_of(&[
        Kind::Activator,
        Kind::Locator,
        Kind::OneForAll,
        Kind::Persistent,
    ]);
    let name = format!("adapter {protocol} {number}");
    let target = maker.create_adapter(&name, how).map_err(shown)?;
    let target = links::by(&target.ok_or("a nil object")?, protocol)?;
    for _ in 0..=random.below(4) {
        calls::add(&target, random).map_err(|error| format!("{how:?}: {error}"))?;
    }
    let id = target.id().map_err(shown)?;
    if id != name {
        return Err(format!("{how:?}: the object {id} instead of {name}"));
    }
    maker.destroy_adapter(&name).map_err(shown)?;
    check_gone(&target).map_err(|error| format!("{how:?}: {error}"))
}

fn check_gone(target: &Target) -> Result<(), String> {
    match target.id() {
        Err(exception) if exception.kind() == SystemExceptionKind::ObjectNotExist => Ok(()),
        other => Err(format!("{other:?} instead of OBJECT_NOT_EXIST")),
    }
}
