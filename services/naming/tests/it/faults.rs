//! A disk that is full at each write of a commit.

use std::net::{IpAddr, Ipv4Addr};

use punctual_host::store::Faults;
use punctual_ior::Ior;
use punctual_naming::cos_naming::NameComponent;
use punctual_naming::store::FileStore;
use punctual_naming::{Directory, NamingService, Refusal};

const PEER: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

fn bind(directory: &Directory, id: &str) -> Result<(), Refusal> {
    let component = NameComponent {
        id: id.to_owned(),
        kind: "x".repeat(900),
    };
    directory.bind(vec![component], &Ior::nil(), false, PEER)
}

#[test]
fn a_full_disk_at_each_write_refuses_a_binding_whole_and_later_ones_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("names.redb");
    let faults = Faults::default();
    let store = FileStore::open_with_faults(&path, faults.clone()).unwrap();
    let service = NamingService::on(Box::new(store)).unwrap();
    let directory = service.directory();
    let mut expected = 0;
    let limits = faults.at_each_write(
        |limit| match bind(&directory, &format!("full {limit}")) {
            Ok(()) => false,
            Err(Refusal::Store(_)) => true,
            Err(other) => panic!("{other}"),
        },
        |limit, is_refused| {
            expected += usize::from(!is_refused);
            assert_eq!(service.size().bindings, expected, "{limit}");
            // There is room again.
            bind(&directory, &format!("after {limit}")).unwrap();
            expected += 1;
        },
    );
    assert!(limits > 1, "a commit has several writes");
    drop((directory, service));
    assert_eq!(
        NamingService::open(&path).unwrap().size().bindings,
        expected
    );
}
