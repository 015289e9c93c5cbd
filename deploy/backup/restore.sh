#!/bin/sh
# restore.sh <backup> <archive> <data folder> [<moment>]: puts a base backup into a new data folder and tells PostgreSQL to replay the archive when it
# is started on it: all of it, or up to a moment such as '2030-01-02 03:04:05+00'. Run it as the user that PostgreSQL runs as, or as
# root, with absolute paths.
set -eu
backup=$1
archive=$2
data=$3
moment=${4:-}

test -e "$backup/complete"
if [ -e "$data" ]; then
  # Only an empty folder: what is left of the old server may be the best that there is.
  rmdir "$data"
fi
mkdir -m 700 "$data"
tar -C "$data" -xf "$backup/data.tar"
cp "$backup/backup_label" "$data/backup_label"
# What is there of an earlier restore would be believed again.
sed -i -e '/^restore_command/d' -e '/^recovery_target/d' "$data/postgresql.auto.conf"
{
  echo "restore_command = 'cp \"$archive/%f\" \"%p\"'"
  if [ -n "$moment" ]; then
    echo "recovery_target_time = '$moment'"
    echo "recovery_target_action = 'promote'"
  fi
} >> "$data/postgresql.auto.conf"
touch "$data/recovery.signal"
# To root, tar gives back whose the files were; what was written here is theirs, too.
if [ "$(id -u)" -eq 0 ]; then
  chown -R --reference="$data/PG_VERSION" "$data"
fi
