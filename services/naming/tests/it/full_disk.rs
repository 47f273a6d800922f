//! A service whose file cannot grow, as on a full disk. The file size limit applies to the process,
//! so there is only one test.
#![allow(missing_docs, clippy::unwrap_used)]

use crate::support;

use punctual::SystemExceptionKind;
use punctual_naming::NamingService;
use punctual_naming::cos_naming::NamingContextBindError;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use signal_hook::consts::SIGXFSZ;
use std::sync::Arc;
use support::{Served, name, object};

/// Number of bindings that do not fit into a file as long as that of an empty service.
const MANY: usize = 100_000;

fn limit_files(current: Option<u64>) {
    let maximum = getrlimit(Resource::Fsize).maximum;
    setrlimit(Resource::Fsize, Rlimit { current, maximum }).unwrap();
}

#[test]
fn what_cannot_be_stored_is_refused_and_not_there_and_what_comes_later_is_kept() {
    crate::alone::alone(|| {
        // Unhandled, the signal ends the process.
        signal_hook::flag::register(SIGXFSZ, Arc::default()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("names.redb");
        let service = NamingService::open(&path).unwrap();
        let served = Served::new(&service);
        let bind = |number: usize| {
            let target = object(&served.orb, number);
            let padding = "x".repeat(900);
            let name = name(&format!("{padding}{number}"));
            served.root.bind(&name, Some(&target))
        };
        let before = getrlimit(Resource::Fsize).current;
        limit_files(Some(std::fs::metadata(&path).unwrap().len()));
        let refused = (0..MANY).find_map(|number| Some((number, bind(number).err()?)));
        let (stored, refusal) = refused.unwrap();
        let is_storage = |refusal: &NamingContextBindError| matches!(refusal, NamingContextBindError::System(it) if it.kind() == SystemExceptionKind::PersistStore);
        assert!(is_storage(&refusal), "{refusal}");
        assert_eq!(service.size().bindings, stored);
        assert!(is_storage(&bind(stored).unwrap_err()));
        assert_eq!(service.size().bindings, stored);
        // Reading goes on.
        assert!(served.root.list(1).is_ok());
        limit_files(before);
        // The same again: it was not there.
        bind(stored).unwrap();
        assert_eq!(service.size().bindings, stored + 1);
        drop((served, service));
        let service = NamingService::open(&path).unwrap();
        assert_eq!(service.size().bindings, stored + 1);
    });
}
