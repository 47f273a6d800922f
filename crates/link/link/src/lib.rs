//! Bytes between processes: address, connector, acceptor, connection
