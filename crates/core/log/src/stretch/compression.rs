//! Compression of byte strings, by zstd if it is compiled.

/// The error for a compressed byte string that is read without the feature.
pub(crate) const NOT_COMPILED: &str = "compressed content, which needs the feature `compression`";

/// Compresses `content`; `None` if that fails.
#[cfg(feature = "compression")]
pub(super) fn compress(content: &[u8]) -> Option<Vec<u8>> {
    /// A fast level: a checkpoint is written next to foreground work.
    const LEVEL: i32 = 1;
    zstd::bulk::compress(content, LEVEL).ok()
}

/// Decompresses content of `length` bytes.
#[cfg(feature = "compression")]
pub(super) fn decompress(compressed: &[u8], length: usize) -> Result<Vec<u8>, &'static str> {
    let content = zstd::bulk::decompress(compressed, length).ok();
    content.filter(|content| content.len() == length).ok_or("a stretch that is compressed wrongly")
}

#[cfg(not(feature = "compression"))]
pub(super) fn compress(_content: &[u8]) -> Option<Vec<u8>> {
    None
}

#[cfg(not(feature = "compression"))]
pub(super) fn decompress(_compressed: &[u8], _length: usize) -> Result<Vec<u8>, &'static str> {
    Err(NOT_COMPILED)
}
