# TREE N OWN... M HIDDEN... PROGRAM ARGUMENT...
# In mounts of its own: covers HIDDEN, puts OWN back where it lies below, and becomes PROGRAM.
fail() { echo "hames: cannot cover $1" >&2; exit 125; }
tree=$1; shift

# Held open, the agent's own folders can be had again once they are covered.
own=; fd=3; n=$1; shift
while [ "$n" -gt 0 ]; do
  eval "exec $fd<\"\$1\"" || fail "$1"
  own="$own $fd"
  eval "own_$fd=\$1"
  shift; fd=$((fd + 1)); n=$((n - 1))
done

covered=; n=$1; shift
while [ "$n" -gt 0 ]; do
  if [ -d "$1" ]; then
    mount -t tmpfs -o size=64k,mode=755,nosuid,nodev none "$1" || fail "$1"
    covered="$covered $n"
    eval "cover_$n=\$1"
  elif [ -e "$1" ]; then
    mount --bind /dev/null "$1" || fail "$1"
  fi
  shift; n=$((n - 1))
done

for fd in $own; do
  eval "folder=\$own_$fd"
  mkdir -p "$folder" || fail "$folder"
  mount --no-canonicalize --rbind "/proc/self/fd/$fd" "$folder" || fail "$folder"
  eval "exec $fd<&-"
done
for n in $covered; do
  eval "folder=\$cover_$n"
  mount -o remount,bind,ro,nosuid,nodev "$folder" || fail "$folder"
done

cd "$tree" || fail "$tree"
exec "$@"
