//! A repository whose file cannot grow, as on a full disk. The file size limit applies to the
//! process, so there is only one test.
#![allow(missing_docs, clippy::unwrap_used)]

use crate::support;

use punctual_ifr::{InterfaceRepository, Refusal};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use signal_hook::consts::SIGXFSZ;
use std::sync::Arc;
use support::specification;

/// Number of definitions that do not fit into a file as long as that of an empty repository.
const MANY: usize = 2000;

fn limit_files(current: Option<u64>) {
    let maximum = getrlimit(Resource::Fsize).maximum;
    setrlimit(Resource::Fsize, Rlimit { current, maximum }).unwrap();
}

/// Loads the definition of a large enum with a unique name.
fn load(repository: &InterfaceRepository, number: usize) -> Result<usize, Refusal> {
    let members: Vec<String> = (0..100).map(|at| format!("e{number}_{at}")).collect();
    let idl = format!("enum E{number} {{ {} }};", members.join(", "));
    repository.load(&specification(&idl))
}

#[test]
fn what_cannot_be_stored_is_refused_and_not_there_and_what_comes_later_is_kept() {
    crate::alone::alone(|| {
        // Unhandled, the signal ends the process.
        signal_hook::flag::register(SIGXFSZ, Arc::default()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ifr.redb");
        let repository = InterfaceRepository::open(&path).unwrap();
        let before = getrlimit(Resource::Fsize).current;
        limit_files(Some(std::fs::metadata(&path).unwrap().len()));
        let refused = (0..MANY).find_map(|number| Some((number, load(&repository, number).err()?)));
        let (stored, refusal) = refused.unwrap();
        assert!(matches!(refusal, Refusal::Storage(_)), "{refusal}");
        assert_eq!(repository.list().len(), stored);
        assert!(matches!(
            load(&repository, stored),
            Err(Refusal::Storage(_))
        ));
        assert_eq!(repository.list().len(), stored);
        limit_files(before);
        // The same again: it was not there.
        assert_eq!(load(&repository, stored), Ok(1));
        let listed = repository.list();
        assert_eq!(listed.len(), stored + 1);
        drop(repository);
        assert_eq!(InterfaceRepository::open(&path).unwrap().list(), listed);
    });
}
