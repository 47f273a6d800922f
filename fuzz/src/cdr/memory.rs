//! Memory that a thread keeps for messages to come.

use punctual_cdr::{Block, CdrError, Decoder, Unmarshal};

/// Blocks that are taken, filled as far as numbers say, and given back: what is taken next is empty, however long
/// the one before was.
pub(super) fn blocks(input: &mut Decoder<'_>) -> Result<(), CdrError> {
    /// Longer ones are not kept as a rule.
    const KEPT: usize = 4096;
    let lengths = Vec::<u16>::unmarshal(input)?;
    let mut taken = Vec::new();
    for length in lengths.into_iter().take(100) {
        let mut block = Block::of_thread(64, KEPT);
        assert!(block.is_empty() && block.capacity() >= 64);
        block.resize(usize::from(length), 7);
        assert_eq!(block.len(), usize::from(length));
        assert!(format!("{block:?}").contains(&length.to_string()));
        block.consume_front(usize::from(length / 2));
        assert!(block.iter().all(|octet| *octet == 7));
        taken.push(block);
        // An odd number gives all back.
        if length & 1 == 1 {
            taken.clear();
        }
    }
    Ok(())
}
