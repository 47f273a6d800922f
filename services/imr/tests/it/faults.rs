//! A disk that is full at each write of a commit.

use punctual_host::store::Faults;
use punctual_imr::LocatorService;
use punctual_imr::implementation_repository::{
    AdministrationAddOrUpdateServerError, StartupOptions,
};

use punctual::SystemExceptionKind;

use crate::support::Served;

#[test]
fn a_full_disk_at_each_write_refuses_a_server_whole_and_later_ones_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("imr.redb");
    let faults = Faults::default();
    let service = LocatorService::open_with_faults(&path, faults.clone()).unwrap();
    let served = Served::serve(tempfile::tempdir().unwrap(), service);
    let options = StartupOptions {
        command_line: "x".repeat(900),
        ..StartupOptions::default()
    };
    let add = |name: String| served.locator.add_or_update_server(&name, &options);
    let mut expected = 0;
    let limits = faults.at_each_write(
        |limit| match add(format!("full {limit}")) {
            Ok(()) => false,
            Err(AdministrationAddOrUpdateServerError::System(exception)) => {
                assert_eq!(exception.kind(), SystemExceptionKind::PersistStore);
                true
            }
            Err(other) => panic!("{other}"),
        },
        |limit, is_refused| {
            expected += usize::from(!is_refused);
            assert_eq!(served.service.servers(), expected, "{limit}");
            // There is room again.
            add(format!("after {limit}")).unwrap();
            expected += 1;
        },
    );
    assert!(limits > 1, "a commit has several writes");
    drop(served);
    let again = Served::serve(folder, LocatorService::open(&path).unwrap());
    assert_eq!(again.service.servers(), expected);
}
