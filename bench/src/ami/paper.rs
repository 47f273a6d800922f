//! Figures that the paper prints of TAO, on two 400 MHz computers with four processors each and 100
//! Mbit Ethernet between them.

use serde::Serialize;

/// Tables 1 and 2 of the paper.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Printed {
    /// Latency in microseconds, and the jitter in percent.
    pub latency: [(&'static str, [f64; 4]); 3],
    /// Calls per second.
    pub throughput: [(&'static str, f64); 4],
}

pub(super) const PRINTED: Printed = Printed {
    latency: [
        ("TAO SMI", [455.0, 497.0, 684.0, 2.7]),
        ("TAO AMI", [447.0, 479.0, 1859.0, 3.0]),
        ("TAO DII deferred", [499.0, 573.0, 2652.0, 9.6]),
    ],
    throughput: [
        ("TAO SMI, 220 threads", 1914.0),
        ("TAO SMI, 7 threads", 7080.0),
        ("TAO AMI", 8524.0),
        ("TAO DII deferred", 3816.0),
    ],
};
