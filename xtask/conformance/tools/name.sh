# Asks for a name, and greets it after so many seconds.
seconds=$1 name=$2
if [ -z "$name" ]; then
    echo '{"type": "needs_input", "question": {"id": "user_name", "text": "What is your name?", "answer_type": "Text"}}'
else
    sleep "$seconds"
    echo "Hello, $name!"
fi
