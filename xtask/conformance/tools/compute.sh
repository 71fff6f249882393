# Takes so many seconds, but not less than it takes to become a task.
seconds=${1%.*}
[ "$seconds" -ge 2 ] || seconds=2
sleep "$seconds"
echo computed
