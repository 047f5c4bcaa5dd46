#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Larger programs, both ends over verbs, for longer; what they carry is checked.
# timeout: 1800
# long: several minutes; make check-programs
set -euo pipefail
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=SCRIPTDIR/pairs.sh
. "$(dirname "$0")/pairs.sh"

CLIENT_SECONDS=600
PG=/usr/lib/postgresql/15/bin
AS_PG="setpriv --reuid=postgres --regid=postgres --clear-groups"

# What both nodes have, to compare what is fetched with.
pages() {
	nodes "mkdir -p $DIR && chmod 755 $DIR &&
		seq 200000 >$DIR/page && seq 3000 >$DIR/small"
}

tls_setup() {
	node1 "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=node1 \
		-keyout $DIR/tls.key -out $DIR/tls.crt 2>/dev/null" </dev/null
	nginx_setup "server {
		listen 8443 ssl;
		ssl_certificate $DIR/tls.crt;
		ssl_certificate_key $DIR/tls.key;
	}"
}

vsftpd_setup() {
	node1 "mkdir -p $DIR/ftp/in /var/run/vsftpd/empty && chown ftp $DIR/ftp/in && cat >$DIR/vsftpd.conf" <<-END
		listen=YES
		background=NO
		anonymous_enable=YES
		anon_root=$DIR/ftp
		write_enable=YES
		anon_upload_enable=YES
		anon_umask=022
		seccomp_sandbox=NO
	END
}

postgres_setup() {
	node1 "mkdir -p $DIR/pg && chown postgres $DIR/pg &&
		$AS_PG $PG/initdb -D $DIR/pg -A trust -U postgres -N >/dev/null &&
		echo 'host all all 10.77.0.0/24 trust' >>$DIR/pg/pg_hba.conf" </dev/null
}

# What each transaction added is in both tables.
PGBENCH="$PG/pgbench -h 10.77.0.1 -U postgres"
PGSUM="$PG/psql -h 10.77.0.1 -U postgres -Atc 'select sum(abalance) = (select sum(delta) from pgbench_history) from pgbench_accounts'"
GIB=$((1 << 30))

plan 26
load_verbs
nodemap_std
pages
tls_setup
vsftpd_setup
postgres_setup
ssh_setup

both_ends "nginx, 10000 connections in turn" 8080 "nginx -c $DIR/nginx.conf" \
	"ab -q -n 10000 -c 20 http://10.77.0.1:8080/small | tee /dev/stderr | grep -q 'Failed requests: *0$'" 100000000
both_ends "nginx, kept alive" 8080 "nginx -c $DIR/nginx.conf" \
	"ab -q -k -n 10000 -c 20 http://10.77.0.1:8080/small | tee /dev/stderr | grep -q 'Failed requests: *0$'" 100000000
both_ends "curl, TLS" 8443 "nginx -c $DIR/nginx.conf" \
	"sh -c 'for i in 1 2 3 4 5; do curl -sk https://10.77.0.1:8443/page | cmp - $DIR/page || exit; done'" 6000000
both_ends "redis" 6379 "redis-server --port 6379 --save '' --protected-mode no --dir $DIR" \
	"redis-benchmark -h 10.77.0.1 -n 5000 -c 20 -P 4 -q" 1000000
both_ends "memcached" 11211 "memcached -u root -l 10.77.0.1" \
	"memcaslap -s 10.77.0.1:11211 -T 1 -c 8 -x 5000 -v 0.5 | tee /dev/stderr | grep -q 'verify_failed: 0'" 1000000
both_ends "PostgreSQL" 5432 "$AS_PG $PG/postgres -D $DIR/pg -h 10.77.0.1 -k $DIR/pg" \
	"sh -c \"$PGBENCH -q -i postgres && $PGBENCH -c 4 -j 2 -t 100 postgres && $PGSUM | grep -qx t\"" 1000000
both_ends "vsftpd" 21 "vsftpd $DIR/vsftpd.conf" \
	"sh -c 'curl -sT $DIR/page ftp://10.77.0.1/in/page && curl -s ftp://10.77.0.1/in/page | cmp - $DIR/page'" 2000000
both_ends "ssh, 1 GiB" 2222 "$SSHD" \
	"ssh -p 2222 $SSH_OPTIONS root@10.77.0.1 'yes AF_SANX | head -c $GIB' | sha256sum | grep -q \$(yes AF_SANX | head -c $GIB | sha256sum | cut -c1-64)" $GIB
background 1 "sanx-run --strict $SSHD"
wait_port 1 2222
remember
check "scp, and back" node2 "sanx-run scp -q -P 2222 $SSH_OPTIONS $DIR/page root@10.77.0.1:$DIR/copy &&
	sanx-run scp -q -P 2222 $SSH_OPTIONS root@10.77.0.1:$DIR/copy $DIR/again && cmp $DIR/page $DIR/again"
check "scp: over verbs" over_verbs 2 2000000
nodes "rm -rf $DIR"
