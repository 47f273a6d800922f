//! A server that registers with a repository: this test program, started again for one test.

use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

use punctual::poa::{
    DispatchError, Dispatched, IdAssignmentPolicy, LifespanPolicy, PoaPolicy, ServerCall,
};
use punctual::{ListenEndpoint, ObjectId, ObjectRef, Orb, RootPoa, Servant, SystemException};

use crate::idl::{Works, WorksServant};

/// Variables of the environment that say what a server does.
pub(crate) const REPOSITORY: &str = "WORKS_REPOSITORY";
pub(crate) const NAMES: &str = "WORKS_NAMES";
pub(crate) const SERVER_ID: &str = "WORKS_SERVER_ID";
pub(crate) const FOLDER: &str = "WORKS_FOLDER";
/// Milliseconds before it registers.
pub(crate) const DELAY: &str = "WORKS_DELAY";
/// Fault in place of serving: `dies`, or `hangs` without registering, or `waits` with that for the file [`GO`]; `leaves` right after it has registered, or
/// `returns` then in good order; or `lingers` when it has
/// said that it ends, with a file that only one process may have.
pub(crate) const FAULT: &str = "WORKS_FAULT";

/// File in the folder that lets servers register.
pub(crate) const GO: &str = "go";

/// Id of the object that is served.
pub(crate) const ID: &str = "works";

/// File with a line for each process that was started: its number.
pub(crate) const STARTED: &str = "started";

#[derive(Default)]
struct Counting(AtomicI32);

impl WorksServant for Counting {
    fn count(&self) -> Result<i32, SystemException> {
        Ok(self.0.fetch_add(1, Ordering::Relaxed) + 1)
    }

    fn process(&self) -> Result<i32, SystemException> {
        Ok(i32::try_from(std::process::id()).unwrap())
    }
}

/// A naming context of which a client of another ORB resolves names: each is the context itself.
struct Context;

impl Servant for Context {
    fn repository_ids(&self) -> &'static [&'static str] {
        &["IDL:omg.org/CosNaming/NamingContext:1.0"]
    }

    fn dispatch(&self, call: &mut ServerCall<'_>) -> Result<Dispatched, DispatchError> {
        let object: ObjectRef = punctual::poa::Current.reference().unwrap();
        match call.operation() {
            "resolve" => call.reply(|out| punctual::stub::Marshal::marshal(&object, out)),
            _ => Err(call.bad_operation()),
        }
    }

    fn implementation(&self) -> &(dyn std::any::Any + Send + Sync) {
        self
    }
}

/// Id of the naming context.
pub(crate) const CONTEXT: &str = "context";

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

#[test]
fn process_of_a_server() {
    let Some(repository) = variable(REPOSITORY) else {
        return;
    };
    let folder = variable(FOLDER).unwrap();
    let folder = Path::new(&folder);
    let started = std::fs::OpenOptions::new();
    let mut started = { started }
        .append(true)
        .create(true)
        .open(folder.join(STARTED))
        .unwrap();
    // In one write, as others may write at the same time.
    let line = format!("{}\n", std::process::id());
    started.write_all(line.as_bytes()).unwrap();
    if let Some(delay) = variable(DELAY) {
        std::thread::sleep(Duration::from_millis(delay.parse().unwrap()));
    }
    let fault = variable(FAULT).unwrap_or_default();
    // Until the process ends.
    let mut alone = None;
    match fault.as_str() {
        "lingers" => {
            let file = std::fs::File::create(folder.join("lock")).unwrap();
            if file.try_lock().is_err() {
                std::process::exit(8);
            }
            alone = Some(file);
        }
        "dies" => std::process::exit(7),
        "hangs" => std::thread::sleep(Duration::from_secs(1000)),
        "waits" => crate::support::until(|| folder.join(GO).exists()),
        _ => {}
    }
    serve(&repository, folder, &fault);
    if alone.is_some() {
        std::thread::sleep(Duration::from_millis(300));
    }
    std::process::exit(0);
}

fn serve(repository: &str, folder: &Path, fault: &str) {
    let mut options = vec!["server".to_owned()];
    options.extend(["-ORBUseImR", "1", "-ORBImplRepoServiceIOR", repository].map(str::to_owned));
    if let Some(id) = variable(SERVER_ID) {
        options.extend(["-ORBServerId".to_owned(), id]);
    }
    let builder = Orb::builder().listen(ListenEndpoint::iiop("127.0.0.1", 0));
    let (orb, _) = builder.init(options).unwrap();
    let root = orb.root_poa().unwrap();
    // Requests for objects that are not there are answered, too.
    root.manager().activate().unwrap();
    for name in variable(NAMES).unwrap().split(',') {
        let policies = [
            PoaPolicy::Lifespan(LifespanPolicy::Persistent),
            PoaPolicy::IdAssignment(IdAssignmentPolicy::User),
        ];
        let poa = root.create_poa(name, None, &policies).unwrap();
        let works: Works = poa
            .activate_with_id(&ObjectId::from(ID.as_bytes()), Counting::default())
            .unwrap();
        let id = ObjectId::from(CONTEXT.as_bytes());
        poa.activate_object_with_id(&id, std::sync::Arc::new(Context))
            .unwrap();
        let text = orb.object_to_string(&works).unwrap();
        std::fs::write(folder.join(format!("{name}.ior")), text).unwrap();
        poa.manager().activate().unwrap();
    }
    if fault == "leaves" {
        std::process::exit(7);
    }
    if fault == "returns" {
        orb.shutdown(true).unwrap();
    }
    orb.run();
}
