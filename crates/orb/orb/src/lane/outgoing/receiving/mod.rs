//! Reading from a connection.

mod handler;
mod receive;
mod report;

pub(in crate::lane::outgoing) use handler::ReadinessHandler;
pub(in crate::lane::outgoing) use receive::Step;
pub(in crate::lane::outgoing) use report::ReadReport;
