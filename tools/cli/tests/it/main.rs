//! Integration tests: one program, a module for each subject.
#![allow(clippy::unwrap_used)]

#[path = "../../../../crates/orb/punctual/tests/it/support/authority.rs"]
mod authority;
mod avionics;
mod bench;
mod bridge;
mod call;
mod call_answers;
mod call_group;
mod call_values;
mod check;
mod closed_pipe;
mod commands;
mod config;
mod documented;
mod events;
mod events_cos;
mod example_tls;
mod group;
mod hostile_text;
mod ifr;
mod imr;
mod limits;
mod log;
mod naming;
mod naming_and_groups;
mod naming_crash;
mod naming_etcd;
mod naming_hostile;
mod naming_members;
mod naming_operation;
#[path = "../../../../services/jetstream/tests/nats/mod.rs"]
mod nats;
mod noise;
mod notify;
mod notify_bridge;
mod notify_cluster;
mod notify_crash;
mod orb_options;
mod packaged;
mod record;
mod rehearsal;
mod schedule_serve;
mod simulation;
mod support;
mod timeline;
mod timeline_join;
mod trace;
