//! What the `oneOf` schema admits, every dialect admits, and means the same.

use proptest::prelude::*;
use serde_json::Value;
use windlass_protocol::parse;
use windlass_schema::{Dialect, render, restore};

use crate::calls::{compile, encode, fitting, normal};
use crate::config;

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_call_of_the_one_of_is_admitted_by_every_dialect((sample, call) in fitting()) {
        let canonical = compile(&render(&sample.shape, Dialect::JsonSchema));
        prop_assert!(canonical.is_valid(&Value::Object(call.clone())));
        for dialect in Dialect::ALL {
            let schema = render(&sample.shape, dialect);
            let encoded = Value::Object(encode(&sample, dialect, &call));
            let outcome = compile(&schema).validate(&encoded).map_err(|error| error.to_string());
            prop_assert_eq!(outcome, Ok(()), "{} {} {}", dialect, schema, encoded);
        }
    }

    #[test]
    fn a_call_is_read_the_same_in_every_dialect((sample, call) in fitting()) {
        let expected = parse(&sample.shape, call.clone()).map(normal);
        for dialect in Dialect::ALL {
            let encoded = encode(&sample, dialect, &call);
            let restored = restore(&sample.shape, dialect, encoded);
            let read = parse(&sample.shape, restored).map(normal);
            prop_assert_eq!(&read, &expected, "{}", dialect);
        }
    }

    #[test]
    fn no_call_fits_two_branches((sample, call) in fitting()) {
        let schema = render(&sample.shape, Dialect::JsonSchema);
        let call = Value::Object(call);
        if let Some(branches) = schema["oneOf"].as_array() {
            let fitting = branches.iter().filter(|branch| compile(branch).is_valid(&call));
            prop_assert_eq!(fitting.count(), 1);
        }
    }
}
