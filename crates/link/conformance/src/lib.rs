#![warn(unnameable_types)]
#![allow(clippy::unwrap_used, clippy::missing_panics_doc)]
//! Conformance suite that every link passes: a family of cases for reliable streams, one for
//! datagrams.
//!
//! A link's test calls [`conformance!`] with its family, an expression that makes the link, and an
//! address to listen at; each case becomes a test of its own. A case panics when the link does not
//! conform. [`CASES`] lists them all.

mod descriptors;
mod family;
mod lossy;
mod run;

pub use family::{both, datagram, stream};
pub use lossy::{Faults, Lossy};
#[doc(hidden)]
pub use run::{run, skip};

/// Makes a test of each case of a family.
///
/// `conformance!(stream: link, address)` or `conformance!(datagram: link, address)`; without a
/// family it is `stream`. Where a machine may lack a prerequisite of the link, `unless why`
/// follows, an `Option<String>` that names the missing prerequisite: the tests are then skipped
/// with that message.
#[macro_export]
macro_rules! conformance {
    (stream: $link:expr, $address:expr) => {
        $crate::stream_cases! { tests $link, $address, None }
    };
    (stream: $link:expr, $address:expr, unless $absent:expr) => {
        $crate::stream_cases! { tests $link, $address, $absent }
    };
    (datagram: $link:expr, $address:expr) => {
        $crate::datagram_cases! { tests $link, $address, None }
    };
    (datagram: $link:expr, $address:expr, unless $absent:expr) => {
        $crate::datagram_cases! { tests $link, $address, $absent }
    };
    ($link:expr, $address:expr) => {
        $crate::conformance! { stream: $link, $address }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! stream_cases {
    ($($given:tt)*) => {
        $crate::each_case! { @and_both { stream $($given)* }
            what_is_sent_arrives_in_order
            parts_are_sent_as_one
            a_message_far_larger_than_any_buffer_arrives
            memory_grows_with_what_arrives_and_not_with_the_claim
            a_slow_trickle_is_seen_in_pieces
            a_block_keeps_what_it_held_when_receiving_times_out
            receiving_reports_the_peers_end
            what_came_before_the_end_is_received_though_this_side_sends_on
            dropping_a_connection_ends_it_for_the_peer
            closing_wakes_whoever_receives
            closing_wakes_whoever_sends
            a_reader_that_never_reads_times_the_sender_out
            both_directions_are_used_at_once
            pending_tells_quiet_from_data_from_the_end
            many_connections_at_once_are_kept_apart
            nobody_listening_is_refused_with_a_reason
            an_acceptor_that_is_closed_refuses_who_connects
            without_blocking_there_is_nothing_then_what_came_then_the_end
            what_goes_without_blocking_goes_on_where_it_stopped
            what_went_in_part_without_blocking_is_finished_by_blocking
            a_change_told_once_is_enough_for_whoever_takes_all
            polling_for_more_neither_loses_nor_repeats_data
            room_is_told_to_whoever_could_not_send_all
            a_link_that_needs_a_thread_says_so
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! datagram_cases {
    ($($given:tt)*) => {
        $crate::each_case! { @and_both { datagram $($given)* }
            each_send_arrives_whole_and_alone
            the_largest_datagram_arrives_and_a_larger_one_is_refused
            datagrams_that_are_lost_do_not_stop_the_next
            a_reader_that_never_reads_does_not_stop_the_sender
            each_unknown_peer_gets_a_connection_of_its_own
            peers_are_bounded_and_the_quietest_is_let_go
            a_block_keeps_what_it_held_when_receiving_a_datagram_times_out
            closing_wakes_whoever_receives_a_datagram
            pending_tells_quiet_from_a_datagram
            nobody_listening_ends_in_an_error
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! each_case {
    (@and_both { $($given:tt)+ } $($case:ident)+) => {
        $crate::each_case! { $($given)+;
            $($case)+
            / both
            an_empty_gather_sends_nothing
            blocks_come_back_and_are_lent_again
            both_ends_know_each_other
            both_ends_agree_whether_they_are_on_one_host
            peers_of_one_host_are_counted_as_one
            a_place_elsewhere_is_one_to_listen_at
            an_acceptor_that_is_closed_wakes_and_accepts_no_more
            connections_outlive_their_acceptor
            an_address_in_use_is_refused
            an_address_of_another_kind_is_refused
            an_unknown_property_is_refused
            accepting_goes_on_when_descriptors_come_back
        }
    };
    ($family:ident list; $($case:ident)+ / both $($shared:ident)+) => {
        &[
            $((stringify!($case), stringify!($family)),)+
            $((stringify!($shared), stringify!($family)),)+
        ]
    };
    ($family:ident tests $link:expr, $address:expr, $absent:expr;
        $($case:ident)+ / both $($shared:ident)+) => {
        $crate::each_case! { @make $family $link, $address, $absent; $($case)+ }
        $crate::each_case! { @make both $link, $address, $absent; $($shared)+ }
    };
    (@make $module:ident $link:expr, $address:expr, $absent:expr; $($case:ident)+) => {
        $(#[test]
        fn $case() {
            let absent: Option<String> = $absent;
            let name = concat!(module_path!(), "::", stringify!($case));
            match absent {
                Some(why) => $crate::skip(name, &why),
                None => $crate::run(name, $crate::$module::$case, &$link, &$address),
            }
        })+
    };
}

/// All cases with their family; a case of both families is listed twice.
pub const CASES: [&[(&str, &str)]; 2] = [stream_cases!(list), datagram_cases!(list)];
