//! The tables of the file and their keys, as serde reads them.

use crate::config::real_time::RealTimeTable;
#[cfg(feature = "tls")]
use crate::config::tls;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    pub(super) listen: Option<Vec<String>>,
    pub(super) client_protocols: Option<Vec<String>>,
    pub(super) giop_version: Option<String>,
    pub(super) trace: Option<String>,
    pub(super) default_initial_reference: Option<String>,
    pub(super) max_connections: Option<usize>,
    pub(super) client_connections: Option<usize>,
    pub(super) connections_per_endpoint: Option<usize>,
    pub(super) concurrency: Option<ConcurrencyTable>,
    pub(super) wait: Option<String>,
    pub(super) security: Option<String>,
    pub(super) char_code_set: Option<String>,
    pub(super) foreign_local_endpoints: Option<bool>,
    pub(super) collocation: Option<String>,
    pub(super) collocation_scope: Option<String>,
    pub(super) reply_handlers: Option<String>,
    pub(super) real_time: Option<RealTimeTable>,
    pub(super) max_nesting: Option<u32>,
    pub(super) cancel_requests: Option<bool>,
    pub(super) fragment_size: Option<usize>,
    pub(super) fragment_giop_1_1: Option<bool>,
    pub(super) max_forwards: Option<u32>,
    #[serde(default)]
    pub(super) library: Vec<LibraryTable>,
    pub(super) one_way_buffering: Option<BufferingTable>,
    pub(super) one_way_gather_us: Option<u64>,
    #[serde(default)]
    pub(super) initial_references: BTreeMap<String, String>,
    #[serde(default)]
    pub(super) timeouts: TimeoutTable,
    #[serde(default)]
    pub(super) limits: LimitTable,
    #[serde(default)]
    pub(super) tcp: TcpTable,
    #[serde(default)]
    pub(super) link: BTreeMap<String, BTreeMap<String, toml::Value>>,
    #[cfg(feature = "tls")]
    pub(super) tls: Option<tls::TlsTable>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LibraryTable {
    pub(super) path: PathBuf,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ConcurrencyTable {
    pub(super) strategy: Option<String>,
    pub(super) threads: Option<usize>,
    pub(super) max_threads: Option<usize>,
    pub(super) reserve: Option<bool>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BufferingTable {
    pub(super) messages: Option<usize>,
    pub(super) octets: Option<usize>,
    pub(super) delay_ms: Option<u64>,
    pub(super) most_octets: Option<usize>,
    pub(super) when_full: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TimeoutTable {
    pub(super) connect_ms: Option<u64>,
    pub(super) reach_ms: Option<u64>,
    pub(super) call_ms: Option<u64>,
    pub(super) first_message_ms: Option<u64>,
    pub(super) message_ms: Option<u64>,
    pub(super) idle_ms: Option<u64>,
    pub(super) make_room_ms: Option<u64>,
    pub(super) reply_ms: Option<u64>,
    pub(super) answer_ms: Option<u64>,
    pub(super) hand_over_ms: Option<u64>,
    pub(super) nested_call_ms: Option<u64>,
    pub(super) quiet_ms: Option<u64>,
    pub(super) drain_ms: Option<u64>,
    pub(super) spare_connection_ms: Option<u64>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LimitTable {
    pub(super) message: Option<usize>,
    pub(super) string: Option<usize>,
    pub(super) sequence: Option<usize>,
    pub(super) nesting: Option<u16>,
    pub(super) values: Option<usize>,
    pub(super) fragments_pending: Option<usize>,
    pub(super) fragments_bytes: Option<usize>,
    pub(super) received: Option<usize>,
    pub(super) threads: Option<usize>,
    pub(super) requests_per_connection: Option<u32>,
    pub(super) pending_replies: Option<usize>,
    pub(super) pending_replies_per_connection: Option<usize>,
    pub(super) endpoints: Option<usize>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TcpTable {
    pub(super) no_delay: Option<bool>,
    pub(super) dont_route: Option<bool>,
    pub(super) keep_alive: Option<bool>,
    pub(super) keep_alive_idle_s: Option<u64>,
    pub(super) keep_alive_interval_s: Option<u64>,
    pub(super) keep_alive_probes: Option<u32>,
    pub(super) user_timeout_ms: Option<u64>,
    pub(super) send_buffer: Option<usize>,
    pub(super) receive_buffer: Option<usize>,
}
