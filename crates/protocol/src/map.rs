//! The arguments of a call, as the model wrote them.

/// A JSON object whose keys keep their order.
pub type Arguments = serde_json::Map<String, serde_json::Value>;
