# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# What in a node's console log says that the kernel is unwell.

SPLAT_PATTERN='WARNING: |BUG: |Oops|general protection fault|Kernel panic|kernel BUG at'
SPLAT_PATTERN+='|KASAN: |UBSAN: |INFO: task .* blocked|INFO: rcu_|rcu: INFO: |self-detected stall'
SPLAT_PATTERN+='|possible recursive locking|possible circular locking|possible irq lock'
SPLAT_PATTERN+='|inconsistent lock state|suspicious RCU|suspicious rcu|held lock freed'
SPLAT_PATTERN+='|lock held when returning|ODEBUG: |refcount_t: |sleeping function called'
SPLAT_PATTERN+='|scheduling while atomic|list_add corruption|list_del corruption|soft lockup'
SPLAT_PATTERN+='|hard LOCKUP|workqueue lockup|unregister_netdevice: waiting|leaked reference'
SPLAT_PATTERN+='|new suspected memory leaks|Objects remaining in|Bad page state|unreferenced object'
SPLAT_PATTERN+='|Workqueue: .* still has|Unable to handle|segfault at .* in sanx|stack segment'
SPLAT_PATTERN+='|INFO: trying to register non-static key|turning off the locking correctness validator'
SPLAT_PATTERN+='|BUG [a-zA-Z0-9_-]+ \(|BUG kmalloc-|RTNL: assertion failed|Attempt to release TCP socket'

# known_bugs: leaves a line in place of lockdep's reports that check.d/known-bugs has.  A
# report ends with the call trace: on x86 with a mark, else with the last address.
known_bugs() {
	awk -v known="$SANX_TREE/scripts/check.d/known-bugs" '
		BEGIN {
			while ((getline line <known) > 0) {
				if (sub(/^bug: /, "", line))
					bug = line
				else if (sub(/^match: /, "", line)) {
					match_of[++n] = line
					bug_of[n] = bug
				}
			}
		}
		function told(i) {
			for (i = 1; i <= n && report !~ match_of[i]; i++)
				;
			if (i <= n)
				print "known bug: " bug_of[i]
			else
				printf "%s", report
			hold = 0
		}
		hold && addresses && !/\[<[0-9a-f]+>\]/ { told() }
		/WARNING: (possible irq lock inversion|SOFTIRQ-safe -> SOFTIRQ-unsafe|inconsistent lock state)/ {
			hold = 1
			trace = addresses = 0
			report = ""
		}
		hold { report = report $0 "\n" }
		!hold { print }
		hold && trace && /\[<[0-9a-f]+>\]/ { addresses = 1 }
		hold && /Call Trace:/ { trace = 1 }
		hold && /<\/TASK>/ { told() }
		END { if (hold) told() }'
}

# foreign_races: leaves a line in place of KCSAN's reports in which no function of ours
# takes part.
foreign_races() {
	awk 'function told() {
			if (report ~ /\[(af_sanx|sanx_verbs)\]/)
				printf "%s", report
			else
				print "a race of others: " title
			title = ""
		}
		!title && /BUG: KCSAN: / {
			title = $0
			sub(/.*BUG: KCSAN: /, "", title)
			report = ""
		}
		title { report = report $0 "\n" }
		!title { print }
		title && /====================/ { told() }
		END { if (title) told() }'
}

# node_splat N: print what is new since the last look; status 1 if a splat.
node_splat() {
	local n=$1 log=$RUN/node$1.console seen=$RUN/node$1.seen from size
	[ -f "$log" ] || return 0
	from=0
	[ ! -f "$seen" ] || read -r from <"$seen"
	size=$(stat -c %s "$log")
	echo "$size" >"$seen"
	# Most often there is nothing, and the filters need not look at it.
	tail -c "+$((from + 1))" "$log" | grep -qE "$SPLAT_PATTERN" || return 0
	tail -c "+$((from + 1))" "$log" | head -c "$((size - from))" | foreign_races |
		known_bugs >"$RUN/node$n.new"
	grep -qE "$SPLAT_PATTERN" "$RUN/node$n.new" || return 0
	echo "--- splat on node$n ($KERNEL) ---"
	grep -E -B 2 -A 60 -m 1 "$SPLAT_PATTERN" "$RUN/node$n.new"
	return 1
}
