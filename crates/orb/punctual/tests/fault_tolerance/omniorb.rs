//! omniORB's client calls through a group's reference, of which it uses the first profile with its alternate addresses.

use crate::group::{dead_port, group_of, seen_by, through};
use crate::support::{Answering, Echo};
use punctual::fault_tolerance::FaultTolerance;
use punctual::stub::{ByteOrder, DispatchError, Dispatched, Marshal, ServerCall};
use punctual::{Interface, ListenEndpoint, Orb, RootPoa};
use punctual_ior::Ior;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// As much of a naming context as `nameclt list` calls.
#[derive(Debug, Default)]
struct EmptyContext {
    calls: AtomicU32,
}

const CONTEXTS: [&str; 2] = [
    "IDL:omg.org/CosNaming/NamingContext:1.0",
    "IDL:omg.org/CosNaming/NamingContextExt:1.0",
];

impl Answering for EmptyContext {
    fn answer(&self, call: &mut ServerCall<'_>) -> Result<Dispatched, DispatchError> {
        match call.operation() {
            "list" => {
                self.calls.fetch_add(1, Ordering::SeqCst);
                call.reply(|out| {
                    // No bindings, and a nil iterator.
                    out.put_u32(0);
                    Ior::nil().marshal(out)
                })
            }
            _ => Err(call.bad_operation()),
        }
    }
}

#[test]
fn omniorbs_client_goes_on_to_the_second_member_when_the_first_is_dead() {
    if Command::new("nameclt").arg("-h").output().is_err() {
        return println!("skipped: omniORB's nameclt is not installed");
    }
    let builder = FaultTolerance::extend(Orb::builder()).unwrap();
    let endpoint = ListenEndpoint::iiop("127.0.0.1", 0);
    let orb = builder.listen(endpoint).build().unwrap();
    let poa = orb.root_poa().unwrap();
    poa.manager().activate().unwrap();
    let servant = Arc::new(EmptyContext::default());
    let echo: Echo = poa.activate(servant.clone()).unwrap();
    let mut member = echo.as_object().ior().clone();
    // omniORB trusts the type of the reference.
    member.type_id = CONTEXTS[1].to_owned();
    let dead = through(&member, dead_port());
    // omniORB uses the first profile alone, with its alternate addresses.
    let group = group_of(&[dead, member], 1);
    let group = group.with_alternate_addresses().unwrap();
    let text = group.stringify(ByteOrder::Big).unwrap();
    let output = Command::new("nameclt")
        .args(["-ORBInitRef", &format!("NameService={text}"), "list"])
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}");
    assert_eq!(servant.calls.load(Ordering::SeqCst), 1, "{told}");
    let client = crate::group::client();
    drop(seen_by(&client, &group));
    let _ = orb.shutdown(false);
}
