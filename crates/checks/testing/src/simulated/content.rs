//! The content of a file: pages that clones share until they are written.

use hedgerow_sync::Arc;

/// Bytes of a page.
pub(super) const PAGE: usize = 4096;

/// The bytes of a file. A clone takes one reference per page. Missing pages are zeros.
#[derive(Clone, Debug, Default)]
pub(super) struct FileContent {
    pages: Vec<Option<Arc<[u8; PAGE]>>>,
    length: u64,
}

impl FileContent {
    pub(super) fn length(&self) -> u64 {
        self.length
    }

    /// Reads at `offset`; returns the number of bytes.
    pub(super) fn read(&self, buffer: &mut [u8], offset: u64) -> usize {
        let there = usize::try_from(self.length.saturating_sub(offset)).unwrap_or(usize::MAX);
        let length = buffer.len().min(there);
        let mut done = 0;
        for (page, start, count) in pieces(offset, length) {
            let part = &mut buffer[done..done + count];
            match self.pages.get(page) {
                Some(Some(bytes)) => part.copy_from_slice(&bytes[start..start + count]),
                _ => part.fill(0),
            }
            done += count;
        }
        length
    }

    /// Writes at `offset`, and fills a gap after the end with zeros.
    pub(super) fn write(&mut self, bytes: &[u8], offset: u64) {
        self.length = self.length.max(offset + bytes.len() as u64);
        let mut done = 0;
        for (page, start, count) in pieces(offset, bytes.len()) {
            if self.pages.len() <= page {
                self.pages.resize(page + 1, None);
            }
            let part = &bytes[done..done + count];
            done += count;
            if self.pages[page].is_none() && part.iter().all(|byte| *byte == 0) {
                continue;
            }
            let bytes = self.pages[page].get_or_insert_with(|| Arc::new([0; PAGE]));
            Arc::make_mut(bytes)[start..start + count].copy_from_slice(part);
        }
    }

    /// Truncates, or extends with zeros.
    pub(super) fn set_length(&mut self, length: u64) {
        if length < self.length {
            let (last, within) = ((length / PAGE as u64) as usize, (length % PAGE as u64) as usize);
            self.pages.truncate(last + 1);
            if let Some(Some(bytes)) = self.pages.get_mut(last) {
                Arc::make_mut(bytes)[within..].fill(0);
            }
        }
        self.length = length;
    }
}

/// Splits `length` bytes at `offset` into pages: the page, the offset in it, the number of bytes.
fn pieces(offset: u64, length: usize) -> impl Iterator<Item = (usize, usize, usize)> {
    let mut done = 0;
    std::iter::from_fn(move || {
        let at = offset + done as u64;
        let (page, start) = ((at / PAGE as u64) as usize, (at % PAGE as u64) as usize);
        let count = (PAGE - start).min(length - done);
        done += count;
        (count > 0).then_some((page, start, count))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn content_is_what_a_vector_holds(steps in prop::collection::vec((0..3_u8, 0..20_000_u64, 0..9000_usize), 1..20)) {
            let (mut content, mut vector) = (FileContent::default(), Vec::new());
            for (number, (kind, offset, length)) in steps.into_iter().enumerate() {
                let at = offset as usize;
                if kind < 2 {
                    let bytes = vec![number as u8 * u8::from(kind == 0); length];
                    content.write(&bytes, offset);
                    vector.resize(vector.len().max(at + length), 0);
                    vector[at..at + length].copy_from_slice(&bytes);
                } else {
                    content.set_length(offset);
                    vector.resize(at, 0);
                }
                let mut read = vec![7; 40_000];
                let count = content.read(&mut read, 0);
                prop_assert_eq!(&read[..count], &vector[..]);
                prop_assert_eq!(content.length(), vector.len() as u64);
            }
        }
    }
}
