# A tool for Windlass. The command in its config says what its arguments are:
# the action, the parameter `name`, and the answer to the question `loud`.
action=$1 name=$2 loud=$3

if [ "$action" = schema ]; then
    cat <<'END'
{"tools": [{
  "name": "@NAME@",
  "summary": "Greets somebody.",
  "parameters": {
    "name": {"type": "string", "summary": "Whom to greet."}
  }
}]}
END
    exit
fi

# Without an answer the tool asks, and is run again with it. So ask before you
# change anything.
if [ -z "$loud" ]; then
    cat <<'END'
{"type": "needs_input", "question": {
  "id": "loud", "text": "Loudly?", "answer_type": "Boolean", "default": false
}}
END
    exit
fi

# Plain output is the result; an exit code other than 0 is a failure.
greeting="Hello, $name!"
if [ "$loud" = true ]; then
    printf '%s' "$greeting" | tr '[:lower:]' '[:upper:]'
else
    printf '%s' "$greeting"
fi
