//! Ascending ids, encoded as the gaps between them.

use hedgerow_encoding::wire::{DecodeError, Reader};
use hedgerow_model::VertexId;

/// Encodes ascending ids as the first id and the gaps between ids, less one.
#[derive(Default)]
pub(super) struct Gaps(Option<u32>);

impl Gaps {
    /// The number to write for `id`.
    pub(super) fn encode(&mut self, id: VertexId) -> u64 {
        let gap = self.0.map_or(id.get(), |before| id.get() - before - 1);
        self.0 = Some(id.get());
        u64::from(gap)
    }

    pub(super) fn decode(&mut self, reader: &mut Reader<'_>) -> Result<VertexId, DecodeError> {
        let gap = reader.varint()?;
        let id = self.0.map_or(Some(gap), |before| gap.checked_add(u64::from(before) + 1));
        let id = id.and_then(|id| VertexId::try_from(id).ok());
        let id = id.ok_or_else(|| reader.error("beyond the vertex ids"))?;
        self.0 = Some(id.get());
        Ok(id)
    }
}
