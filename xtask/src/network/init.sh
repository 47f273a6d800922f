#!/bin/busybox sh
# First program of a virtual machine, in one of the parts that the kernel's command line names (part=). The last line that it
# prints says whether all went well.
export PATH=/bin
busybox mount -t devtmpfs devtmpfs /dev
busybox mount -t proc proc /proc
busybox mount -t sysfs sysfs /sys
for folder in /tmp /run; do
    busybox mount -t tmpfs tmpfs $folder
done
busybox hostname "$part"
ip link set lo up
for name in kill sh true; do
    busybox ln -s busybox /bin/$name
done

# Modules need one another: what fails is tried again.
for pass in 1 2 3; do
    for module in /modules/*.ko; do
        busybox insmod "$module" 2>/dev/null
    done
done

# ends STATUS
ends() {
    echo "network $part ended with $1"
    busybox sleep 1
    busybox poweroff -f
}

# Tells the kernel what a daemon for PTP or NTP does: TAI is 37 s ahead, the clock is synchronised, and its errors are 1 µs
# and 5 µs (adjtimex(2): ADJ_MAXERROR, ADJ_ESTERROR, ADJ_STATUS, ADJ_TAI).
discipline() {
    perl -e '
        my $timex = pack("I x4 q q q q i x4 q", 0x9c, 0, 0, 5, 1, 0, 37) . "\0" x 256;
        syscall(159, $timex) >= 0 or die "adjtimex: $!\n";
    '
}

# Says what a command says, but for notes on standard error.
measure() {
    echo "$*"
    "$@" 2>/tmp/notes || {
        busybox cat /tmp/notes
        ends 1
    }
    busybox grep 'is left out' /tmp/notes
}

case $part in
classes)
    measure punctual-bench rt network --rate 10 --octets 65536 --calls 200 --pace 20
    ends 0
    ;;
way)
    measure punctual-bench rt network --rate 10 --octets 65536 --calls 200 --pace 50 --delay 5 --loss 1
    ends 0
    ;;
launch)
    measure punctual-bench rt launch
    ends 0
    ;;
receive)
    measure punctual-bench rt receive --cases polling
    ends 0
    ;;
clocks)
    discipline || ends $?
    PUNCTUAL_REQUIRE_NETWORK=1 /tests/hosts --nocapture hosts_whose_clocks 2>&1 | busybox tee /tmp/said
    busybox grep -q 'by the kept clocks' /tmp/said && busybox grep -q 'test result: ok' /tmp/said
    ends $?
    ;;
esac
