//! Server whose servant shuts its own ORB down, as another process: all callers are answered,
//! though the process ends as soon as `Orb::run` returns.
#![allow(missing_docs, clippy::unwrap_used)]

use punctual::stub::{DispatchError, Dispatched, Operation, Servant, ServerCall};
use punctual::{ListenEndpoint, ObjectRef, Orb, RootPoa, SystemException};
use std::any::Any;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Environment variable that makes this program run as the server.
const ROLE: &str = "PUNCTUAL_SERVES_UNTIL_TOLD";
const MARK: &str = "@ ";
/// Number of servers that are run, one after the other.
const SERVERS: usize = 25;

struct Ending {
    orb: Orb,
    slow: AtomicU32,
}

impl Servant for Ending {
    fn repository_ids(&self) -> &'static [&'static str] {
        &["IDL:test/Ending:1.0"]
    }

    fn identity(&self) -> punctual::stub::Identity {
        punctual::stub::Identity::of::<ObjectRef, _>(self)
    }

    fn implementation(&self) -> &(dyn Any + Send + Sync) {
        &self.slow
    }

    fn dispatch(&self, call: &mut ServerCall<'_>) -> Result<Dispatched, DispatchError> {
        match call.operation() {
            "end" => self.orb.shutdown(false)?,
            "slow" => {
                self.slow.fetch_add(1, Ordering::Relaxed);
                std::thread::sleep(Duration::from_millis(100));
            }
            "is_slow" => {
                let slow = self.slow.load(Ordering::Relaxed) > 0;
                return call.reply(|out| {
                    out.put_bool(slow);
                    Ok(())
                });
            }
            _ => return Err(call.bad_operation()),
        }
        call.reply(|_| Ok(()))
    }
}

/// Not a test: the main function of the server process.
#[test]
#[ignore = "another process of the other tests"]
fn serves_until_told() {
    if std::env::var_os(ROLE).is_none() {
        return;
    }
    let orb = Orb::builder()
        .listen(ListenEndpoint::iiop("127.0.0.1", 0))
        .build()
        .unwrap();
    let poa = orb.root_poa().unwrap();
    poa.manager().activate().unwrap();
    let servant = Arc::new(Ending {
        orb: orb.clone(),
        slow: AtomicU32::new(0),
    });
    let id = poa.activate_object(servant).unwrap();
    let object = poa
        .create_object_with_id(&id, "IDL:test/Ending:1.0")
        .unwrap();
    println!("\n{MARK}{}", orb.object_to_string(&object).unwrap());
    orb.run();
    // Replies that are not sent by now never are.
    std::process::exit(0);
}

struct Server {
    child: Child,
    client: Orb,
    object: ObjectRef,
}

impl Server {
    fn start() -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([
                "own_end::serves_until_told",
                "--exact",
                "--ignored",
                "--nocapture",
            ])
            .env(ROLE, "1")
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let said = BufReader::new(child.stdout.take().unwrap());
        let mut lines = said.lines().map_while(Result::ok);
        let reference = lines.find_map(|line| Some(line.strip_prefix(MARK)?.to_owned()));
        let client = Orb::builder().build().unwrap();
        let object = client.string_to_object(&reference.unwrap()).unwrap();
        Self {
            child,
            client,
            object,
        }
    }

    /// Waits until the process ends; returns `false` if it takes too long, or fails.
    fn has_ended_well(&mut self) -> bool {
        for _ in 0..1000 {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.success();
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        false
    }

    fn call(&self, operation: &'static str) -> Result<(), SystemException> {
        call(&self.object, operation)
    }
}

fn call(object: &ObjectRef, operation: &'static str) -> Result<(), SystemException> {
    object.invoke(&Operation::two_way(operation), |_| Ok(()), |_| Ok(()))
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.client.shutdown(false);
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn who_has_a_server_shut_itself_down_is_answered() {
    for _ in 0..SERVERS {
        let mut server = Server::start();
        server.call("end").unwrap();
        assert!(server.has_ended_well());
    }
}

#[test]
fn a_call_in_progress_is_answered_when_another_shuts_the_server_down() {
    for _ in 0..3 {
        let mut server = Server::start();
        let (object, is_slow) = (server.object.clone(), Operation::two_way("is_slow"));
        let slow = std::thread::spawn(move || call(&object, "slow"));
        while !server
            .object
            .invoke(&is_slow, |_| Ok(()), |input| input.get_bool())
            .unwrap()
        {
            crate::support::pause();
        }
        server.call("end").unwrap();
        slow.join().unwrap().unwrap();
        assert!(server.has_ended_well());
    }
}
