//! Shared memory beyond what every link does: lending, copies, two processes, and a peer that is killed.
#![allow(missing_docs, clippy::unwrap_used)]

use punctual_cdr::{Lender, Segment};
use punctual_exec::Deadline;
use punctual_link::shmiop::{Copied, NAME, ShmOptions, Shmiop, Trust};
use punctual_link::{Acceptor, Address, Cause, Connection, Link, Phase, Properties, Waitable};
use punctual_sys::passing::{self, Found};
use std::fs::Permissions;
use std::io::{BufRead, BufReader, IoSlice, Read};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(20);
const SOON: Duration = Duration::from_millis(30);
const MIB: usize = 1 << 20;

fn limit() -> Deadline {
    Deadline::after(LIMIT)
}

fn link(options: ShmOptions) -> Shmiop {
    Shmiop::new(options)
}

fn trusting(trust: Trust) -> Shmiop {
    link(ShmOptions {
        trust,
        ..ShmOptions::default()
    })
}

fn listen(link: &Shmiop) -> Box<dyn Acceptor> {
    link.listen(&Address::new(NAME, ""), &Properties::NONE)
        .unwrap()
}

fn pair(client: &Shmiop, server: &Shmiop) -> (Arc<dyn Connection>, Arc<dyn Connection>) {
    let acceptor = listen(server);
    let one = client.connect(acceptor.address(), &Properties::NONE, limit());
    (one.unwrap(), acceptor.accept().unwrap())
}

/// Sends `head` and then `octets`, by reference where they are lent.
fn send(connection: &dyn Connection, head: &[u8], octets: &[u8]) {
    let segment = lend(connection, octets);
    let octets = segment
        .as_ref()
        .map_or(octets, |segment| segment.as_slice());
    let parts = [IoSlice::new(head), IoSlice::new(octets)];
    connection.send(&parts, limit()).unwrap();
}

fn lend(connection: &dyn Connection, octets: &[u8]) -> Option<Arc<dyn Segment>> {
    let lender: &dyn Lender = connection.lender()?;
    if octets.len() < lender.threshold() {
        return None;
    }
    lender.lend(octets)
}

fn receive(connection: &dyn Connection, len: usize) -> punctual_cdr::Block {
    let mut block = connection.lend(0);
    while block.full_len() < len {
        connection.receive(&mut block, len, limit()).unwrap();
    }
    assert_eq!(block.full_len(), len);
    block
}

fn contents(block: &punctual_cdr::Block) -> Vec<u8> {
    let mut octets = Vec::new();
    block.for_each_stretch(|stretch| octets.extend_from_slice(stretch));
    octets
}

/// Octets that differ from place to place and from seed to seed.
fn pattern(len: usize, seed: usize) -> Vec<u8> {
    (0..len)
        .map(|at| u8::try_from((at * 7 + seed * 13 + at / 251) % 256).unwrap())
        .collect()
}

#[test]
fn a_loan_travels_without_a_copy_between_trusted_peers() {
    let (client, server) = (trusting(Trust::SameUser), trusting(Trust::SameUser));
    let (one, other) = pair(&client, &server);
    let mut loan = one.loan(MIB).unwrap();
    let octets = pattern(MIB, 1);
    loan.copy_from_slice(&octets);
    send(&*one, b"head", &loan);
    let block = receive(&*other, 4 + MIB);
    assert_eq!(block.as_slice(), b"head");
    assert_eq!(block.lent()[0].segment.as_slice(), octets);
    // Only the head went through the ring.
    let sent = Copied {
        into_ring: 4,
        ..Copied::default()
    };
    let received = Copied {
        out_of_ring: 4,
        ..Copied::default()
    };
    assert_eq!((client.copied(), server.copied()), (sent, received));
}

#[test]
fn octets_of_the_applications_are_copied_once_by_each_side_that_does_not_trust() {
    let (client, server) = (trusting(Trust::SameUser), trusting(Trust::Never));
    let (one, other) = pair(&client, &server);
    let octets = pattern(MIB, 2);
    send(&*one, b"head", &octets);
    let block = receive(&*other, 4 + MIB);
    let segment = &block.lent()[0].segment;
    let mut copy = vec![0; MIB];
    segment.copy_to(&mut copy);
    assert_eq!(copy, octets);
    let mib = u64::try_from(MIB).unwrap();
    assert_eq!(
        (client.copied().into_pool, client.copied().into_ring),
        (mib, 4)
    );
    assert_eq!(
        (server.copied().out_of_pool, server.copied().out_of_ring),
        (mib, 4)
    );
    // Looked at as a slice, it is copied for that, once.
    assert_eq!(segment.as_slice(), octets);
    assert_eq!(segment.as_slice(), octets);
    segment.copy_to(&mut copy);
    assert_eq!(server.copied().out_of_pool, 2 * mib);
}

#[test]
fn a_trusted_peer_looks_at_what_was_lent_where_it_lies() {
    let (client, server) = (trusting(Trust::Never), trusting(Trust::SameUser));
    let (one, other) = pair(&client, &server);
    send(&*one, b"", &pattern(MIB, 3));
    let block = receive(&*other, MIB);
    assert_eq!(block.lent()[0].segment.as_slice(), pattern(MIB, 3));
    let mib = u64::try_from(MIB).unwrap();
    assert_eq!(client.copied().into_pool, mib);
    assert_eq!(server.copied(), Copied::default());
}

#[test]
fn short_runs_and_those_of_a_side_without_a_pool_go_through_the_ring() {
    let bare = link(ShmOptions {
        pool: 0,
        ..ShmOptions::default()
    });
    let (one, other) = pair(&trusting(Trust::SameUser), &bare);
    assert!(lend(&*one, &[0; 100]).is_none());
    assert!(other.lender().is_none() && other.loan(100).is_none());
    let octets = pattern(MIB, 4);
    let sending = std::thread::spawn(move || send(&*other, b"", &octets));
    assert_eq!(receive(&*one, MIB).as_slice(), pattern(MIB, 4));
    sending.join().unwrap();
}

#[test]
fn a_receiver_that_keeps_what_it_got_makes_the_sender_copy_and_nothing_worse() {
    let link = link(ShmOptions {
        pool: 1 << 16,
        lend_threshold: 1,
        ..ShmOptions::default()
    });
    let (one, other) = pair(&link, &link);
    let mut kept = Vec::new();
    for seed in 0..6 {
        send(&*one, b"", &pattern(1 << 14, seed));
        kept.push(receive(&*other, 1 << 14));
    }
    let lent: Vec<usize> = kept.iter().map(|block| block.lent().len()).collect();
    assert_eq!(lent, [1, 1, 1, 1, 0, 0]);
    for (seed, block) in kept.iter().enumerate() {
        assert_eq!(contents(block), pattern(1 << 14, seed));
    }
    assert!(one.loan(1).is_none());
    kept.remove(0);
    assert!(one.loan(1 << 14).is_some());
}

#[test]
fn a_loan_given_back_is_not_lent_again_while_the_peer_looks_at_it() {
    let link = link(ShmOptions {
        pool: 1 << 16,
        lend_threshold: 1,
        ..ShmOptions::default()
    });
    let (one, other) = pair(&link, &link);
    let mut loan = one.loan(1 << 16).unwrap();
    loan.fill(5);
    send(&*one, b"", &loan);
    drop(loan);
    let block = receive(&*other, 1 << 16);
    assert!(one.loan(1).is_none());
    assert_eq!(block.lent()[0].segment.as_slice(), vec![5; 1 << 16]);
    drop(block);
    assert!(one.loan(1 << 16).is_some());
}

#[test]
fn a_loan_filled_anew_leaves_the_peer_what_was_sent() {
    let link = trusting(Trust::SameUser);
    let (one, other) = pair(&link, &link);
    let mut loan = one.loan(MIB).unwrap();
    let mut frames = Vec::new();
    for frame in 0..5u8 {
        loan.fill(frame);
        send(&*one, b"", &loan);
        frames.push(receive(&*other, MIB));
    }
    for (frame, block) in (0..5u8).zip(&frames) {
        let octets = block.lent()[0].segment.as_slice();
        assert!(octets.iter().all(|octet| *octet == frame), "frame {frame}");
    }
}

#[test]
fn one_loan_may_be_under_way_more_often_than_it_is_lent() {
    let link = trusting(Trust::SameUser);
    let (one, other) = pair(&link, &link);
    let mut loan = one.loan(20_000).unwrap();
    loan.copy_from_slice(&pattern(20_000, 6));
    let mut blocks = Vec::new();
    for _ in 0..40 {
        send(&*one, b"", &loan);
        blocks.push(receive(&*other, 20_000));
    }
    assert!(
        blocks
            .iter()
            .all(|block| contents(block) == pattern(20_000, 6))
    );
    let lent = blocks
        .iter()
        .filter(|block| !block.lent().is_empty())
        .count();
    assert_eq!(lent, 16);
}

#[test]
fn a_part_of_a_loan_is_sent_by_reference() {
    let link = trusting(Trust::SameUser);
    let (one, other) = pair(&link, &link);
    let mut loan = one.loan(MIB).unwrap();
    loan.copy_from_slice(&pattern(MIB, 7));
    send(&*one, b"", &loan[1000..200_000]);
    let block = receive(&*other, 199_000);
    assert_eq!(
        block.lent()[0].segment.as_slice(),
        &pattern(MIB, 7)[1000..200_000]
    );
}

#[test]
fn lent_runs_stand_where_they_were_sent_and_never_behind_what_is_needed() {
    let link = link(ShmOptions {
        lend_threshold: 1,
        ..ShmOptions::default()
    });
    let (one, other) = pair(&link, &link);
    for seed in [1, 2] {
        send(&*one, &pattern(100, seed), &pattern(50_000, seed));
        send(&*one, &pattern(30, seed + 2), b"");
    }
    let mut block = other.lend(0);
    other.receive(&mut block, 50, limit()).unwrap();
    assert_eq!((block.len(), block.lent().len()), (100, 0));
    while block.full_len() < 50_100 {
        other.receive(&mut block, 50_100, limit()).unwrap();
    }
    // The message is whole: what was behind it came along as far as it is not lent.
    assert_eq!((block.lent().len(), block.lent()[0].at), (1, 100));
    other.receive(&mut block, 100_260, limit()).unwrap();
    while block.full_len() < 100_260 {
        other.receive(&mut block, 100_260, limit()).unwrap();
    }
    let mut expected = Vec::new();
    for seed in [1, 2] {
        expected.extend(pattern(100, seed));
        expected.extend(pattern(50_000, seed));
        expected.extend(pattern(30, seed + 2));
    }
    assert_eq!(contents(&block), expected);
}

#[test]
fn a_send_that_timed_out_tells_how_much_the_peer_can_have() {
    let link = trusting(Trust::SameUser);
    let (one, other) = pair(&link, &link);
    let octets = pattern(MIB, 8);
    let parts: Vec<IoSlice<'_>> = octets.chunks(10_000).map(IoSlice::new).collect();
    let failed = one.send(&parts, Deadline::after(SOON)).unwrap_err();
    assert!(matches!(failed.error.cause, Cause::TimedOut), "{failed}");
    assert!(failed.sent > 0);
    assert_eq!(
        contents(&receive(&*other, failed.sent)),
        &octets[..failed.sent]
    );
    let more = other.receive(&mut other.lend(0), 1, Deadline::after(SOON));
    assert!(matches!(more.unwrap_err().cause, Cause::TimedOut));
}

#[test]
fn lent_memory_outlives_its_connection() {
    let link = trusting(Trust::SameUser);
    let (one, other) = pair(&link, &link);
    let mut loan = one.loan(MIB).unwrap();
    loan.fill(9);
    send(&*one, b"", &loan);
    let block = receive(&*other, MIB);
    drop((one, other));
    assert!(
        block.lent()[0]
            .segment
            .as_slice()
            .iter()
            .all(|octet| *octet == 9)
    );
    assert_eq!(loan[MIB - 1], 9);
}

/// Messages of all sizes both ways at once, lent and not, through a ring far too small for them.
fn exchange(options: &ShmOptions) {
    let link = link(options.clone());
    let (one, other) = pair(&link, &link);
    const ROUNDS: usize = 1500;
    let size = |seed: usize| (seed * seed * 31 + seed) % 9000 + 1;
    let sender = |connection: Arc<dyn Connection>| {
        move || {
            for seed in 0..ROUNDS {
                let octets = pattern(size(seed), seed);
                let (head, rest) = octets.split_at(octets.len() / 3);
                send(&*connection, head, rest);
            }
        }
    };
    let receiver = |connection: Arc<dyn Connection>| {
        move || {
            let mut kept = std::collections::VecDeque::new();
            let mut block = connection.lend(0);
            for seed in 0..ROUNDS {
                let len = size(seed);
                while block.full_len() < len {
                    connection.receive(&mut block, len, limit()).unwrap();
                }
                // Octets beyond the message are the next one's; lent ones never are.
                let lent: usize = block.full_len() - block.len();
                let own = len - lent;
                let mut next = connection.lend(0);
                next.extend_from_slice(&block[own..]);
                block.truncate(own);
                assert_eq!(contents(&block), pattern(len, seed), "message {seed}");
                // Some are kept for a while, so that they come back out of order.
                if seed % 3 == 0 {
                    kept.push_back(block);
                }
                if kept.len() > 5 {
                    kept.pop_front();
                }
                block = next;
            }
        }
    };
    std::thread::scope(|threads| {
        threads.spawn(sender(one.clone()));
        threads.spawn(sender(other.clone()));
        threads.spawn(receiver(one));
        threads.spawn(receiver(other));
    });
}

#[test]
fn nothing_is_lost_or_changed_under_load_whoever_spins_or_sleeps() {
    for spin in [0, 5, 200] {
        for (pool, trust) in [
            (0, Trust::Never),
            (1 << 15, Trust::Never),
            (1 << 16, Trust::SameUser),
        ] {
            exchange(&ShmOptions {
                ring: 4096,
                pool,
                lend_threshold: 1000,
                spin: Some(Duration::from_micros(spin)),
                trust,
                ..ShmOptions::default()
            });
        }
    }
}

#[test]
fn a_descriptor_is_readable_when_there_is_something_or_the_end() {
    let link = link(ShmOptions {
        descriptor: true,
        ..ShmOptions::default()
    });
    let (one, other) = pair(&link, &link);
    let Waitable::Descriptor(descriptor) = other.waitable() else {
        panic!("{:?}", other.waitable());
    };
    let nothing = || {
        let mut block = other.lend(0);
        let error = other.receive(&mut block, 1, Deadline::after(Duration::ZERO));
        matches!(error.unwrap_err().cause, Cause::TimedOut)
    };
    for seed in 0..50 {
        // Found empty, it is armed.
        assert!(nothing());
        assert_eq!(
            passing::wait(descriptor, Some(Duration::ZERO)),
            Found::Nothing
        );
        for _ in 0..3 {
            send(&*one, &pattern(1000, seed), b"");
        }
        // One bell for all of them, heard until somebody has looked for more than there is.
        assert_eq!(passing::wait(descriptor, Some(LIMIT)), Found::Data);
        assert_eq!(contents(&receive(&*other, 3000)).len(), 3000);
    }
    assert!(nothing());
    drop(one);
    assert_eq!(passing::wait(descriptor, Some(LIMIT)), Found::End);
    let end = other.receive(&mut other.lend(0), 1, limit()).unwrap_err();
    assert!(matches!(end.cause, Cause::Closed), "{end}");
}

#[test]
fn many_connections_come_and_go_at_once() {
    let link = link(ShmOptions {
        ring: 4096,
        pool: 4096,
        ..ShmOptions::default()
    });
    let acceptor: Arc<dyn Acceptor> = listen(&link).into();
    let address = acceptor.address().clone();
    std::thread::scope(|threads| {
        for _ in 0..8 {
            threads.spawn(|| {
                for seed in 0..25 {
                    let none = Properties::NONE;
                    let one = link.connect(&address, &none, limit()).unwrap();
                    send(&*one, &pattern(3000, seed), b"");
                    assert_eq!(contents(&receive(&*one, 3000)), pattern(3000, seed));
                }
            });
        }
        for _ in 0..8 * 25 {
            let other = acceptor.accept().unwrap();
            threads.spawn(move || {
                let block = receive(&*other, 3000);
                send(&*other, &block, b"");
            });
        }
    });
}

#[test]
fn a_client_whose_user_is_not_allowed_is_told_so() {
    let open = Open::new("refused");
    let server = open.listen(&Shmiop::default());
    // The file's mode would keep it out first.
    open.to_all(server.address().place());
    let Some(client) = Process::as_nobody("connect", &open, server.address().place()) else {
        return;
    };
    let said = client.says();
    assert!(said.contains("does not allow this user"), "{said}");
}

#[test]
fn a_server_whose_user_is_not_allowed_is_not_spoken_to() {
    let open = Open::new("squatted");
    let place = open.0.join("socket").to_str().unwrap().to_owned();
    let Some(mut server) = Process::as_nobody("listen", &open, &place) else {
        return;
    };
    server.has_said("said: listening");
    let connect = |allow: &str| {
        let properties = Properties::from_iter([("allow", allow)]);
        Shmiop::default().connect(&Address::new(NAME, &place), &properties, limit())
    };
    let error = connect("same_user").unwrap_err();
    assert!(matches!(error.cause, Cause::BadPeer(_)), "{error}");
    assert!(connect("1+65534").is_ok());
    server.kill();
}

#[test]
fn another_user_that_is_allowed_is_served_but_not_trusted() {
    let server = link(ShmOptions {
        allow: punctual_link::shmiop::Allow::Anyone,
        ..ShmOptions::default()
    });
    let open = Open::new("served");
    let acceptor = open.listen(&server);
    let Some(mut client) = Process::as_nobody("send", &open, acceptor.address().place()) else {
        return;
    };
    let other = acceptor.accept().unwrap();
    let block = receive(&*other, MIB);
    assert_eq!(contents(&block), pattern(MIB, 0));
    let copied = server.copied();
    assert_eq!(copied.out_of_pool, u64::try_from(MIB).unwrap());
    client.kill();
}

#[test]
fn a_peer_killed_while_it_sends_is_noticed_and_leaves_whole_records() {
    let acceptor = listen(&Shmiop::default());
    let mut client = Process::new("send for ever", acceptor.address().place());
    let other = acceptor.accept().unwrap();
    let mut block = other.lend(0);
    let mut received = 0;
    let end = loop {
        block.clear();
        match other.receive(&mut block, 1000, limit()) {
            Ok(count) => received += count,
            Err(error) => break error,
        }
        if received > 4 * MIB {
            client.kill();
        }
        assert!(block.iter().all(|octet| *octet == 7));
    };
    assert!(matches!(end.cause, Cause::Closed), "{end}");
    assert_eq!(end.phase, Phase::Receive);
}

#[test]
fn a_peer_killed_while_it_is_waited_for_is_noticed_whether_early_or_late() {
    for late in [false, true] {
        let acceptor = listen(&Shmiop::default());
        let mut client = Process::new("connect and stay", acceptor.address().place());
        let other = acceptor.accept().unwrap();
        let waiting = other.clone();
        let thread = std::thread::spawn(move || {
            let mut block = waiting.lend(0);
            waiting.receive(&mut block, 1, limit()).map(drop)
        });
        if late {
            // Not to be safe: so long it takes to go over from the futex to the socket.
            std::thread::sleep(Duration::from_millis(250));
        }
        client.kill();
        let end = thread.join().unwrap().unwrap_err();
        assert!(matches!(end.cause, Cause::Closed), "{end}");
    }
}

#[test]
fn a_reactor_is_woken_by_a_peers_death() {
    let link = link(ShmOptions {
        descriptor: true,
        ..ShmOptions::default()
    });
    let acceptor = listen(&link);
    let mut client = Process::new("connect and stay", acceptor.address().place());
    let other = acceptor.accept().unwrap();
    let Waitable::Descriptor(descriptor) = other.waitable() else {
        panic!("{:?}", other.waitable());
    };
    client.kill();
    assert_eq!(passing::wait(descriptor, Some(LIMIT)), Found::End);
    let now = Deadline::after(Duration::ZERO);
    let end = other.receive(&mut other.lend(0), 1, now).unwrap_err();
    assert!(matches!(end.cause, Cause::Closed), "{end}");
}

#[test]
fn a_peer_killed_while_its_ring_is_full_of_what_it_never_read_is_noticed_by_the_sender() {
    let acceptor = listen(&Shmiop::default());
    let mut client = Process::new("connect and stay", acceptor.address().place());
    let other = acceptor.accept().unwrap();
    let thread = std::thread::spawn(move || {
        let octets = vec![1; 4 * MIB];
        other.send(&[IoSlice::new(&octets)], limit())
    });
    client.kill();
    let failed = thread.join().unwrap().unwrap_err();
    assert!(matches!(failed.error.cause, Cause::Closed), "{failed}");
}

#[test]
fn what_a_killed_peer_lent_can_still_be_read() {
    let acceptor = listen(&trusting(Trust::SameUser));
    let mut client = Process::new("send", acceptor.address().place());
    let other = acceptor.accept().unwrap();
    let block = receive(&*other, MIB);
    client.kill();
    assert_eq!(block.lent()[0].segment.as_slice(), pattern(MIB, 0));
    let end = other.receive(&mut other.lend(0), 1, limit()).unwrap_err();
    assert!(matches!(end.cause, Cause::Closed), "{end}");
}

#[test]
fn what_a_killed_peer_was_lent_and_kept_costs_that_connection_only() {
    let link = Shmiop::default();
    let acceptor = listen(&link);
    let mut client = Process::new("receive and keep", acceptor.address().place());
    let other = acceptor.accept().unwrap();
    send(&*other, b"", &pattern(MIB, 0));
    assert_eq!(&*receive(&*other, 4), b"kept");
    client.kill();
    let end = other.receive(&mut other.lend(0), 1, limit()).unwrap_err();
    assert!(matches!(end.cause, Cause::Closed), "{end}");
    let refused = other.send(&[IoSlice::new(b"x")], limit());
    // Its death is noticed by whoever waits; until then sending is into the ring.
    if let Err(failed) = refused {
        assert!(matches!(failed.error.cause, Cause::Closed), "{failed}");
    }
    let mut client = Process::new("send", acceptor.address().place());
    let next = acceptor.accept().unwrap();
    assert_eq!(contents(&receive(&*next, MIB)), pattern(MIB, 0));
    client.kill();
}

#[test]
fn two_processes_exchange_lent_octets_both_ways() {
    let link = Shmiop::default();
    let acceptor = listen(&link);
    let mut client = Process::new("echo", acceptor.address().place());
    let other = acceptor.accept().unwrap();
    for seed in 0..20 {
        let octets = pattern(MIB, seed);
        send(&*other, b"", &octets);
        assert_eq!(contents(&receive(&*other, MIB)), octets, "message {seed}");
    }
    client.kill();
}

/// A directory that everybody may enter.
struct Open(PathBuf);

impl Open {
    fn new(name: &str) -> Self {
        let name = format!("punctual-shmiop-{}-{name}", std::process::id());
        let open = Self(std::env::temp_dir().join(name));
        std::fs::create_dir(&open.0).unwrap();
        open.to_all(&open.0);
        open
    }

    fn listen(&self, link: &Shmiop) -> Box<dyn Acceptor> {
        let place = self.0.join("socket");
        let address = Address::new(NAME, place.to_str().unwrap());
        link.listen(&address, &Properties::NONE).unwrap()
    }

    fn to_all(&self, path: impl AsRef<Path>) {
        std::fs::set_permissions(path, Permissions::from_mode(0o777)).unwrap();
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// This test's program as another process, in one of the roles of [`another_process`].
struct Process {
    child: Child,
    /// It ends when this is closed.
    _stdin: Option<ChildStdin>,
}

impl Process {
    fn new(role: &str, place: &str) -> Self {
        Self::start(
            &mut Command::new(std::env::current_exe().unwrap()),
            role,
            place,
        )
    }

    /// As a user without rights, from a copy of the program that it may read.
    fn as_nobody(role: &str, open: &Open, place: &str) -> Option<Self> {
        const NOBODY: u32 = 65534;
        if punctual_sys::unix::effective_user() != 0 {
            eprintln!("skipped: only root can start a process of another user");
            return None;
        }
        let copy = open.0.join("program");
        std::fs::copy(std::env::current_exe().unwrap(), &copy).unwrap();
        let mut command = Command::new(&copy);
        Some(Self::start(command.uid(NOBODY), role, place))
    }

    fn start(command: &mut Command, role: &str, place: &str) -> Self {
        let mut child = command
            .args(["another_process", "--exact", "--ignored", "--nocapture"])
            .env("SHMIOP_ROLE", role)
            .env("SHMIOP_PLACE", place)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let stdin = child.stdin.take();
        Self {
            child,
            _stdin: stdin,
        }
    }

    /// SIGKILL, at whatever it is doing.
    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Waits until it has printed a line.
    fn has_said(&mut self, line: &str) {
        let stdout = self.child.stdout.as_mut().unwrap();
        let mut lines = BufReader::new(stdout).lines().map_while(Result::ok);
        assert!(lines.any(|said| said.contains(line)));
    }

    /// The line it prints about itself.
    fn says(mut self) -> String {
        let mut output = String::new();
        let mut stdout = self.child.stdout.take().unwrap();
        stdout.read_to_string(&mut output).unwrap();
        let said = output.lines().find(|line| line.contains("said: "));
        said.unwrap_or_default().to_owned()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Gone already is as good.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
#[ignore = "what the other tests run as another process"]
fn another_process() {
    let (Ok(role), Ok(place)) = (std::env::var("SHMIOP_ROLE"), std::env::var("SHMIOP_PLACE"))
    else {
        return;
    };
    let link = link(ShmOptions {
        allow: punctual_link::shmiop::Allow::Anyone,
        ..ShmOptions::default()
    });
    if role == "listen" {
        let acceptor = link.listen(&Address::new(NAME, &place), &Properties::NONE);
        let acceptor = acceptor.unwrap();
        println!("said: listening");
        let _refused = acceptor.accept();
        return wait_for_the_end();
    }
    let connected = link.connect(&Address::new(NAME, &place), &Properties::NONE, limit());
    let connection = match connected {
        Ok(connection) => connection,
        Err(error) => {
            println!("said: {error}");
            return;
        }
    };
    match role.as_str() {
        "send" => send(&*connection, b"", &pattern(MIB, 0)),
        "send for ever" => loop {
            let sevens = [7; 10_000];
            if connection.send(&[IoSlice::new(&sevens)], limit()).is_err() {
                return;
            }
        },
        "receive and keep" => {
            let _kept = receive(&*connection, MIB);
            send(&*connection, b"kept", b"");
            wait_for_the_end();
        }
        "echo" => loop {
            let block = receive(&*connection, MIB);
            send(&*connection, b"", &contents(&block));
        },
        _ => println!("said: connected"),
    }
    wait_for_the_end();
}

/// Until the process that started this one closes its input, or kills it.
fn wait_for_the_end() {
    let _ = std::io::stdin().read_line(&mut String::new());
}
