//! A tool's schemas, each rendered once.

use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use serde_json::Value;
use windlass_protocol::ToolShape;

use crate::{Dialect, render};

/// A tool's shape, with its schemas in all requested dialects.
///
/// A schema is rendered on first use, and clones share it. The shape cannot be
/// changed: a changed tool gets a new value, so that a schema is never stale.
#[derive(Clone)]
pub struct RenderedShape(Arc<RenderedInner>);

struct RenderedInner {
    shape: ToolShape,
    schemas: [OnceLock<Value>; Dialect::ALL.len()],
}

impl RenderedShape {
    /// A shape of which nothing has been rendered yet.
    pub fn new(shape: ToolShape) -> Self {
        Self(Arc::new(RenderedInner {
            shape,
            schemas: Default::default(),
        }))
    }

    /// The schema in a dialect, as returned by [`render`](render()).
    pub fn schema(&self, dialect: Dialect) -> &Value {
        let RenderedInner { shape, schemas } = &*self.0;
        schemas[dialect as usize].get_or_init(|| render(shape, dialect))
    }
}

impl Deref for RenderedShape {
    type Target = ToolShape;

    fn deref(&self) -> &ToolShape {
        &self.0.shape
    }
}

impl fmt::Debug for RenderedShape {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.shape.fmt(formatter)
    }
}

/// Compares the shapes only, whatever has been rendered.
impl PartialEq for RenderedShape {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

#[cfg(test)]
#[path = "rendered_tests.rs"]
mod tests;
