//! Access rules: peers that may create channels and supply events.

use punctual::{NotNil, OperationError, SystemExceptionKind as Kind};
use punctual_cosevent::EventService;
use punctual_host::access::Rules;

use crate::support::{Program, Served, limits};

#[test]
fn peers_without_a_grant_consume_and_neither_supply_nor_create() {
    let service = EventService::in_memory();
    service.set_limits(limits());
    service.set_writers(Rules::of(&["10.0.0.0/8".to_owned()]).unwrap());
    let (served, program) = (Served::of(service, ("127.0.0.1", 0)), Program::new());
    let channel = program.see(&served.channel);
    let suppliers = channel.for_suppliers().unwrap().not_nil().unwrap();
    for refused in [
        suppliers.obtain_push_consumer().map(drop),
        suppliers.obtain_pull_consumer().map(drop),
        channel.destroy(),
    ] {
        assert_eq!(refused.unwrap_err().kind(), Kind::NoPermission);
    }
    let refused = program.see(&served.factory).create_channel("one");
    let refused = refused.unwrap_err().system().unwrap().kind();
    assert_eq!(refused, Kind::NoPermission);
    let pulls = program.pulls_from(&served.channel);
    assert!(!pulls.try_pull().unwrap().1);
    program.sink(&served.channel);
}

#[test]
fn peers_with_a_grant_supply() {
    let service = EventService::in_memory();
    service.set_writers(Rules::of(&["127.0.0.0/8".to_owned()]).unwrap());
    let (served, program) = (Served::of(service, ("127.0.0.1", 0)), Program::new());
    program.pushes_to(&served.channel);
    program.see(&served.factory).create_channel("one").unwrap();
}
