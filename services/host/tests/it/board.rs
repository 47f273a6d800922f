//! An example of a service: a board that keeps texts.

use std::path::PathBuf;
use std::sync::Arc;

use parking_lot::RwLock;
use punctual::{Interface, ObjectRef, Poa, SystemException, SystemExceptionKind as Kind};
use punctual_host::access::{Rules, check_principal};
use punctual_host::commit::Commits;
use punctual_host::metrics::{Exposition, Timed};
use punctual_host::settings::{Key, PROCESS, Setting, Values, listen};
use punctual_host::store::{Cdr, Records, StoreError, StoreFile, StoreKind};
use punctual_host::{Problem, ServeError, Service};

use crate::idl;

pub(crate) const KIND: StoreKind = StoreKind::new("board", 1);
const TEXTS: Records<u64, Cdr<String>> = Records::named("texts");

pub(crate) const LISTEN: Key<Vec<String>> = listen().default("iiop://127.0.0.1:0");
const STORE: Key<Option<PathBuf>> = Key::path("store")
    .default("board.redb")
    .doc("The file that texts are kept in.");
const ALLOW: Key<Vec<String>> = Key::list("allow", check_principal)
    .value_name("WHO")
    .doc("Let WHO post, and no others.");
const MOST_TEXTS: Key<u64> = Key::number("most-texts", 1..=1_000)
    .default("100")
    .doc("How many texts there may be.");

pub(crate) fn settings() -> Vec<&'static Setting> {
    let own = [
        &LISTEN.setting,
        &STORE.setting,
        &ALLOW.setting,
        &MOST_TEXTS.setting,
    ];
    [&own[..], PROCESS].concat()
}

/// Test service that stores texts; clones share their state.
#[derive(Clone)]
pub(crate) struct Board(Arc<Shared>);

struct Shared {
    texts: RwLock<Vec<Cdr<String>>>,
    store: StoreFile,
    commits: Commits<Cdr<String>, Result<u32, Kind>>,
    rules: Rules<()>,
    most: usize,
    posts: Timed,
}

impl Board {
    /// Opens the test service's board with the given settings.
    pub(crate) fn open(values: &Values) -> Result<Self, Problem> {
        let path = values.get(&STORE).unwrap_or_default();
        let bad = |error| Problem::new(error, "--store names another file");
        let store = StoreFile::open(&path, KIND).map_err(bad)?;
        let rules = Rules::of(&values.get(&ALLOW))?;
        Self::on(store, rules, values.count(&MOST_TEXTS)).map_err(bad)
    }

    /// Opens the test service's board in a store file.
    pub(crate) fn on(store: StoreFile, rules: Rules<()>, most: usize) -> Result<Self, StoreError> {
        let texts = store.read(|transaction| TEXTS.values(transaction))?;
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
        let texts = self.0.texts.read();
        texts.iter().map(|text| text.0.clone()).collect()
    }

    /// Posts a text on the board, in one commit with other callers' texts.
    pub(crate) fn post(&self, text: &str) -> Result<u32, Kind> {
        let (text, lost) = (Cdr(text.to_owned()), || Err(Kind::Internal));
        let commit = |posted| self.commit(posted);
        let submit = || self.0.commits.submit(text, commit, lost);
        self.0.posts.count(submit)
    }

    fn commit(&self, posted: Vec<Cdr<String>>) -> Vec<Result<u32, Kind>> {
        let mut texts = self.0.texts.write();
        let (first, all) = (texts.len(), posted.len());
        let room = self.0.most.saturating_sub(first);
        let posted: Vec<_> = posted.into_iter().take(room).collect();
        let written = self.0.store.commit(|batch| {
            let mut table = batch.records(TEXTS)?;
            let mut numbered = (first as u64..).zip(&posted);
            numbered.try_for_each(|(number, text)| table.put(number, text))
        });
        if written.is_err() {
            return vec![Err(Kind::PersistStore); all];
        }
        texts.extend(posted);
        let mut results: Vec<_> = (first..texts.len())
            .map(|number| Ok(number as u32))
            .collect();
        results.resize(all, Err(Kind::NoResources));
        results
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
        let text = texts.get(number as usize).map(|text| text.0.clone());
        text.ok_or_else(|| Kind::ObjectNotExist.because("there is no such text"))
    }
}

impl Service for Board {
    const NAME: &'static str = "board";
    const INITIAL_REFERENCE: &'static str = "Board";

    fn serve(&self, parent: &Poa) -> Result<ObjectRef, ServeError> {
        let board = parent.activate::<idl::Board, _>(self.clone());
        let board = board.map_err(ServeError::of::<Self>)?;
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
