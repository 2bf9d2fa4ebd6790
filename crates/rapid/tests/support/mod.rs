//! What the tests share: a naive oracle, a commit pipeline of one thread, and a check of a view.

pub mod check;
pub mod oracle;
pub mod pipeline;
