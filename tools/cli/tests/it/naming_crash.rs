//! `punctual naming serve`, killed repeatedly under load: no acknowledged change is lost, no change
//! is made only in part, and no change appears that was not requested.
//!
//! `PUNCTUAL_KILLS` sets the number of kills; 10 by default.
#![allow(clippy::unwrap_used, missing_docs)]

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use punctual::{Interface, ObjectRef, OperationError, Orb};
use punctual_naming::cos_naming::{NameComponent, NamingContext};

const CLIENTS: usize = 8;

struct Server(Child);

impl Server {
    fn start(store: &Path) -> (Self, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_punctual"));
        command.args([
            "naming",
            "serve",
            "--listen",
            "iiop://127.0.0.1:0",
            "--store",
        ]);
        command.arg(store).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut reference = String::new();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        output.read_line(&mut reference).unwrap();
        (Server(child), reference.trim().to_owned())
    }

    /// Kills the server with SIGKILL.
    fn kill(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Possible targets of each name: an object, identified by a number, a context with such an object,
/// or none. There are several possibilities if the server did not answer.
type Known = BTreeMap<String, Vec<Option<usize>>>;

fn component(id: &str) -> NameComponent {
    NameComponent {
        id: id.to_owned(),
        kind: String::new(),
    }
}

fn object(orb: &Orb, number: usize) -> ObjectRef {
    let text = format!("corbaloc::127.0.0.1:1/{number}");
    orb.string_to_object(&text).unwrap()
}

/// Binds, rebinds and unbinds names until the server no longer answers. `done` counts acknowledged
/// changes.
fn load(
    orb: &Orb,
    root: &NamingContext,
    client: usize,
    round: usize,
    known: &mut Known,
    done: &AtomicUsize,
) {
    for step in 0.. {
        let id = format!("{client}-{}", (step * 7 + round) % 40);
        let name = [component(&id)];
        let before = known.get(&id).and_then(|all| all[0]);
        let number = round * 1_000_000 + step;
        let (after, outcome) = match (before, step % 3) {
            (Some(_), 0) => (
                None,
                root.unbind(&name).map_err(|error| error.system().cloned()),
            ),
            _ => {
                let bound = root.rebind(&name, Some(&object(orb, number)));
                (Some(number), bound.map_err(|error| error.system().cloned()))
            }
        };
        match outcome {
            Ok(()) => {
                known.insert(id, vec![after]);
                done.fetch_add(1, Ordering::Relaxed);
            }
            Err(Some(_)) => {
                // The change may have been made, or not.
                known.insert(id, vec![before, after]);
                return;
            }
            Err(None) => panic!("{id}: what was known of it was wrong"),
        }
    }
}

/// Creates contexts with an object in each. After a crash a context may be absent, but not empty,
/// as the order of the two operations must hold.
fn load_contexts(
    orb: &Orb,
    root: &NamingContext,
    round: usize,
    made: &mut Vec<(String, bool)>,
    done: &AtomicUsize,
) {
    for step in 0.. {
        let id = format!("c{round}-{step}");
        let name = [component(&id)];
        let Ok(context) = root.bind_new_context(&name) else {
            made.push((id, false));
            return;
        };
        done.fetch_add(1, Ordering::Relaxed);
        made.push((id, true));
        if context
            .unwrap()
            .bind(&[component("in")], Some(&object(orb, step)))
            .is_err()
        {
            return;
        }
        // All but a few are removed again.
        if step % 5 > 0 {
            let inner = [component(&made.last().unwrap().0), component("in")];
            if root.unbind(&inner).is_err() {
                return;
            }
        }
    }
}

fn listed(root: &NamingContext) -> Vec<String> {
    let (mut all, iterator) = root.list(100).unwrap();
    if let Some(iterator) = iterator {
        while let (true, mut some) = iterator.next_n(100).unwrap() {
            all.append(&mut some);
        }
    }
    all.into_iter()
        .map(|one| one.binding_name[0].id.clone())
        .collect()
}

/// Compares the server's names with the possible ones, and records the actual ones.
fn check(orb: &Orb, root: &NamingContext, known: &mut Known, contexts: &[(String, bool)]) {
    for id in listed(root) {
        let is_known =
            known.contains_key(&id) || contexts.iter().any(|(context, _)| *context == id);
        assert!(is_known, "{id} was bound by nobody");
    }
    for (id, possible) in known.iter_mut() {
        let found = root.resolve(&[component(id)]).ok().flatten();
        let is = |number: &Option<usize>| match (number, &found) {
            (None, None) => true,
            (Some(number), Some(found)) => found.is_equivalent(&object(orb, *number)),
            _ => false,
        };
        let actual = possible.iter().find(|one| is(one));
        let actual = *actual.unwrap_or_else(|| panic!("{id} is {found:?}, none of {possible:?}"));
        *possible = vec![actual];
    }
    for (id, is_acknowledged) in contexts {
        match root.resolve(&[component(id)]) {
            Ok(context) => {
                // There must not be a binding without a context.
                let context = NamingContext::from_object(context.unwrap());
                assert!(listed(&context).len() <= 1, "{id}");
            }
            Err(error) => assert!(!is_acknowledged, "{id} is lost: {error}"),
        }
    }
}

#[test]
fn nothing_acknowledged_is_lost_and_nothing_torn_is_read_however_often_the_server_is_killed() {
    let kills = std::env::var("PUNCTUAL_KILLS").ok();
    let kills: usize = kills.map_or(10, |kills| kills.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("names.redb");
    let mut known: Vec<Known> = vec![Known::new(); CLIENTS];
    let mut contexts = Vec::new();
    let mut acknowledged = 0;
    for round in 0..=kills {
        let (mut server, reference) = Server::start(&store);
        let orb = Orb::builder().build().unwrap();
        let root = NamingContext::from_object(orb.string_to_object(&reference).unwrap());
        let mut together: Known = known.iter().flat_map(|one| one.clone()).collect();
        check(&orb, &root, &mut together, &contexts);
        for one in &mut known {
            for (id, possible) in one.iter_mut() {
                possible.clone_from(&together[id]);
            }
        }
        let done = AtomicUsize::new(0);
        // A different moment each time.
        let enough = 40 + round * 61 % 300;
        let server_to_kill = Mutex::new(&mut server);
        std::thread::scope(|scope| {
            for (client, known) in known.iter_mut().enumerate() {
                let (orb, root, done) = (&orb, &root, &done);
                scope.spawn(move || load(orb, root, client, round, known, done));
            }
            let (orb, root, done, contexts) = (&orb, &root, &done, &mut contexts);
            scope.spawn(move || load_contexts(orb, root, round, contexts, done));
            while done.load(Ordering::Relaxed) < enough {
                crate::support::pause();
            }
            server_to_kill.lock().unwrap().kill();
        });
        acknowledged += done.load(Ordering::Relaxed);
        let _ = orb.shutdown(true);
    }
    println!("{kills} kills, {acknowledged} changes acknowledged, none lost");
    assert!(acknowledged >= 40 * kills);
}
