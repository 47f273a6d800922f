//! Events and answers that a server has sent, and that are lost.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use punctual_durable::{EventLog, EventStore, LogSettings, Most, Name, NewEvent};
use punctual_jetstream::{JetStreamOptions, JetStreamStore};

use crate::nats::{LIMIT, Nats, eventually};

/// Proxy of a server, which may keep what the server sends. Its threads end with the test's process.
pub(crate) struct Proxy {
    url: String,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    /// What the server has sent since its data are kept.
    kept: Option<Vec<u8>>,
    /// True while nothing goes on, either way.
    is_held_up: bool,
    open: Vec<TcpStream>,
}

impl Proxy {
    pub(crate) fn of(server: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("nats://{}", listener.local_addr().unwrap());
        let at = server.trim_start_matches("nats://").to_owned();
        let state = Arc::<Mutex<State>>::default();
        let own = state.clone();
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let server = TcpStream::connect(&at).unwrap();
                let ends = [&client, &server].map(|end| end.try_clone().unwrap());
                own.lock().unwrap().open.extend(ends);
                let state = own.clone();
                let (to_server, to_client) = (
                    (client.try_clone().unwrap(), server.try_clone().unwrap()),
                    (server, client),
                );
                let holder = own.clone();
                let goes_on = move |_: &[u8]| {
                    while holder.lock().unwrap().is_held_up {
                        std::thread::sleep(Duration::from_millis(5));
                    }
                    true
                };
                std::thread::spawn(move || pass(to_server, goes_on));
                std::thread::spawn(move || {
                    pass(to_client, |bytes| {
                        while state.lock().unwrap().is_held_up {
                            std::thread::sleep(Duration::from_millis(5));
                        }
                        state.lock().unwrap().lets(bytes)
                    })
                });
            }
        });
        Self { url, state }
    }

    pub(crate) fn url(&self) -> String {
        self.url.clone()
    }

    /// Keeps what the server sends from now on.
    pub(crate) fn keep(&self) {
        self.state.lock().unwrap().kept = Some(Vec::new());
    }

    pub(crate) fn has_kept(&self, text: &str) -> bool {
        let state = self.state.lock().unwrap();
        let kept = state.kept.as_deref().unwrap_or_default();
        kept.windows(text.len()).any(|some| some == text.as_bytes())
    }

    /// Holds up all that is sent, or lets it go on.
    pub(crate) fn hold_up(&self, is_held_up: bool) {
        self.state.lock().unwrap().is_held_up = is_held_up;
    }

    /// Lets what the server sends go on again. What was kept is lost.
    pub(crate) fn lose(&self) {
        self.state.lock().unwrap().kept = None;
    }

    /// Ends all connections. Later ones are not kept from anything.
    fn cut(&self) {
        let mut state = self.state.lock().unwrap();
        state.kept = None;
        for end in state.open.drain(..) {
            // One that has ended does not matter.
            let _ = end.shutdown(Shutdown::Both);
        }
    }
}

impl State {
    /// Returns whether data of the server go on to the client.
    fn lets(&mut self, bytes: &[u8]) -> bool {
        match &mut self.kept {
            Some(kept) => {
                kept.extend(bytes);
                false
            }
            None => true,
        }
    }
}

fn pass((mut from, mut to): (TcpStream, TcpStream), mut lets: impl FnMut(&[u8]) -> bool) {
    let mut bytes = [0; 16 << 10];
    while let Ok(read @ 1..) = from.read(&mut bytes) {
        if lets(&bytes[..read]) && to.write_all(&bytes[..read]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Both);
}

fn store(server: &str) -> JetStreamStore {
    let options = JetStreamOptions {
        acknowledge_wait: Duration::from_secs(1),
        patience: LIMIT,
        ..JetStreamOptions::new([server])
    };
    JetStreamStore::open(options).unwrap()
}

fn opened(server: &str) -> Arc<dyn EventLog> {
    let store = store(server);
    let name: Name = "log".parse().unwrap();
    store.open_log(&name, LogSettings::default()).unwrap()
}

#[test]
fn events_that_are_lost_on_their_way_are_handed_out_before_those_that_follow() {
    let Some(nats) = Nats::start() else { return };
    let proxy = Proxy::of(&nats.url);
    let (log, direct) = (opened(&proxy.url), opened(&nats.url));
    let reader = log.open_reader(&"reader".parse().unwrap()).unwrap();
    let append = |text: &str| {
        let event = NewEvent::new(text.as_bytes().to_vec());
        direct.append(vec![event]).unwrap();
    };
    let next = || {
        let got = reader.fetch(Most::events(1), LIMIT).unwrap();
        reader.acknowledge(&[got[0].position]);
        String::from_utf8(got[0].bytes.to_vec()).unwrap()
    };
    append("first");
    assert_eq!(next(), "first");
    proxy.keep();
    append("lost");
    eventually("the event is on its way", || proxy.has_kept("lost"));
    proxy.cut();
    append("next");
    assert_eq!([next(), next()], ["lost", "next"]);
}

#[test]
fn a_removal_whose_answer_is_lost_is_asked_for_again_and_was_done() {
    let Some(nats) = Nats::start() else { return };
    let proxy = Proxy::of(&nats.url);
    let store = store(&proxy.url);
    let name: Name = "log".parse().unwrap();
    store.open_log(&name, LogSettings::default()).unwrap();
    proxy.keep();
    let removal = std::thread::spawn(move || store.remove_log(&name));
    eventually("the answer is on its way", || proxy.has_kept("success"));
    proxy.lose();
    assert!(removal.join().unwrap().unwrap());
}
