//! Labels added to an open graph.

use crate::data::{EdgeType, Properties};
use crate::error::Error;
use crate::graph::Graph;
use crate::label::Label;
use hedgerow_model::{LabelId, LabelSchema};

impl Graph {
    // --- labels ------------------------------------------------------------------------------

    /// Adds a label called `name` whose edges carry `T`, as
    /// [`GraphOptions::label`](crate::GraphOptions::label) does when the graph is made. Returns the
    /// label if it exists already.
    ///
    /// Writers and readers continue meanwhile. Every snapshot knows the label from then on,
    /// including snapshots opened before: in their states it has no edges. An open transaction can
    /// put edges of it. In a store, the label is durable when this returns, and before any of its
    /// edges can be; a crash before that adds the label or changes nothing. Opening the store with
    /// the labels that it was made with includes the labels added later.
    ///
    /// ```
    /// use hedgerow::prelude::*;
    ///
    /// let graph = Graph::in_memory(GraphOptions::new().label::<()>("follows"))?;
    /// let before = graph.snapshot()?;
    /// let rates = graph.add_label::<f64>("rates")?;
    /// graph.put_edge_with(rates, 1, 2, 4.5)?;
    ///
    /// assert_eq!(graph.get_edge(rates, 1, 2)?, Some(4.5));
    /// assert_eq!(before.neighbors(rates, 1)?, Vec::<Key>::new());
    /// assert_eq!(graph.add_label::<f64>("rates")?, rates, "it is there already");
    /// assert_eq!(graph.add_label::<u32>("rates").unwrap_err().kind(), ErrorKind::InvalidInput);
    /// # Ok::<(), hedgerow::Error>(())
    /// ```
    ///
    /// O(labels), and some syncs of files in a store; concurrent calls take turns. A graph has at
    /// most 65,535 labels, none of which can be removed. Each takes about 2 KiB per stored
    /// direction on engine `rapid`, and less on `tel` and `lsm`; every snapshot reads the number of
    /// edges of each.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`](crate::ErrorKind::InvalidInput) if edges of the label of that
    /// name carry something else (the error names both), or there are too many labels. For a new
    /// label also [`ErrorKind::ReadOnly`](crate::ErrorKind::ReadOnly),
    /// [`ErrorKind::Closed`](crate::ErrorKind::Closed), and
    /// [`ErrorKind::Storage`](crate::ErrorKind::Storage) if the labels would take more than 63 MiB
    /// in the manifest. Nothing has changed then.
    /// [`ErrorKind::LogFailed`](crate::ErrorKind::LogFailed) if the manifest could not be replaced:
    /// only opening the store again tells whether the label is there.
    pub fn add_label<T: EdgeType>(&self, name: impl Into<String>) -> Result<Label<T>, Error> {
        let label = LabelSchema { name: name.into(), edges: T::edge_schema() };
        self.add_one_label(label).map(Label::from)
    }

    /// Adds a label that allows several edges between two vertices, as
    /// [`GraphOptions::parallel_label`](crate::GraphOptions::parallel_label) does; otherwise like
    /// [`Graph::add_label`].
    ///
    /// # Errors
    /// As [`Graph::add_label`].
    pub fn add_parallel_label<P: Properties>(
        &self,
        name: impl Into<String>,
        key: impl Into<String>,
    ) -> Result<Label<P>, Error> {
        self.add_one_label(LabelSchema::with_parallel_edges(name, key, P::schema())).map(Label::from)
    }

    /// Adds labels whose schemas are only known at run time; otherwise like [`Graph::add_label`].
    /// In a store all new labels become durable together. Returns their ids, in their order.
    ///
    /// ```
    /// use hedgerow::prelude::*;
    ///
    /// let graph = Graph::in_memory(GraphOptions::new())?;
    /// let payment = RecordSchema::new().field("amount", ValueType::F64);
    /// let labels = [LabelSchema::with_record("pays", payment), LabelSchema::with_value::<u32>("rates")];
    /// let ids = graph.add_labels(&labels)?;
    /// graph.update_edge(ids[0], 1, 2, &EdgeUpdate::put().set("amount", 9.5))?;
    /// assert_eq!(graph.label::<u32>("rates")?.id(), ids[1]);
    /// # Ok::<(), hedgerow::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Graph::add_label`]; two of the labels have the same name.
    pub fn add_labels(&self, labels: &[LabelSchema]) -> Result<Vec<LabelId>, Error> {
        Ok(self.typed.get()?.store.add_labels(labels)?)
    }

    fn add_one_label(&self, label: LabelSchema) -> Result<LabelId, Error> {
        Ok(self.add_labels(&[label])?[0])
    }
}
