//! Assignment of threads to a connection.

use super::named::Strategy;
use super::ready::ReadyConnection;
use crate::server::connection::ServerConnection;
use punctual_exec::SpawnError;
use std::sync::Arc;

/// Makes the threads of a connection's strategy serve the connection until it ends.
///
/// # Errors
/// If the threads cannot be started or registered.
pub(in crate::server) fn begin_serving(
    connection: &Arc<ServerConnection>,
) -> Result<(), SpawnError> {
    match &connection.strategy {
        Strategy::PerConnection(_) => {
            let served = connection.clone();
            let lane = connection.lane();
            let threads = &lane.incoming.threads;
            threads.spawn(lane.thread("punctual-conn"), move || {
                served.serve_until_closed()
            })
        }
        Strategy::OnReactor(on) => {
            let ready = ReadyConnection::new(connection.clone(), on.clone());
            on.register(Arc::new(ready)).map_err(SpawnError::Os)
        }
    }
}
