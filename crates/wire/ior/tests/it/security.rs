//! Security mechanisms of CSIv2 in references.

use punctual_cdr::{ByteOrder, Coding, Encoder, Marshal};
use punctual_ior::{Component, Endpoint, MechanismTransport, TaggedComponent, tags};

/// Makes a list of mechanisms as other ORBs write it, octet by octet: TLS at two addresses, with a
/// name and password above, and a mechanism without a transport of its own.
fn mechanism_list() -> TaggedComponent {
    let at = |host: &str, port: u16| Endpoint {
        host: host.to_owned(),
        port,
    };
    let tls = Encoder::encapsulated(ByteOrder::Big, Coding::default(), |out| {
        out.put_u16(0x66);
        out.put_u16(0x06);
        vec![at("one", 684), at("two", 685)].marshal(out)
    });
    let data = Encoder::encapsulated(ByteOrder::Big, Coding::default(), |out| {
        out.put_bool(false);
        out.put_u32(2);
        for (requires, tag, data) in [(0x46, 36, tls.clone()?), (0, 34, Vec::new())] {
            out.put_u16(requires);
            TaggedComponent { tag, data }.marshal(out)?;
            out.put_u16(0x40);
            out.put_u16(0x40);
            out.put_octets(b"\x06\x06\x67\x81\x02\x01\x01\x01")?;
            out.put_octets(b"name")?;
            out.put_u16(0);
            out.put_u16(0);
            out.put_u32(1);
            out.put_u32(7);
            out.put_octets(b"who vouches")?;
            out.put_u32(1);
            out.put_octets(b"names")?;
            out.put_u32(15);
        }
        Ok(())
    });
    TaggedComponent {
        tag: tags::component::CSI_SEC_MECH_LIST,
        data: data.unwrap(),
    }
}

#[test]
fn mechanisms_of_csiv2_tell_where_tls_is() {
    let component = mechanism_list();
    let Ok(Component::CsiMechanisms(mechanisms)) = component.decode() else {
        panic!("{:?}", component.decode());
    };
    let [first, second] = mechanisms.as_slice() else {
        panic!("{mechanisms:?}");
    };
    assert_eq!(first.target_requires.0, 0x46);
    let MechanismTransport::Tls(tls) = &first.transport else {
        panic!("{first:?}");
    };
    assert_eq!((tls.target_supports.0, tls.target_requires.0), (0x66, 0x06));
    let hosts: Vec<_> = tls
        .addresses
        .iter()
        .map(|at| (&*at.host, at.port))
        .collect();
    assert_eq!(hosts, [("one", 684), ("two", 685)]);
    assert_eq!(second.transport, MechanismTransport::Null);
    // Truncated anywhere it is an error, and no panic.
    for length in 0..component.data.len() {
        let cut = TaggedComponent {
            tag: component.tag,
            data: component.data[..length].to_vec(),
        };
        assert!(cut.decode().is_err(), "{length}");
    }
}
