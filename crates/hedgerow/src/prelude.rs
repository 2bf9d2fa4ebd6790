//! The items that most programs use: `use hedgerow::prelude::*;`.

pub use crate::{
    Direction, EdgeUpdate, EngineKind, Error, ErrorKind, Graph, GraphOptions, History, Isolation, Key,
    KeyKind, Label, LabelSchema, Newest, Properties, ReadGraph, Record, RecordSchema, Snapshot, Topology,
    Value, ValueType, WriteGraph, WriteTxn,
};
