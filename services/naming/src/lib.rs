//! x
include!(concat!(env!("OUT_DIR"), "/CosNaming.rs"));
