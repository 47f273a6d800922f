//! An example of a service: a board that keeps texts. All of it is domain logic, but for the settings' table.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::RwLock;
use punctual::{Interface, ObjectRef, Poa, SystemException, SystemExceptionKind as Kind};
use punctual_host::access::{BadPrincipal, Principal, Rules};
use punctual_host::commit::Commits;
use punctual_host::metrics::{Exposition, Timed};
use punctual_host::settings::{
    Key, LOG, SETTINGS as FILE, STATUS, STOP_DEADLINE, Setting, Values, WRITE_REFERENCE, listen,
};
use punctual_host::store::{Cdr, Faults, Records, StoreError, StoreFile, StoreKind};
use punctual_host::{Problem, ServeError, Service};

use crate::idl;

pub(crate) const KIND: StoreKind = StoreKind {
    service: "board",
    format: 1,
    known_by: None,
};
const TEXTS: Records<u64, Cdr<String>> = Records::named("texts");

pub(crate) const LISTEN: Key<Vec<String>> = listen().default("iiop://127.0.0.1:0");
const STORE: Key<Option<PathBuf>> = Key::path("store")
    .default("board.redb")
    .doc("The file that texts are kept in.");
const ALLOW: Key<Vec<String>> = Key::list("allow", is_principal)
    .value_name("WHO")
    .doc("Let WHO post, and no others.");
const MOST_TEXTS: Key<u64> = Key::number("most-texts", 1..=1_000)
    .default("100")
    .doc("How many texts there may be.");

pub(crate) const SETTINGS: &[&Setting] = &[
    &LISTEN.setting,
    &STORE.setting,
    &ALLOW.setting,
    &MOST_TEXTS.setting,
    &STATUS.setting,
    &WRITE_REFERENCE.setting,
    &LOG.setting,
    &STOP_DEADLINE.setting,
    &FILE.setting,
];

fn is_principal(text: &str) -> Result<(), String> {
    let parsed = text.parse::<Principal>();
    parsed.map(drop).map_err(|error| error.to_string())
}

/// A board. Clones are the same one.
#[derive(Clone)]
pub(crate) struct Board(Arc<Shared>);

struct Shared {
    texts: RwLock<Vec<String>>,
    store: StoreFile,
    commits: Commits<String, Result<u32, Kind>>,
    rules: Rules<()>,
    most: usize,
    posts: Timed,
}

impl Board {
    /// Opens the board that settings describe.
    pub(crate) fn open(values: &Values) -> Result<Self, Problem> {
        let path = values.get(&STORE).unwrap_or_default();
        let bad = |error| Problem::new(error, "--store names another file");
        let store = StoreFile::open(&path, KIND).map_err(bad)?;
        let mut rules = Rules::default();
        for text in values.get(&ALLOW) {
            let to = text.parse();
            rules.grant(
                (),
                to.map_err(|error: BadPrincipal| Problem::new(error, ""))?,
            );
        }
        let most = usize::try_from(values.get(&MOST_TEXTS)).unwrap_or(usize::MAX);
        Self::on(store, rules, most).map_err(bad)
    }

    /// Opens a board on a disk with faults.
    pub(crate) fn with_faults(path: &Path, faults: Faults) -> Result<Self, StoreError> {
        let store = StoreFile::open_with_faults(path, KIND, faults)?;
        Self::on(store, Rules::default(), 1_000)
    }

    fn on(store: StoreFile, rules: Rules<()>, most: usize) -> Result<Self, StoreError> {
        let mut texts = Vec::new();
        store.read(|transaction| {
            TEXTS.read(transaction, |_, Cdr(text)| {
                texts.push(text);
                Ok(())
            })
        })?;
        Ok(Self(Arc::new(Shared {
            texts: RwLock::new(texts),
            store,
            commits: Commits::new(),
            rules,
            most,
            posts: Timed::default(),
        })))
    }

    pub(crate) fn texts(&self) -> Vec<String> {
        self.0.texts.read().clone()
    }

    /// Posts a text, together with other callers.
    pub(crate) fn post(&self, text: &str) -> Result<u32, Kind> {
        let commit = |posted| self.commit(posted);
        let submit = || {
            let lost = || Err(Kind::Internal);
            self.0.commits.submit(text.to_owned(), commit, lost)
        };
        self.0.posts.count(submit)
    }

    fn commit(&self, posted: Vec<String>) -> Vec<Result<u32, Kind>> {
        let mut texts = self.0.texts.write();
        if texts.len() + posted.len() > self.0.most {
            return vec![Err(Kind::NoResources); posted.len()];
        }
        let first = texts.len();
        let written = self.0.store.commit(|batch| {
            let mut table = batch.records(TEXTS)?;
            let numbered = (first as u64..).zip(&posted);
            numbered
                .into_iter()
                .try_for_each(|(number, text)| table.put(number, &Cdr(text.clone())))
        });
        if written.is_err() {
            return vec![Err(Kind::PersistStore); posted.len()];
        }
        texts.extend(posted);
        (first..texts.len())
            .map(|number| Ok(number as u32))
            .collect()
    }
}

impl idl::BoardServant for Board {
    fn post(&self, text: &str) -> Result<u32, SystemException> {
        let rules = &self.0.rules;
        if !rules.permits(&rules.requester(), |()| true) {
            return Err(Kind::NoPermission.because("the peer may not post"));
        }
        punctual::about_to_block();
        Board::post(self, text).map_err(|kind| kind.because("the text was not posted"))
    }

    fn read(&self, number: u32) -> Result<String, SystemException> {
        let texts = self.0.texts.read();
        let text = texts.get(number as usize).cloned();
        text.ok_or_else(|| Kind::ObjectNotExist.because("there is no such text"))
    }
}

impl Service for Board {
    const NAME: &'static str = "board";
    const INITIAL_REFERENCE: &'static str = "Board";

    fn serve(&self, parent: &Poa) -> Result<ObjectRef, ServeError> {
        let board = parent.activate::<idl::Board, _>(self.clone());
        let board = board.map_err(|error| ServeError {
            service: Self::NAME,
            reason: error.to_string(),
        })?;
        Ok(board.as_object().clone())
    }

    fn metrics(&self, out: &mut Exposition) {
        out.timed(
            "post",
            "Texts posted, until that is durable.",
            &self.0.posts,
        );
        out.gauge("texts", "Texts.", self.0.texts.read().len() as u64);
    }
}
