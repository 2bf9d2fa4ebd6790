//! Memory that versions share, with allocations and frees reported to the account.

use hedgerow_in_memory::reclamation::account;
use hedgerow_sync::Arc;
use std::ops::Deref;

/// A value that knows its heap bytes.
pub trait HeapBytes {
    /// Returns the heap bytes that this value owns alone.
    fn heap_bytes(&self) -> usize;
}

/// A value that versions share by reference count.
#[derive(Debug)]
pub struct Counted<T: HeapBytes>(T);

impl<T: HeapBytes> Counted<T> {
    /// Bytes of any value, including its two reference counts, without heap bytes.
    pub const BYTES: usize = size_of::<Self>() + 2 * size_of::<usize>();

    /// Creates a value to share.
    pub fn new(value: T) -> Arc<Self> {
        let counted = Counted(value);
        account::allocated(counted.bytes());
        Arc::new(counted)
    }

    /// Returns the bytes of this value, including heap bytes.
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
