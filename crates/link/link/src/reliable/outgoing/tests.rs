//! Tests of windows, losses and time-outs, with a clock that the test moves.

use super::*;

const MS: Duration = Duration::from_millis(1);

fn with(written: usize, window: u32) -> Outgoing {
    let mut outgoing = Outgoing::new(100, 10_000, window);
    assert_eq!(outgoing.write(&vec![7; written]), written);
    outgoing
}

fn sends(outgoing: &mut Outgoing, now: Duration) -> Vec<(u64, usize)> {
    std::iter::from_fn(|| outgoing.next(now))
        .map(|piece| (piece.offset, piece.length))
        .collect()
}

#[test]
fn what_is_written_is_cut_to_the_datagrams_size_and_the_peers_window() {
    let mut outgoing = with(350, 300);
    assert_eq!(sends(&mut outgoing, MS), [(0, 100), (100, 100), (200, 100)]);
    assert_eq!(outgoing.acknowledge(300, 100, None, 2 * MS), Some(true));
    assert_eq!(sends(&mut outgoing, 2 * MS), [(300, 50)]);
}

#[test]
fn a_window_that_is_shut_blocks_and_a_wider_one_goes_on() {
    let mut outgoing = with(10, 0);
    assert_eq!(outgoing.next(MS), None);
    assert!(outgoing.is_blocked());
    assert_eq!(outgoing.acknowledge(0, 5, None, MS), Some(false));
    assert_eq!(sends(&mut outgoing, MS), [(0, 5)]);
}

#[test]
fn a_segment_that_three_later_ones_overtook_is_sent_again() {
    let mut outgoing = with(500, 10_000);
    assert_eq!(sends(&mut outgoing, MS).len(), 5);
    outgoing.hold(100, 400, 2 * MS);
    outgoing.find_lost();
    assert_eq!(sends(&mut outgoing, 2 * MS), [(0, 100)]);
    assert_eq!(outgoing.acknowledge(500, 10_000, None, 3 * MS), Some(true));
    assert_eq!(outgoing.timer(), None);
}

#[test]
fn silence_sends_everything_again_until_the_tries_are_used_up() {
    let mut outgoing = with(200, 10_000);
    sends(&mut outgoing, MS);
    let due = outgoing.timer().unwrap();
    assert!(outgoing.time_out(due, 3));
    assert_eq!(sends(&mut outgoing, due), [(0, 100), (100, 100)]);
    assert!(outgoing.timer().unwrap() > due);
    assert!(outgoing.time_out(2 * due, 3));
    sends(&mut outgoing, 2 * due);
    assert!(!outgoing.time_out(4 * due, 3));
}

#[test]
fn an_acknowledgement_of_what_was_never_sent_is_not_believed() {
    let mut outgoing = with(200, 100);
    sends(&mut outgoing, MS);
    assert_eq!(outgoing.acknowledge(101, 0, None, MS), None);
    assert_eq!(outgoing.acknowledge(u64::MAX, 0, None, MS), None);
    assert_eq!(outgoing.acknowledge(100, u32::MAX, None, MS), Some(true));
}

#[test]
fn the_finish_follows_the_last_octet_and_is_acknowledged_like_one() {
    let mut outgoing = with(150, 10_000);
    outgoing.finish();
    sends(&mut outgoing, MS);
    assert_eq!(outgoing.acknowledge(150, 0, None, MS), Some(true));
    assert!(!outgoing.is_finished());
    assert_eq!(outgoing.acknowledge(151, 0, None, MS), Some(true));
    assert!(outgoing.is_finished());
    assert_eq!(outgoing.next(MS), None);
}
