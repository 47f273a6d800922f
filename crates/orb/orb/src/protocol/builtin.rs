//! Built-in protocols, which every ORB has.

use super::ProtocolBundle;
use crate::config::OrbConfig;
use crate::messaging::{Frames, Giop, GiopLite};
use crate::profile::{DiopCodec, IiopCodec, PairCodec, UiopCodec};
use punctual_link::diop::Diop;
use punctual_link::iiop::Iiop;
#[cfg(feature = "reliable")]
use punctual_link::reliable::Reliable;
#[cfg(feature = "shared-memory")]
use punctual_link::shmiop::Shmiop;
use punctual_link::uiop::Uiop;
use std::sync::Arc;

/// Returns the built-in protocols, with the options of a configuration.
pub(crate) fn builtin(config: &OrbConfig) -> ProtocolBundle {
    let bundle = ProtocolBundle::new()
        .messaging(Arc::new(Giop::new()))
        .messaging(Arc::new(Giop::one_way()))
        .messaging(Arc::new(GiopLite))
        .messaging(Arc::new(Frames))
        .link(Arc::new(Iiop::new(config.iiop)))
        .link(Arc::new(Uiop::new(config.uiop)))
        .link(Arc::new(Diop::new(config.diop)))
        .profile_codec(Arc::new(IiopCodec))
        .profile_codec(Arc::new(UiopCodec))
        .profile_codec(Arc::new(DiopCodec))
        .profile_codec(Arc::new(PairCodec));
    #[cfg(feature = "shared-memory")]
    let bundle = bundle.link(Arc::new(Shmiop::new(config.shmiop.clone())));
    #[cfg(feature = "reliable")]
    let bundle = bundle.adapter(Arc::new(Reliable::new(config.reliable)));
    bundle
}
