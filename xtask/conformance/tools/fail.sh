# Fails, after so many seconds.
sleep "${1:-0}"
echo '{"type": "error", "message": "This tool intentionally returns an error for testing", "trace": [], "transient": false}'
