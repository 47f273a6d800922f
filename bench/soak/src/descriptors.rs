//! Server that is starved of descriptors for some seconds, and must serve as before once they are
//! free again.

use crate::calls;
use crate::child::Process;
use crate::idl::soak::{Target, TargetAddError};
use crate::links;
use crate::random::Random;
use crate::run::Soak;
use crate::servant::TargetImpl;
use crate::speech::{self, Said, Served};
use crate::work::{Load, Tally, Work};
use calls::shown;
use punctual::{RootPoa, SystemExceptionKind as Kind};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::error::Error;
use std::net::TcpStream;
use std::path::Path;
use std::time::{Duration, Instant};

/// Protocols on which the server listens.
const PROTOCOLS: [&str; 4] = ["iiop", "uiop", "shmiop", "ssliop"];
/// Number of descriptors that the lowered limit allows in addition to those in use.
const SPARE: u64 = 24;
/// Number of connections opened to use up the server's file descriptors.
const CROWD: usize = 60;
/// Time for which these connections stay open; the server closes silent ones a little later.
const STAY: Duration = Duration::from_millis(2500);
/// Time limit within which the server must serve again.
const RECOVERY: Duration = Duration::from_secs(30);

/// Runs the server, which limits its descriptors on command.
///
/// # Errors
/// Reasons why it cannot serve.
pub(crate) fn serve(folder: &Path) -> Result<(), Box<dyn Error>> {
    let mut builder = links::orb(folder);
    for protocol in PROTOCOLS {
        builder = builder.listen(links::endpoint(protocol, folder, "starved"));
    }
    let orb = builder.build()?;
    let root = orb.root_poa()?;
    let target: Target = root.activate(TargetImpl::default())?;
    root.manager().activate()?;
    let endpoints = orb.endpoints().into_iter();
    let served = Served {
        name: "starved".to_owned(),
        maker: String::new(),
        target: orb.object_to_string(&target)?,
        endpoints: endpoints.map(|one| (one.protocol, one.place)).collect(),
    };
    Said::Ready(vec![served]).say();
    let tally = Tally::default();
    speech::obey(&Load::default(), &tally, |line| match limit() {
        Ok(()) => Said::Obeyed(line.to_owned()).say(),
        Err(error) => Said::Unable(error.to_string()).say(),
    });
    orb.shutdown(true)?;
    speech::conclude(&tally);
    Ok(())
}

fn limit() -> Result<(), Box<dyn Error>> {
    let used = std::fs::read_dir("/proc/self/fd")?.count() as u64;
    let maximum = getrlimit(Resource::Nofile).maximum;
    let current = Some(used + SPARE);
    Ok(setrlimit(Resource::Nofile, Rlimit { current, maximum })?)
}

/// Starts the server, and uses its descriptors up again and again.
///
/// # Errors
/// Reasons why it does not serve.
pub(crate) fn starve(soak: &Soak) -> Result<(), String> {
    let mut server = soak.start("the server that is starved", &["starved"])?;
    let served = server.until_ready()?.pop().ok_or("nothing is served")?;
    let mut starved = Starved::new(soak, &served)?;
    starved.known_are_served()?;
    server.told("limit")?;
    let before = server.usage()?.descriptors;
    soak.work("descriptors used up", Duration::from_secs(1), |work| {
        starved.use_up(work)?;
        starved.new_are_served(soak, work)?;
        are_back(&server, before)?;
        work.record_done();
        Ok(())
    });
    starved.orb.shutdown(true).map_err(shown)?;
    server.stop().map(drop)
}

/// State of a client that calls a server without free file descriptors.
struct Starved {
    orb: punctual::Orb,
    /// References to the server's object, one for each protocol, whose connections are already
    /// open.
    known: Vec<Target>,
    text: String,
    place: String,
    random: Random,
}

impl Starved {
    fn new(soak: &Soak, served: &Served) -> Result<Self, String> {
        let orb = links::orb(soak.folder()).build().map_err(shown)?;
        let target: Target = links::named(&orb, &served.target)?;
        let known = PROTOCOLS.map(|protocol| links::by(&target, protocol));
        let place = served.endpoints.iter().find(|(one, _)| one == "iiop");
        Ok(Self {
            orb,
            known: known.into_iter().collect::<Result<_, _>>()?,
            text: served.target.clone(),
            place: place.map(|(_, place)| place.clone()).unwrap_or_default(),
            random: Random::new(soak.seed(), "descriptors"),
        })
    }

    fn known_are_served(&mut self) -> Result<(), String> {
        for target in &self.known {
            calls::add(target, &mut self.random)?;
        }
        Ok(())
    }

    fn use_up(&mut self, work: &Work) -> Result<(), String> {
        let until = Instant::now() + STAY;
        let mut crowd = Vec::new();
        while crowd.len() < CROWD {
            crowd.push(TcpStream::connect(&self.place).map_err(shown)?);
        }
        while Instant::now() < until {
            self.known_are_served()
                .map_err(|fault| format!("a connection that there was: {fault}"))?;
            work.record_done_many(PROTOCOLS.len() as u64);
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }

    /// Checks that new clients are served once descriptors are free again; before that they may be
    /// turned away.
    fn new_are_served(&mut self, soak: &Soak, work: &Work) -> Result<(), String> {
        let orb = links::orb(soak.folder()).build().map_err(shown)?;
        let target: Target = links::named(&orb, &self.text)?;
        for protocol in PROTOCOLS {
            let target = links::by(&target, protocol)?;
            let began = Instant::now();
            loop {
                match target.add(1, 2) {
                    Ok(3) => break,
                    Err(TargetAddError::System(exception))
                        if matches!(exception.kind(), Kind::Transient | Kind::CommFailure)
                            && began.elapsed() < RECOVERY =>
                    {
                        work.record_refused();
                        std::thread::sleep(Duration::from_millis(20));
                    }
                    other => {
                        return Err(format!("{other:?} by {protocol} when there is room again"));
                    }
                }
            }
            work.record_done();
        }
        orb.shutdown(true).map_err(shown)
    }
}

/// Waits until the server has no more open descriptors than before.
fn are_back(server: &Process, before: usize) -> Result<(), String> {
    let began = Instant::now();
    loop {
        let now = server.usage()?.descriptors;
        if now <= before {
            return Ok(());
        }
        if began.elapsed() > RECOVERY {
            return Err(format!("{now} descriptors are left open of {before}"));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}
