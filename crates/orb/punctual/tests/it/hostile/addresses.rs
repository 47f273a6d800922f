//! Addresses in service contexts. They may lead to servers that accept connections and never answer: an
//! endpoint with one thread that asked there would serve no client meanwhile.

use crate::hostile::links::{Over, Rig, over_links};
use crate::hostile::peer::request_with;
use punctual::policy::Bidirectional;
use punctual::stub::{ByteOrder, Coding, Encoder, Marshal};
use punctual_giop::{MessageKind, service_context};
use punctual_ior::Ior;
use std::io::ErrorKind;
use std::net::TcpListener;

/// Returns the given content as a CDR encapsulation, the form of most service contexts.
fn encapsulated(content: impl FnOnce(&mut Encoder<'_>)) -> Vec<u8> {
    let content = |out: &mut Encoder<'_>| {
        content(out);
        Ok(())
    };
    Encoder::encapsulated(ByteOrder::Big, Coding::default(), content).unwrap()
}

over_links! {
    [(over_iiop, Iiop), (by_a_reactor, Reactive), (by_a_pool, Pooled)]

    fn no_request_waits_for_a_server_that_its_contexts_name(over: Over) {
        // Accepts by the kernel's queue, and answers nothing.
        let silent = TcpListener::bind("127.0.0.1:0").unwrap();
        silent.set_nonblocking(true).unwrap();
        let port = silent.local_addr().unwrap().port();
        // As without a bound, a server would wait for good.
        let rig = Rig::with(over, |config| {
            config.timeouts.nested_call = None;
            config.bidirectional = Bidirectional::Both;
        });
        let url = format!("corbaloc:iiop:1.2@127.0.0.1:{port}/CodeBase");
        let code_base = rig.client.string_to_object(&url).unwrap();
        let ior: Ior = rig.client.object_to_string(&code_base).unwrap().parse().unwrap();
        let reference = encapsulated(|out| ior.marshal(out).unwrap());
        let listen_points = encapsulated(|out| {
            out.put_u32(1);
            out.put_string("127.0.0.1").unwrap();
            out.put_u16(port);
        });
        let all = 0..=service_context::ACTIVITY;
        let own = [service_context::SCHEDULING_SEGMENT, service_context::TRACE_CONTEXT, 0x1234_5678];
        let references = all.chain(own).map(|id| (id, &reference[..]));
        let points = (service_context::BI_DIR_IIOP, &listen_points[..]);
        for context in references.chain([points]) {
            let mut peer = rig.peer();
            let one = request_with(&[context], &rig.key(), "long", |out| out.put_i32(1));
            // The result, or what is wrong with the context.
            assert_eq!(peer.send(&one).receive().0, MessageKind::Reply, "{context:?}");
            rig.others_are_served();
        }
        let connected = silent.accept().map(drop).unwrap_err();
        assert_eq!(connected.kind(), ErrorKind::WouldBlock);
    }
}
