//! omniORB: suppliers and consumers in C++, compiled from its own IDL of the Notification Service, at our channels.
//!
//! Skipped, with the reason printed, where `omniidl`, `g++`, `libomniorb4-dev` or `omniorb-idl` is not installed.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::foreign::asking;
use crate::support::Served;

/// IDL of omniORB.
const IDL: &str = "/usr/share/idl/omniORB/COS";

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
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("notification-omniorb");
    std::fs::create_dir_all(&folder).unwrap();
    // Its IDL includes a header that only the package of its COS services has, for the DLLs of Windows.
    std::fs::write(folder.join("COS_sysdep.h"), "").unwrap();
    let mut compile = Command::new("omniidl");
    compile.args(["-bcxx", "-Wba", "-Wbinline", "-Wbuse_quotes", "-C"]);
    compile
        .arg(&folder)
        .args(["-I", IDL, "-I", "/usr/share/idl/omniORB"]);
    succeeds(compile.arg(Path::new(IDL).join("CosNotifyChannelAdmin.idl")));
    let program = folder.join("notify");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/omniorb/notify.cc");
    let mut compile = Command::new("g++");
    compile
        .current_dir(&folder)
        .args(["-std=c++17", "-O0", "-w", "-I.", source]);
    compile.args([
        "CosNotifyChannelAdminSK.cc",
        "CosNotifyChannelAdminDynSK.cc",
    ]);
    compile.args(["-lomniORB4", "-lomniDynamic4", "-lomnithread", "-o"]);
    succeeds(compile.arg(&program));
    Some(program)
}

/// Things that the client in C++ finds as they should be.
const FOUND: &str = "the factory is one
an unknown property is refused
a property is set
a filter of this program is attached
proxies of each kind are connected
consumers hear of offers
suppliers hear of subscriptions
suppliers ask for subscriptions
and judges events
structured events pass a filter
sequences have all events
Anys hold structured events
sequences are pulled
and the rest
a supplier is pulled from
all are told of the end
";

#[test]
fn suppliers_and_consumers_of_omniorb_of_each_form_use_our_channel() {
    let Some(program) = client() else {
        return;
    };
    let served = Served::with(asking());
    let reference = served.orb.object_to_string(&served.factory).unwrap();
    let said = succeeds(Command::new(&program).arg(reference));
    assert_eq!(said, FOUND);
    assert_eq!(served.service.size(), (0, 0, 0));
}
