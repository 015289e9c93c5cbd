#!/bin/sh
# base-backup.sh <data folder> <database> <destination>: copies a running server's data. The copy is good only together with the archive of
# the write-ahead log. Run it where the data are, as somebody who may read them; the database is named as psql likes it, such as a
# connection string of a superuser. The destination is made, and must not be there before.
set -eu
data=$1
database=$2
destination=$3

mkdir "$destination"
export data destination

# One session from the first line to the last: when it ends, so does the backup. What is being written while tar reads it is put right by the
# write-ahead log, so that tar's complaints about files that change (it ends with 1) are none. The label has to be kept to the byte, and psql
# puts one line more behind it.
psql --no-psqlrc --quiet --no-align --tuples-only --set=ON_ERROR_STOP=1 "$database" <<'END'
select 'begun at ' || pg_backup_start('tollgate', fast => true);
\! tar -C "$data" --warning=no-file-changed --warning=no-file-removed --exclude='./pg_wal/*' --exclude='./pg_replslot/*' --exclude='./pg_dynshmem/*' --exclude='./pg_notify/*' --exclude='./pg_serial/*' --exclude='./pg_snapshots/*' --exclude='./pg_stat_tmp/*' --exclude='./pg_subtrans/*' --exclude='pgsql_tmp*' --exclude='./postmaster.*' --exclude='./.s.PGSQL.*' -cf "$destination/data.tar" .; test $? -le 1 && touch "$destination/copied"
\o | sed '$d' > "$destination/backup_label"
select labelfile from pg_backup_stop();
\o
END

test -e "$destination/copied"
grep -q '^START WAL LOCATION' "$destination/backup_label"
sync "$destination/data.tar" "$destination/backup_label"
touch "$destination/complete"
