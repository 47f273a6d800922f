//! Interface Repository whose disk becomes full repeatedly: definitions that cannot be stored are
//! refused, the others are served, and all accepted ones are there when the file is opened again.

use crate::calls::shown;
use crate::child::Process;
use crate::links;
use crate::random::Random;
use crate::run::Soak;
use crate::speech::{self, Said};
use crate::work::{Load, Tally, Work};
use punctual::{ListenEndpoint, Orb, RootPoa, SystemExceptionKind};
use punctual_ifr::InterfaceRepository;
use punctual_ifr::corba::Repository;
use std::collections::BTreeSet;
use std::error::Error;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Mount option that limits the size of the interface repository's small disk.
const DISK: &str = "size=8m";
/// Number of members of each definition, which makes the definitions large.
const MEMBERS: usize = 100;
/// Number of definitions created on the full disk, of which at least one must be refused.
const MOST_REFUSED_LATE: usize = 4000;
/// Upper bound of the definitions kept from one round to the next; the others are destroyed.
const MOST_KEPT: usize = 60;

/// Runs the server in a mount namespace of its own, with a small disk at `folder`.
///
/// # Errors
/// Reasons why it cannot serve.
pub(crate) fn serve(folder: &Path) -> Result<(), Box<dyn Error>> {
    std::fs::create_dir_all(folder)?;
    let mount = Command::new("mount")
        .args(["-t", "tmpfs", "-o", DISK, "soak"])
        .arg(folder)
        .output();
    match mount {
        Ok(done) if done.status.success() => {}
        Ok(done) => {
            let why = String::from_utf8_lossy(&done.stderr).trim().to_owned();
            Said::Unable(why).say();
            return Ok(());
        }
        Err(error) => {
            Said::Unable(format!("mount: {error}")).say();
            return Ok(());
        }
    }
    let (file, filler) = (folder.join("repository.redb"), folder.join("filler"));
    let mut orb = Some(open(&file)?);
    speech::obey(&Load::default(), &Tally::default(), |line| {
        let done = match line {
            "fill" => fill(&filler),
            "free" => std::fs::remove_file(&filler).map_err(Into::into),
            _ => {
                if let Some(orb) = orb.take() {
                    let _ = orb.shutdown(true);
                }
                open(&file).map(|opened| orb = Some(opened))
            }
        };
        match done {
            Ok(()) => Said::Obeyed(line.to_owned()).say(),
            Err(error) => Said::Unable(format!("{line}: {error}")).say(),
        }
    });
    orb.map_or(Ok(()), |orb| Ok(orb.shutdown(true)?))
}

/// Opens the repository, prints its contents, and serves it.
fn open(file: &Path) -> Result<Orb, Box<dyn Error>> {
    let repository = InterfaceRepository::open(file)?;
    let ids = repository.list().into_iter().map(|(_, _, id)| id).collect();
    let orb = Orb::builder()
        .listen(ListenEndpoint::iiop("127.0.0.1", 0))
        .build()?;
    let root = orb.root_poa()?;
    let served = repository.serve(&root)?;
    root.manager().activate()?;
    let reference = orb.object_to_string(&served)?;
    Said::Opened { reference, ids }.say();
    Ok(orb)
}

/// Writes to a file until the disk is full.
fn fill(filler: &PathBuf) -> Result<(), Box<dyn Error>> {
    let mut file = File::create(filler)?;
    for piece in [&[0_u8; 4096][..], &[0]] {
        while file.write_all(piece).is_ok() {}
    }
    Ok(())
}

/// Starts the server, and fills its disk again and again. Where no namespace can be made, records
/// that as skipped.
///
/// # Errors
/// Reasons why the server does not serve.
pub(crate) fn fill_again_and_again(soak: &Soak) -> Result<(), String> {
    let (orb, name) = (
        links::orb(soak.folder()).build().map_err(shown)?,
        "the repository",
    );
    let mut command = Command::new("unshare");
    command.args(["--mount", "--propagation", "private", "--"]);
    command.arg(std::env::current_exe().map_err(shown)?);
    let disk = soak.folder().join("disk");
    command.args(["repository", "--folder"]).arg(disk);
    let started = Process::start(name, command).and_then(|mut server| {
        let opened = opened(&mut server, &orb)?;
        Ok((server, opened))
    });
    let (mut server, (mut root, _)) = match started {
        Ok(started) => started,
        Err(why) => {
            soak.skip(format!("the full disk: no mount namespace: {why}"));
            return Ok(());
        }
    };
    let mut kept = Kept::new(soak.seed());
    soak.work("disk filled up", Duration::from_secs(1), |work| {
        kept.create_some(&root, work)?;
        server.told("fill")?;
        let full = kept.create_until_refused(&root, work);
        let full = full.and_then(|()| kept.are_served(&root, work));
        server.told("free")?;
        full?;
        kept.create_some(&root, work)
            .map_err(|fault| format!("when there is room again: {fault}"))?;
        kept.destroy_some(&root, work)?;
        server.tell("open")?;
        let (again, ids) = opened(&mut server, &orb)?;
        root = again;
        server.obeyed("open")?;
        work.record_done();
        kept.are(&ids)
    });
    orb.shutdown(true).map_err(shown)?;
    server.stop().map(drop)
}

/// Waits until the server has opened its interface repository, and returns the repository.
fn opened(server: &mut Process, orb: &Orb) -> Result<(Repository, Vec<String>), String> {
    match server.says()? {
        Said::Opened { reference, ids } => Ok((links::named(orb, &reference)?, ids)),
        Said::Unable(why) => Err(why),
        other => Err(format!("it says {other:?}")),
    }
}

/// Definitions that the repository has accepted, and so must contain.
struct Kept {
    ids: BTreeSet<String>,
    /// Number of the next definition to be created in the repository.
    number: u64,
    random: Random,
}

impl Kept {
    fn new(seed: u64) -> Self {
        Self {
            ids: BTreeSet::new(),
            number: 0,
            random: Random::new(seed, "repository"),
        }
    }

    /// Makes a definition; returns `false` if it is refused because it could not be stored.
    fn create(&mut self, root: &Repository, work: &Work) -> Result<bool, String> {
        self.number += 1;
        let (name, id) = (
            format!("e{}", self.number),
            format!("IDL:e{}:1.0", self.number),
        );
        let members: Vec<String> = (0..MEMBERS)
            .map(|at| format!("a_member_{name}_{at}"))
            .collect();
        match root.create_enum(&id, &name, "1.0", &members) {
            Ok(_) => {
                work.record_done();
                self.ids.insert(id);
                Ok(true)
            }
            Err(exception) if exception.kind() == SystemExceptionKind::PersistStore => {
                work.record_refused();
                match root.lookup_id(&id).map_err(shown)? {
                    None => Ok(false),
                    Some(_) => Err(format!("{id} was refused, and is there")),
                }
            }
            Err(exception) => Err(shown(exception)),
        }
    }

    fn create_some(&mut self, root: &Repository, work: &Work) -> Result<(), String> {
        for _ in 0..8 {
            if !self.create(root, work)? {
                return Err("refused, though there is room".to_owned());
            }
        }
        Ok(())
    }

    fn create_until_refused(&mut self, root: &Repository, work: &Work) -> Result<(), String> {
        for _ in 0..MOST_REFUSED_LATE {
            if !self.create(root, work)? {
                return Ok(());
            }
        }
        Err("nothing was refused, though the disk is full".to_owned())
    }

    /// Checks that existing definitions can be read while the disk is full, and that a definition
    /// that cannot be stored is refused.
    fn are_served(&mut self, root: &Repository, work: &Work) -> Result<(), String> {
        let ids: Vec<String> = self.ids.iter().cloned().collect();
        for _ in 0..20 {
            let id = self.random.one_of(&ids);
            let found = root.lookup_id(id).map_err(shown)?;
            let found = found.ok_or_else(|| format!("{id} is gone while the disk is full"))?;
            let told = found.id().map_err(shown)?;
            if told != *id {
                return Err(format!("{told} instead of {id}"));
            }
            work.record_done();
            self.create(root, work)?;
        }
        Ok(())
    }

    fn destroy_some(&mut self, root: &Repository, work: &Work) -> Result<(), String> {
        while self.ids.len() > MOST_KEPT {
            let Some(id) = self.ids.pop_first() else {
                return Ok(());
            };
            let found = root.lookup_id(&id).map_err(shown)?;
            let found = found.ok_or_else(|| format!("{id} is gone"))?;
            found.destroy().map_err(shown)?;
            work.record_done();
        }
        Ok(())
    }

    /// Checks that the reopened repository contains exactly the accepted definitions.
    fn are(&self, ids: &[String]) -> Result<(), String> {
        let stored: BTreeSet<String> = ids.iter().cloned().collect();
        match stored == self.ids {
            true => Ok(()),
            false => {
                let lost: Vec<&String> = self.ids.difference(&stored).collect();
                let more: Vec<&String> = stored.difference(&self.ids).collect();
                Err(format!(
                    "opened again, it has lost {lost:?} and has {more:?} in addition"
                ))
            }
        }
    }
}
