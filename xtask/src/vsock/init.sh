#!/bin/busybox sh
# First program of a virtual machine, in one of three parts, which the kernel's command line names (part=):
#   loopback  tests and a call within the machine
#   host      a virtual machine in this one, and calls both ways between the two
#   guest     that machine
# The last line that it prints says whether all went well.
export PATH=/bin:/usr/bin
busybox mount -t devtmpfs devtmpfs /dev
busybox mount -t proc proc /proc
busybox mount -t tmpfs tmpfs /tmp
busybox hostname "$part"

# Modules need one another: what fails is tried again.
for pass in 1 2 3 4 5; do
    for module in /modules/*.ko; do
        busybox insmod "$module" 2>/dev/null
    done
done

# ends STATUS
ends() {
    echo "vsock $part ended with $1"
    busybox sleep 1
    busybox poweroff -f
}

# Waits until a file has a text, 600 s at most.
await() {
    for second in $(busybox seq 600); do
        busybox grep -q "$1" "$2" && return 0
        busybox sleep 1
    done
    echo "there is no '$1' in $2:"
    busybox cat "$2"
    ends 1
}

# Serves the example's object at a port of all context ids.
serve() {
    vsock-guest -ORBListenEndpoints "vsock://:$1" >/tmp/serving 2>&1 &
    await 'listening at' /tmp/serving
    busybox head -n 1 /tmp/serving
}

case $part in
loopback)
    for test in /tests/*; do
        PUNCTUAL_REQUIRE_VSOCK=1 $test || ends $?
    done
    serve 5000
    vsock-host corbaloc:vsock:local:5000/Guest
    ends $?
    ;;
host)
    serve 5001
    qemu-system-x86_64 -L /usr/share/qemu -accel tcg -m 192 -nographic -no-reboot -nic none -vga none \
        -device vhost-vsock-pci,guest-cid=3 -kernel /vmlinuz -initrd /guest.cpio \
        -append 'console=ttyS0 quiet panic=-1 part=guest' </dev/null >/tmp/guest 2>&1 &
    await 'vsock guest serves' /tmp/guest
    vsock-host corbaloc:vsock:3:5000/Guest || ends $?
    await 'vsock guest called with' /tmp/guest
    busybox grep 'answers at' /tmp/guest
    busybox grep -q 'vsock guest called with 0' /tmp/guest
    ends $?
    ;;
guest)
    serve 5000
    echo 'vsock guest serves'
    vsock-host corbaloc:vsock:host:5001/Guest
    echo "vsock guest called with $?"
    # It ends with its host.
    wait
    ;;
esac
