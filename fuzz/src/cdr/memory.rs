//! Buffers that a thread caches for later messages.

use punctual_cdr::{Block, CdrError, Decoder, Unmarshal};

/// Takes buffers from the thread's cache, fills each as far as the input's numbers say, and returns
/// them: a buffer taken later must be empty, however full it was before. Their total length is
/// limited in proportion to the input.
pub(super) fn blocks(input: &mut Decoder<'_>) -> Result<(), CdrError> {
    /// Size in bytes up to which a returned buffer is usually cached.
    const KEPT: usize = 4096;
    let lengths = Vec::<u16>::unmarshal(input)?;
    let mut taken = Vec::new();
    let mut left = 8 * size_of_val(&*lengths);
    for number in lengths.into_iter().take(100) {
        let length = usize::from(number).min(left);
        left -= length;
        let mut block = Block::of_thread(64, KEPT);
        assert!(block.is_empty() && block.capacity() >= 64);
        block.resize(length, 7);
        assert_eq!(block.len(), length);
        assert!(format!("{block:?}").contains(&length.to_string()));
        block.consume_front(length / 2);
        assert!(block.iter().all(|octet| *octet == 7));
        taken.push(block);
        // An odd number gives all blocks back.
        if number & 1 == 1 {
            taken.clear();
        }
    }
    Ok(())
}
