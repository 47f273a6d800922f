//! Peer that overwrites the memory that it shares with the server, while it is served.

use crate::hostile::links::{Over, Rig, key_in};
use crate::hostile::log::assert_logged_at;
use crate::hostile::peer::{Peer, request};
use crate::hostile::process::Process;
use crate::support::{Random, watchdog};
use punctual::protocol::Address;
use punctual_ior::PairProfile;
use std::fs::{File, OpenOptions, read_to_string};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Number of connections whose shared memory the test overwrites.
const SPOILT: u64 = 60;
/// Size of the part of the shared memory that is overwritten, in bytes: the control words and the
/// first records of the ring.
const NEAR: usize = 3 * 4096;

#[test]
fn a_peer_that_scribbles_over_the_memory_it_shares_harms_nobody_else() {
    let _watchdog = watchdog(crate::hostile::LIMIT);
    if let Err(error) = own_memory() {
        eprintln!("skipped: a process cannot write to its own memory here: {error}");
        return;
    }
    let over = Over::Shmiop;
    let rig = Rig::new(over);
    let reference = rig.server.object_to_string(&rig.echo).unwrap();
    let mut scribbler = Process::scribbler(over, rig.tls.folder(), &reference);
    let is_done = AtomicBool::new(false);
    let ended = std::thread::scope(|scope| {
        let served = scope.spawn(|| {
            let mut calls = 0_u32;
            while !is_done.load(Ordering::Relaxed) {
                rig.others_are_served();
                calls += 1;
            }
            calls
        });
        let said = scribbler.says();
        is_done.store(true, Ordering::Relaxed);
        assert!(served.join().unwrap() > 0);
        said
    });
    assert_eq!(ended, "scribbled");
    drop(scribbler);
    rig.wait_until_at_most(1);
    let broken = "the peer broke the link's protocol";
    assert_logged_at(rig.address().place(), &[broken]);
    rig.others_are_served();
}

/// Overwrites memory shared with the server; runs in the test's other process.
pub(crate) fn scribble(over: Over, folder: &Path, reference: &str) {
    let client = over.orb(folder, |_| {}).build().unwrap();
    let object = client.string_to_object(reference).unwrap();
    let profile = PairProfile::decode(&object.ior().profiles[0].data).unwrap();
    let address = Address::new(over.name(), &profile.places[0]);
    let message = request(&key_in(object.ior()), "octets", |out| {
        out.put_octets(&[7; 300]).unwrap();
    });
    let link = over.link(folder);
    for seed in 1..=SPOILT {
        let mut peer = Peer::connect(&*link, &address);
        peer.send(&message);
        peer.receive();
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| spoil(&mut Random(seed), &done));
            for _ in 0..20 {
                let soon = Duration::from_millis(2);
                if peer.send_and_receive_within(&message, soon).is_err() {
                    break;
                }
            }
            done.store(true, Ordering::Relaxed);
        });
    }
}

/// Overwrites words of all writable memory that this process shares, until `done` is set.
fn spoil(random: &mut Random, done: &AtomicBool) {
    let memory = own_memory().unwrap();
    let shared = shared_mappings();
    assert!(!shared.is_empty());
    while !done.load(Ordering::Relaxed) {
        let begin = shared[random.below(shared.len())];
        let at = u64::try_from(random.below(NEAR) / 4 * 4).unwrap();
        // Mostly plausible values, so that they get far.
        let value = match random.below(4) {
            0 => u32::from_ne_bytes([0; 4].map(|_: u8| random.octet())),
            1 => u32::try_from(random.below(3)).unwrap(),
            _ => u32::try_from(random.below(8192) / 8 * 8).unwrap(),
        };
        memory
            .write_all_at(&value.to_ne_bytes(), begin + at)
            .unwrap();
    }
}

fn own_memory() -> io::Result<File> {
    OpenOptions::new().write(true).open("/proc/self/mem")
}

/// Returns the addresses at which this process maps shared, writable memory files.
fn shared_mappings() -> Vec<u64> {
    let maps = read_to_string("/proc/self/maps").unwrap();
    maps.lines()
        .filter(|line| line.contains(" rw-s ") && line.contains("/memfd:"))
        .map(|line| u64::from_str_radix(line.split('-').next().unwrap(), 16).unwrap())
        .collect()
}
