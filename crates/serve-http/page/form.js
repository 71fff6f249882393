// A form for the parameters of a tool, made from their JSON Schema. What the
// form has no field for is written as JSON.

import { el } from "./dom.js";

/** Gives `{ node, value() }`; `value` throws where a field cannot be read. */
export function schemaForm(schema) {
  const required = new Set(schema.required ?? []);
  const entries = Object.entries(schema.properties ?? {});
  // Required parameters come first.
  entries.sort(([one], [other]) => Number(required.has(other)) - Number(required.has(one)));
  const fields = entries.map(([name, property]) => ({ name, ...makeField(name, property, required.has(name)) }));
  const main = fields.filter(({ name }) => required.has(name));
  const rest = fields.filter(({ name }) => !required.has(name));
  const node = el(
    "div",
    { class: "schema-form" },
    main.map(({ row }) => row),
    rest.length > 0 && el("details", { ...(main.length ? {} : { open: true }) }, el("summary", {}, `Optional (${rest.length})`), rest.map(({ row }) => row)),
    fields.length === 0 && el("p", { class: "faint" }, "The tool has no parameters."),
  );
  return {
    node,
    value() {
      const given = {};
      for (const { name, read } of fields) {
        const value = read();
        if (value !== undefined) given[name] = value;
        else if (required.has(name)) throw new Error(`\`${name}\` is required`);
      }
      return given;
    },
  };
}

let count = 0;

function makeField(name, property, isRequired) {
  const id = `field-${++count}`;
  const { control, read } = controlOf(name, property, id);
  const about = property.description && el("p", { class: "faint", id: `${id}-about` }, property.description);
  if (about) control.setAttribute("aria-describedby", about.id);
  if (isRequired) control.setAttribute("aria-required", "true");
  return { row: el("div", { class: "field" }, el("label", { for: id }, name, isRequired ? " *" : ""), control, about), read };
}

function controlOf(name, property, id) {
  const kind = kindOf(property);
  if (kind === "choice") {
    const options = property.enum ?? [];
    const control = el("select", { id }, el("option", { value: "" }, "–"), options.map((option, index) => el("option", { value: String(index) }, String(option))));
    if (property.default !== undefined) control.value = String(options.indexOf(property.default));
    return { control, read: () => (control.value === "" ? undefined : options[Number(control.value)]) };
  }
  if (kind === "boolean") {
    const control = el("select", { id }, el("option", { value: "" }, "–"), el("option", { value: "true" }, "yes"), el("option", { value: "false" }, "no"));
    if (property.default !== undefined) control.value = String(property.default);
    return { control, read: () => (control.value === "" ? undefined : control.value === "true") };
  }
  if (kind === "number") {
    const control = el("input", { id, type: "number", step: property.type === "integer" ? "1" : "any", min: property.minimum ?? "", max: property.maximum ?? "", value: property.default ?? "" });
    return { control, read: () => (control.value === "" ? undefined : Number(control.value)) };
  }
  if (kind === "text") {
    const control = el("textarea", { id, rows: 1, spellcheck: false, value: property.default ?? "" });
    return { control, read: () => (control.value === "" ? undefined : control.value) };
  }
  const control = el("textarea", { id, rows: 2, spellcheck: false, placeholder: "JSON", value: property.default === undefined ? "" : JSON.stringify(property.default) });
  return { control, read: () => json(name, control.value) };
}

function kindOf(property) {
  if (Array.isArray(property.enum)) return "choice";
  const types = [property.type].flat().filter((type) => type !== "null");
  if (types.length !== 1) return "json";
  return { boolean: "boolean", integer: "number", number: "number", string: "text" }[types[0]] ?? "json";
}

function json(name, text) {
  if (!text.trim()) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`\`${name}\` must be JSON`);
  }
}
