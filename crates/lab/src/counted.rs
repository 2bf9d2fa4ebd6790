//! Memory that versions share, told to the account when it comes and when it goes.

use hedgerow_reclamation::account;
use hedgerow_sync::Arc;
use std::ops::Deref;

/// What knows the bytes that it has on the heap.
pub trait HeapBytes {
    /// Bytes on the heap that belong to this alone.
    fn heap_bytes(&self) -> usize;
}

/// A value that versions share by reference count.
#[derive(Debug)]
pub struct Counted<T: HeapBytes>(T);

impl<T: HeapBytes> Counted<T> {
    /// The bytes of any value, the two counts beside it included, without those on the heap.
    pub const BYTES: usize = size_of::<Self>() + 2 * size_of::<usize>();

    /// A value to share.
    pub fn new(value: T) -> Arc<Self> {
        let counted = Counted(value);
        account::allocated(counted.bytes());
        Arc::new(counted)
    }

    /// The bytes that it takes.
    pub fn bytes(&self) -> usize {
        Self::BYTES + self.0.heap_bytes()
    }
}

impl<T: HeapBytes> Deref for Counted<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: HeapBytes> Drop for Counted<T> {
    fn drop(&mut self) {
        account::freed(self.bytes());
    }
}
