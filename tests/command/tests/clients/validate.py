"""Checks values against the schema files in a folder: stdin is an object of
lists by the names of the files. Prints how many were valid, which is all."""

import json
import pathlib
import sys

import jsonschema

folder = pathlib.Path(sys.argv[1])
count = 0
for name, values in json.load(sys.stdin).items():
    schema = json.loads((folder / f"{name}.schema.json").read_text())
    validator = jsonschema.validators.validator_for(schema)(schema)
    for value in values:
        validator.validate(value)
        count += 1
print(count)
