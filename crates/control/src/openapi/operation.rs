//! One thing that can be asked, and its description.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value, json};
use windlass_protocol::{ErrorBody, PermissionId};

/// Makes a schema.
type Shape = fn(&mut SchemaGenerator) -> Schema;

/// One method of a path.
pub(super) struct Operation {
    pub(super) method: &'static str,
    pub(super) path: &'static str,
    summary: &'static str,
    query: Vec<(&'static str, Shape, &'static str)>,
    body: Option<Shape>,
    reply: (u16, Vec<(&'static str, Option<Shape>)>),
    /// Anybody may ask.
    open: bool,
}

pub(super) fn get(path: &'static str, summary: &'static str) -> Operation {
    Operation::new("get", path, summary)
}

pub(super) fn post(path: &'static str, summary: &'static str) -> Operation {
    Operation::new("post", path, summary)
}

pub(super) fn delete(path: &'static str, summary: &'static str) -> Operation {
    Operation::new("delete", path, summary)
}

/// What a type looks like.
pub(super) fn of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

impl Operation {
    fn new(method: &'static str, path: &'static str, summary: &'static str) -> Self {
        Self {
            method,
            path,
            summary,
            query: Vec::new(),
            body: None,
            reply: (204, Vec::new()),
            open: false,
        }
    }

    /// Answers with this as JSON.
    pub(super) fn gives<T: JsonSchema>(self) -> Self {
        self.answers(200, "application/json", Some(of::<T>))
    }

    /// The same, of something new.
    pub(super) fn makes<T: JsonSchema>(self) -> Self {
        self.answers(201, "application/json", Some(of::<T>))
    }

    /// Answers with a stream of events, each of which has this for its data.
    pub(super) fn streams<T: JsonSchema>(self) -> Self {
        self.answers(200, "text/event-stream", Some(of::<T>))
    }

    /// Answers with something else.
    pub(super) fn says(self, media: &'static str) -> Self {
        self.answers(200, media, None)
    }

    fn answers(mut self, status: u16, media: &'static str, shape: Option<Shape>) -> Self {
        self.reply.0 = status;
        self.reply.1.push((media, shape));
        self
    }

    /// Takes a body. An empty one is taken where nothing in it is required.
    pub(super) fn takes(mut self, body: Shape) -> Self {
        self.body = Some(body);
        self
    }

    pub(super) fn query<T: JsonSchema>(mut self, name: &'static str, what: &'static str) -> Self {
        self.query.push((name, of::<T>, what));
        self
    }

    pub(super) fn open(mut self) -> Self {
        self.open = true;
        self
    }

    /// The operation as the description has it.
    pub(super) fn describe(&self, generator: &mut SchemaGenerator) -> Value {
        let mut described = json!({
            "operationId": self.id(),
            "tags": [if self.is_opencodes() { "opencode" } else { "windlass" }],
            "summary": self.summary,
            "description": self.summary,
            "parameters": self.parameters(generator),
            "responses": self.responses(generator),
        });
        if let Some(body) = self.body {
            let schema = body(generator);
            let required = !takes_nothing(&schema, generator);
            described["requestBody"] = json!({
                "required": required,
                "content": { "application/json": { "schema": schema } },
            });
        }
        if self.open {
            described["security"] = json!([]);
        }
        described
    }

    /// Its method and path in one word.
    fn id(&self) -> String {
        let words = self.path.split(['/', '{', '}', '.']);
        let words = words.filter(|word| !matches!(*word, "" | "api" | "v1"));
        let mut id = self.method.to_owned();
        for word in words {
            id.push('_');
            id.push_str(word);
        }
        if self.is_opencodes() {
            id.insert_str(0, "opencode_");
        }
        id
    }

    fn is_opencodes(&self) -> bool {
        let first = self.path.split('/').nth(1);
        matches!(first, Some("event" | "session" | "permission"))
    }

    fn parameters(&self, generator: &mut SchemaGenerator) -> Vec<Value> {
        let named = |part: &'static str| part.strip_prefix('{')?.strip_suffix('}');
        let path = self.path.split('/').filter_map(named).map(|name| {
            let schema = match name {
                "permission" => of::<PermissionId>(generator),
                _ => of::<String>(generator),
            };
            json!({ "name": name, "in": "path", "required": true, "schema": schema })
        });
        let mut all: Vec<Value> = path.collect();
        for (name, shape, what) in &self.query {
            let schema = shape(generator);
            all.push(json!({ "name": name, "in": "query", "description": what, "schema": schema }));
        }
        all
    }

    /// The refusals that a client should tell apart, of [`REFUSALS`].
    fn refusals(&self) -> impl Iterator<Item = &'static Refused> {
        let names = |part: &str| self.path.split('/').any(|known| known == part);
        REFUSALS.iter().filter(move |refused| match refused.status {
            404 => self.path.contains('{'),
            409 => {
                let stateful = ["{handle}", "{permission}", "{ask}"];
                stateful.into_iter().any(names) && !self.is_opencodes()
            }
            // opencode's clients know no 409, no 410 and no 422.
            410 => names("{id}") && !self.is_opencodes(),
            422 => self.body.is_some() && !self.is_opencodes(),
            _ => true,
        })
    }

    fn responses(&self, generator: &mut SchemaGenerator) -> Value {
        let (status, media) = &self.reply;
        let mut content = Map::new();
        for (media, shape) in media {
            let described = match shape {
                Some(shape) => json!({ "schema": shape(generator) }),
                None => json!({}),
            };
            content.insert((*media).to_owned(), described);
        }
        let mut done = json!({ "description": "Done." });
        if !content.is_empty() {
            done["content"] = Value::Object(content);
        }
        let opencodes = self.is_opencodes();
        let mut all = Map::new();
        all.insert(status.to_string(), done);
        for refused in self.refusals() {
            let path = format!("#/components/responses/{}", refused.name(opencodes));
            all.insert(refused.status.to_string(), json!({ "$ref": path }));
        }
        let others = [
            ("4XX", "It was refused, and says what would work."),
            ("5XX", "It cannot be done just now."),
        ];
        for (status, text) in others {
            all.insert(status.to_owned(), refused(text, opencodes, generator));
        }
        Value::Object(all)
    }
}

/// A refusal that is described once and answers many requests.
struct Refused {
    status: u16,
    name: &'static str,
    text: &'static str,
}

impl Refused {
    const fn new(status: u16, name: &'static str, text: &'static str) -> Self {
        Self { status, name, text }
    }

    fn name(&self, opencodes: bool) -> String {
        let prefix = if opencodes { "Opencode" } else { "" };
        format!("{prefix}{}", self.name)
    }
}

const REFUSALS: [Refused; 7] = [
    Refused::new(400, "Unreadable", "The request cannot be read."),
    Refused::new(
        404,
        "Missing",
        "The path names something that is not there.",
    ),
    Refused::new(
        409,
        "Conflict",
        "Its state does not allow this, or somebody was quicker.",
    ),
    Refused::new(410, "Gone", "The session has ended."),
    Refused::new(
        422,
        "Unfit",
        "The request can be read, and a value in it does not fit.",
    ),
    Refused::new(
        429,
        "TooMany",
        "There were too many requests; `Retry-After` says when to come again.",
    ),
    Refused::new(
        503,
        "Unavailable",
        "Something that it needs is not there just now.",
    ),
];

/// The refusals that operations refer to, for `components/responses`.
pub(super) fn refusals(generator: &mut SchemaGenerator) -> Value {
    let mut all = Map::new();
    for each in &REFUSALS {
        for opencodes in [false, true] {
            let is_used = cfg!(feature = "opencode") && !matches!(each.status, 409 | 410 | 422);
            if opencodes && !is_used {
                continue;
            }
            let described = refused(each.text, opencodes, generator);
            all.insert(each.name(opencodes), described);
        }
    }
    Value::Object(all)
}

fn refused(text: &str, opencodes: bool, generator: &mut SchemaGenerator) -> Value {
    let error = of::<ErrorBody>(generator);
    let schema = if opencodes {
        json!({ "anyOf": [opencodes_error(generator), error] })
    } else {
        json!(error)
    };
    json!({ "description": text, "content": { "application/json": { "schema": schema } } })
}

#[cfg(feature = "opencode")]
fn opencodes_error(generator: &mut SchemaGenerator) -> Schema {
    of::<crate::opencode::wire::OpencodeError>(generator)
}

/// Without opencode's interface, errors have one form.
#[cfg(not(feature = "opencode"))]
fn opencodes_error(generator: &mut SchemaGenerator) -> Schema {
    of::<ErrorBody>(generator)
}

/// Nothing has to be in it.
fn takes_nothing(schema: &Schema, generator: &SchemaGenerator) -> bool {
    let name = schema.get("$ref").and_then(Value::as_str);
    let name = name.and_then(|path| path.rsplit('/').next());
    let found = name.and_then(|name| generator.definitions().get(name));
    found.is_some_and(|schema| schema["type"] == "object" && schema.get("required").is_none())
}
