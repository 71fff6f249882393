# Asks two questions, one after the other.
name=$1 colour=$2
if [ -z "$name" ]; then
    echo '{"type": "needs_input", "question": {"id": "step1", "text": "Step 1: What is your name?", "answer_type": "Text"}}'
elif [ -z "$colour" ]; then
    echo '{"type": "needs_input", "question": {"id": "step2", "text": "Step 2: What is your favorite color?", "answer_type": "Text"}}'
else
    echo "both steps are done: $name, $colour"
fi
