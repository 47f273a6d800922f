//! Options of the link, and the properties that set them.

use crate::socket::{SPIN_PROPERTIES, SocketOptions, buffer_size};
use crate::{LinkError, Phase, Properties, SpinOptions};
use std::io;
use std::os::fd::AsFd;

/// Options of the link over Unix sockets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UiopOptions {
    /// `SO_SNDBUF` in bytes; `None` leaves it to the kernel. Property `send_buffer`.
    pub send_buffer: Option<usize>,
    /// `SO_RCVBUF` in bytes; `None` leaves it to the kernel. Property `receive_buffer`. A Unix
    /// socket accounts data under way to its sender, so this one matters little.
    pub receive_buffer: Option<usize>,
    /// Upper bound of the connections that wait to be accepted. Default 1,024; the kernel caps it
    /// at `net.core.somaxconn`.
    pub backlog: u16,
    /// Initial size of a lent block, in bytes. Default 4,096: larger messages make it grow.
    pub block: usize,
    /// Size in bytes beyond which blocks are kept only while messages need such, two a thread and
    /// 32 MiB in the process at most; with 0 none is kept. Default 256 KiB.
    pub block_kept: usize,
    /// Settings for spinning before a receive blocks. Properties `spin_us` and `spin_always`.
    pub spin: SpinOptions,
}

impl Default for UiopOptions {
    fn default() -> Self {
        Self {
            send_buffer: None,
            receive_buffer: None,
            backlog: 1024,
            block: 4096,
            block_kept: 256 * 1024,
            spin: SpinOptions::default(),
        }
    }
}

impl UiopOptions {
    pub(super) fn with(&self, properties: &Properties, phase: Phase) -> Result<Self, LinkError> {
        let mut options = *self;
        let [budget, always] = SPIN_PROPERTIES;
        properties.only(
            &["send_buffer", "receive_buffer", budget, always],
            "send_buffer, receive_buffer, spin_us or spin_always",
            phase,
        )?;
        let size = |key| buffer_size(key, properties, phase);
        options.send_buffer = size("send_buffer")?.or(options.send_buffer);
        options.receive_buffer = size("receive_buffer")?.or(options.receive_buffer);
        options.spin = options.spin.with(properties, phase)?;
        Ok(options)
    }

    pub(super) fn apply(&self, socket: impl AsFd) -> io::Result<()> {
        punctual_sys::stream::set_buffers(socket, self.send_buffer, self.receive_buffer)
    }

    pub(super) fn socket(&self) -> SocketOptions {
        SocketOptions {
            block: self.block,
            block_kept: self.block_kept,
            spin: self.spin,
            ..SocketOptions::default()
        }
    }
}
