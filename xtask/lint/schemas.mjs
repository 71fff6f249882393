// Compiles JSON Schemas with ajv in strict mode. Arguments: files that hold a schema, or a list of tools whose
// `parameters` are schemas. Prints a line of JSON for each fault.

import { readFileSync } from 'node:fs';
import Ajv from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

let count = 0;
for (const file of process.argv.slice(2)) {
  const read = JSON.parse(readFileSync(file, 'utf8'));
  const schemas = Array.isArray(read) ? read.map((tool) => [tool.name, tool.parameters]) : [['', read]];
  for (const [name, schema] of schemas) {
    count += 1;
    const ajv = new Ajv({ strict: true, allErrors: true });
    addFormats(ajv);
    try {
      ajv.compile(schema);
    } catch (error) {
      console.log(JSON.stringify({ file, name, message: error.message }));
    }
  }
}
console.log(JSON.stringify({ count }));
