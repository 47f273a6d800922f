//! Reading of the logs when the store is opened, and of blocks while it is used.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

use bytes::Bytes;
use punctual_host::store::{
    ReadTransaction, Record, Records, StoreError, StoreFile, TableDefinition, TableError,
};

use super::block::Block;
use super::layout::{BLOCKS, BlockKey, HEADS, IDS, LOGS, LogRecord, READERS};
use super::log::Log;
use super::reader_state::ReaderState;
use super::state::State;
use crate::contract::{LogSettings, Name};

type Result<T> = std::result::Result<T, StoreError>;

/// Number of blocks that are read at a time.
const AHEAD: usize = 8;

/// Reads all logs, without the contents of their events.
pub(super) fn logs(file: &StoreFile, cache_bytes: usize) -> Result<BTreeMap<Name, Arc<Log>>> {
    file.read(|transaction| {
        let mut logs = BTreeMap::new();
        LOGS.read(transaction, |name, record| {
            let name = parsed(name)?;
            let state = state(transaction, record, cache_bytes)?;
            logs.insert(name.clone(), Arc::new(Log::new(name, record.number, state)));
            Ok(())
        })?;
        Ok(logs)
    })
}

fn parsed(name: &str) -> Result<Name> {
    name.parse()
        .map_err(|error| StoreError::damaged(format!("{error}")))
}

fn state(transaction: &ReadTransaction, log: LogRecord, cache_bytes: usize) -> Result<State> {
    let mut state = State::new(log.next, LogSettings::default(), cache_bytes);
    // As many as there are logs and readers are read once for each log, which are few.
    READERS.read(transaction, |(number, name), record| {
        if number == log.number {
            state.readers.insert(parsed(name)?, ReaderState::of(record));
        }
        Ok(())
    })?;
    each(transaction, HEADS, log.number, |first, head| {
        state.add_block(first, head)
    })?;
    each(transaction, IDS, log.number, |first, ids| {
        state.ids.add(first, ids)
    })?;
    state.remove_blocks(&[]);
    Ok(state)
}

/// Reads the records of a log's blocks, in order.
fn each<R: Record>(
    transaction: &ReadTransaction,
    records: Records<BlockKey, R>,
    log: u64,
    mut take: impl FnMut(u64, R),
) -> Result<()> {
    range(
        transaction,
        records.table(),
        (log, 0)..=(log, u64::MAX),
        |first, bytes| {
            let record =
                R::decode(bytes).ok_or_else(|| StoreError::damaged("undecodable record"))?;
            take(first, record);
            Ok(true)
        },
    )
}

/// Reads blocks from a position on, at most as many as are read at a time.
pub(super) fn blocks(file: &StoreFile, log: u64, first: u64) -> Result<Vec<(u64, Arc<Block>)>> {
    file.read(|transaction| {
        let mut blocks = Vec::new();
        range(
            transaction,
            BLOCKS,
            (log, first)..=(log, u64::MAX),
            |first, bytes| {
                let block = Block::decode(Bytes::copy_from_slice(bytes));
                let block =
                    block.ok_or_else(|| StoreError::damaged("undecodable block of events"))?;
                blocks.push((first, Arc::new(block)));
                Ok(blocks.len() < AHEAD)
            },
        )?;
        Ok(blocks)
    })
}

/// Reads the values of a range of blocks, as long as `take` returns true; none if the table does not exist.
fn range(
    transaction: &ReadTransaction,
    table: TableDefinition<'static, BlockKey, &'static [u8]>,
    keys: RangeInclusive<BlockKey>,
    mut take: impl FnMut(u64, &[u8]) -> Result<bool>,
) -> Result<()> {
    let table = match transaction.open_table(table) {
        Ok(table) => table,
        Err(TableError::TableDoesNotExist(_)) => return Ok(()),
        Err(error) => return Err(StoreError::io(error)),
    };
    for entry in table.range(keys).map_err(StoreError::io)? {
        let (key, value) = entry.map_err(StoreError::io)?;
        if !take(key.value().1, value.value())? {
            break;
        }
    }
    Ok(())
}
