//! omniORB: a client in C++ at our logs, with stubs that its own compiler made of the IDL.
//!
//! Skipped, with the reason printed, where `omniidl`, `g++`, `libomniorb4-dev` or `omniorb-idl` is not installed. The IDL of
//! events and notifications is omniORB's own, that of logs ours.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::Served;

/// Folder of omniORB's own IDL.
const COS: &str = "/usr/share/idl/omniORB/COS";

/// IDL of which stubs are made, all at once.
const IDL: &str = "#include <DsNotifyLogAdmin.idl>\n#include <DsLogNotification.idl>\n";

fn succeeds(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{command:?}: {text}{said}");
    text
}

/// Builds the client in C++ of omniORB, by its own compiler of IDL; `None` if it cannot be built here.
fn client() -> Option<PathBuf> {
    let needed = [
        "/usr/bin/omniidl",
        "/usr/bin/g++",
        "/usr/include/omniORB4/CORBA.h",
        "/usr/share/idl/omniORB/COS/CosNotifyChannelAdmin.idl",
    ];
    if let Some(missing) = needed.iter().find(|path| !Path::new(path).is_file()) {
        println!("skipped: {missing} is not installed");
        return None;
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("log-omniorb");
    std::fs::create_dir_all(&folder).unwrap();
    let idl = folder.join("logs.idl");
    std::fs::write(&idl, IDL).unwrap();
    // Its IDL includes a header that only the package of its COS services has, for the DLLs of Windows.
    std::fs::write(folder.join("COS_sysdep.h"), "").unwrap();
    let own = concat!(env!("CARGO_MANIFEST_DIR"), "/idl");
    let mut compile = Command::new("omniidl");
    compile.args(["-bcxx", "-Wba", "-Wbinline", "-Wbuse_quotes", "-C"]);
    compile.arg(&folder).args(["-I", own, "-I", COS]);
    compile.args(["-I", "/usr/share/idl/omniORB"]);
    succeeds(compile.arg(idl));
    let program = folder.join("logs");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/omniorb/logs.cc");
    let mut compile = Command::new("g++");
    compile
        .current_dir(&folder)
        .args(["-std=c++17", "-O0", "-w", "-I.", source]);
    compile.args(["logsSK.cc", "logsDynSK.cc"]);
    compile.args(["-lomniORB4", "-lomniDynamic4", "-lomnithread", "-o"]);
    succeeds(compile.arg(&program));
    Some(program)
}

/// Things that the client in C++ finds as they should be.
const FOUND: &str = "the factories are found
a log is created
records of any type are written
records with attributes are written
a constraint finds records
a wrong constraint is refused
an iterator has the rest
records are retrieved backwards
attributes are set
an unknown record is refused
a log that is full says how much it took
a week mask is kept
a wrong week mask is refused
records are deleted
a copy is empty
an event is a record
a consumer gets the event
the factory tells of its logs
an unsupported quality is refused
the log has a filter
events that the filter lets through are records
consumers get all events
logs are destroyed
";

#[test]
fn a_client_of_omniorb_writes_queries_and_records_events() {
    let Some(program) = client() else {
        return;
    };
    let served = Served::with(punctual_log::Limits {
        reply_records: 4,
        ..crate::support::limits()
    });
    let references = [
        served.orb.object_to_string(&served.factory).unwrap(),
        served.orb.object_to_string(&served.events).unwrap(),
        served.orb.object_to_string(&served.notify).unwrap(),
    ];
    let said = succeeds(Command::new(&program).args(references));
    assert_eq!(said, FOUND);
    assert_eq!(served.service.size().0, 0);
}
