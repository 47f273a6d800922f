//! Measured operations: a model made of them, and their comparison with a plan.
//!
//! The ORB measures (`-ORBRecord`, `punctual_orb::measurement`); [`Measurements`] is the form of its
//! file. It also records a time line of requests (`-ORBTimeline`, `punctual_orb::timeline`): [`RecordedTimeline`].
//! [`Observed`] is read from a file of either kind.

mod arrivals;
mod compare;
mod events;
mod file;
mod model;
mod nanos;
mod noise;
mod observed;
mod timeline;

pub use arrivals::Arrivals;
pub use compare::{Compared, Finding, compare, compare_timeline};
pub use file::{MeasuredOperation, Measurements, Times};
pub use model::{Margin, MarginError, MeasuredModel, model_of};
pub use noise::{Gap, most_taken};
pub use observed::Observed;
pub use timeline::{RecordedJob, RecordedOperation, RecordedTimeline};
