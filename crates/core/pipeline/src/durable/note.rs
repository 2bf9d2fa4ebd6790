//! The store's note that an engine with its own files keeps with each flush.

use hedgerow_encoding::wire::{DecodeError, Reader, put_bytes, put_varint};
use hedgerow_log::checkpoint::Description;
use hedgerow_log::{EngineState, Manifest, StoreOptions};

/// The store's note about the commit that a flush reaches.
///
/// Encoding: the id of the store; the wall-clock time, as a varint; a byte, 1 if a position
/// follows, else 0; the position, after its length.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FlushNote {
    /// The id of the store that the engine's files belong to.
    pub(super) store: [u8; 16],
    /// The wall-clock time of the commit, in microseconds since 1970-01-01 UTC.
    pub(super) wall_clock: u64,
    /// The position of the last import in its input.
    pub(super) input: Option<Box<[u8]>>,
}

impl FlushNote {
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut bytes = self.store.to_vec();
        put_varint(&mut bytes, self.wall_clock);
        bytes.push(u8::from(self.input.is_some()));
        self.input.iter().for_each(|input| put_bytes(&mut bytes, input));
        bytes
    }

    pub(super) fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(bytes);
        let (store, wall_clock) = (reader.array()?, reader.varint()?);
        let input = if reader.flag()? { Some(reader.bytes()?.into()) } else { None };
        reader.end()?;
        Ok(FlushNote { store, wall_clock, input })
    }
}

/// The note that an engine with its own files keeps with the state that is described.
#[must_use]
pub fn note_of(description: &Description) -> Vec<u8> {
    let Description { store, wall_clock, ref input, .. } = *description;
    FlushNote { store, wall_clock, input: input.clone() }.encode()
}

/// Describes the state in an engine's own files, as a checkpoint of it would be described; `None`
/// if the files belong to another store, or are empty.
#[must_use]
pub fn describe_engine_files(state: &EngineState, manifest: &Manifest) -> Option<Description> {
    let FlushNote { store, wall_clock, input } = FlushNote::decode(&state.note).ok()?;
    let StoreOptions { topology, keys, catalog, .. } = manifest.options.clone();
    let (timestamp, counts) = (state.through, state.counts.clone());
    let described = Description { store, timestamp, wall_clock, topology, keys, catalog, counts, input };
    (store == manifest.store).then_some(described)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_come_back_and_parts_of_them_are_refused() {
        for input in [None, Some([].into()), Some([1, 2, 3].into())] {
            let note = FlushNote { store: [7; 16], wall_clock: u64::MAX, input };
            let bytes = note.encode();
            assert_eq!(FlushNote::decode(&bytes).as_ref(), Ok(&note));
            assert!((0..bytes.len()).all(|end| FlushNote::decode(&bytes[..end]).is_err()));
        }
    }
}
