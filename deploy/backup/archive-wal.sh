#!/bin/sh
# archive-wal.sh <segment> <destination>: PostgreSQL calls it for every finished segment of its write-ahead log, and recycles a segment only after
# this has ended with 0. So it ends with 0 when the segment is on the disk under its whole name, and not before.
set -eu
segment=$1
destination=$2

if [ -e "$destination" ]; then
  # A server that died after the copy asks for it once more. Anything else under this name is of another server: never write over it.
  cmp -s "$segment" "$destination"
  exit
fi
cp "$segment" "$destination.part"
sync "$destination.part"
mv "$destination.part" "$destination"
sync "$(dirname "$destination")"
