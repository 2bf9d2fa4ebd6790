//! Lends the records behind the handles that an engine's cursor reads.

use crate::records::memory;
use crate::records::parallel::HeapParallel;
use crate::records::{Form, RecordHeap, heap};
use hedgerow_encoding::list_as_record;
use hedgerow_model::{
    Column, CommitTimestamp, Cursor, LabelId, ReadError, RecordCursor, RecordHandle, VertexId,
};
use std::ops::{ControlFlow, Range};

/// Prefetch distance in records, so that cache misses overlap.
const AHEAD: usize = 8;

/// An engine's cursor over the handles of a label that has records.
pub trait HandleCursor: Cursor<Value = RecordHandle> {
    /// True if neighbors ascend.
    const SORTED: bool;
}

/// Reads the records behind the handles of an engine's cursor.
pub struct HeapCursor<C> {
    handles: C,
    form: Form,
}

impl<C: HandleCursor> HeapCursor<C> {
    /// Wraps `handles`, a cursor over the handles of `label`, which has records.
    ///
    /// # Safety
    /// The cursor reads edges of an engine that stages its effects in `heap`, in a view that
    /// outlives this value. A record that the engine embeds stays valid from the cursor's read of
    /// its handle until the cursor's next call.
    #[must_use]
    pub unsafe fn new(heap: &RecordHeap, label: LabelId, handles: C) -> Self {
        let form = heap.form(label).expect("the caller has asked whether the label has records");
        HeapCursor { handles, form }
    }

    /// Visits the handles of a vertex, and prefetches the records of later ones.
    fn visit<B>(
        &mut self,
        vertex: VertexId,
        mut visit: impl FnMut(VertexId, RecordHandle) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, ReadError> {
        self.handles.neighbors(vertex, |neighbors, handles| {
            for (position, (neighbor, handle)) in neighbors.iter().zip(handles).enumerate() {
                if let Some(further) = handles.get(position + AHEAD) {
                    memory::prefetch(further.to_bits());
                }
                visit(*neighbor, *handle)?;
            }
            ControlFlow::Continue(())
        })
    }
}

/// Returns the record behind a handle that a cursor has read.
///
/// # Safety
/// The cursor's view stays alive for `'c`, and the cursor is not called within `'c`: so the record
/// stays, as [`RecordHeap`] and [`HeapCursor::new`] promise.
unsafe fn lent<'c>(handle: RecordHandle) -> &'c [u8] {
    // SAFETY: the caller's promise.
    unsafe { heap::bytes(handle.to_bits()) }
}

impl<C: HandleCursor> RecordCursor for HeapCursor<C> {
    type Parallel<'c>
        = HeapParallel<'c>
    where
        Self: 'c;

    const SORTED: bool = C::SORTED;

    fn find(&mut self, vertex: VertexId, neighbor: VertexId) -> Result<Option<&[u8]>, ReadError> {
        debug_assert_eq!(self.form, Form::One);
        let handle = self.handles.find(vertex, neighbor)?;
        // SAFETY: the cursor stays borrowed while the record is.
        Ok(handle.map(|handle| unsafe { lent(handle) }))
    }

    fn neighbors<'c, B>(
        &'c mut self,
        vertex: VertexId,
        mut visit: impl FnMut(VertexId, &'c [u8]) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, ReadError> {
        debug_assert_eq!(self.form, Form::One);
        // SAFETY: the cursor stays borrowed while the record is.
        self.visit(vertex, |neighbor, handle| visit(neighbor, unsafe { lent(handle) }))
    }

    fn scan<B>(
        &mut self,
        range: Range<u32>,
        mut visit: impl FnMut(VertexId, VertexId, &[u8]) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, ReadError> {
        let form = self.form;
        self.handles.scan(range, |owner, neighbors, handles| {
            neighbors.iter().zip(handles).try_for_each(|(neighbor, handle)| match form {
                // SAFETY: lent within the call, before the engine's cursor advances.
                Form::One => visit(owner, *neighbor, unsafe { lent(*handle) }),
                Form::Parallel => {
                    // SAFETY: as above.
                    let edges = unsafe { HeapParallel::behind(handle.to_bits()) };
                    visit(owner, *neighbor, &list_as_record(&edges.to_list()))
                }
            })
        })
    }

    fn newest_first<'c, B>(
        &'c mut self,
        vertex: VertexId,
        mut visit: impl FnMut(VertexId, &'c [u8], CommitTimestamp) -> ControlFlow<B>,
    ) -> Result<Option<ControlFlow<B>>, ReadError> {
        debug_assert_eq!(self.form, Form::One);
        self.handles.newest_first(vertex, |neighbor, handle, commit| {
            // SAFETY: the cursor stays borrowed while the record is.
            visit(neighbor, unsafe { lent(handle) }, commit)
        })
    }

    fn time_disorder(&mut self, vertex: VertexId) -> Result<Option<u64>, ReadError> {
        self.handles.time_disorder(vertex)
    }

    fn find_parallel(
        &mut self,
        vertex: VertexId,
        neighbor: VertexId,
    ) -> Result<Option<HeapParallel<'_>>, ReadError> {
        debug_assert_eq!(self.form, Form::Parallel);
        let handle = self.handles.find(vertex, neighbor)?;
        // SAFETY: as for `lent`: the cursor stays borrowed while the edges are.
        Ok(handle.map(|handle| unsafe { HeapParallel::behind(handle.to_bits()) }))
    }

    fn parallel_neighbors<'c, B>(
        &'c mut self,
        vertex: VertexId,
        mut visit: impl FnMut(VertexId, HeapParallel<'c>) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, ReadError> {
        debug_assert_eq!(self.form, Form::Parallel);
        self.visit(vertex, |neighbor, handle| {
            // SAFETY: as for `lent`: the cursor stays borrowed while the edges are.
            visit(neighbor, unsafe { HeapParallel::behind(handle.to_bits()) })
        })
    }
}
