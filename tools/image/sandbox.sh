#!/bin/sh
# Runs a command in an unpacked image as a container engine would: no other file system, nothing writable, the image's
# own user, no capabilities and no way to get any. As root, in a mount namespace of its own (`unshare --mount`), which
# ends with the command. Everything here becomes that command by exec: signals and the exit code are the command's.
#
#   unshare --mount sh sandbox.sh ROOT USER:GROUP FILE-TO-SEE COMMAND...
set -eu
root=$1 user=$2 seen=$3
shift 3
# The PATH is the image's.
inside=$PATH
PATH=/usr/sbin:/usr/bin:/sbin:/bin

mount --bind "$root" "$root"
mount -t proc -o ro,nosuid,nodev,noexec proc "$root/proc"
mount -t tmpfs -o mode=755,size=64k tmpfs "$root/dev"
for device in null zero random urandom; do
  : >"$root/dev/$device"
  mount --bind "/dev/$device" "$root/dev/$device"
done
# The one thing that is not the image's: what makes a process live at its replica's address.
if [ -n "$seen" ]; then
  mkdir -p "$root/$(dirname "$seen")"
  : >"$root/$seen"
  mount --bind "$seen" "$root/$seen"
  mount -o remount,bind,ro "$root/$seen"
fi
mount -o remount,ro "$root/dev"
mount -o remount,bind,ro "$root"

# What the bounding set keeps is what chroot itself needs; a user that is not root has none of it.
PATH=$inside exec /usr/bin/setpriv --no-new-privs --bounding-set=-all,+sys_chroot,+setuid,+setgid \
  /usr/sbin/chroot --userspec="$user" --groups= "$root" "$@"
