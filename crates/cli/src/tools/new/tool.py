"""A tool for Windlass. It is run with two arguments, the context and the call,
both JSON, and prints its answer as JSON."""

import json
import sys

TOOLS = {
    "tools": [
        {
            "name": "@NAME@",
            "summary": "Greets somebody.",
            "parameters": {
                "name": {"type": "string", "summary": "Whom to greet."},
            },
        }
    ]
}


def ask(tool, question):
    """The answer to a question. Where it has not been asked yet, this ends the
    run: the tool is run again with the answer. So ask before you change
    anything."""
    answers = tool.get("answers", {})
    if question["id"] not in answers:
        print(json.dumps({"type": "needs_input", "question": question}))
        sys.exit()
    return answers[question["id"]]


def run(tool):
    loud = ask(
        tool,
        {"id": "loud", "text": "Loudly?", "answer_type": "Boolean", "default": False},
    )
    greeting = f"Hello, {tool['arguments']['name']}!"
    return greeting.upper() if loud else greeting


context = json.loads(sys.argv[1])
if context["action"] == "schema":
    print(json.dumps(TOOLS))
else:
    try:
        answer = {"type": "success", "content": run(json.loads(sys.argv[2]))}
    except Exception as error:
        answer = {"type": "error", "message": str(error), "transient": False}
    print(json.dumps(answer))
