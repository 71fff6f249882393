#!/bin/busybox sh
# The first process of an emulated machine. It moves the root into a tmpfs, delegates a part of cgroup v2 to an
# ordinary user, and runs the checks as root and as that user.
export PATH=/usr/bin:/bin:/usr/sbin:/sbin LANG=C.UTF-8
bb=/bin/busybox

if [ ! -e /moved ]; then
    $bb mkdir -p /new
    $bb mount -t tmpfs -o size=70% tmpfs /new
    for entry in /*; do
        [ "$entry" = /new ] || $bb cp -a "$entry" /new/
    done
    $bb touch /new/moved
    exec $bb switch_root /new /init
fi

$bb mkdir -p /proc /sys /dev /tmp /run /mnt /var/tmp /root /home/user
$bb mount -t proc proc /proc
$bb mount -t sysfs sysfs /sys
$bb mount -t devtmpfs devtmpfs /dev
$bb mkdir -p /dev/pts /dev/shm
$bb mount -t devpts -o ptmxmode=666,mode=620 devpts /dev/pts
$bb mount -t tmpfs tmpfs /dev/shm
$bb mount -t tmpfs tmpfs /tmp
$bb mount -t tmpfs tmpfs /run
$bb chmod 1777 /tmp /dev/shm /var/tmp
$bb ip link set lo up
$bb dmesg -n 1
cd /

# As systemd does it: a group with limits for each user, and in it a group with the user's processes.
groups=/sys/fs/cgroup
$bb mount -t cgroup2 cgroup2 $groups
echo "+memory +pids" > $groups/cgroup.subtree_control
for name in system user; do
    $bb mkdir -p $groups/$name/session
    echo "+memory +pids" > $groups/$name/cgroup.subtree_control
done
$bb chown 65534:65534 /home/user $groups/user $groups/user/session
for file in cgroup.procs cgroup.subtree_control; do
    $bb chown 65534:65534 $groups/user/$file $groups/user/session/$file
done

as_root() {
    $bb sh -c "echo 0 > $groups/system/session/cgroup.procs; cd /root; HOME=/root exec \"\$@\"" sh "$@"
}
as_user() {
    $bb sh -c "echo 0 > $groups/user/session/cgroup.procs; cd /home/user; \
        HOME=/home/user exec /usr/bin/setpriv --reuid 65534 --regid 65534 --clear-groups \"\$@\"" sh "$@"
}
tests() {
    who=$1
    shift
    out=$("$@" --test-threads 2 2>&1)
    code=$?
    line=$(echo "$out" | $bb grep "^test result" | $bb tail -n 1)
    [ $code = 0 ] && result=ok || result=FAILED
    printf '@@\t%s\t%s\t%s\t%s\n' "$who" "tests of limits" $result "$line"
    [ $code = 0 ] || echo "$out"
}

echo "@@	machine	kernel	told	$($bb uname -r)"
as_root python3 -B /try.py root
as_user python3 -B /try.py "ordinary user"
if $bb grep -q windlass.tests /proc/cmdline; then
    tests root as_root /it resources::as_this_user
    tests "ordinary user" as_user /it resources::as_this_user
fi
echo "@@	machine	end	ok	"
$bb poweroff -f
