//! Calls whose priority goes with them: a server with a lane for urgent calls, and a client whose
//! threads have priorities.
//!
//! It runs on any machine. Where it may use `SCHED_FIFO` (`punctual doctor` says so), the kernel
//! schedules its threads by these priorities, too; otherwise it warns, and priorities decide on
//! connections, queues and lanes alone.

use punctual::poa::PoaPolicy;
use punctual::policy::Collocation;
use punctual::prelude::*;
use punctual::rt::{Priority, PriorityModelPolicy, RealTime, RtConfig, RtOrb};
use std::sync::Arc;

/// Rust code that the IDL compiler generates from the real-time example's IDL.
mod idl {
    include!(concat!(env!("OUT_DIR"), "/valve.rs"));
}

/// Valve, with the Real-time ORB that knows at which priority its upcall runs.
struct Closing(Arc<RtOrb>);

impl idl::ValveServant for Closing {
    fn close(&self) -> Result<i16, SystemException> {
        Ok(self.0.current().the_priority()?.get())
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (usual, urgent) = (Priority::new(1000)?, Priority::new(20_000)?);
    let config = RtConfig {
        // Without this, a machine that grants no native priorities is refused.
        real_time: RealTime::BestEffort,
        ..RtConfig::default()
    };
    let rt = RtOrb::new(config)?;
    println!("native priorities are granted: {}", !rt.is_degraded());

    // Each lane has endpoints, connections and threads of its own: urgent calls wait for no others.
    let server = rt
        .extend(Orb::builder())?
        .listen(ListenEndpoint::iiop("127.0.0.1", 0).option("priority", usual))
        .listen(ListenEndpoint::iiop("127.0.0.1", 0).option("priority", urgent))
        .build()?;
    let root = server.root_poa()?;
    root.manager().activate()?;
    let model = PriorityModelPolicy::client_propagated(usual);
    let policies = [PoaPolicy::of(model)];
    let valves = root.create_poa("valves", Some(root.manager()), &policies)?;
    let valve: idl::Valve = valves.activate(Closing(rt.clone()))?;
    let reference = server.object_to_string(&valve)?;

    // The client would be another process; here its calls leave the process, and come back.
    let client = rt
        .extend(Orb::builder())?
        .configure(|config| config.collocation = Collocation::None)
        .build()?;
    let valve = idl::Valve::narrow(client.string_to_object(&reference)?)?;
    for priority in [usual, urgent] {
        rt.current().set_the_priority(priority)?;
        println!(
            "called at {priority}: the servant ran at {}",
            valve.close()?
        );
    }
    client.shutdown(true)?;
    server.shutdown(true)?;
    Ok(())
}
