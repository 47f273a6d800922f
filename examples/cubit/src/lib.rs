//! The IDL of the papers' benchmark, a server and a client
