//! Proxy between a naming server and etcd that delays or cuts the traffic.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A proxy for one address. Its threads end with the test's process.
pub(crate) struct Proxy {
    pub(crate) at: String,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    delay_ms: AtomicU64,
    is_cut: AtomicBool,
    open: Mutex<Vec<TcpStream>>,
}

impl Proxy {
    pub(crate) fn of(target: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let at = listener.local_addr().unwrap().to_string();
        let (state, target) = (Arc::<State>::default(), target.to_owned());
        let proxy = Self {
            at,
            state: state.clone(),
        };
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let Ok(server) = TcpStream::connect(&target) else {
                    continue;
                };
                let mut open = state.open.lock().unwrap();
                if state.is_cut.load(Ordering::SeqCst) {
                    continue;
                }
                for (from, to) in [(&client, &server), (&server, &client)] {
                    let (from, to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
                    open.push(from.try_clone().unwrap());
                    let state = state.clone();
                    std::thread::spawn(move || state.pass(from, to));
                }
            }
        });
        proxy
    }

    /// Delays all data from now on, in each direction.
    pub(crate) fn delay(&self, time: Duration) {
        let time = u64::try_from(time.as_millis()).unwrap();
        self.state.delay_ms.store(time, Ordering::SeqCst);
    }

    /// Ends all connections, and accepts none.
    pub(crate) fn cut(&self) {
        let mut open = self.state.open.lock().unwrap();
        self.state.is_cut.store(true, Ordering::SeqCst);
        for stream in open.drain(..) {
            // Those that have ended do not matter.
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    /// Accepts connections again.
    pub(crate) fn mend(&self) {
        self.state.is_cut.store(false, Ordering::SeqCst);
    }
}

impl State {
    fn pass(&self, mut from: TcpStream, mut to: TcpStream) {
        let mut bytes = [0; 16 << 10];
        while let Ok(read) = from.read(&mut bytes) {
            let delay = self.delay_ms.load(Ordering::SeqCst);
            std::thread::sleep(Duration::from_millis(delay));
            if read == 0 || to.write_all(&bytes[..read]).is_err() {
                break;
            }
        }
        let _ = to.shutdown(Shutdown::Both);
    }
}
