# Asks whether to go on, after so many seconds.
seconds=$1 confirm=$2
if [ -z "$confirm" ]; then
    sleep "$seconds"
    echo '{"type": "needs_input", "question": {"id": "confirm", "text": "Please confirm", "answer_type": "Boolean"}}'
else
    echo "state-ok: $confirm"
fi
