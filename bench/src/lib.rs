//! Benchmarks: ours, the raw-socket floor and peers, interleaved
