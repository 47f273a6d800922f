//! Message bodies in which a bridge searches for references.

use super::written;
use crate::{Outcome, Refusal, Shape};
use punctual::bridge::{Bridge, BridgeOptions};
use punctual::{ListenEndpoint, ObjectRef, Orb};
use punctual_cdr::{ByteOrder, Marshal};
use std::sync::OnceLock;

pub(super) const SHAPES: &[Shape] = &[
    Shape::new("bridge", "references to itself", own, read_own),
    shape("references to others", others),
    shape("words that look like references", |octets| {
        words(octets, &[1])
    }),
    shape("words that look like long references", |octets| {
        words(octets, &[1, 0, 16, 7, 4000])
    }),
];

const fn shape(name: &'static str, make: fn(usize) -> Vec<u8>) -> Shape {
    Shape::new("bridge", name, make, read)
}

struct Here {
    bridge: Bridge,
    own: ObjectRef,
    target: ObjectRef,
}

fn here() -> Option<&'static Here> {
    static HERE: OnceLock<Option<Here>> = OnceLock::new();
    HERE.get_or_init(|| {
        // References contain the same address in each process: one process reads the input that
        // another has made.
        let listens = ListenEndpoint::new("iiop", "127.0.0.1:0")
            .option("hostname_in_ior", "192.0.2.2")
            .option("port_in_ior", 2809);
        let orb = Orb::builder().listen(listens).build().ok()?;
        let target = Orb::builder().build().ok()?;
        let target = target.string_to_object("corbaloc::192.0.2.1:1/key").ok()?;
        let options = BridgeOptions {
            rewrite_references: true,
            ..BridgeOptions::default()
        };
        let bridge = Bridge::new(&orb, &target, &options).ok()?;
        let own = bridge.reference().ok()?;
        Some(Here {
            bridge,
            own,
            target,
        })
    })
    .as_ref()
}

/// Rewrites the references in a body as a bridge does, and returns their number.
fn rewritten(octets: &[u8]) -> Result<u64, Refusal> {
    let here = here().ok_or_else(|| Refusal::new(0, "there is no bridge"))?;
    let before = here.bridge.counts();
    let _ = here.bridge.rewritten(octets, ByteOrder::Big);
    let after = here.bridge.counts();
    match after.not_rewritten == before.not_rewritten {
        true => Ok(after.rewritten - before.rewritten),
        false => Err(Refusal::new(0, "a reference has no room")),
    }
}

fn read(octets: &[u8]) -> Outcome {
    match rewritten(octets)? {
        0 => Ok(()),
        some => Err(Refusal::new(0, format!("{some} were rewritten"))),
    }
}

fn read_own(octets: &[u8]) -> Outcome {
    let there = octets.len() / own(1).len();
    match rewritten(octets)? as usize {
        some if some == there => Ok(()),
        some => Err(Refusal::new(0, format!("{some} of {there} were rewritten"))),
    }
}

fn references(octets: usize, to: fn(&Here) -> &ObjectRef) -> Vec<u8> {
    let Some(here) = here() else {
        return Vec::new();
    };
    let one = written(|out| {
        to(here).ior().marshal(out)?;
        out.align(4);
        Ok(())
    });
    one.repeat(octets.div_ceil(one.len()))
}

fn own(octets: usize) -> Vec<u8> {
    references(octets, |here| &here.own)
}

fn others(octets: usize) -> Vec<u8> {
    references(octets, |here| &here.target)
}

fn words(octets: usize, pattern: &[u32]) -> Vec<u8> {
    let words = pattern.iter().cycle().take(octets / 4);
    words.flat_map(|word| word.to_be_bytes()).collect()
}
